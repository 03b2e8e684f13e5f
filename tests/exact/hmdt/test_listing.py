"""Hidden Markov decision trees against sums over all sequences of decisions; EM and the bound that never fall."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree.hmdt.data.sequences import Sequences
from baytree.hmdt.fitting import em as markov_em
from baytree.hmdt.fitting.initialisation import from_stretches, with_memory
from baytree.hmdt.tree.markov_tree import MarkovTree, best_path, filtered, smoothed
from baytree.hmdt.tree.mean_field import MeanField, projected_filter
from baytree.hme.fitting import em
from baytree.hme.tree import splits
from baytree.hme.tree.experts import Gaussian
from reference.hmdt.listing import Listed, listed

SHAPES = [(1, 2), (2, 2), (1, 3)]  # depth and branching
LENGTHS = (3, 1, 4)


def nodes_of(depth: int, branching: int) -> int:
    return sum(branching**level for level in range(depth))


def sequences_of(lengths: tuple[int, ...] = LENGTHS, seed: int = 0, missing: bool = True) -> Sequences:
    """Sequences of two inputs and an output, which is not seen at some rows."""
    generator = np.random.default_rng(seed)
    rows = sum(lengths)
    X = np.column_stack([generator.normal(size=(rows, 2)), np.ones(rows)])
    Y = generator.normal(size=(rows, 1))
    seen = np.ones(rows, dtype=bool)
    if missing:
        seen[1] = False
    return Sequences(X, Y, seen, np.concatenate([[0], np.cumsum(lengths)]))


def tree_of(depth: int, branching: int, seed: int = 1, sharp: float = 1.0) -> MarkovTree:
    """Random gates and linear experts for two inputs."""
    generator = np.random.default_rng(seed)
    leaves = branching**depth
    gates = sharp * generator.normal(size=(nodes_of(depth, branching), branching - 1, 2 + branching + 1))
    coefficients = generator.normal(size=(leaves, 3, 1))
    variance = generator.uniform(0.2, 1.0, size=(leaves, 1))
    return MarkovTree(gates, Gaussian(coefficients, variance, np.zeros(1)))


def by_listing(tree: MarkovTree, sequences: Sequences) -> list[Listed]:
    """Every sequence of decisions of each sequence."""
    density = np.exp(np.asarray(tree.experts.log_density(sequences.X, sequences.Y)).T)
    likelihood = np.where(sequences.seen[:, None], density, 1.0)
    spans = zip(sequences.begin[:-1], sequences.begin[1:], strict=True)
    return [listed(sequences.X[a:b], tree.gates, likelihood[a:b]) for a, b in spans]


# ---- exact sums -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sharp", [1.0, 250.0], ids=["scaled", "logarithms"])
@pytest.mark.parametrize(("depth", "branching"), SHAPES)
def test_forward_and_backward_are_sums_over_decisions(depth: int, branching: int, sharp: float) -> None:
    """Sharp gates have steps too improbable for scaled numbers, so that the core takes logarithms."""
    sequences = sequences_of()
    tree = tree_of(depth, branching, sharp=sharp)
    least = tree.log_transitions(sequences.X, sequences.first).min(axis=(2, 3)).sum(axis=1).min()
    assert (least < -460) == (sharp > 1)
    every = by_listing(tree, sequences)
    back, ahead = smoothed(tree, sequences), filtered(tree, sequences)
    np.testing.assert_allclose(back.log_likelihood, [np.log(each.likelihood) for each in every], rtol=1e-10)
    np.testing.assert_allclose(sequences.totals(ahead.log_likelihood), back.log_likelihood, rtol=1e-10)
    close: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-13}
    for each, begin, end in zip(every, sequences.begin[:-1], sequences.begin[1:], strict=True):
        rows = slice(begin, end)
        for found, weight in ((back, each.at_the_end), (ahead, each.seen)):
            np.testing.assert_allclose(found.leaf[rows], each.shares(weight, tree.leaves), **close)
            np.testing.assert_allclose(found.decision[rows], each.decisions(weight, branching), **close)
        np.testing.assert_allclose(ahead.leaf_ahead[rows], each.shares(each.joint, tree.leaves), **close)
        np.testing.assert_allclose(ahead.decision_ahead[rows], each.decisions(each.joint, branching), **close)
        for t in range(1, end - begin):
            for node in range(tree.nodes):
                np.testing.assert_allclose(back.pair[begin + t, node], each.pairs(t, node, branching), **close)
        np.testing.assert_array_equal(back.pair[begin, :, 1:], 0)


@pytest.mark.parametrize("sharp", [1.0, 250.0])
@pytest.mark.parametrize(("depth", "branching"), SHAPES)
def test_the_best_path_is_the_best_of_all(depth: int, branching: int, sharp: float) -> None:
    sequences, tree = sequences_of(), tree_of(depth, branching, sharp=sharp)
    path, log_probability = best_path(tree, sequences)
    for number, each in enumerate(by_listing(tree, sequences)):
        rows = slice(sequences.begin[number], sequences.begin[number + 1])
        best = each.seen[:, -1].argmax()
        np.testing.assert_allclose(log_probability[number], np.log(each.seen[best, -1]), rtol=1e-10)
        np.testing.assert_array_equal(path[rows], each.paths[best])


@pytest.mark.parametrize(("depth", "branching"), SHAPES)
def test_one_step_predictions(depth: int, branching: int) -> None:
    """What the estimator predicts of each row is the mixture that the listing of the rows before it gives."""
    from scipy import stats

    generator = np.random.default_rng(7)
    X, y = generator.normal(size=(60, 2)), generator.normal(5, 2, size=60)
    model = bt.HMDTRegressor(depth=depth, branching=branching, epochs=5, n_init=1, random_state=0).fit(X, y)
    new = [generator.normal(size=(length, 2)) for length in LENGTHS]
    new_y = [generator.normal(5, 2, size=length) for length in LENGTHS]
    new_y[0][1] = np.nan
    mean, sd = model.predict(new, new_y), model.predict(new, new_y, kind="sd")
    interval = model.predict(new, new_y, kind="predictive_interval", prob=0.8)
    inputs = model.inputs_.matrix(np.concatenate(new))
    outputs = model.outputs_.standard(np.nan_to_num(np.concatenate(new_y))[:, None])
    sequences = Sequences(inputs, outputs, ~np.isnan(np.concatenate(new_y)), np.cumsum([0, *LENGTHS]))
    of_leaf = model.outputs_.original(np.asarray(model.tree_.experts.means(inputs)))[..., 0].T
    assert isinstance(model.tree_.experts, Gaussian)
    own_sd = np.sqrt(model.tree_.experts.variance[:, 0]) * model.outputs_.scale
    for number, each in enumerate(by_listing(model.tree_, sequences)):
        share = each.shares(each.joint, model.tree_.leaves)
        centre = of_leaf[sequences.begin[number] : sequences.begin[number + 1]]
        expected = np.sum(share * centre, axis=1)
        np.testing.assert_allclose(mean[number], expected)
        variance = np.sum(share * (own_sd**2 + centre**2), axis=1) - expected**2
        np.testing.assert_allclose(sd[number], np.sqrt(variance))
        for end, below in zip(interval[number].T, (0.1, 0.9), strict=True):
            cdf = stats.norm.cdf((end[:, None] - centre) / own_sd)
            np.testing.assert_allclose(np.sum(share * cdf, axis=1), below)
    assert np.abs(np.concatenate(model.predict(new)) - np.concatenate(mean)).max() > 1e-4


def test_wrong_sums_are_seen() -> None:
    """The checks above can fail: transposed transitions and a step too late give other numbers."""
    sequences, tree = sequences_of(missing=False), tree_of(2, 2)
    truth = np.array([np.log(each.likelihood) for each in by_listing(tree, sequences)])

    class Transposed(MarkovTree):
        def log_transitions(self, X: np.ndarray, first: np.ndarray) -> np.ndarray:
            right = super().log_transitions(X, first)
            return np.where(first[:, None, None, None], right, right.transpose(0, 1, 3, 2))

    class Late(MarkovTree):
        def log_transitions(self, X: np.ndarray, first: np.ndarray) -> np.ndarray:
            return super().log_transitions(np.roll(X, 1, axis=0), first)

    for wrong in (Transposed, Late):
        found = smoothed(wrong(tree.gates, tree.experts), sequences).log_likelihood
        assert np.abs(found - truth)[[0, 2]].min() > 1e-3


def test_rows_that_were_not_seen_are_summed_out() -> None:
    """P(y_1, y_3) is the integral of P(y_1, y_2, y_3) over y_2."""
    sequences, tree = sequences_of((3,)), tree_of(2, 2)
    grid = np.linspace(-15, 15, 3001)
    density = []
    for value in grid:
        Y = sequences.Y.copy()
        Y[1] = value
        density.append(np.exp(smoothed(tree, replace(sequences, Y=Y, seen=np.ones(3, dtype=bool))).log_likelihood[0]))
    integral = np.sum(density) * (grid[1] - grid[0])
    np.testing.assert_allclose(smoothed(tree, sequences).log_likelihood[0], np.log(integral), rtol=1e-9)


def test_without_memory_it_is_a_mixture_of_experts() -> None:
    sequences = sequences_of((40, 25), missing=False)
    soft = splits.random_tree(
        "linear", sequences.X, sequences.Y, np.ones(sequences.rows), 2, 2, np.random.default_rng(3)
    )
    gates = np.concatenate(soft.gates)
    level = np.repeat(gates[:, :, -1:], 3, axis=2)
    tree = MarkovTree(np.concatenate([gates[:, :, :-1], level], axis=2), soft.experts)
    found = filtered(tree, sequences)
    np.testing.assert_allclose(found.log_likelihood, soft.log_likelihood(sequences.X, sequences.Y), rtol=1e-10)
    np.testing.assert_allclose(found.leaf_ahead.T, np.exp(soft.log_paths(sequences.X)), rtol=1e-10, atol=1e-14)
    remembers = filtered(with_memory(soft), sequences).log_likelihood
    assert np.abs(remembers - found.log_likelihood).max() > 1e-3


def test_long_sequences_do_not_underflow() -> None:
    sequences, tree = sequences_of((3000,), missing=False), tree_of(3, 2)
    far = replace(sequences, Y=sequences.Y + 1e3)
    for found in (smoothed(tree, far), smoothed(replace(tree, gates=tree.gates * 250), far)):
        assert np.isfinite(found.log_likelihood).all()
        np.testing.assert_allclose(found.leaf.sum(axis=1), 1)
        np.testing.assert_allclose(found.pair.sum(axis=(2, 3)), 1)


# ---- EM -------------------------------------------------------------------------------------------------------------

FAMILIES = ("linear", "constant", "multinomial", "poisson", "gamma")


def outputs(family: str, rows: int, generator: np.random.Generator) -> np.ndarray:
    made = {
        "linear": lambda: generator.normal(size=(rows, 1)),
        "constant": lambda: generator.normal(size=(rows, 1)),
        "multinomial": lambda: np.eye(3)[generator.integers(3, size=rows)],
        "poisson": lambda: generator.poisson(2.0, size=(rows, 1)).astype(float),
        "gamma": lambda: generator.gamma(2.0, size=(rows, 1)),
    }
    return np.asarray(made[family]())


def beginning(family: str, depth: int = 2, branching: int = 2) -> tuple[MarkovTree, Sequences]:
    sequences = sequences_of((40, 1, 30), seed=4)
    generator = np.random.default_rng(5)
    sequences = replace(sequences, Y=outputs(family, sequences.rows, generator))
    weight = sequences.seen.astype(float)
    soft = splits.random_tree(family, sequences.X, sequences.Y, weight, depth, branching, generator)
    return with_memory(soft), sequences


def never_falls(objective: tuple[float, ...]) -> bool:
    return bool((np.diff(objective) >= -1e-9 * np.abs(objective[1:])).all())


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "mean field"])
@pytest.mark.parametrize("family", FAMILIES)
def test_em_never_falls(family: str, exact: bool) -> None:
    tree, sequences = beginning(family)
    fitted = markov_em.fit(tree, sequences, em.Settings(ridge=0.1, epochs=25, tolerance=0.0), exact)
    assert never_falls(fitted.objective)
    assert fitted.objective[-1] > fitted.objective[0] + 0.5


def test_em_goes_up_the_gradient() -> None:
    """Where EM has ended, the log-likelihood's derivative by every gate coefficient is that of the penalty."""
    tree, sequences = beginning("linear", depth=1)
    ridge = 0.5
    end = markov_em.fit(tree, sequences, em.Settings(ridge=ridge, epochs=3000, tolerance=0.0), True).tree

    def value(gates: np.ndarray) -> float:
        return float(smoothed(replace(end, gates=gates), sequences).log_likelihood.sum())

    for at in np.ndindex(end.gates.shape):
        step = np.zeros_like(end.gates)
        step[at] = 1e-5
        slope = (value(end.gates + step) - value(end.gates - step)) / 2e-5
        assert slope == pytest.approx(ridge * end.gates[at], abs=2e-3)


