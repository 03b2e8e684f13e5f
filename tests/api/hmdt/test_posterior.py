"""Hidden Markov decision trees as a family: designs of sequences, the model, its posterior and what it says."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

import baytree as bt
from baytree.data.response import Task

GENERATOR = np.random.default_rng(3)
X = GENERATOR.normal(size=(120, 2))
REGIME = np.arange(120) // 20 % 2
NUMBER = np.where(REGIME, 4 + 2 * X[:, 0], -1 - X[:, 1]) + 0.2 * GENERATOR.normal(size=120)
NUMBER[7::30] = np.nan
GROUPS = np.repeat(["first", "second"], (50, 70))
RESPONSES: dict[str, Any] = {
    "linear": NUMBER,
    "constant": NUMBER,
    "several": np.column_stack([NUMBER, 1 - 3 * NUMBER]),
    "poisson": GENERATOR.poisson(np.where(REGIME, 2.0, 12.0)).astype(float),
    "gamma": GENERATOR.exponential(np.where(REGIME, 1.0, 9.0)) + 0.01,
    "multinomial": np.where((X[:, 0] > 0) == (REGIME == 0), "up", "down").astype(object),
}
OF_NUMBERS = ("mean", "sd", "draws", "predictive", "predictive_interval")


def design(kind: str = "linear") -> bt.SequenceDesign:
    task: Task = "classification" if kind == "multinomial" else "regression"
    return bt.make_sequence_design(X, RESPONSES[kind], groups=GROUPS, task=task)


def fitted(kind: str = "linear", **options: Any) -> bt.HMDTPosterior:
    expert = "linear" if kind == "several" else kind
    usual: dict[str, Any] = {"depth": 1, "n_init": 2, "epochs": 40, "expert": expert}
    return bt.sample(bt.HMDT(**usual | options), design(kind), seed=5, progress=False)


@pytest.fixture(scope="module")
def posterior() -> bt.HMDTPosterior:
    return fitted()


# ---- designs --------------------------------------------------------------------------------------------------------


def test_a_design_says_what_it_holds() -> None:
    found = design()
    assert (found.rows, found.sequences, int(found.seen.sum())) == (120, 2, 116)
    assert repr(found) == "<SequenceDesign: 2 sequences, 120 rows, response 'y'>"
    lines = found.describe().splitlines()
    assert lines[0] == "2 sequences of 50 to 70 rows; the response was not seen at 4 rows"
    assert lines[1:] == bt.make_linear_design(X[found.seen], NUMBER[found.seen]).describe().splitlines()
    named = bt.make_sequence_design([X[:50], X[50:]], [NUMBER[:50], NUMBER[50:]], names=["u", "v"], target="gas")
    assert (named.names, named.response.name, named.sequences) == (("u", "v"), "gas", 2)


def test_where_sequences_begin_and_what_was_seen_is_part_of_the_data() -> None:
    one = design()
    filled = np.where(np.isnan(NUMBER), one.y, NUMBER)
    others = [
        bt.make_sequence_design(X, NUMBER),
        bt.make_sequence_design(X, filled, groups=GROUPS),
        bt.make_sequence_design(X, NUMBER, groups=np.repeat([0, 1], (51, 69))),
    ]
    assert design().fingerprint() == one.fingerprint()
    assert len({each.fingerprint() for each in (one, *others)}) == 4


def test_designs_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(bt.InputError, match="needs a SequenceDesign, not LinearDesign; make one with make_sequence_de"):
        bt.sample(bt.HMDT(), bt.make_linear_design(X, X[:, 0]))
    for model in (bt.HME(), bt.Subset()):
        with pytest.raises(bt.InputError, match="a linear model needs a LinearDesign, not SequenceDesign"):
            bt.sample(model, design())


# ---- the model ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"depth": 0}, "depth=0: choose a whole number, 1 or more"),
        ({"branching": 1}, "branching=1: choose a whole number, 2 or more"),
        ({"depth": 13}, "8,192 leaves; choose at most 4,096"),
        ({"expert": "cubic"}, "no expert 'cubic'"),
        ({"method": "guess"}, "no method 'guess'"),
        ({"method": "exact", "depth": 4}, r"15 nodes of 2 branches have 2\^15 joint states"),
        ({"init": "grow"}, "no init 'grow'"),
        ({"init": 3}, "init=3 is no decision tree"),
        ({"init": "cart", "branching": 3}, "decision trees have two branches, not 3"),
        ({"ridge": -1}, "ridge=-1: choose 0 or more"),
        ({"tol": "small"}, "tol='small': choose 0 or more"),
        ({"epochs": 0}, "epochs=0"),
        ({"n_init": 0}, "n_init=0"),
    ],
    ids=str,
)
def test_bad_models(options: dict[str, Any], said: str) -> None:
    with pytest.raises(bt.InputError, match=said):
        bt.HMDT(**options)


def test_what_is_left_open_is_chosen_for_the_data() -> None:
    numbers, classes = bt.HMDT().resolve(design()), bt.HMDT().resolve(design("multinomial"))
    assert (numbers.expert, numbers.ridge, numbers.method) == ("linear", 0.1, "exact")
    assert (classes.expert, classes.ridge, classes.method) == ("multinomial", 1.0, "exact")
    assert bt.HMDT(depth=4).resolve(design()).method == "mean_field"
    assert bt.HMDT.from_dict(json.loads(json.dumps(numbers.to_dict()))) == numbers
    assert numbers.describe(design().schema) == (
        "Model: a hidden Markov decision tree of depth 2 with 2 branches, 4 leaves with linear experts; ridge 0.1; "
        "each node remembers its last decision"
    )
    with pytest.raises(bt.InputError, match="expert='gamma' is not for a classification"):
        bt.HMDT(expert="gamma").resolve(design("multinomial"))


def test_a_tree_that_is_given_is_part_of_the_model(tmp_path: Path) -> None:
    seen = design().seen
    given = DecisionTreeRegressor(max_depth=1).fit(X[seen], NUMBER[seen])
    found = fitted(init=given)
    assert found.model.init.levels[0][0] == (given.tree_.feature[0], given.tree_.threshold[0])
    found.save(tmp_path / "given.baytree")
    assert bt.load(tmp_path / "given.baytree").model == found.model


def test_an_estimator_samples_the_model() -> None:
    one = bt.HMDTRegressor(depth=1, n_init=2, epochs=40, random_state=5).fit(X, NUMBER, GROUPS)
    other = fitted(expert="auto")
    assert (one.posterior_.model, one.posterior_.settings) == (other.model, other.settings)
    assert one.posterior_.states == other.states
    np.testing.assert_array_equal(one.posterior_.gates, other.gates)
    np.testing.assert_array_equal(one.predict(X, NUMBER, GROUPS), other.predict(X, y=NUMBER, groups=GROUPS))


def test_columns_that_say_nothing_are_named() -> None:
    constant = np.column_stack([X, np.ones(120)])
    with pytest.warns(UserWarning, match="x2"):
        bt.sample(bt.HMDT(depth=1, epochs=1, n_init=1), bt.make_sequence_design(constant, NUMBER), progress=False)


# ---- the posterior --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", RESPONSES)
@pytest.mark.parametrize("method", ["exact", "mean_field"])
def test_a_file_holds_all_of_it(kind: str, method: str, tmp_path: Path) -> None:
    found = fitted(kind, method=method, epochs=5)
    found.save(tmp_path / "tree.baytree")
    again = bt.load(tmp_path / "tree.baytree")
    assert (again.model, again.settings, again.schema, again.states) == (
        found.model,
        found.settings,
        found.schema,
        found.states,
    )
    assert again.diagnostics() == found.diagnostics()
    assert str(again.summary()) == str(found.summary())
    again.save(tmp_path / "again.baytree")
    for name, values in found.part(0, 0, 1).items():
        np.testing.assert_array_equal(values, again.part(0, 0, 1)[name])
    for each in (again, pickle.loads(pickle.dumps(found)), bt.load(tmp_path / "again.baytree")):
        np.testing.assert_array_equal(
            each.predict(X, y=RESPONSES[kind], groups=GROUPS), found.predict(X, y=RESPONSES[kind], groups=GROUPS)
        )


@pytest.mark.parametrize("kind", RESPONSES)
def test_every_kind_of_prediction(kind: str) -> None:
    found, several = fitted(kind, epochs=5), (2,) if kind in ("several", "multinomial") else ()
    shapes = {
        "mean": (120, *several),
        "sd": (120, *several),
        "draws": (1, 1, 120, *several),
        "predictive": (1, 1, 120, *several) if kind != "multinomial" else (1, 1, 120),
        "predictive_interval": (120, *several, 2),
    }
    kinds = [one for one in OF_NUMBERS if kind != "multinomial" or one in ("mean", "draws", "predictive")]
    given = {"y": RESPONSES[kind], "groups": GROUPS}
    together = found.predict(X, kinds, **given)
    assert {one: values.shape for one, values in together.items()} == {one: shapes[one] for one in kinds}
    parts = [slice(0, 50), slice(50, 120)]
    listed = found.predict([X[part] for part in parts], kinds, y=[RESPONSES[kind][part] for part in parts])
    for one in kinds:
        np.testing.assert_array_equal(together[one], found.predict(X, one, **given))
        axis = 2 if one in ("draws", "predictive") else 0
        assert [each.shape[axis] for each in listed[one]] == [50, 70]
        np.testing.assert_array_equal(np.concatenate(listed[one], axis), together[one])
    np.testing.assert_array_equal(together["draws"][0, 0], together["mean"])


def test_new_responses_are_those_of_the_interval() -> None:
    found = fitted()
    long, y = np.tile(X, (40, 1)), np.tile(NUMBER, 40)
    new = found.predict(long, "predictive", y=y)[0, 0]
    low, high = found.predict(long, "predictive_interval", 0.8, y=y).T
    assert np.mean((low < new) & (new < high)) == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / len(new)))


def test_what_cannot_be_predicted(posterior: bt.HMDTPosterior) -> None:
    with pytest.raises(bt.InputError, match="no kind of prediction 'interval'"):
        posterior.predict(X, "interval")
    with pytest.raises(bt.InputError, match="prob=2: choose a probability"):
        posterior.predict(X, "predictive_interval", 2)
    with pytest.raises(bt.InputError, match="'y' is a number and has no classes"):
        posterior.predict_proba(X)
    with pytest.raises(bt.InputError, match="no kind of prediction 'sd'"):
        fitted("multinomial", epochs=1).predict(X, "sd")
    with pytest.raises(bt.InputError, match="method='exact' has no chains that could go on"):
        bt.extend(posterior, design(), progress=False)
    assert bt.converge(posterior, design()) is posterior


def test_what_it_says_of_sequences(posterior: bt.HMDTPosterior) -> None:
    given = X, NUMBER, GROUPS
    path = posterior.viterbi(*given)
    assert max(np.mean(path.leaf == REGIME), np.mean(path.leaf != REGIME)) > 0.95
    assert posterior.log_likelihood_of(*given).sum() == pytest.approx(posterior.log_likelihood_in_units)
    np.testing.assert_allclose(posterior.filter(*given).leaf.sum(axis=1), 1)
    np.testing.assert_allclose(posterior.transitions.sum(axis=2), 1)
    np.testing.assert_allclose(posterior.lengths, 1 / (1 - posterior.transitions.diagonal(axis1=1, axis2=2)))
    np.testing.assert_allclose(posterior.initial.sum(axis=1), 1)


def test_the_summary(posterior: bt.HMDTPosterior) -> None:
    summary = posterior.summary()
    lines = str(summary).splitlines()
    first, second = (f"{length:,.{1 if length < 10 else 0}f}" for length in posterior.lengths[0])
    assert lines[0] == (
        "hidden Markov decision tree of 'y': 120 rows in 2 sequences (4 without a response), 2 columns, 2 leaves with "
        "linear experts"
    )
    assert lines[1] == f"EM by forward–backward, {posterior.epochs} epochs; seed 5"
    assert lines[2] == f"log-likelihood {posterior.log_likelihood_in_units:,.2f}"
    assert lines[4:6] == [
        "Nodes: how many rows the decision for each branch lasts, where inputs are average",
        f"{first} and {second}",
    ]
    assert lines[6] == f"├─ leaf 1: {posterior.experts()[0]}"
    assert lines[-1].startswith("EM by forward–backward ended by itself after") and summary.agree
    record = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert (record["sequences"], record["seen"], record["agree"]) == (2, 116, True)
    assert record["stays"] == posterior.stays.tolist() and "calibration" not in record["model"]
    short = fitted(method="mean_field", epochs=1).summary()
    assert not short.agree
    assert "log-likelihood at least" in str(short)
    assert short.verdict == "EM under a mean field has not converged after 1 epoch: raise epochs."


def test_diagnostics_know_of_one_tree(posterior: bt.HMDTPosterior) -> None:
    found = posterior.diagnostics()
    assert (found.chains, found.draws, found.log_likelihood.mean) == (1, 1, posterior.log_likelihood[0, 0])
    assert found.predictions is not None and found.predictions.rhat is None
    assert posterior.diagnostics(X[:30]).predictions.rows == 30


@pytest.mark.parametrize("kind", ["linear", "several", "poisson"])
def test_the_likelihood_of_each_row_is_given_those_before(kind: str) -> None:
    found, data = fitted(kind), design(kind)
    rows = found.pointwise_log_likelihood(data)[0, 0]
    assert (rows[~data.seen] == 0).all() and (rows[data.seen] != 0).all()
    assert rows.sum() == pytest.approx(found.log_likelihood_in_units)
    joined = found.pointwise_log_likelihood(replace(data, begin=np.array([0, 120])))[0, 0]
    np.testing.assert_array_equal(joined[:50], rows[:50])
    assert joined[50] != rows[50], "of the second sequence"
    with pytest.raises(bt.InputError, match="needs a SequenceDesign, not LinearDesign"):
        found.pointwise_log_likelihood(data.table)


def test_arviz_leaves_out_what_was_not_seen(posterior: bt.HMDTPosterior) -> None:
    pytest.importorskip("arviz_base")
    data = design()
    tree = posterior.to_datatree(data, predictive=True)
    for group in ("observed_data", "log_likelihood", "posterior_predictive"):
        assert tree[group].coords["row"].to_numpy().tolist() == np.flatnonzero(data.seen).tolist()
    assert np.isfinite(tree.observed_data.y).all()


def test_a_run_is_recorded_where_it_was_asked_for(tmp_path: Path) -> None:
    found = bt.sample(bt.HMDT(depth=1, epochs=2), design(), seed=1, progress=False, checkpoint=tmp_path / "run.baytree")
    np.testing.assert_array_equal(bt.load(tmp_path / "run.baytree").gates, found.gates)
    with pytest.raises(bt.InputError, match="only a chain over single trees can begin at a tree"):
        bt.sample(bt.HMDT(depth=1, epochs=2), design(), init={"leaf": True})
