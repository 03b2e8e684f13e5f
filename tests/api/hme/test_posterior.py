"""Posteriors of mixtures of experts: the same draws by hand, predictions of every kind, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.tree import DecisionTreeRegressor

import baytree as bt
from baytree.hme.posterior import HMEPosterior
from baytree.hme.prediction import new_outputs
from baytree.hme.tree.experts import Gaussian
from baytree.hme.tree.layout import Layout
from baytree.hme.tree.soft_tree import SoftTree

GENERATOR = np.random.default_rng(5)
X = GENERATOR.normal(size=(90, 3))
NUMBER = np.where(X[:, 0] > 0, 2 + X[:, 1], -1 - 2 * X[:, 1]) + 0.2 * GENERATOR.normal(size=90)
RESPONSES: dict[str, Any] = {
    "linear": NUMBER,
    "constant": NUMBER,
    "several": np.column_stack([NUMBER, -3 * NUMBER + 1]),
    "poisson": GENERATOR.poisson(np.exp(X[:, 0])).astype(float),
    "gamma": GENERATOR.exponential(np.exp(X[:, 0])) + 0.01,
    "logistic": np.where(X[:, 0] * X[:, 1] > 0, "same", "other"),
    "multinomial": np.digitize(X[:, 0], [-0.5, 0.5]),
}
OF_CLASSES = ("logistic", "multinomial")


def fitted(kind: str, **options: Any) -> HMEPosterior:
    """The posterior of one tree."""
    expert = "linear" if kind == "several" else kind
    estimator = bt.HMEClassifier if kind in OF_CLASSES else bt.HMERegressor
    return estimator(depth=2, expert=expert, random_state=1, **options).fit(X, RESPONSES[kind]).posterior_


def drawn(kind: str, chains: int = 2, draws: int = 30) -> HMEPosterior:
    """A posterior of many trees: that of one, its numbers shaken."""
    one = fitted(kind)
    generator = np.random.default_rng(7)
    parts = []
    for _ in range(chains):
        part = {}
        for name, values in one.part(0, 0, 1).items():
            many = np.repeat(values, draws, axis=0)
            noise = generator.normal(size=many.shape) * 0.2
            part[name] = many * np.exp(noise) if name == "variance" else many + noise
        parts.append([part])
    settings = one.settings.__class__(**{**vars(one.settings), "chains": chains, "draws": draws})
    return HMEPosterior.from_parts(one.model, one.schema, settings, parts, [one.states[0]] * chains, one.monitored)


def by_hand(posterior: HMEPosterior, tree: SoftTree, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P(leaf | x) and E(y | x, leaf), by loops over the flat arrays in the order that the documentation gives."""
    model, found = posterior.model, posterior.model.calibrated
    x = np.append((row[list(found.kept)] - found.centre) / found.scale, 1.0)
    p, b = len(x), model.branching
    flat = model.layout.packed(tree)
    gates, coefficients = list(flat["gates"]), list(flat["coefficients"])
    paths = [1.0]
    for level in range(model.depth):
        below = []
        for node in range(b**level):
            scores = [sum(gates.pop(0) * x[column] for column in range(p)) for _ in range(b - 1)] + [0.0]
            shares = np.exp(scores) / np.exp(scores).sum()
            below += [paths[node] * share for share in shares]
        paths = below
    outputs, means = len(found.output_centre), []
    for _ in range(model.leaves):
        if model.expert in OF_CLASSES:
            scores = [sum(coefficients.pop(0) * x[column] for column in range(p)) for _ in range(outputs - 1)] + [0.0]
            means.append(np.exp(scores) / np.exp(scores).sum())
            continue
        seen = x[-1:] if model.expert == "constant" else x
        value = np.zeros(outputs)
        for one in seen:
            for output in range(outputs):
                value[output] += coefficients.pop(0) * one
        means.append(np.exp(value) if model.expert in ("poisson", "gamma") else value)
    assert not gates and not coefficients
    return np.array(paths), np.array(means) * found.output_scale + found.output_centre


