"""Subset selection as a person meets it: estimators, reports, prediction, files, and inputs of every odd kind."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

import baytree as bt
from baytree.subset.posterior import SubsetPosterior


def line(rows: int, columns: int, seed: int = 0, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Three columns matter: 3, −2 and 1 times the first, second and third."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, columns))
    return X, 5 + X[:, :3] @ [3.0, -2.0, 1.0] + noise * generator.normal(size=rows)


def fitted(X: Any, y: Any, **options: Any) -> SubsetPosterior:
    return bt.SubsetRegressor(**{"random_state": 0} | options).fit(X, y).posterior_


# ---- what is found --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["enumerate", "sample"])
def test_the_columns_that_matter(method: str) -> None:
    X, y = line(100, 8)
    posterior = fitted(X, y, method=method)
    assert posterior.median_model() == ("x0", "x1", "x2")
    best = posterior.top_models(3)
    assert best[0].units == ("x0", "x1", "x2")
    assert best[0].odds == 1
    assert best[0].probability == pytest.approx(best[0].frequency, abs=0.05)
    assert best[1].odds == pytest.approx(best[1].probability / best[0].probability)
    found = posterior.coefficients()
    assert found.names[:2] == ("(intercept)", "x0")
    np.testing.assert_allclose(found.mean[:4], [5, 3, -2, 1], atol=0.3)
    assert ((found.interval[:, 0] <= found.mean) & (found.mean <= found.interval[:, 1]))[:4].all()
    inclusion = posterior.inclusion()
    assert (inclusion.exact is not None) == (method == "enumerate")
    np.testing.assert_allclose(inclusion.frequency, inclusion.renormalised, atol=0.04)
    assert "x0 + x1 + x2" in str(posterior.summary())


def test_sampling_finds_what_enumeration_knows() -> None:
    X, y = line(60, 10, noise=4.0)
    exact, sampled = fitted(X, y), fitted(X, y, method="sample", draws=4000)
    known = exact.inclusion().exact
    # Of 16,000 draws, of which thousands count as independent, 0.03 is four standard errors or more.
    np.testing.assert_allclose(sampled.inclusion().frequency, known, atol=0.03)
    np.testing.assert_allclose(exact.inclusion().frequency, known, atol=0.03)
    visited = sampled.normalised()
    assert 0.9 < visited.share <= 1
    assert visited.log_constant == pytest.approx(exact.normalised().log_constant, abs=0.1)
    share = np.exp([one.log_likelihood + one.log_prior + visited.log_constant for one in exact.top_models(5).models])
    np.testing.assert_allclose(share, [one.probability for one in exact.top_models(5).models], rtol=0.1)
    for one, other in zip(exact.top_models(5).models, sampled.top_models(5).models, strict=True):
        assert one.units == other.units
        assert one.odds == pytest.approx(other.odds, rel=1e-9)


@pytest.mark.parametrize(
    "coefficients", [bt.GPrior(), bt.GPrior(400), bt.GPrior("eb"), bt.HyperG(), bt.HyperGN(), bt.Ridge(2.0)], ids=str
)
@pytest.mark.parametrize(
    "model_prior", [bt.BetaBinomial(), bt.Independent(0.2), bt.SizePrior([0.2, 0.3, 0.3, 0.2]), 2.5], ids=str
)
def test_predictions_of_every_prior(coefficients: Any, model_prior: Any) -> None:
    X, y = line(80, 6)
    model = bt.SubsetRegressor(model_prior, coefficients, random_state=1).fit(X, y)
    new, truth = line(2000, 6, seed=9)
    mean = model.predict(new)
    # Least squares of the right columns would be off by about 0.2.
    assert np.sqrt(np.mean((mean - (5 + new[:, :3] @ [3.0, -2.0, 1.0])) ** 2)) < 0.5
    draws = model.predict(new[:50], kind="draws")
    assert draws.shape == (4, 1000, 50)
    error = draws.std(axis=(0, 1)) / np.sqrt(4000)
    assert (np.abs(draws.mean(axis=(0, 1)) - mean[:50]) < 5 * error).all()
    low, high = model.predict(new, kind="predictive_interval", prob=0.9).T
    # Of 2,000 new rows; the rest is that 80 rows do not tell σ.
    assert 0.8 < ((low < truth) & (truth < high)).mean() < 0.97
    np.testing.assert_allclose(
        model.predict(new[:9], "interval", 0.5), np.quantile(draws[..., :9], [0.25, 0.75], (0, 1)).T
    )
    sigma, exact = model.posterior_.sigma, model.predict(new[:3], kind="sigma")
    np.testing.assert_allclose(exact, sigma.mean(), rtol=0, atol=5 * sigma.std() / np.sqrt(sigma.size))
    assert model.posterior_.sigma.mean() == pytest.approx(1, abs=0.4)


def test_the_noise_and_the_coefficients_have_their_posterior() -> None:
    """With one model alone, β has a Student distribution around its mean, and σ² an inverse gamma one."""
    X, y = line(30, 3)
    X = X[:, :2]
    posterior = fitted(X, y, coefficients=bt.GPrior(30.0), always=[0, 1], nu=4.0, scale=2.0, draws=25_000)
    centred, response = X - X.mean(axis=0), y - y.mean()
    gram = centred.T @ centred
    least = np.linalg.solve(gram, centred.T @ response)
    shrink = 30 / 31
    rest = response @ response + 4 * 2 - shrink * (centred.T @ response) @ least
    freedom = 29 + 4
    found = posterior.coefficients()
    np.testing.assert_allclose(found.mean[1:], shrink * least, rtol=1e-10)
    sd = np.sqrt(np.diag(np.linalg.inv(gram)) * shrink * rest / (freedom - 2))
    np.testing.assert_allclose(found.sd[1:], sd, rtol=1e-10)
    variance = posterior.sigma**2
    expected = rest / (freedom - 2)
    error = variance.std() / np.sqrt(variance.size)
    assert abs(variance.mean() - expected) < 5 * error
    level = posterior.predict(X.mean(axis=0, keepdims=True), kind="draws")
    assert level.mean() == pytest.approx(y.mean(), abs=5 * level.std() / np.sqrt(level.size))
    assert level.std() == pytest.approx(np.sqrt(expected / 30), rel=0.02)


# ---- what may be asked for ------------------------------------------------------------------------------------------


def test_always_included() -> None:
    X, y = line(60, 5)
    posterior = fitted(X, y, always=["x4"])
    inclusion = posterior.inclusion()
    assert inclusion.exact[4] == inclusion.frequency[4] == 1
    assert posterior.normalised().models == 2**4
    with pytest.raises(bt.InputError, match="no column 'age'"):
        fitted(X, y, always=["age"])
    with pytest.raises(bt.InputError, match="no column 7; positions go from 0 to 4"):
        fitted(X, y, always=[7])
    twice = np.column_stack([X, X[:, 0]])
    with pytest.raises(bt.InputError, match="always in depend on each other"):
        fitted(twice, y, always=[0, 5])


def test_factors_enter_together() -> None:
    generator = np.random.default_rng(3)
    frame = pd.DataFrame({"x": generator.normal(size=120), "colour": generator.choice(["red", "green", "blue"], 120)})
    y = frame["colour"].map({"red": 2.0, "green": -1.0, "blue": 0.0}) + generator.normal(size=120)
    posterior = fitted(frame, y)
    assert posterior.units == ("x", "colour")
    assert posterior.median_model() == ("colour",)
    assert posterior.coefficients().names == ("(intercept)", "x", "colour=green", "colour=red")
    together = posterior.predict(frame, kind="draws")
    assert together.shape == (4, 1000, 120)
    assert set(posterior.n_columns.ravel().tolist()) <= {2, 3}


@pytest.mark.parametrize("heredity", [None, "weak", "strong"])
def test_interactions_and_heredity(heredity: str | None) -> None:
    generator = np.random.default_rng(5)
    X = generator.normal(size=(150, 3))
    y = 2 * X[:, 0] * X[:, 1] + generator.normal(size=150)
    posterior = fitted(X, y, interactions="all", heredity=heredity)
    assert posterior.units == ("x0", "x1", "x2", "x0:x1", "x0:x2", "x1:x2")
    included = posterior.drawn.included()[posterior.drawn.model.ravel()]
    assert included[:, 3].all()
    main = included[:, :2].sum(axis=1)
    assert main.min() == {None: 0, "weak": 1, "strong": 2}[heredity]


def test_tempered_chains() -> None:
    X, y = line(60, 30, noise=3.0)
    posterior = fitted(X, y, temperatures=5, draws=500)
    swaps = posterior.swaps()
    assert swaps is not None
    assert (swaps.neighbours > 0).all()
    assert posterior.drawn.rung_log_likelihood.shape == (4, 500, 5)
    with pytest.raises(bt.InputError, match="not tempered"):
        fitted(X, y, draws=100).swaps()


# ---- inputs of every odd kind ---------------------------------------------------------------------------------------


def test_more_columns_than_rows() -> None:
    X, y = line(40, 200)
    posterior = fitted(X, y, model_prior=3, draws=500)
    assert posterior.n_columns.max() < 40
    assert set(posterior.median_model()) >= {"x0", "x1"}
    few = fitted(X[:4, :6], y[:4])
    assert few.n_columns.max() <= 3
    assert np.isfinite(few.predict(X[:, :6])).all()


def test_the_limit_of_no_prior_on_the_noise() -> None:
    X, y = line(30, 4)
    assert np.isfinite(fitted(X, y, nu=0.0).predict(X)).all()
    # An exact fit leaves no noise; all is finite all the same, and the columns are found.
    exact = fitted(X, 5 + X[:, :3] @ [3.0, -2.0, 1.0], nu=0.0)
    assert exact.median_model() == ("x0", "x1", "x2")
    assert np.isfinite(exact.predict(X, kind="predictive")).all()


def test_columns_that_say_the_same() -> None:
    X, y = line(80, 3)
    twice = np.column_stack([X, X[:, 0]])
    for method in ("enumerate", "sample"):
        posterior = fitted(twice, y, method=method)
        included = posterior.drawn.included()[posterior.drawn.model.ravel()]
        assert (included[:, 0] ^ included[:, 3]).all()
        assert included[:, 0].mean() == pytest.approx(0.5, abs=0.1)
    ridge = fitted(twice, y, coefficients=bt.Ridge())
    both = ridge.drawn.included()[ridge.drawn.model.ravel()]
    assert 0 < (both[:, 0] & both[:, 3]).mean() < 1


def test_constant_columns_are_left_out() -> None:
    X, y = line(50, 4)
    X[:, 3] = 7.0
    with pytest.warns(UserWarning, match="1 column left out, as it never varies, or says the same as others: x3"):
        posterior = fitted(X, y)
    assert posterior.units == ("x0", "x1", "x2")
    assert posterior.coefficients().mean[4] == 0
    with pytest.raises(bt.InputError, match="no column varies"), pytest.warns(UserWarning, match="4 columns left out"):
        fitted(np.full((50, 4), 2.0), y)


def test_units_of_measurement_do_not_matter() -> None:
    X, y = line(50, 4)
    here = fitted(X, y)
    there = fitted(X * [1e9, 1e-9, 1.0, 1e150] + [1e6, 0, 5, 0], 1e8 * y - 3e8)
    np.testing.assert_allclose(there.inclusion().exact, here.inclusion().exact, rtol=1e-6)
    moved = there.predict(X * [1e9, 1e-9, 1.0, 1e150] + [1e6, 0, 5, 0])
    np.testing.assert_allclose((moved + 3e8) / 1e8, here.predict(X), rtol=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_predictions_keep_the_digits_of_values_far_from_zero(fit_intercept: bool) -> None:
    """Multiples of 1/128 can be moved by a thousand million and back without rounding; so can what is predicted."""
    generator = np.random.default_rng(2)
    X = np.round(generator.normal(size=(64, 3)) * 128) / 128
    y = X[:, 0] - X[:, 1] + generator.normal(size=64)
    X -= X.mean(axis=0)
    far = 2.0**30 * fit_intercept
    here, there = fitted(X, y, fit_intercept=fit_intercept), fitted(X + far, y, fit_intercept=fit_intercept)
    for kind in ("mean", "draws", "predictive_interval"):
        np.testing.assert_allclose(there.predict(X + far, kind), here.predict(X, kind), rtol=0, atol=1e-11)


def test_weights_are_precisions() -> None:
    """A row of weight w has σ²/w: the same as multiplying the row, without an intercept, by √w."""
    X, y = line(40, 3)
    weight = np.random.default_rng(0).uniform(0.2, 3, 40)
    weighted = bt.SubsetRegressor(random_state=0, fit_intercept=False).fit(X, y, sample_weight=weight).posterior_
    root = np.sqrt(weight)
    scaled = fitted(X * root[:, None], y * root, fit_intercept=False)
    np.testing.assert_allclose(weighted.inclusion().exact, scaled.inclusion().exact, rtol=1e-9)
    np.testing.assert_allclose(weighted.coefficients().mean, scaled.coefficients().mean, rtol=1e-9)


def test_missing_values() -> None:
    X, y = line(120, 3)
    X[::6, 0] = np.nan
    posterior = fitted(X, y)
    assert posterior.coefficients().names == ("(intercept)", "x0", "x0 missing", "x1", "x2")
    assert posterior.inclusion().exact[0] > 0.99
    assert np.isfinite(posterior.predict(X)).all()
    y[3] = np.nan
    with pytest.raises(bt.InputError, match="in the response; drop these rows first"):
        fitted(X, y)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "all"}, "no method 'all'"),
        ({"heredity": "some"}, "no heredity 'some'"),
        ({"proposal": "jump"}, "no proposal 'jump'"),
        ({"coefficients": 3}, "coefficients=3 is no prior of coefficients"),
        ({"model_prior": "flat"}, "model_prior='flat': give an expected size"),
        ({"model_prior": 9}, "an expected size of 9 with 3 free units"),
        ({"fit_intercept": "yes"}, "fit_intercept='yes': choose True or False"),
        ({"nu": -1}, "nu=-1: choose 0 or more"),
        ({"scale": "big"}, "scale='big': choose a positive number"),
        ({"draws": 0}, "draws"),
        ({"model_prior": bt.SizePrior([0, 0, 0, 0, 1])}, "says more than 3 units"),
        ({"interactions": [("x0", "x9")]}, "x9"),
    ],
    ids=str,
)
def test_bad_options(options: dict[str, object], said: str) -> None:
    X, y = line(30, 3)
    with pytest.raises(bt.InputError, match=said):
        fitted(X, y, **options)


def test_too_many_to_enumerate() -> None:
    X, y = line(60, 40)
    with pytest.raises(bt.InputError, match="at most 30 are enumerated: sample them"):
        fitted(X, y, method="enumerate")


def test_powers_of_the_likelihood_are_sampled() -> None:
    design = bt.make_linear_design(*line(30, 3))
    assert bt.Subset(power=0.5).resolve(design).method == "sample"
    with pytest.raises(bt.InputError, match="the posterior is enumerated, and no power of"):
        bt.Subset(power=0.5, method="enumerate").resolve(design)


def test_designs_of_the_wrong_kind() -> None:
    X, y = line(30, 3)
    linear, binned = bt.make_linear_design(X, y), bt.make_design(X, y, task="regression")
    with pytest.raises(
        bt.InputError, match="a linear model needs a LinearDesign, not Design; make one with read_linear"
    ):
        bt.sample(bt.Subset(), binned, progress=False)
    with pytest.raises(bt.InputError, match="a Design is needed, not LinearDesign"):
        bt.sample(bt.CART(), linear, progress=False)


# ---- the selector ---------------------------------------------------------------------------------------------------


def test_the_selector() -> None:
    X, y = line(300, 6)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    selector = bt.SubsetSelector(random_state=0).fit(frame, y)
    assert selector.get_support().tolist() == [True, True, True, False, False, False]
    assert selector.get_feature_names_out().tolist() == ["a", "b", "c"]
    assert selector.transform(frame).shape == (300, 3)
    assert clone(selector).set_output(transform="pandas").fit(frame, y).transform(frame).columns.tolist() == list("abc")
    fewer = bt.SubsetSelector(max_features=1, random_state=0).fit(frame, y)
    assert fewer.get_support(indices=True).tolist() == [int(np.argmax(selector.inclusion_))]
    assert bt.SubsetSelector(threshold=0.0, random_state=0).fit(frame, y).get_support().all()
    piped = make_pipeline(bt.SubsetSelector(random_state=0), LinearRegression()).fit(X, y)
    assert piped.score(X, y) > 0.9
    with pytest.raises(bt.InputError, match="threshold=2: choose a probability"):
        bt.SubsetSelector(threshold=2).fit(X, y)
    with pytest.raises(bt.InputError, match="max_features=0"):
        bt.SubsetSelector(max_features=0).fit(X, y)


# ---- files and longer runs ------------------------------------------------------------------------------------------


def test_use_beside_trees() -> None:
    """Where the linear model is too tight, trees use a column that it does not."""
    import matplotlib as mpl

    mpl.use("agg")
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, size=(300, 3))
    y = X[:, 0] + 3 * X[:, 1] ** 2 + 0.2 * generator.normal(size=300)
    linear = fitted(X, y).variable_use()
    trees = bt.BARTRegressor(trees=20, draws=200, random_state=0).fit(X, y).posterior_.variable_use()
    assert linear.mean[0] > 0.6 > 0.3 > linear.mean[1]
    assert trees.mean[1] > 0.3
    left, right = linear.plot_beside(trees)
    assert (left.get_title(loc="left"), right.get_title(loc="left")) == ("Linear models", "Sums of trees")
    assert [len(ax.texts) for ax in (left, right)] == [1, 1]  # under the title one line, and not two on each other
    other = fitted(pd.DataFrame(X, columns=["a", "b", "c"]), y).variable_use()
    with pytest.raises(bt.InputError, match="the trees have columns x0, x1, x2"):
        other.plot_beside(trees)


def test_use_of_many_columns_is_drawn_line_by_line() -> None:
    """Each line is the same column in both panels, and what either uses most is there."""
    import matplotlib as mpl

    mpl.use("agg")
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, size=(200, 70))
    y = 2 * X[:, 69] + 3 * X[:, 3] ** 2 + 0.2 * generator.normal(size=200)
    linear = fitted(X, y, draws=200).variable_use()
    trees = bt.BARTRegressor(trees=20, draws=100, random_state=0).fit(X, y).posterior_.variable_use()
    panels = linear.plot_beside(trees)
    names = [label.get_text() for label in panels[0].get_yticklabels()]
    assert len(names) == 50
    assert {"x3", "x69"} <= set(names)
    places = [linear.columns.index(name) for name in names]
    for ax, use in zip(panels, (linear, trees), strict=True):
        [dots] = ax.get_lines()
        np.testing.assert_array_equal(dots.get_xdata(), use.mean[places])


def test_trace() -> None:
    """What is drawn is what the draws have."""
    import matplotlib as mpl

    mpl.use("agg")
    posterior = fitted(*line(40, 4), method="sample", draws=50)
    trace = posterior.trace()
    assert list(trace.series) == ["log-likelihood", "columns", "sigma"]
    panels = trace.plot()
    for ax, (name, values) in zip(panels, trace.series.items(), strict=True):
        assert ax.get_ylabel() == name
        np.testing.assert_array_equal([one.get_ydata() for one in ax.get_lines()], values)
    np.testing.assert_array_equal(trace.series["columns"], posterior.n_columns)


@pytest.mark.usefixtures("_heeds_ctrl_c")
def test_ctrl_c_ends_an_enumeration() -> None:
    X, y = line(50, 29)
    design = bt.make_linear_design(X, y)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        bt.sample(bt.Subset(method="enumerate"), design, progress=False)


# ---- enumerated: exact ----------------------------------------------------------------------------------------------


def test_what_was_enumerated_is_exact_whatever_the_draws() -> None:
    """Means, standard deviations and inclusion have no Monte Carlo error: they are the same for any seed and number."""
    data = bt.datasets.load("boston")
    one, other = (fitted(data.X, data.y, random_state=seed, draws=draws) for seed, draws in ((1, 50), (2, 400)))
    first, second = one.coefficients(), other.coefficients()
    for name in ("mean", "sd", "inclusion"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    np.testing.assert_array_equal(first.inclusion[1:], one.inclusion().exact)
    rows = data.X[:20]
    for kind in ("mean", "sd", "sigma"):
        np.testing.assert_array_equal(one.predict(rows, kind), other.predict(rows, kind))


@pytest.mark.parametrize("coefficients", [bt.GPrior(), bt.HyperGN(), bt.Ridge(2.0)], ids=str)
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"nu": 0.0}], ids=str)
def test_draws_have_the_exact_moments(coefficients: Any, options: Any) -> None:
    X, y = line(30, 5)
    posterior = fitted(X - 3.0, y, coefficients=coefficients, draws=5000, **options)
    found, draws = posterior.coefficients(), posterior.prediction.coefficients().reshape(-1, 5)
    if posterior.model.fit_intercept:
        draws = np.column_stack([posterior.prediction.intercept, draws])
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - found.mean) < 5 * error + 1e-12).all()
    fourth = ((draws - draws.mean(axis=0)) ** 2).std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(draws.var(axis=0) - found.sd**2) < 5 * fourth).all()
    new = posterior.predict(X[:9] - 3.0, "predictive").reshape(-1, 9)
    of_squares = ((new - new.mean(axis=0)) ** 2).std(axis=0) / np.sqrt(len(new))
    assert (np.abs(new.var(axis=0) - posterior.predict(X[:9] - 3.0, "sd") ** 2) < 5 * of_squares).all()


def test_the_spread_of_new_responses_of_sampled_models() -> None:
    X, y = line(40, 5)
    exact, sampled = (fitted(X, y, method=method, draws=2000).predict(X, "sd") for method in ("enumerate", "sample"))
    np.testing.assert_allclose(sampled, exact, rtol=0.02)


def test_without_a_variance_nothing_has_a_standard_deviation() -> None:
    """Three rows less the intercept, and nothing known of the noise."""
    X = np.array([[0.0], [1.0], [3.0]])
    y = np.array([1.0, 2.5, 2.0])
    posterior = fitted(X, y, nu=0.0, coefficients=bt.GPrior())
    assert np.isinf(posterior.coefficients().sd).all()
    assert np.isinf(posterior.predict(X, "sd")).all()
    assert np.isfinite(posterior.predict(X, "sigma")).all()


@pytest.mark.parametrize("method", ["enumerate", "sample"])
def test_the_model_says_which_scale_was_chosen(method: str, tmp_path: Path) -> None:
    X, y = line(40, 4)
    posterior = fitted(X, y, method=method, draws=20)
    assert posterior.model.scale == posterior.model.calibrated.scale > 0
    posterior.save(tmp_path / "model.baytree")
    assert bt.load(tmp_path / "model.baytree").model == posterior.model
    assert fitted(X, y, method=method, draws=20, nu=0.0).model.scale == 0
