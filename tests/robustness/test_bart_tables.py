"""Sums of trees on tables that are awkward: few rows, odd numbers of them, constant, tied, negative, wide and empty
columns, responses of any size."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import baytree as bt


def table(rows: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Columns: negative numbers, few values, a constant, and one with missing values; y has exact binary fractions."""
    generator = np.random.default_rng(seed)
    x = generator.normal(-50, 10, (rows, 4))
    x[:, 1] = generator.integers(3, size=rows)
    x[:, 2] = -7.0
    x[generator.random(rows) < 0.3, 3] = np.nan
    signal = np.where(x[:, 0] > -50, 2.0, 0.0) + x[:, 1]
    return x, np.round((signal + generator.standard_normal(rows)) * 64) / 64


def fit(x: Any, y: Any, model: bt.BART | None = None, **options: Any) -> bt.BARTPosterior:
    design = bt.make_design(x, y, task="regression", max_cuts=options.pop("max_cuts", 100))
    design = replace(design, **{name: options.pop(name) for name in ("offset", "weight") if name in options})
    settings = {"warmup": 20, "draws": 20, "chains": 1, "seed": 3, "progress": False} | options
    return bt.sample(model or bt.BART(trees=10, prior=bt.GrowTree(min_leaf=1, beta=2.0)), design, **settings)


def assert_same_trees(a: bt.BARTPosterior, b: bt.BARTPosterior) -> None:
    for name in ("feature", "cut", "subset", "missing_left"):
        np.testing.assert_array_equal(getattr(a.ensemble.forest, name), getattr(b.ensemble.forest, name))
    np.testing.assert_array_equal(a.ensemble.tree_index, b.ensemble.tree_index)


def assert_residuals_follow(post: bt.BARTPosterior, x: Any, y: np.ndarray, weight: np.ndarray | None = None) -> None:
    """The log-likelihood that a chain finds from its residuals is that of what its trees predict."""
    spread = post.sigma[..., None] / np.sqrt(1.0 if weight is None else weight)
    expected = stats.norm.logpdf(y, post.predict(x, kind="draws"), spread).sum(axis=-1)
    np.testing.assert_allclose(post.log_likelihood, expected, rtol=1e-4, atol=1e-2)
    assert np.isfinite(post.ensemble.values).all() and (post.sigma > 0).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", [2, 3, 5, 15, 16, 17, 31, 33, 63, 64, 65, 127, 4095, 4096, 4097, 8200])
def test_any_number_of_rows(rows: int, weighted: bool) -> None:
    x, y = table(rows)
    weight = np.random.default_rng(2).uniform(0.5, 3, rows) if weighted else None
    assert_residuals_follow(fit(x, y, weight=weight), x, y, weight)


def test_one_row_is_refused() -> None:
    with pytest.raises(bt.InputError, match="at least 2 rows"):
        fit(*table(1))


def test_columns_that_cannot_be_asked_about() -> None:
    """A constant column and one without any value have no rule."""
    x, y = table(100)
    x[:, 3] = np.nan
    post = fit(x, y)
    assert set(np.unique(post.ensemble.forest.feature)) <= {-1, 0, 1}
    assert_residuals_follow(post, x, y)


def test_nothing_to_ask_at_all() -> None:
    x, y = np.full((30, 2), 4.0), table(30)[1]
    post = fit(x, y)
    assert (post.ensemble.leaves == 1).all()
    assert_residuals_follow(post, x, y)


@pytest.mark.parametrize(
    "change", [lambda x: x + 1000, lambda x: x - 1000, lambda x: 2.0**-40 * x, lambda x: np.exp(x / 10)]
)
def test_only_the_order_of_a_column_matters(change: Any) -> None:
    """Where the noise is not guessed from a linear fit."""
    x, y = table(300)
    naive = bt.BART(trees=10, prior=bt.GrowTree(min_leaf=1, beta=2.0), sigma="naive")
    assert_same_trees(fit(x, y, naive), fit(change(x), y, naive))


@pytest.mark.parametrize("exponent", [-90, -20, 20, 90])
def test_the_unit_of_the_response_does_not_matter(exponent: int) -> None:
    x, y = table(200)
    post, scaled = fit(x, y), fit(x, y * 2.0**exponent)
    assert_same_trees(post, scaled)
    np.testing.assert_array_equal(scaled.sigma, post.sigma * 2.0**exponent)
    np.testing.assert_array_equal(scaled.ensemble.values, post.ensemble.values * np.float32(2.0**exponent))
    assert_residuals_follow(scaled, x, y * 2.0**exponent)