@pytest.mark.parametrize("kind", RESPONSES)
def test_predictions_by_hand(kind: str) -> None:
    posterior = drawn(kind)
    rows = X[:4]
    means = np.empty((2, 30, 4, len(posterior.model.calibrated.output_centre)))
    for chain in range(2):
        for draw in range(30):
            tree = posterior.tree(chain, draw)
            for at, row in enumerate(rows):
                share, of_leaf = by_hand(posterior, tree, row)
                means[chain, draw, at] = share @ of_leaf
    assert np.allclose(posterior.responsibilities(rows, 1, 29)[3], share)
    if kind not in (*OF_CLASSES, "several"):
        means = means[..., 0]
    assert np.allclose(posterior.predict(rows, "draws"), means)
    assert np.allclose(posterior.predict(rows), means.mean(axis=(0, 1)))
    ends = np.moveaxis(np.quantile(means, [0.1, 0.9], axis=(0, 1)), 0, -1)
    assert np.allclose(posterior.predict(rows, "interval", 0.8), ends)


@pytest.mark.parametrize("kind", RESPONSES)
def test_predictions_do_not_depend_on_the_blocks(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    posterior = drawn(kind)
    kinds = ["mean", "interval", "draws", "predictive"]
    kinds += [] if kind in OF_CLASSES else ["sd", "predictive_interval"]
    whole = {one: posterior.predict(X, one) for one in kinds}
    monkeypatch.setattr("baytree.posterior.prediction.BLOCK_NUMBERS", 7 * 60 * 4)
    for one in kinds:
        assert np.allclose(posterior.predict(X, one), whole[one], rtol=1e-12), one


def test_new_outputs_are_of_the_mixture() -> None:
    for kind in RESPONSES:
        posterior = fitted(kind)
        tree, rows = posterior.tree(), 20_000
        tree = SoftTree(tuple(0.1 * gates for gates in tree.gates), tree.experts)  # so that all leaves count
        inputs = np.repeat(posterior.inputs.matrix(X[:1]), rows, axis=0)
        normal = np.random.default_rng(3).normal(size=(rows, 1 + len(posterior.model.calibrated.output_centre)))
        found = new_outputs(tree.at(inputs), normal)
        share, of_leaf = np.exp(tree.log_paths(inputs[:1]))[:, 0], tree.experts.means(inputs[:1])[:, 0]
        expected, sd = share @ of_leaf, np.sqrt(tree.variances(inputs[:1])[0])
        if kind in OF_CLASSES:
            found = np.eye(len(expected))[found]
        assert (np.abs(found.mean(axis=0) - expected) < 4 * sd / np.sqrt(rows)).all(), kind
        wrong = of_leaf[share.argmax()]  # always the likeliest leaf
        assert (np.abs(wrong - expected) > 4 * sd / np.sqrt(rows)).any(), kind


def test_the_interval_of_one_tree_is_exact() -> None:
    posterior = fitted("linear")
    assert posterior.settings.draws == 1
    low, high = posterior.predict(X[:1], "predictive_interval", prob=0.8)[0]
    tree, inputs = posterior.tree(), posterior.inputs.matrix(X[:1])
    assert isinstance(tree.experts, Gaussian)
    share, means = np.exp(tree.log_paths(inputs))[:, 0], tree.experts.means(inputs)[:, 0, 0]
    sd, unit = np.sqrt(tree.experts.variance[:, 0]), posterior.outputs
    for value, prob in ((low, 0.1), (high, 0.9)):
        z = (value - unit.centre[0]) / unit.scale[0]
        assert share @ stats.norm.cdf((z - means) / sd) == pytest.approx(prob, abs=1e-9)
    with pytest.raises(bt.InputError, match="method='em' found one tree, which has no error bars"):
        posterior.predict(X, "interval")


def test_layouts_are_undone() -> None:
    for kind in RESPONSES:
        posterior = fitted(kind)
        layout, tree = posterior.model.layout, posterior.tree()
        assert isinstance(layout, Layout)
        again = layout.tree(layout.packed(tree))
        assert all(np.array_equal(a, b) for a, b in zip(tree.gates, again.gates, strict=True))
        assert np.array_equal(tree.experts.coefficients, again.experts.coefficients)
        inputs, outputs = posterior.inputs.matrix(X), posterior.outputs
        y = RESPONSES[kind]
        y = np.eye(len(np.unique(y)))[np.unique(y, return_inverse=True)[1]] if kind in OF_CLASSES else y.reshape(90, -1)
        total = again.log_likelihood(inputs, outputs.standard(y)).sum()
        assert total == pytest.approx(posterior.log_likelihood[0, 0], rel=1e-12)


def test_a_model_and_a_design() -> None:
    design = bt.make_linear_design(X, RESPONSES["multinomial"], task="classification")
    posterior = bt.sample(bt.HME(depth=1), design, seed=1)
    assert (posterior.model.expert, posterior.model.init, posterior.model.ridge) == ("multinomial", "random", 5.0)
    assert posterior.predict_proba(X).shape == (90, 3)
    assert bt.HME.from_dict(posterior.model.to_dict()) == posterior.model
    assert (posterior.chains, posterior.draws) == (1, 1)
    numbers = bt.make_linear_design(X, NUMBER)
    posterior = bt.sample(bt.HME(depth=1), numbers, seed=1)
    assert (posterior.model.expert, posterior.model.init, posterior.model.ridge) == ("linear", "cart", 0.1)
    assert posterior.objective[-1] == pytest.approx((posterior.log_likelihood + posterior.log_prior)[0, 0])
    with pytest.raises(bt.InputError, match="'y' is a number and has no classes"):
        posterior.predict_proba(X)
    with pytest.raises(bt.InputError, match="method='em' has no chains"):
        bt.extend(posterior, numbers)
    assert bt.converge(posterior, numbers) is posterior


def test_a_given_tree_is_kept_in_the_file(tmp_path: Path) -> None:
    hard = DecisionTreeRegressor(max_depth=1).fit(X, NUMBER)
    posterior = bt.sample(bt.HME(depth=2, init=hard), bt.make_linear_design(X, NUMBER), seed=1)
    posterior.save(tmp_path / "given.baytree")
    assert bt.load(tmp_path / "given.baytree").model.init.levels[0][0] == (
        int(hard.tree_.feature[0]),
        float(hard.tree_.threshold[0]),
    )


def test_descriptions() -> None:
    generator = np.random.default_rng(0)
    table = {"a": generator.uniform(10, 20, size=400), "b": generator.normal(size=400)}
    y = np.where(table["a"] > 14, 25 + 3 * table["b"], 5 - table["b"]) + 0.1 * generator.normal(size=400)
    posterior = bt.HMERegressor(depth=1, ridge=1e-6, random_state=0).fit(pd.DataFrame(table), y).posterior_
    gates = posterior.gate_directions()
    direction, sharpness, cut = gates.direction[0][0], gates.sharpness[0][0], gates.cut[0][0]
    assert np.abs(direction).tolist() == pytest.approx([1, 0], abs=0.1) and sharpness > 10
    split = cut * direction[0] * posterior.inputs.scale[0] + posterior.inputs.centre[0]
    assert split == pytest.approx(14, abs=0.2)
    low, high = sorted(posterior.experts(), key=lambda expert: expert.slopes["y"]["b"])
    assert low.slopes["y"]["b"] == pytest.approx(-1, abs=0.05)
    assert high.slopes["y"]["b"] == pytest.approx(3, abs=0.05)
    assert [low.sd["y"], high.sd["y"]] == pytest.approx([0.1, 0.1], rel=0.2)
    assert low.average["y"] == pytest.approx(5 - np.mean(table["b"]), abs=0.1)
    assert str(low) in str(gates) and str(low) in str(posterior.summary())
    for kind in RESPONSES:
        one = fitted(kind, init="random")
        assert len(one.experts()) == 4 and len(one.summary().to_dict()["gates"]) == 3
        names = list(one.experts()[0].average)
        assert names == {"several": ["y[0]", "y[1]"], "logistic": ["other", "same"]}.get(kind, names)
    constant = fitted("constant").experts()[0]
    assert constant.slopes == {} and list(constant.sd) == ["y"]


def test_what_cannot_be_shown() -> None:
    posterior = fitted("linear")
    with pytest.raises(bt.InputError, match="draw=1: there are 1, counted from 0"):
        posterior.tree(0, 1)
    with pytest.raises(bt.InputError, match="both the chain and the draw"):
        posterior.tree(0)
    with pytest.raises(bt.InputError, match="no kind of prediction 'vote'"):
        posterior.predict(X, "vote")
    with pytest.raises(bt.InputError, match="linear models are of one number"):
        bt.sample(bt.Subset(), bt.make_linear_design(X, RESPONSES["logistic"], task="classification"))


def test_verdicts() -> None:
    assert "EM ended by itself after" in fitted("linear", tol=1e-3).summary().verdict
    assert "EM has not converged after 2 epochs: raise epochs" in fitted("linear", epochs=2, tol=0).summary().verdict
