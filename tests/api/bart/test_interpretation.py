"""What posteriors of sums of trees say about their columns: the same as their predictions, put together by hand."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree import InputError
from baytree.bart.posterior import BARTPosterior
from baytree.interpret import interactions, variable_use

DATA = bt.datasets.friedman(n=150, p=5, seed=2)
DESIGN = DATA.design()
X = DATA.X[:40]
PLAN: dict[str, Any] = {"warmup": 100, "draws": 40, "chains": 2, "seed": 1, "progress": False}


@pytest.fixture(scope="module")
def posterior() -> BARTPosterior:
    return bt.sample(bt.BART(trees=10), DESIGN, **PLAN)


@pytest.fixture(scope="module")
def classes() -> BARTPosterior:
    design = bt.make_design(DATA.X, np.where(DATA.y > 14, "high", "low"), task="classification", target="size")
    return bt.sample(bt.BART(trees=10), design, **PLAN)


@pytest.fixture(scope="module")
def several() -> BARTPosterior:
    design = bt.make_design(DATA.X, np.array(list("abc"))[np.digitize(DATA.y, [12, 17])], task="classification")
    return bt.sample(bt.BART(trees=10), design, **PLAN)


def test_shares_are_those_of_the_sums(posterior: BARTPosterior) -> None:
    use, both = posterior.variable_use(prob=0.5), posterior.interactions()
    assert (use.mean == variable_use(posterior.ensemble, DESIGN.schema).mean).all()
    assert (both.interval == interactions(posterior.ensemble, DESIGN.schema).interval).all()
    assert use.mean.sum() == pytest.approx(1)
    assert use.prob == 0.5


def test_dependence_averages_predictions(posterior: BARTPosterior) -> None:
    found = posterior.partial_dependence(X, "x4", grid=[0.2, 0.8], draws=None)
    assert found.response == "y"
    for place, value in enumerate((0.2, 0.8)):
        average = posterior.predict(X.with_columns(x4=pl.lit(value)), "draws").mean(axis=2).ravel()
        assert found.mean[place] == pytest.approx(average.mean())
        assert found.interval[place] == pytest.approx(np.quantile(average, [0.05, 0.95]))


def test_what_is_known_of_friedmans_function_is_seen(posterior: BARTPosterior) -> None:
    """10 x4 rises by 8 from 0.1 to 0.9; with 10 trees and 150 rows the band says how well that is known."""
    rise = posterior.ice(DESIGN, "x4", grid=[0.1, 0.9], centred=True)
    low, high = np.quantile(rise.mean[:, 1], [0.1, 0.9])
    assert 4 < low < high < 12


@pytest.mark.parametrize("draws", [0, -1, 2.5])
def test_a_number_of_draws_that_cannot_be(posterior: BARTPosterior, draws: Any) -> None:
    with pytest.raises(InputError, match=f"draws={draws}: choose a whole number, 1 or more"):
        posterior.partial_dependence(X, "x4", draws=draws)


def test_a_design_is_as_good_as_its_table(posterior: BARTPosterior) -> None:
    ours, theirs = (posterior.ice(rows, "x1", rows=20, draws=5).mean for rows in (DESIGN, DATA.X))
    assert (ours == theirs).all()
    assert ours.shape == (20, 20)


def test_draws_are_evenly_spaced(posterior: BARTPosterior) -> None:
    found = posterior.ice(X, "x1", grid=[0.5], draws=1)
    one = posterior.predict(X.with_columns(x1=pl.lit(0.5)), "draws")[:, -1].mean(axis=0)
    assert found.mean[:, 0] == pytest.approx(one)


def test_two_columns_together(posterior: BARTPosterior) -> None:
    found = posterior.two_way_dependence(X, "x1", "x2", grid=([0.5], [0.2, 0.7]), draws=None)
    both = posterior.predict(X.with_columns(x1=pl.lit(0.5), x2=pl.lit(0.7)), "draws")
    assert found.mean[0, 1] == pytest.approx(both.mean())


def test_of_classes_the_probability_is_the_response(classes: BARTPosterior) -> None:
    low, high = (classes.partial_dependence(X, "x4", of=label) for label in ("low", "high"))
    assert low.mean + high.mean == pytest.approx(1)
    assert high.mean[0] < high.mean[-1]
    assert (classes.partial_dependence(X, "x4").mean == low.mean).all()
    assert low.response == "P(size = low)"


def test_classes_that_are_not_there(posterior: BARTPosterior, classes: BARTPosterior) -> None:
    with pytest.raises(InputError, match="Choose from: high, low"):
        classes.ice(X, "x1", of="middle")
    with pytest.raises(InputError, match="has no classes"):
        posterior.ice(X, "x1", of="low")


# ---- SHAP -----------------------------------------------------------------------------------------------------------


def test_base_and_shap_values_add_up_to_the_prediction(posterior: BARTPosterior) -> None:
    found = posterior.shap(X, draws=None)
    assert found.mean.shape == (40, 5)
    assert found.base + found.mean.sum(axis=1) == pytest.approx(posterior.predict(X), rel=1e-5)
    assert (found.interval[..., 0] <= found.interval[..., 1]).all()
    assert found.response == "y"


def test_shap_values_of_some_rows_and_draws(posterior: BARTPosterior) -> None:
    found = posterior.shap(DESIGN, rows=7, draws=1, seed=3)
    assert len(found.rows) == len(found.mean) == 7
    last = posterior.predict(DATA.X[found.rows], "draws")[:, -1].mean(axis=0)
    assert found.base + found.mean.sum(axis=1) == pytest.approx(last, rel=1e-5)


def test_blocks_make_no_difference(posterior: BARTPosterior, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = posterior.shap(X)
    monkeypatch.setattr("baytree.posterior.prediction.BLOCK_NUMBERS", 1)
    one_by_one = posterior.shap(X)
    assert (at_once.interval == one_by_one.interval).all()
    assert one_by_one.size == pytest.approx(at_once.size)


def test_shap_values_of_two_classes_are_opposite(classes: BARTPosterior) -> None:
    low, high = (classes.shap(X, of=label) for label in ("low", "high"))
    assert (low.mean == -high.mean).all() and low.base == -high.base
    assert (classes.shap(X).mean == low.mean).all()
    assert low.response == "variable of size = low"
    from scipy.stats import norm

    # Of a single draw, the probability is that of its variable.
    one = classes.shap(X[:1], draws=None)
    drawn = norm.ppf(classes.predict(X[:1], "draws")[..., 1])
    assert one.base + one.mean.sum() == pytest.approx(drawn.mean(), rel=1e-4)


def test_of_several_classes_each_has_its_own(several: BARTPosterior) -> None:
    first, second = (several.shap(X, of=label).mean for label in ("a", "b"))
    assert np.abs(first - second).max() > 0
    with pytest.raises(InputError, match="Choose from: a, b, c"):
        several.shap(X)
    found = [several.partial_dependence(X, "x4", of=label, draws=10).mean for label in "abc"]
    assert np.sum(found, axis=0) == pytest.approx(1)
