"""Noise whose variance is a product of trees, as a person meets it."""

from typing import Any

import numpy as np
import pytest

import baytree as bt

ROWS = 400


def spread(x: np.ndarray) -> np.ndarray:
    """The standard deviation of the noise: eleven times as large at one end as at the other."""
    return 0.1 * np.exp(2.4 * x[:, 0])


def table(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    x = generator.random((rows, 2))
    return x, 2 * x[:, 1] + spread(x) * generator.standard_normal(rows)


@pytest.fixture(scope="module")
def fitted() -> dict[str, bt.BARTRegressor]:
    x, y = table(ROWS, 1)
    settings: dict[str, Any] = {"trees": 50, "chains": 2, "warmup": 300, "draws": 300, "random_state": 1}
    return {name: bt.BARTRegressor(variance=name, **settings).fit(x, y) for name in ("constant", "forest")}


def test_noise_is_recovered(fitted: dict[str, bt.BARTRegressor]) -> None:
    x, _ = table(2000, 2)
    error = {name: np.log(model.predict(x, kind="sigma") / spread(x)).std() for name, model in fitted.items()}
    assert error["forest"] < 0.15
    assert error["constant"] > 0.5


def test_intervals_cover_everywhere(fitted: dict[str, bt.BARTRegressor]) -> None:
    """Nine in ten new responses lie inside, where noise is small and where it is large; with one σ they do not."""
    x, y = table(6000, 3)
    fifth = (5 * x[:, 0]).astype(int)
    covered = {}
    for name, model in fitted.items():
        low, high = model.predict(x, kind="predictive_interval", prob=0.9).T
        inside = (low <= y) & (y <= high)
        covered[name] = np.array([inside[fifth == part].mean() for part in range(5)])
    assert np.abs(covered["forest"] - 0.9).max() < 0.06
    assert covered["constant"].max() > 0.99 and covered["constant"].min() < 0.75


def test_the_posterior_says_what_the_noise_is(fitted: dict[str, bt.BARTRegressor]) -> None:
    post, constant = fitted["forest"].posterior_, fitted["constant"].posterior_
    assert post.sigma is None and post.variance_ensemble is not None and post.variance_ensemble.trees == 40
    assert constant.sigma is not None and constant.variance_ensemble is None
    np.testing.assert_allclose(constant.predict(np.zeros((3, 2)), kind="sigma"), constant.sigma.mean())
    x, _ = table(ROWS, 1)
    log_sigma = np.log(post.predict(x, kind="sigma")).mean()
    assert post.diagnostics().sigma.mean == pytest.approx(np.exp(log_sigma), rel=0.02)


def test_units_do_not_matter(fitted: dict[str, bt.BARTRegressor]) -> None:
    """Of a response a thousand times as large the noise is so as well."""
    x, y = table(ROWS, 1)
    few: dict[str, Any] = {"trees": 20, "chains": 1, "warmup": 50, "draws": 50, "random_state": 1, "variance": "forest"}
    small, large = (bt.BARTRegressor(**few).fit(x, unit * y) for unit in (1.0, 1024.0))
    ratio = large.predict(x, kind="sigma") / small.predict(x, kind="sigma")
    np.testing.assert_allclose(ratio, 1024.0, rtol=1e-4)
    difference = large.posterior_.log_likelihood - small.posterior_.log_likelihood
    np.testing.assert_allclose(difference, -ROWS * np.log(1024.0), rtol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"variance": "trees"}, "variance"),
        ({"variance": "forest", "variance_trees": 0}, "variance_trees"),
        ({"variance": "forest", "nu": np.inf}, "nu=inf fixes the noise"),
        ({"variance": "forest", "split": "soft"}, "choose 'hard'"),
    ],
)
def test_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(bt.InputError, match=message):
        bt.BART(**settings)


def test_classes_have_no_noise_to_learn() -> None:
    data = bt.datasets.load("kyphosis")
    with pytest.raises(bt.InputError, match="variance='forest' is for numbers"):
        bt.sample(bt.BART(variance="forest"), data.design(), draws=1, progress=False)
