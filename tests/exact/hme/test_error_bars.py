"""Error bars of soft trees: the information by SEM is minus the Hessian of the penalised log-likelihood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import baytree as bt
from baytree.hme.fitting import em, sem
from baytree.hme.fitting.complete import blocks, information_of, slope_of, tree_at, vector_of
from baytree.hme.tree import splits
from baytree.hme.tree.experts import Constant, Gaussian
from baytree.hme.tree.soft_tree import SoftTree, responsibilities
from exact.hme.test_soft_trees import FAMILIES
from exact.hme.test_soft_trees import problem as rows_of

SHAPES = [(1, 2), (2, 2), (1, 3)]
RIDGE = 0.5


def gaussian(tree: SoftTree) -> Gaussian:
    assert isinstance(tree.experts, Gaussian)
    return tree.experts


def case(family: str, depth: int, branching: int, rows: int = 120) -> tuple[SoftTree, sem.Problem]:
    X, Y, weight = rows_of(family, rows)
    tree = splits.random_tree(family, X, Y, weight, depth, branching, np.random.default_rng(1))
    return tree, sem.Problem(X, Y, weight, RIDGE)


def differences(function: Callable[[np.ndarray], np.ndarray], at: np.ndarray, step: float) -> np.ndarray:
    """The derivative of a function by central differences, what it gives on the first axis."""
    columns = [(function(at + e) - function(at - e)) / (2 * step) for e in step * np.eye(len(at))]
    return np.stack(columns, axis=-1)


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest error, in units of what the diagonals allow a covariance to be."""
    scale = np.sqrt(np.abs(np.diag(expected)))
    return float(np.abs((found - expected) / np.outer(scale, scale)).max())


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("depth", "branching"), SHAPES)
def test_the_slope_of_the_penalised_likelihood(family: str, depth: int, branching: int) -> None:
    tree, problem = case(family, depth, branching)
    expected = differences(lambda values: np.array(problem.objective(tree_at(tree, values))), vector_of(tree), 1e-5)
    np.testing.assert_allclose(problem.slope(tree), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_information_if_decisions_were_known(family: str) -> None:
    """Away from the optimum too, where coefficients and variances are not orthogonal."""
    tree, problem = case(family, 2, 2)
    known = responsibilities(tree, problem.X, problem.Y)
    moved = tree_at(tree, vector_of(tree) + 0.1 * np.random.default_rng(3).normal(size=len(vector_of(tree))))

    def of(values: np.ndarray) -> list:
        at = tree_at(tree, values)
        return list(blocks(at, problem.X, problem.Y, problem.weight, known, RIDGE))

    expected = -differences(lambda values: slope_of(of(values)), vector_of(moved), 1e-5)
    np.testing.assert_allclose(information_of(of(vector_of(moved))), expected, rtol=1e-6, atol=1e-6)


def test_parameters_there_and_back() -> None:
    for family in FAMILIES:
        tree, _ = case(family, 2, 3)
        again = tree_at(tree, vector_of(tree))
        np.testing.assert_allclose(vector_of(again), vector_of(tree))
        np.testing.assert_allclose(again.experts.coefficients, tree.experts.coefficients)


@pytest.mark.parametrize(
    ("family", "depth", "branching"),
    [(family, 1, 2) for family in FAMILIES] + [("linear", 2, 2), ("linear", 1, 3), ("multinomial", 1, 3)],
)
def test_the_information_is_minus_the_hessian(family: str, depth: int, branching: int) -> None:
    """Of the analytic slope by differences to 1e-5, the inverse to 1e-3; the complete-data information is far off."""
    tree, problem = case(family, depth, branching)
    mode = sem.to_mode(tree, problem)
    bars = sem.error_bars(mode, problem)
    hessian = differences(lambda values: problem.slope(tree_at(mode, values)), vector_of(mode), 1e-5)
    assert relative(bars.information, -hessian) < 1e-5
    assert relative(bars.covariance, np.linalg.inv(-hessian)) < 1e-3
    assert relative(bars.complete, -hessian) > 0.1  # the saboteur: no rate
    assert 0 < np.linalg.eigvals(bars.rate).real.max() < 1


@pytest.mark.parametrize("family", FAMILIES)
def test_the_information_by_values_alone(family: str) -> None:
    """Second differences of the penalised log-likelihood itself, to 1e-3."""
    tree, problem = case(family, 1, 2)
    mode = sem.to_mode(tree, problem)
    bars = sem.error_bars(mode, problem)
    at, step = vector_of(mode), 1e-3
    value = lambda values: problem.objective(tree_at(mode, values))  # noqa: E731
    inner = lambda values: differences(lambda v: np.array(value(v)), values, step)  # noqa: E731
    assert relative(bars.information, -differences(inner, at, step)) < 1e-3


def test_one_expert_has_the_textbook_error_bars() -> None:
    """Without gates nothing is missing: σ² (X'WX + ridge)⁻¹, and 2/n for the logarithm of the variance."""
    tree, problem = case("linear", 0, 2)
    bars = sem.error_bars(sem.to_mode(tree, problem), problem)
    X, weight = problem.X, problem.weight
    np.testing.assert_allclose(bars.rate, 0, atol=1e-8)
    gram = np.linalg.inv((X.T * weight) @ X + RIDGE * np.eye(3))
    for output in range(2):
        at = slice(4 * output, 4 * output + 4)
        expected = np.zeros((4, 4))
        expected[:3, :3] = gaussian(bars.tree).variance[0, output] * gram
        expected[3, 3] = 2 / weight.sum()
        np.testing.assert_allclose(bars.covariance[at, at], expected, rtol=1e-6, atol=1e-10)


def test_draws_have_the_covariance() -> None:
    tree, problem = case("linear", 1, 2)
    bars = sem.error_bars(sem.to_mode(tree, problem), problem)
    count = 4000
    trees = bars.draws(count, np.random.default_rng(0))
    found = np.stack([vector_of(one) for one in trees])
    assert all((gaussian(one).variance > 0).all() for one in trees)
    off = (found.mean(axis=0) - vector_of(bars.tree)) / (bars.standard_errors / np.sqrt(count))
    assert np.abs(off).max() < 4
    ratio = found.var(axis=0) / np.diag(bars.covariance)
    assert np.abs(ratio - 1).max() < 4 * np.sqrt(2 / count)
    narrow = found.var(axis=0) / np.diag(np.linalg.inv(bars.complete))  # the saboteur again
    assert np.abs(narrow - 1).max() > 4 * np.sqrt(2 / count)


def test_error_bars_of_predictions() -> None:
    """Where rows are many the draws' spread is that of the delta method."""
    X, Y, weight = rows_of("linear", 2000)
    tree = splits.random_tree("linear", X, Y, weight, 1, 2, np.random.default_rng(1))
    problem = sem.Problem(X, Y, weight, RIDGE)
    bars = sem.error_bars(sem.to_mode(tree, problem), problem)
    new = X[:20]
    jacobian = differences(lambda values: tree_at(bars.tree, values).means(new).ravel(), vector_of(bars.tree), 1e-5)
    expected = np.sqrt(np.einsum("ij,jk,ik->i", jacobian, bars.covariance, jacobian))
    count = 2000
    found = np.stack([one.means(new).ravel() for one in bars.draws(count, np.random.default_rng(0))]).std(axis=0)
    assert np.abs(found / expected - 1).max() < 4 * np.sqrt(0.5 / count)


@pytest.mark.slow
def test_error_bars_cover_the_truth() -> None:
    """Over many sets of rows, 90% intervals of parameters hold 90% of the true ones; without the rate far fewer."""
    generator = np.random.default_rng(0)
    truth = SoftTree(
        (np.array([[[2.0, 0.5]]]),),
        Constant(np.array([[[1.0]], [[-1.0]]]), np.array([[0.5], [0.3]]), np.full(1, 1e-6)),
    )
    expected, ones, sets, rows = vector_of(truth), np.ones(800), 200, 800
    covered, narrow = np.empty((2, sets))
    for k in range(sets):
        X = np.column_stack([generator.normal(size=rows), ones])
        leaf = (generator.random(rows) > np.exp(truth.log_paths(X)[0])).astype(int)
        noise = np.sqrt(gaussian(truth).variance[leaf]) * generator.normal(size=(rows, 1))
        problem = sem.Problem(X, truth.experts.means(X)[leaf, np.arange(rows)] + noise, ones, 1e-3)
        bars = sem.error_bars(sem.to_mode(truth, problem), problem)
        off = np.abs(vector_of(bars.tree) - expected)
        covered[k] = np.mean(off < 1.645 * bars.standard_errors)
        narrow[k] = np.mean(off < 1.645 / np.sqrt(np.diag(bars.complete)))
    assert abs(covered.mean() - 0.9) < 4 * covered.std() / np.sqrt(sets)
    assert abs(narrow.mean() - 0.9) > 4 * narrow.std() / np.sqrt(sets)  # the saboteur


def test_any_array_of_the_standard() -> None:
    xp = pytest.importorskip("array_api_strict")
    tree, problem = case("linear", 1, 2)
    mode = sem.to_mode(tree, problem)
    here = sem.error_bars(mode, problem)
    there = replace(mode, gates=tuple(xp.asarray(gate) for gate in mode.gates))
    arrays = {name: xp.asarray(getattr(mode.experts, name)) for name in ("coefficients", "variance", "least")}
    there = replace(there, experts=replace(mode.experts, **arrays))
    X, Y, weight = (xp.asarray(part) for part in (problem.X, problem.Y, problem.weight))
    bars = sem.error_bars(there, sem.Problem(X, Y, weight, RIDGE))
    np.testing.assert_allclose(np.asarray(bars.covariance), here.covariance, rtol=1e-8)
    assert len(bars.draws(3, np.random.default_rng(0))) == 3


# ---- where there are none -------------------------------------------------------------------------------------------


def test_a_fit_that_has_not_converged() -> None:
    tree, problem = case("linear", 1, 2)
    early = em.fit(tree, problem.X, problem.Y, problem.weight, em.Settings(ridge=RIDGE, epochs=20, steps=1)).tree
    with pytest.raises(bt.InputError, match=r"the mode is .* standard errors away; run EM on with full M steps"):
        sem.error_bars(early, problem)


def test_what_the_rows_do_not_determine() -> None:
    """Two experts that say the same are a saddle, and without ridge an unused column has no information."""
    tree, problem = case("constant", 1, 2)
    alike = replace(
        tree,
        gates=(np.zeros_like(tree.gates[0]),),
        experts=replace(gaussian(tree), coefficients=np.zeros((2, 1, 1)), variance=np.ones((2, 1))),
    )
    alike = em.fit(alike, problem.X, problem.Y, problem.weight, em.Settings(ridge=RIDGE, tolerance=0.0)).tree
    with pytest.raises(bt.InputError, match=r"not positive definite.* raise ridge or choose a smaller depth"):
        sem.error_bars(alike, problem)
    empty = sem.Problem(np.column_stack([np.zeros(len(problem.X)), problem.X]), problem.Y, problem.weight, 0.0)
    wide = splits.random_tree("constant", empty.X, empty.Y, empty.weight, 1, 2, np.random.default_rng(0))
    with pytest.raises(bt.InputError, match="not positive definite"):
        sem.error_bars(wide, empty)


def test_a_leaf_that_fits_exactly() -> None:
    tree, problem = case("constant", 1, 2)
    exact = replace(tree, experts=replace(gaussian(tree), variance=np.stack([gaussian(tree).least, [1.0]])))
    with pytest.raises(bt.InputError, match="leaf 0 fits its rows exactly"):
        sem.error_bars(exact, problem)


def test_too_many_parameters() -> None:
    tree, problem = case("linear", 8, 2, rows=20)
    with pytest.raises(bt.InputError, match="steps of EM; choose a smaller depth"):
        sem.error_bars(tree, problem)
