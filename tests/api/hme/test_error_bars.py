"""Mixtures of experts with error bars: mean fields, and the normal approximation after EM, as a person meets them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree.hme.data.outputs import design_of_outputs


def bent(rows: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A line that changes its slope at 0: inputs, responses and what they are without noise."""
    generator = np.random.default_rng(seed)
    X = generator.uniform(-2, 2, size=(rows, 2))
    truth = np.where(X[:, 0] > 0, 10 + 3 * X[:, 0], 10 - X[:, 0])
    return X, truth + 0.2 * generator.normal(size=rows), truth


X, Y, TRUTH = bent()


@pytest.fixture(scope="module")
def field() -> Any:
    return bt.HMERegressor(depth=2, method="variational", random_state=1).fit(X, Y)


@pytest.fixture(scope="module")
def after_em() -> Any:
    return bt.HMERegressor(depth=1, random_state=1).fit(X, Y)


def test_a_mean_field_shuts_what_nothing_needs(field: Any) -> None:
    assert field.live_leaves_.sum() == 2
    assert (field.responsibilities(X)[:, ~field.live_leaves_] == 0).all()
    assert (np.diff(field.objective_) > -1e-9 * np.abs(field.objective_[1:])).all()
    assert field.bound_ == field.objective_[-1] > field.objective_[0]
    words = str(field.posterior_.summary())
    assert "2 leaves are live" in words and words.count("shut") == 2


def test_a_mean_field_predicts(field: Any) -> None:
    new, _, truth = bent(seed=1)
    assert np.sqrt(np.mean((field.predict(new) - truth) ** 2)) < 0.15
    drawn = field.predict(new, kind="draws")
    assert drawn.shape == (1, 1000, 300)
    np.testing.assert_allclose(drawn.mean(axis=(0, 1)), field.predict(new))
    low, high = field.predict(new, kind="interval", prob=0.95).T
    assert 0.85 < ((low < truth) & (truth < high)).mean() <= 1
    assert (high - low).mean() < 0.4


def test_a_mean_field_in_a_file(field: Any, tmp_path: Path) -> None:
    posterior = field.posterior_
    posterior.save(tmp_path / "field.baytree")
    again = bt.load(tmp_path / "field.baytree")
    np.testing.assert_array_equal(again.live_leaves, posterior.live_leaves)
    np.testing.assert_array_equal(again.predict(X, "interval"), posterior.predict(X, "interval"))
    assert again.objective == posterior.objective
    np.testing.assert_array_equal(again.tree().gates[0], field.tree_.gates[0])


@pytest.mark.parametrize("damage", [{"centre": {"gates": [0.0]}}, {"live": [True]}, {"live": [False] * 4}])
def test_a_damaged_field(field: Any, damage: dict[str, Any]) -> None:
    posterior = field.posterior_
    with pytest.raises(bt.InputError, match=r"of the draws are damaged|which leaves there are"):
        replace(posterior, states=(posterior.states[0] | damage,)).check()
    assert posterior.check() is posterior


def test_a_mean_field_by_sample() -> None:
    design = design_of_outputs(X, Y, "regression", None, None)
    posterior = bt.sample(bt.HME(depth=1, method="variational"), design, draws=30, seed=2, progress=False)
    assert (posterior.chains, posterior.draws) == (1, 30)
    same = bt.sample(bt.HME(depth=1, method="variational"), design, draws=30, seed=2, progress=False)
    np.testing.assert_array_equal(posterior.gates, same.gates)


def test_a_mean_field_for_classes() -> None:
    data = bt.datasets.load("kyphosis")
    model = bt.HMEClassifier(depth=1, method="variational", random_state=0).fit(data.X, data.y)
    low, high = np.moveaxis(model.predict_proba(data.X, kind="interval"), -1, 0)
    share = model.predict_proba(data.X)
    assert ((low < share) & (share < high)).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"expert": "poisson"}, "method='variational' is not for poisson experts; choose 'em'"),
        ({"early_stopping": True}, "early_stopping: a mean field learns from all rows"),
        ({"ridge": 0}, "ridge=0: a mean field learns from all rows, under a prior"),
    ],
)
def test_what_a_mean_field_cannot_do(options: dict[str, Any], words: str) -> None:
    with pytest.raises(bt.InputError, match=words):
        bt.HMERegressor(method="variational", **options).fit(X, np.abs(np.round(Y)))


def test_intervals_after_em(after_em: Any) -> None:
    """Computed when they are first asked for, by the normal approximation at the mode."""
    assert vars(after_em)["_around_mode"] is None and after_em.bound_ is None
    low, high = after_em.predict(X, kind="interval", prob=0.95).T
    once = after_em._around_mode
    after_em.predict(X[:5], kind="interval")
    assert after_em._around_mode is once and once.draws == 1000
    assert 0.85 < ((low < TRUTH) & (high > TRUTH)).mean() <= 1
    np.testing.assert_allclose(np.sqrt(np.mean((after_em.predict(X) - TRUTH) ** 2)), 0, atol=0.15)
    assert ((low < after_em.predict(X)) & (after_em.predict(X) < high)).mean() > 0.9


