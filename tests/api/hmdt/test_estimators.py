"""Hidden Markov decision trees as a person meets them: sequences in every form, predictions, decisions, pictures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeRegressor

import baytree as bt


def regimes(rows: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two inputs, a response whose slopes change about every 25 rows, and which of the two regimes it is."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 2))
    regime = (np.cumsum(generator.random(rows) < 0.04) % 2).astype(int)
    y = np.where(regime == 0, 20 + 3 * X[:, 0], 10 - 2 * X[:, 1]) + 0.5 * generator.normal(size=rows)
    return X, y, regime


def agree(found: np.ndarray, truth: np.ndarray) -> float:
    """The share of rows where two leaves are two regimes, whatever their numbers."""
    return max(float(np.mean(found == truth)), float(np.mean(found != truth)))


@pytest.fixture(scope="module")
def model() -> bt.HMDTRegressor:
    X, y, _ = regimes()
    return bt.HMDTRegressor(depth=1, random_state=0).fit(X, y)


def test_regimes_are_found(model: bt.HMDTRegressor) -> None:
    X, y, regime = regimes(seed=1)
    assert model.method_ == "exact"
    assert agree(model.viterbi(X, y).leaf, regime) > 0.99
    assert agree(model.smooth(X, y).leaf.argmax(axis=1), regime) > 0.99
    assert (model.transitions_[0].diagonal() > 0.9).all()
    assert model.score(X, y) > 0.75
    plain = bt.HMERegressor(depth=1, init="random", n_init=5, random_state=0).fit(*regimes()[:2])
    assert plain.score(X, y) < 0.3
    low, high = model.predict(X, y, kind="predictive_interval").T
    assert 0.86 < np.mean((low < y) & (y < high)) < 0.98


def test_predictions_use_the_past_and_not_the_future(model: bt.HMDTRegressor) -> None:
    X, y, _ = regimes(60, seed=2)
    whole = model.predict(X, y)
    changed = y.copy()
    changed[30:] += 5
    np.testing.assert_array_equal(model.predict(X, changed)[:31], whole[:31])
    assert np.abs(model.predict(X, changed)[31:] - whole[31:]).max() > 0.1
    np.testing.assert_allclose(model.predict(X[:31], y[:31]), whole[:31])
    unseen = model.predict(X)
    assert np.sqrt(np.mean((unseen - y) ** 2)) > 1.5 * np.sqrt(np.mean((whole - y) ** 2))
    # What was never seen and what was not given are one.
    np.testing.assert_array_equal(model.predict(X, np.full(60, np.nan)), unseen)


def test_what_is_known(model: bt.HMDTRegressor) -> None:
    X, y, _ = regimes(50, seed=3)
    y[::2] = np.nan
    ahead, now, after = model.filter(X, y, ahead=True), model.filter(X, y), model.smooth(X, y)
    for known in (ahead, now, after):
        assert known.leaf.shape == (50, 2) and known.decision.shape == (50, 1, 2)
        np.testing.assert_allclose(known.leaf.sum(axis=1), 1)
        np.testing.assert_allclose(known.decision[:, 0], known.leaf)  # one node: its branches are the leaves
    np.testing.assert_allclose(now.leaf[-1], after.leaf[-1])
    assert np.abs(now.leaf - after.leaf).max() > 0.01
    path = model.viterbi(X, y)
    np.testing.assert_array_equal(path.leaf, path.decision[:, 0])


def test_paths_of_deeper_trees() -> None:
    X, y, _ = regimes(120)
    model = bt.HMDTRegressor(depth=2, n_init=1, random_state=0).fit(X, y)
    path = model.viterbi(X, y)
    root, left, right = path.decision.T
    np.testing.assert_array_equal(path.leaf, 2 * root + np.where(root == 0, left, right))
    assert model.transitions_.shape == (3, 2, 2) and model.initial_.shape == (3, 2)
    np.testing.assert_allclose(model.transitions_.sum(axis=2), 1)


def test_sequences_in_every_form() -> None:
    X, y, _ = regimes(90)
    lengths, groups = (40, 1, 49), np.repeat(["b", "c", "a"], (40, 1, 49))
    cuts = np.cumsum(lengths)[:-1]
    options: dict[str, Any] = {"depth": 1, "n_init": 2, "random_state": 0}
    one = bt.HMDTRegressor(**options).fit(X, y, groups)
    several = bt.HMDTRegressor(**options).fit(np.split(X, cuts), np.split(y, cuts))
    assert several.log_likelihood_ == one.log_likelihood_
    frame = pd.DataFrame(X, columns=["u", "v"])
    of_frames = bt.HMDTRegressor(**options).fit([frame[:40], frame[40:41], frame[41:]], np.split(y, cuts))
    assert of_frames.log_likelihood_ == one.log_likelihood_
    assert list(of_frames.feature_names_in_) == ["u", "v"]
    of_polars = bt.HMDTRegressor(**options).fit(pl.DataFrame(frame), pl.Series(y), pl.Series(groups))
    assert of_polars.log_likelihood_ == one.log_likelihood_
    assert bt.HMDTRegressor(**options).fit(X, y).log_likelihood_ != one.log_likelihood_

    found = one.predict(X, y, groups)
    listed = several.predict(np.split(X, cuts), np.split(y, cuts))
    assert [len(each) for each in listed] == list(lengths)
    np.testing.assert_array_equal(np.concatenate(listed), found)
    smooth: Any = several.smooth(np.split(X, cuts))
    assert [each.leaf.shape for each in smooth] == [(n, 2) for n in lengths]
    assert one.log_likelihood(X, y, groups).shape == (3,)
    assert one.log_likelihood(X, y, groups).sum() == pytest.approx(one.log_likelihood_)
    # Sequences know nothing of one another.
    np.testing.assert_allclose(one.predict(X[41:], y[41:]), found[41:])


def test_responses_that_were_not_seen(model: bt.HMDTRegressor) -> None:
    X, y, regime = regimes()
    gaps = y.copy()
    gaps[np.random.default_rng(0).random(300) < 0.3] = np.nan
    some = bt.HMDTRegressor(depth=1, random_state=0).fit(X, gaps)
    assert agree(some.viterbi(X, gaps).leaf, regime) > 0.9
    assert np.isfinite(some.predict(X, gaps)).all()
    assert some.score(X, gaps) > 0.7
    # Whatever stands where nothing was seen, it counts for nothing.
    seen = ~np.isnan(gaps)
    assert some.outputs_.centre[0] == pytest.approx(gaps[seen].mean())
    alone = model.log_likelihood(X[:1], y[:1])
    np.testing.assert_allclose(model.log_likelihood(X[:2], np.array([y[0], np.nan])), alone)


def test_the_likelihood_is_in_the_units_of_the_response(model: bt.HMDTRegressor) -> None:
    X, y, _ = regimes()
    larger = bt.HMDTRegressor(depth=1, random_state=0).fit(X, 10 * y + 3)
    assert larger.log_likelihood_ == pytest.approx(model.log_likelihood_ - 300 * np.log(10))
    assert model.log_likelihood(X, y)[0] == pytest.approx(model.log_likelihood_)
    assert model.objective_[-1] >= model.objective_[0]


def test_a_mean_field_for_deep_trees() -> None:
    X, y, _ = regimes()
    deep = bt.HMDTRegressor(depth=4, n_init=1, epochs=20, random_state=0).fit(X, y)
    assert deep.method_ == "mean_field" and deep.tree_.nodes == 15
    assert (np.diff(deep.objective_) >= -1e-8).all()
    assert deep.score(X, y) > 0.7
    assert deep.viterbi(X, y).decision.shape == (300, 15)
    shallow = bt.HMDTRegressor(depth=2, method="mean_field", random_state=0).fit(X, y)
    bound = shallow.log_likelihood(X, y)[0]
    found = shallow.posterior_
    exact = replace(found, model=replace(found.model, method="exact")).log_likelihood_of(X, y)[0]
    assert bound < exact < bound + 30


def test_classes() -> None:
    X, _, regime = regimes(600)
    y = np.where((X[:, 0] > 0) == (regime == 0), "up", "down").astype(object)
    model = bt.HMDTClassifier(random_state=0).fit(X, y)
    assert list(model.classes_) == ["down", "up"]
    proba = model.predict_proba(X, y)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X, y), model.classes_[proba.argmax(axis=1)])
    assert model.score(X, y) > 0.85 > 0.6 > bt.HMEClassifier(depth=1, random_state=0).fit(X, y).score(X, y)
    y[::7] = None
    gaps = bt.HMDTClassifier(random_state=0).fit(X, y)
    assert gaps.score(X, y) > 0.8
    assert agree(gaps.viterbi(X, y).leaf, regime) > 0.85
    with pytest.raises(bt.InputError, match="'sideways' is no class of the fit"):
        model.predict(X[:2], ["up", "sideways"])


def test_counts_and_several_outputs() -> None:
    X, y, regime = regimes()
    counts = np.random.default_rng(0).poisson(np.where(regime == 0, 2.0, 15.0))
    model = bt.HMDTRegressor(depth=1, expert="poisson", random_state=0).fit(X, counts)
    assert agree(model.viterbi(X, counts).leaf, regime) > 0.97
    both = np.column_stack([y, -3 * y])
    both[5, 1] = np.nan
    model = bt.HMDTRegressor(depth=1, random_state=0).fit(X, both)
    assert model.predict(X, both).shape == (300, 2)
    assert model.predict(X, both, kind="predictive_interval").shape == (300, 2, 2)
    np.testing.assert_allclose(model.predict(X, both)[:, 1], -3 * model.predict(X, both)[:, 0], atol=3)


@pytest.mark.parametrize("init", ["stretches", "random", "cart", "given"])
def test_where_em_begins(init: str) -> None:
    X, y, _ = regimes()
    begin = DecisionTreeRegressor(max_depth=2).fit(X, y) if init == "given" else init
    model = bt.HMDTRegressor(init=begin, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.6
    again = bt.HMDTRegressor(init=begin, random_state=0) if init == "given" else clone(model)
    assert again.fit(X, y).log_likelihood_ == model.log_likelihood_


def test_branching() -> None:
    X, y, _ = regimes()
    model = bt.HMDTRegressor(depth=1, branching=3, n_init=2, random_state=0).fit(X, y)
    assert model.transitions_.shape == (1, 3, 3)
    assert set(model.viterbi(X, y).leaf) <= {0, 1, 2}


def test_the_picture(model: bt.HMDTRegressor) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, y, _ = regimes(80)
    groups = np.repeat([0, 1], 40)
    deep = bt.HMDTRegressor(depth=2, n_init=1, epochs=5, random_state=0).fit(X, y, groups)
    ax: Any = deep.plot_decisions(X, y, groups, sequence=1)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["root", "node 1", "node 2"]
    band = ax.images[0].get_array()
    assert band.shape == (3, 40, 4)
    np.testing.assert_allclose(band[0, :, 3], 1)  # the root is always asked
    np.testing.assert_allclose(band[1, :, 3] + band[2, :, 3], 1 + 0.15)  # of its children one
    path = deep.viterbi(X, y, groups).decision[40:, 0]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), -0.3 + 0.6 * path)
    assert model.plot_decisions(X, y, ax=pyplot.figure().subplots()) is not None
    with pytest.raises(bt.InputError, match="sequence=2: there are 2; choose from 0 to 1"):
        deep.plot_decisions(X, y, groups, sequence=2)
    pyplot.close("all")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"depth": 0}, "depth=0: choose a whole number, 1 or more"),
        ({"expert": "cubic"}, "no expert 'cubic'"),
        ({"method": "guess"}, "no method 'guess'"),
        ({"init": "best"}, "no init 'best'"),
        ({"init": 3}, "init=3 is no decision tree; name an initialisation"),
        ({"method": "exact", "depth": 4}, r"15 nodes of 2 branches have 2\^15 joint states, more than 4,096"),
        ({"ridge": -1}, "ridge=-1: choose 0 or more"),
        ({"n_init": 0}, "n_init=0"),
    ],
    ids=str,
)
def test_bad_options(options: dict[str, Any], said: str) -> None:
    X, y, _ = regimes(40)
    with pytest.raises(bt.InputError, match=said):
        bt.HMDTRegressor(**options).fit(X, y)


def test_bad_sequences(model: bt.HMDTRegressor) -> None:
    X, y, _ = regimes(6)
    fit = bt.HMDTRegressor(depth=1).fit
    cases = [
        ((X, y, [1, 1, 2, 2, 1, 1]), "rows of 1 do not lie together; sort the rows by group"),
        ((X, y, [1, 2]), r"groups has shape \(2,\), and there are 6 rows"),
        ((X, y, [1, 1, 1, np.nan, 2, 2]), "groups: some are missing"),
        (([X[:3], X[3:]], [y[:3]]), "X is a list of 2 sequences and y has 1; give one y for each"),
        (([X[:3], X[3:]], y), "give one y for each"),
        (([X[:3], X[3:]], [y[:3], y[:2]]), "sequence 1: X has 3 rows and y 2; align them"),
        (([X[:6], X[6:]], [y[:6], y[6:]]), "sequence 1 has no rows; leave it out"),
        (([X[:3], X[3:]], [y[:3], y[3:]], [1] * 6), "X is a list of sequences already"),
        ((X, np.full(6, np.nan)), "every value is missing"),
        ((X, None), "requires y"),
    ]
    for given, said in cases:
        with pytest.raises(bt.InputError, match=said):
            fit(*given)
    with pytest.raises(bt.InputError, match="y has 5 rows of 1 response, and X has 6 rows; give 1 response"):
        model.predict(X, y[:5])
    with pytest.raises(bt.InputError, match="must be numbers, not text"):
        model.predict(X, ["a"] * 6)
    with pytest.raises(NotFittedError):
        bt.HMDTRegressor().predict(X)