def test_a_wrong_step_is_seen_to_fall() -> None:
    """The checks above can fail: gates fitted to transposed pairs do worse than those that were there."""
    tree, sequences = beginning("linear")
    settings = em.Settings(ridge=0.1, epochs=40)
    tree = markov_em.fit(tree, sequences, settings, True).tree
    steps = markov_em.Steps.of(sequences, 2)
    found = smoothed(tree, sequences)
    wrong = replace(found, pair=found.pair.transpose(0, 1, 3, 2))
    value = [
        float(smoothed(one, sequences).log_likelihood.sum()) - markov_em.penalty(one, settings.ridge)
        for one in (tree, *(markov_em.maximise(tree, sequences, steps, each, settings) for each in (found, wrong)))
    ]
    assert value[1] >= value[0] > value[2]
    assert not never_falls((value[0], value[2]))


# ---- the mean field -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "branching"), [*SHAPES, (3, 2), (2, 3)])
def test_the_bound_never_falls_and_never_exceeds(depth: int, branching: int) -> None:
    sequences, tree = sequences_of((6, 1, 9)), tree_of(depth, branching)
    exact = smoothed(tree, sequences).log_likelihood
    field = MeanField(tree, sequences)
    bounds = []
    for _ in range(30):
        field.sweep()
        bounds.append(field.bound)
        assert (field.bound <= exact + 1e-10).all()
    assert (np.diff(bounds, axis=0) >= -1e-11).all()
    if depth == 1:  # one node has nobody to be independent of
        np.testing.assert_allclose(bounds[0], exact, rtol=1e-11)
    else:
        assert (bounds[-1] - exact)[2] < -1e-3


