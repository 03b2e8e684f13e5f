"""Soft trees as a person meets them: estimators for numbers, counts, times and classes, and inputs of every kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor

import baytree as bt
from baytree.hme.tree.splits import Splits


def bent(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A line that changes its slope at 0, with noise of 0.1 to the left and 0.3 to the right."""
    generator = np.random.default_rng(seed)
    X = generator.uniform(-2, 2, size=(rows, 2))
    right = X[:, 0] > 0
    y = np.where(right, 10 + 3 * X[:, 0], 10 - X[:, 0])
    return X, y + np.where(right, 0.3, 0.1) * generator.normal(size=rows)


@pytest.mark.parametrize("method", ["em", "em2", "online"])
@pytest.mark.parametrize("init", ["cart", "random"])
def test_a_bent_line(method: str, init: str) -> None:
    X, y = bent(600)
    epochs = 5 if method == "online" else 100
    model = bt.HMERegressor(depth=1, method=method, init=init, epochs=epochs, random_state=1).fit(X, y)
    new, truth = bent(1000, seed=1)
    assert np.sqrt(np.mean((model.predict(new) - truth) ** 2)) < 0.4
    if method == "em":
        sd = model.predict(np.array([[-1.0, 0], [1.0, 0]]), kind="sd")
        np.testing.assert_allclose(sd, [0.1, 0.3], rtol=0.25)
        low, high = model.predict(new, kind="predictive_interval", prob=0.9).T
        assert 0.85 < ((low < truth) & (truth < high)).mean() < 0.95
    share = model.responsibilities(new)
    assert share.shape == (1000, 2)
    np.testing.assert_allclose(share.sum(axis=1), 1)


def test_several_outputs() -> None:
    X, y = bent(400)
    model = bt.HMERegressor(depth=1, random_state=0).fit(X, np.column_stack([y, -5 * y]))
    assert model.predict(X).shape == (400, 2)
    assert model.predict(X, kind="predictive_interval").shape == (400, 2, 2)
    np.testing.assert_allclose(model.predict(X)[:, 1], -5 * model.predict(X)[:, 0], atol=1.5)


def test_a_tree_that_is_given() -> None:
    X, y = bent(400)
    hard = DecisionTreeRegressor(max_depth=1).fit(X, y)
    model = bt.HMERegressor(depth=1, init=hard, random_state=0).fit(X, y)
    assert np.sqrt(np.mean((model.predict(X) - y) ** 2)) < 0.4
    with pytest.raises(bt.InputError, match="the tree was fitted to 1 column"):
        bt.HMERegressor(depth=1, init=DecisionTreeRegressor().fit(X[:, :1], y)).fit(X, y)


def test_the_best_tree_of_a_posterior() -> None:
    X, y = bent(400)
    posterior = bt.sample(
        bt.CART(), bt.make_design(X, y, task="regression"), warmup=200, draws=100, chains=2, seed=1, progress=False
    )
    best = posterior.best_tree()
    estimator = bt.CARTRegressor(warmup=200, draws=100, chains=2, random_state=1).fit(X, y)
    for given, tree in ((posterior, best), (best, best), (estimator, estimator.posterior_.best_tree())):
        splits = Splits.of(given, 2)
        root = tree.rules[0]
        cut = tree.schema.columns[root.feature].cuts[root.cut]
        assert splits.levels[0] == ((root.feature, cut),)
        model = bt.HMERegressor(depth=2, init=given, epochs=1, random_state=0).fit(X, y)
        assert model.score(X, y) > 0.8


def test_trees_of_other_columns_are_refused() -> None:
    X, y = bent(200)
    settings: dict[str, Any] = {"warmup": 100, "draws": 20, "chains": 1, "seed": 1, "progress": False}
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    given = bt.sample(bt.CART(), bt.make_design(frame, y, task="regression"), **settings)
    with pytest.raises(bt.InputError, match="the tree is for the columns a and b, and the inputs are b and a"):
        bt.HMERegressor(depth=1, init=given).fit(frame[["b", "a"]], y)
    sides = pd.DataFrame({"side": np.where(X[:, 0] > 0, "right", "left"), "b": X[:, 1]})
    by_side = bt.sample(bt.CART(), bt.make_design(sides, y, task="regression"), **settings)
    with pytest.raises(bt.InputError, match="give one with cuts of numbers alone"):
        bt.HMERegressor(depth=1, init=by_side).fit(sides, y)


