"""Noise with outliers, as a person meets it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import baytree as bt
from baytree.bart.calibration import outlying
from baytree.posterior.prediction import students_by_row

FEW: dict[str, Any] = {"trees": 50, "chains": 2, "warmup": 200, "draws": 200, "random_state": 1}
DATA, NEW = bt.datasets.friedman(300, seed=1), bt.datasets.friedman(1000, seed=2)
FAR = np.where(np.arange(300) == 7, DATA.y + 1e5, DATA.y)


def design(y: np.ndarray, weight: np.ndarray | None = None) -> bt.Design:
    return bt.make_design(DATA.X, y, task="regression", sample_weight=weight)


def error(model: bt.BARTRegressor) -> float:
    """How far off new responses are predicted, whose noise is 1."""
    return float(np.sqrt(np.mean((model.predict(NEW.X) - NEW.y) ** 2)))


@pytest.fixture(scope="module")
def fitted() -> bt.BARTRegressor:
    return bt.BARTRegressor(noise="student", **FEW).fit(DATA.X, FAR)


def test_an_outlier_does_not_bend_the_trees(fitted: bt.BARTRegressor) -> None:
    clean = error(bt.BARTRegressor(**FEW).fit(DATA.X, DATA.y))
    assert error(bt.BARTRegressor(**FEW).fit(DATA.X, FAR)) > 100 * clean
    assert error(fitted) < 1.2 * clean


def test_calibration_does_not_see_it() -> None:
    student = bt.BART(noise="student")
    clean, far = (student.resolve(design(y)).calibrated for y in (DATA.y, FAR))
    assert far.unit == clean.unit
    assert far.centre[0] == pytest.approx(clean.centre[0], abs=0.5)
    assert far.leaf_sd == pytest.approx(clean.leaf_sd, rel=0.05)
    assert far.scale == pytest.approx(clean.scale, rel=0.1)
    # Without an outlier it is that of normal noise.
    assert clean == replace(student, noise="normal").resolve(design(DATA.y)).calibrated


def test_what_lies_far_off() -> None:
    assert outlying(np.array([1.0, 2.0, 3.0, 4.0, 1e5])).tolist() == [False] * 4 + [True]
    # Most of them are the same number.
    assert outlying(np.array([0.0] * 6 + [1.0, -2.0, 3.0, 1e5])).tolist() == [False] * 9 + [True]
    assert not outlying(np.full(4, 3.0)).any()


def test_what_the_posterior_says(fitted: bt.BARTRegressor) -> None:
    post = fitted.posterior_
    assert post.freedom is not None and post.freedom.shape == (2, 200)
    assert np.median(post.freedom) <= 4
    summary = post.summary()
    assert summary.freedom == np.median(post.freedom) == summary.to_dict()["freedom"]
    assert f"Student noise of {summary.freedom:g} degrees of freedom" in str(summary)
    assert "Student noise by sigma = linear" in post.model.describe(post.schema)
    assert set(post.variables) == {"n_leaves", "sigma", "freedom"}
    normal = bt.BARTRegressor(**FEW).fit(DATA.X, DATA.y).posterior_
    assert normal.freedom is None and normal.summary().freedom is None


def test_new_responses_have_its_tails(fitted: bt.BARTRegressor) -> None:
    post = fitted.posterior_
    drawn, mean = post.predict(NEW.X, ("predictive", "draws")).values()
    scaled = (drawn - mean) / post.sigma[..., None]
    uniform = stats.t.cdf(scaled, post.freedom[..., None])
    assert stats.kstest(uniform[:, ::20].ravel(), "uniform").pvalue > 1e-4
    low, high = fitted.predict(NEW.X, kind="predictive_interval", prob=0.9).T
    np.testing.assert_allclose([low, high], np.quantile(drawn, [0.05, 0.95], axis=(0, 1)))


def test_students_by_row_are_the_same_in_any_block() -> None:
    freedom = np.repeat([1.0, 3.0, 64.0], 4000)
    whole = students_by_row(5, 0, 6, freedom)
    assert np.array_equal(whole[4:], students_by_row(5, 4, 2, freedom))
    for first, one in ((0, 1.0), (4000, 3.0), (8000, 64.0)):
        assert stats.kstest(whole[:, first : first + 4000].ravel(), stats.t(one).cdf).pvalue > 1e-4


def test_what_rows_say_adds_up() -> None:
    table = design(FAR, np.linspace(0.5, 2, 300))
    post = bt.sample(bt.BART(trees=20, noise="student"), table, warmup=50, draws=40, seed=1, progress=False)
    rows = post.pointwise_log_likelihood(table)
    np.testing.assert_allclose(rows.sum(axis=-1), post.log_likelihood, rtol=1e-5)


@pytest.mark.parametrize("more", [{"init": "grow"}, {"split": "soft", "trees": 8}, {"nu": np.inf}])
def test_it_goes_with(more: dict[str, Any]) -> None:
    few = FEW | {"warmup": 60, "draws": 60} | more
    assert error(bt.BARTRegressor(noise="student", **few).fit(DATA.X, FAR)) < 4


def test_it_goes_with_a_program() -> None:
    model = bt.BART(trees=8, prior=bt.slp.load("growtree.slp"), noise="student")
    post = bt.sample(model, design(FAR), warmup=50, draws=50, chains=1, seed=1, progress=False)
    assert np.abs(post.predict(NEW.X) - NEW.y).max() < 30