def test_a_wrong_field_is_seen() -> None:
    """The check above can fail: evidence that forgets whether a node is reached lowers the bound at once."""

    class Forgetful(MeanField):
        def _evidence_of(self, level: slice) -> np.ndarray:
            right = super()._evidence_of(level)
            return right if level.start == 0 else right * 3

    sequences, tree = sequences_of((6, 1, 9)), tree_of(2, 2)
    best = MeanField(tree, sequences).run(50)
    wrong = Forgetful(tree, sequences, best.decision)
    wrong.sweep()
    assert wrong.bound.sum() < best.bound.sum() - 1e-3


def test_the_bound_is_that_of_its_chains() -> None:
    """E_q log P(ω, y) − E_q log q(ω), summed over all decisions of a short sequence, is the bound reported."""
    sequences, tree = sequences_of((3,)), tree_of(2, 2)
    field = MeanField(tree, sequences).run(200)
    found = field.expected
    each = by_listing(tree, sequences)[0]
    q = np.ones(len(each.paths))
    for node in range(tree.nodes):
        step = found.pair[1:, node] / found.pair[1:, node].sum(axis=2, keepdims=True)
        at = each.paths[:, :, node]
        q *= found.pair[0, node, 0][at[:, 0]] * step[0][at[:, 0], at[:, 1]] * step[1][at[:, 1], at[:, 2]]
    assert q.sum() == pytest.approx(1)
    bound = np.sum(q * (np.log(each.seen[:, -1]) - np.log(q)))
    assert field.bound[0] == pytest.approx(bound, rel=1e-10)
    np.testing.assert_array_equal(field.best_path(), each.paths[q.argmax()])