def test_rules_of_a_tree_stand_where_they_are_asked() -> None:
    """Against scikit-learn's reading: every row goes the same way in both."""
    X, y = bent(300, seed=4)
    posterior = bt.sample(
        bt.CART(), bt.make_design(X, y, task="regression"), warmup=300, draws=20, chains=1, seed=3, progress=False
    )
    tree = posterior.best_tree()
    assert tree.depth > 2
    levels = Splits.of(tree, tree.depth).levels
    leaf = np.zeros(len(X), dtype=int)
    for level in levels:
        for row in range(len(X)):
            rule = level[leaf[row]]
            leaf[row] = 2 * leaf[row] + (rule is not None and X[row, rule[0]] > rule[1])
    counts = sorted(np.unique(leaf, return_counts=True)[1].tolist())
    assert counts == sorted(rows for rows, rule in zip(tree.rows, tree.rules, strict=True) if rule is None)


@pytest.mark.parametrize("method", ["em", "em2"])
def test_gates_keep_to_their_columns(method: str) -> None:
    X, y = bent(400)
    X = np.column_stack([X, np.random.default_rng(1).normal(size=(400, 2))])
    kept = bt.HMERegressor(depth=2, method=method, keep_columns=True, random_state=0).fit(X, y)
    free = bt.HMERegressor(depth=2, method=method, random_state=0).fit(X, y)
    for gates in kept.tree_.gates:
        assert (np.count_nonzero(gates[:, 0, :-1], axis=1) <= 1).all()
    assert np.count_nonzero(free.tree_.gates[0][0, 0, :-1]) == 4
    begun = bt.HMERegressor(depth=2, method=method, keep_columns=True, epochs=1, random_state=0).fit(X, y)
    assert np.abs(kept.tree_.gates[0] - begun.tree_.gates[0]).max() > 0.01
    assert kept.score(X, y) > 0.9
    if method == "em":
        assert (np.diff(kept.objective_) >= -1e-9 * np.abs(kept.objective_[1:])).all()
        with pytest.raises(bt.InputError, match="keep_columns does not end at a mode"):
            kept.predict(X, kind="interval")


def test_a_tree_that_grows() -> None:
    X, y = bent(400)
    grown = bt.HMERegressor(depth=3, init="grow", random_state=0).fit(X, y)
    assert grown.tree_.depth == 3
    small = bt.HMERegressor(depth=1, init="random", random_state=0).fit(X, y)
    assert grown.objective_[0] > small.objective_[0]
    assert grown.score(X, y) > 0.95
    wide = bt.HMERegressor(depth=2, branching=3, init="grow", random_state=0).fit(X, y)
    assert wide.tree_.leaves == 9


def test_counts_and_times() -> None:
    generator = np.random.default_rng(2)
    X = generator.uniform(-1, 1, size=(800, 1))
    mean = np.exp(np.where(X[:, 0] > 0, 2.0, 0.5))
    for expert, y in (("poisson", generator.poisson(mean)), ("gamma", generator.exponential(mean))):
        model = bt.HMERegressor(depth=1, expert=expert, random_state=0).fit(X, y)
        new = np.array([[-0.7], [0.7]])
        np.testing.assert_allclose(model.predict(new), np.exp([0.5, 2.0]), rtol=0.2)
        low, high = model.predict(X, kind="predictive_interval", prob=0.8).T
        assert 0.75 < ((low <= y) & (y <= high)).mean() < 0.97
    with pytest.raises(bt.InputError, match="expert='poisson' is for counts, and the response has -1"):
        bt.HMERegressor(expert="poisson").fit(X, np.r_[-1, np.ones(799)])
    with pytest.raises(bt.InputError, match="expert='gamma' is for positive numbers"):
        bt.HMERegressor(expert="gamma").fit(X, np.r_[0, np.ones(799)])