def test_the_normal_approximation_of_a_posterior(after_em: Any) -> None:
    design = design_of_outputs(X, Y, "regression", None, None)
    inputs = after_em.inputs_.matrix(X)
    drawn = after_em.posterior_.normal_approximation(design, draws=200)
    assert drawn.predict(X, "draws").shape == (1, 200, 300)
    assert (drawn.variance > 0).all()
    # EM went on from the fit to the mode, which is near.
    np.testing.assert_allclose(drawn.tree().means(inputs), after_em.tree_.means(inputs), atol=0.05)
    with pytest.raises(bt.InputError, match="not the data that the tree was fitted to"):
        after_em.posterior_.normal_approximation(design_of_outputs(X, Y + 1, "regression", None, None))


@pytest.mark.parametrize("options", [{"method": "em2"}, {"method": "online", "epochs": 1}])
def test_methods_without_error_bars(options: dict[str, Any]) -> None:
    model = bt.HMERegressor(depth=1, random_state=0, **options).fit(X, Y)
    with pytest.raises(bt.InputError, match="found one tree, which has no error bars"):
        model.predict(X, kind="interval")


def test_early_stopping_has_no_mode() -> None:
    model = bt.HMERegressor(depth=1, early_stopping=True, random_state=0).fit(X, Y)
    with pytest.raises(bt.InputError, match="early_stopping does not end at a mode"):
        model.predict(X, kind="interval")


def test_gibbs() -> None:
    model = bt.HMERegressor(depth=1, method="gibbs", chains=2, warmup=300, draws=200, random_state=1).fit(X, Y)
    new, responses, truth = bent(1000, seed=1)
    assert np.sqrt(np.mean((model.predict(new) - truth) ** 2)) < 0.15
    drawn = model.predict(new, kind="draws")
    assert drawn.shape == (2, 200, 1000)
    np.testing.assert_allclose(drawn.mean(axis=(0, 1)), model.predict(new))
    low, high = model.predict(new, kind="interval", prob=0.95).T
    assert 0.85 < ((low < truth) & (truth < high)).mean() <= 1
    assert (high - low).mean() < 0.4
    low, high = model.predict(new, kind="predictive_interval").T
    assert 0.85 < ((low < responses) & (responses < high)).mean() < 0.95
    assert model.tree_.leaves == 2 and len(model.posterior_.states) == 2 and model.posterior_.has_chains
    assert model.objective_ == () and model.live_leaves_.all()
    np.testing.assert_allclose(model.responsibilities(new).sum(axis=1), 1)


def test_gibbs_begins_where_it_is_told() -> None:
    """At the splits of a decision tree all chains begin alike, at random each at its own."""
    design = design_of_outputs(X, Y, "regression", None, None)
    for init, alike in (("cart", True), ("random", False)):
        model = bt.HME(depth=1, method="gibbs", init=init).resolve(design)
        first, other = (model.state_of(chain)["rungs"][0]["gates"] for chain in model.chains(design, 1, 2))
        assert (first == other) == alike


def test_gibbs_for_classes() -> None:
    generator = np.random.default_rng(3)
    rows = generator.normal(size=(200, 2))
    y = np.where(rows[:, 0] + 0.5 * generator.normal(size=200) > 0, "yes", "no")
    options: dict[str, Any] = {"chains": 2, "warmup": 50, "draws": 50, "random_state": 0}
    model = bt.HMEClassifier(depth=1, method="gibbs", ridge=0.5, **options).fit(rows, y)
    low, high = np.moveaxis(model.predict_proba(rows, kind="interval"), -1, 0)
    share = model.predict_proba(rows)
    assert ((low <= share) & (share <= high)).mean() > 0.99 and model.score(rows, y) > 0.8
    with pytest.raises(bt.InputError, match="method='gibbs' takes no weights; choose 'em', or repeat the rows"):
        model.fit(rows, y, sample_weight=np.arange(1, 201))


def test_the_noise_of_gibbs_is_in_the_units_of_the_response() -> None:
    """A prior that outweighs the rows says what the noise is."""
    design = design_of_outputs(X, Y, "regression", None, None)
    model = bt.HME(depth=0, method="gibbs", nu=1e6, scale=9.0)
    posterior = bt.sample(model, design, draws=20, warmup=5, chains=1, seed=1, progress=False)
    np.testing.assert_allclose(np.sqrt(posterior.variance) * posterior.outputs.scale, 3.0, rtol=0.02)