@pytest.mark.parametrize(("depth", "branching"), SHAPES)
def test_the_projected_filter(depth: int, branching: int) -> None:
    """Exact for one node, and at the first row for any; a node that is not asked learns nothing."""
    sequences, tree = sequences_of((5, 1)), tree_of(depth, branching)
    found, exact = projected_filter(tree, sequences), filtered(tree, sequences)
    rows = slice(None) if depth == 1 else sequences.first
    for name in ("leaf_ahead", "leaf", "decision_ahead", "decision", "log_likelihood"):
        np.testing.assert_allclose(getattr(found, name)[rows], getattr(exact, name)[rows], 1e-9, 1e-14, err_msg=name)
    np.testing.assert_allclose(found.leaf.sum(axis=1), 1)
    if depth > 1:
        assert np.abs(found.leaf - exact.leaf).max() > 1e-6


def test_em_finds_the_tree_that_made_the_rows() -> None:
    """A node that stays with its decision, which the inputs do not show."""
    generator = np.random.default_rng(6)
    rows, stay = 3000, 0.95
    X = np.column_stack([generator.normal(size=rows), np.ones(rows)])
    state = np.zeros(rows, dtype=int)
    for t in range(1, rows):
        state[t] = state[t - 1] if generator.random() < stay else 1 - state[t - 1]
    Y = np.where(state == 0, 1 + X[:, 0], -X[:, 0])[:, None] + 0.3 * generator.normal(size=(rows, 1))
    sequences = Sequences(X, Y, np.ones(rows, dtype=bool), np.array([0, rows]))
    begin = from_stretches("linear", sequences, 1, 2, generator)
    tree = markov_em.fit(begin, sequences, em.Settings(ridge=0.01, epochs=200), True).tree
    order = np.argsort(-tree.experts.coefficients[:, 0, 0])
    np.testing.assert_allclose(tree.experts.coefficients[order, :, 0], [[1, 1], [-1, 0]], atol=0.05)
    average = np.array([[0.0, 1.0]])
    kept = np.exp(tree.log_transitions(average, np.zeros(1, dtype=bool)))[0, 0].diagonal()
    np.testing.assert_allclose(kept, stay, atol=4 * np.sqrt(stay * (1 - stay) / (rows / 2)))
    soft = splits.random_tree("linear", X, Y, np.ones(rows), 1, 2, generator)
    plain = em.fit(soft, X, Y, np.ones(rows), em.Settings(ridge=0.01, epochs=200)).tree
    assert smoothed(tree, sequences).log_likelihood[0] > float(plain.log_likelihood(X, Y).sum()) + 300