@pytest.mark.parametrize("scale", [1e-28, 1e28])
def test_huge_and_tiny_responses(scale: float) -> None:
    x, y = table(150)
    assert_residuals_follow(fit(x, y * scale), x, y * scale)


@pytest.mark.parametrize("scale", [1e-40, 1e40])
def test_responses_beyond_single_precision_are_refused(scale: float) -> None:
    x, y = table(50)
    with pytest.raises(bt.InputError, match="rescale"):
        fit(x, y * scale)


def test_the_origin_of_the_response_does_not_matter() -> None:
    x, y = table(200)
    post, shifted = fit(x, y), fit(x, y + 2.0**20)
    assert_same_trees(post, shifted)
    np.testing.assert_array_equal(shifted.ensemble.values, post.ensemble.values)
    assert_residuals_follow(shifted, x, y + 2.0**20)


def test_an_offset_is_taken_from_the_response() -> None:
    x, y = table(200)
    offset = np.round(np.random.default_rng(4).normal(0, 100, 200) * 8) / 8
    post, given = fit(x, y), fit(x, y + offset, offset=offset)
    assert_same_trees(post, given)
    np.testing.assert_array_equal(given.ensemble.values, post.ensemble.values)
    np.testing.assert_allclose(given.predict(x, offset=offset), post.predict(x) + offset, rtol=1e-5)


@pytest.mark.parametrize("value", [0.0, 3.0, -1e5])
def test_a_response_that_its_offset_explains(value: float) -> None:
    x, offset = table(60)
    post = fit(x, value + offset, offset=offset)
    np.testing.assert_allclose(post.predict(x, offset=offset) - offset, value, rtol=0.5, atol=0.5)
    assert (post.sigma > 0).all() and np.isfinite(post.ensemble.values).all()


def test_a_response_of_two_far_values() -> None:
    """One row far from all others: values and residuals of very different sizes share one grid."""
    x, y = table(200)
    y = y / 1000
    y[17] = 1e6
    assert_residuals_follow(fit(x, y), x, y)


@pytest.mark.parametrize("rows", [600, 5000])
def test_wide_columns(rows: int) -> None:
    """More bins than a byte holds."""
    x, y = table(rows)
    post = fit(x, y, max_cuts=None)
    assert post.schema.columns[0].observed > 256
    assert post.ensemble.forest.cut.max() > 255
    assert_residuals_follow(post, x, y)


def test_heavily_tied_columns() -> None:
    generator = np.random.default_rng(5)
    x = (generator.random((500, 3)) < [0.01, 0.5, 0.99]).astype(float)
    y = x[:, 1] + generator.standard_normal(500)
    assert_residuals_follow(fit(x, y), x, y)


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("rows", [9, 16, 65])
def test_classes(rows: int, classes: int) -> None:
    x, _ = table(rows)
    labels = np.arange(rows) % classes
    design = bt.make_design(x, labels, task="classification", max_cuts=100)
    model = bt.BART(trees=5, prior=bt.GrowTree(min_leaf=1, beta=2.0))
    post = bt.sample(model, design, warmup=20, draws=20, chains=1, seed=3, progress=False)
    probabilities = post.predict(x, kind="draws")
    np.testing.assert_allclose(probabilities.sum(axis=-1), 1, atol=1e-5)
    own = probabilities[..., np.arange(rows), labels]
    np.testing.assert_allclose(post.log_likelihood, np.log(own).sum(axis=-1), rtol=1e-2)


def test_a_class_that_can_be_told_perfectly() -> None:
    """Utilities grow, but stay where the prior allows them."""
    x = np.linspace(-1, 1, 400)[:, None]
    design = bt.make_design(x, x[:, 0] > 0.2, task="classification", max_cuts=100)
    post = bt.sample(bt.BART(trees=20), design, warmup=200, draws=50, chains=1, seed=3, progress=False)
    assert np.isfinite(post.ensemble.values).all()
    probability = post.predict(x)[:, 1]
    assert probability[0] < 0.1 and probability[-1] > 0.9