def test_classes() -> None:
    generator = np.random.default_rng(3)
    X = generator.normal(size=(500, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")  # no line divides them
    model = bt.HMEClassifier(depth=2, ridge=0.1, n_init=3, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert bt.HMEClassifier(depth=0, random_state=0).fit(X, y).score(X, y) < 0.7
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    assert bt.HMEClassifier(depth=1, ridge=0.1, random_state=0).fit(X, three).predict_proba(X).shape == (500, 3)
    with pytest.raises(bt.InputError, match="expert='logistic' is for two classes, and y has 3"):
        bt.HMEClassifier(expert="logistic").fit(X, three)


def test_early_stopping() -> None:
    X, y = bent(200)
    y = y + np.random.default_rng(0).normal(size=200)
    model = bt.HMERegressor(depth=4, ridge=1e-6, early_stopping=True, n_iter_no_change=3, random_state=0).fit(X, y)
    assert model.n_iter_ < 100
    assert len(model.held_out_) == model.n_iter_ + 1
    assert max(model.held_out_) > model.held_out_[-1]


def test_rows_that_come_later() -> None:
    X, y = bent(3000)
    model = bt.HMERegressor(depth=1, random_state=0)
    for begin in range(0, 3000, 500):
        model.partial_fit(X[begin : begin + 500], y[begin : begin + 500])
    new, truth = bent(1000, seed=1)
    assert np.sqrt(np.mean((model.predict(new) - truth) ** 2)) < 0.4


@pytest.mark.parametrize("expert", ["linear", "poisson", "gamma"])
def test_rows_that_come_after_a_file(expert: str, tmp_path: Path) -> None:
    X, y = bent(300)
    y = y.round() if expert == "poisson" else y
    going_on = bt.HMERegressor(depth=2, expert=expert, random_state=0).partial_fit(X[:200], y[:200])
    loaded = clone(going_on).partial_fit(X[:200], y[:200])
    loaded.posterior_.save(tmp_path / "rows.baytree")
    loaded.posterior_ = bt.load(tmp_path / "rows.baytree")
    for model in (going_on, loaded):
        model.partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(loaded.predict(X), going_on.predict(X))


@pytest.mark.parametrize("method", ["em", "em2", "online", "variational", "gibbs"])
def test_an_estimator_samples_its_model(method: str) -> None:
    X, y = bent(200)
    options: dict[str, Any] = {"method": method, "depth": 1, "epochs": 3}
    run: dict[str, Any] = {"warmup": 10, "draws": 5, "chains": 2}
    estimator = bt.HMERegressor(**options, **run, random_state=4).fit(X, y)
    posterior = bt.sample(bt.HME(**options), bt.make_linear_design(X, y), **run, seed=4, progress=False)
    assert (estimator.posterior_.model, estimator.posterior_.settings) == (posterior.model, posterior.settings)
    np.testing.assert_array_equal(estimator.posterior_.gates, posterior.gates)


def test_classes_that_come_later() -> None:
    generator = np.random.default_rng(5)
    X = generator.normal(size=(3000, 2))
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = bt.HMEClassifier(depth=1, random_state=0)
    first = np.flatnonzero(y != "high")[:200]
    model.partial_fit(X[first], y[first], classes=["high", "low", "middle"])
    assert (model.predict(X) == "high").mean() < 0.02
    for begin in range(0, 3000, 1000):
        model.partial_fit(X[begin : begin + 1000], y[begin : begin + 1000])
    assert model.classes_.tolist() == ["high", "low", "middle"]
    assert model.score(X, y) > 0.9
    with pytest.raises(bt.InputError, match="'other' is no class of the fit"):
        model.partial_fit(X[:2], ["low", "other"])


@pytest.mark.parametrize("expert", ["linear", "constant", "poisson", "gamma"])
def test_weights_of_rows_one_by_one(expert: str) -> None:
    """Rows of weight 0 are not learned; else weights change what is."""
    X, y = bent(400)
    y = y.round() if expert == "poisson" else y
    weight = np.where(np.arange(400) < 300, 1.0, 0.0)
    make: dict[str, Any] = {"depth": 1, "expert": expert, "random_state": 0}
    begun = bt.HMERegressor(**make).partial_fit(X, y)
    some = bt.HMERegressor(**make).partial_fit(X[:300], y[:300])
    np.testing.assert_allclose(bt.HMERegressor(**make).partial_fit(X, y, weight).predict(X), some.predict(X))
    before = begun.predict(X)
    np.testing.assert_allclose(begun.partial_fit(X, y, np.zeros(400)).predict(X), before)
    assert not np.allclose(begun.partial_fit(X, y, np.full(400, 0.5)).predict(X), before)


def test_factors_and_missing_values() -> None:
    X, y = bent(300)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "colour": np.where(X[:, 1] > 0, "red", "blue")})
    frame.loc[::10, "a"] = np.nan
    model = bt.HMERegressor(depth=1, random_state=0).fit(frame, y + (X[:, 1] > 0))
    assert model.inputs_.names == ("a", "a missing", "b", "colour=red")
    assert np.isfinite(model.predict(frame)).all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"expert": "cubic"}, "no expert 'cubic'"),
        ({"method": "guess"}, "no method 'guess'"),
        ({"init": "best"}, "no init 'best'"),
        ({"init": 3}, "init=3 is no decision tree; name an initialisation"),
        ({"branching": 3, "init": "cart"}, "decision trees have two branches, not 3"),
        ({"keep_columns": 1}, "keep_columns=1: choose True or False"),
        ({"keep_columns": True, "init": "random"}, "keep_columns: init='random' has no columns to keep"),
        ({"keep_columns": True, "method": "online"}, "keep_columns: method='online' has no columns to keep"),
        ({"depth": 20}, "1,048,576 leaves; choose at most 4,096"),
        ({"ridge": -1}, "ridge=-1: choose 0 or more"),
        ({"decay": 0}, "decay=0: choose a number from 0.5 to 1"),
        ({"epochs": 0}, "epochs"),
        ({"method": "gibbs", "expert": "poisson"}, "method='gibbs' is not for poisson experts; choose 'em'"),
        ({"method": "gibbs", "ridge": 0}, "ridge=0: chains learn from all rows, under a prior"),
        ({"method": "gibbs", "early_stopping": True}, "early_stopping: chains learn from all rows"),
        ({"nu": 0}, "nu=0: choose 0.1 or more"),
        ({"scale": 0}, "scale=0: choose a positive number, or 'auto'"),
        ({"scale": ()}, r"scale=\(\): choose a positive number, or 'auto'"),
        ({"method": "gibbs", "scale": (1.0, 2.0)}, r"scale=\(1.0, 2.0\): give one number"),
        ({"draws": 0}, "draws=0: choose a whole number, 1 or more"),
        ({"method": "gibbs", "chains": 0}, "chains=0: choose a whole number, 1 or more"),
    ],
    ids=str,
)
def test_bad_options(options: dict[str, Any], said: str) -> None:
    X, y = bent(50)
    with pytest.raises(bt.InputError, match=said):
        bt.HMERegressor(**options).fit(X, np.abs(y).round())


def test_the_scale_that_was_chosen_is_told(tmp_path: Path) -> None:
    """In the squared unit of each response; to give it is to choose it."""
    X, y = bent(60)
    both = np.column_stack([y, 5 - 100 * y])
    run: dict[str, Any] = {"depth": 1, "method": "gibbs", "chains": 1, "warmup": 5, "draws": 5, "random_state": 0}
    one, two = bt.HMERegressor(**run).fit(X, y).posterior_, bt.HMERegressor(**run).fit(X, both).posterior_
    assert isinstance(one.model.scale, float)
    assert one.model.scale == pytest.approx(0.03 * y.var())
    assert two.model.scale == pytest.approx((one.model.scale, 1e4 * one.model.scale))
    assert f"scale = {one.model.scale:.4g}" in one.model.describe(one.schema)
    for chosen, responses in ((one, y), (two, both)):
        again = bt.HMERegressor(**run, scale=chosen.model.scale).fit(X, responses).posterior_
        assert np.array_equal(again.variance, chosen.variance)
        chosen.save(tmp_path / "m.baytree")
        assert bt.load(tmp_path / "m.baytree").model == chosen.model
