"""Soft trees by mean field: the bound never falls, lies below the evidence, and close to it; branches that it is better
without are shut."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import special, stats

import baytree as bt
from baytree.hme.mean_field import logit_factors, variational
from baytree.hme.mean_field.factors import Lines, Prior
from baytree.hme.mean_field.logit_factors import Logits
from baytree.hme.mean_field.variational import MeanField, Settings, fit
from baytree.hme.numeric.logit import log_probabilities
from baytree.hme.tree import splits
from baytree.hme.tree.experts import Gaussian
from baytree.hme.tree.soft_tree import SoftTree
from exact.hme.test_soft_trees import problem

FAMILIES = ("linear", "constant", "logistic", "multinomial")
SHAPES = [(0, 2), (1, 2), (2, 2), (3, 2), (1, 3), (2, 3)]
PRIOR = Prior()

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def begun(family: str, depth: int, branching: int, rows: int = 80, seed: int = 0) -> tuple[SoftTree, Rows]:
    given = problem(family, rows, seed)
    return splits.random_tree(family, *given, depth, branching, np.random.default_rng(seed)), given


def falls(bound: tuple[float, ...]) -> bool:
    """Whether a bound falls by more than rounding."""
    trace = np.array(bound)
    return bool((np.diff(trace) < -1e-9 * np.abs(trace[1:])).any())


# ---- the bound never falls ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("depth", "branching"), SHAPES)
def test_the_bound_never_falls(family: str, depth: int, branching: int) -> None:
    for seed in range(2):
        tree, given = begun(family, depth, branching, rows=60, seed=seed)
        found = fit(tree, *given, Settings(epochs=40))
        assert not falls(found.bound)
        assert depth == 0 or found.bound[-1] > found.bound[0] + 1


@pytest.mark.parametrize("family", ["linear", "logistic"])
def test_a_wrong_step_is_seen_to_fall(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above can fail: with a quarter of the curvature the steps reach too far."""
    right = logit_factors._lambda
    monkeypatch.setattr(logit_factors, "_lambda", lambda tight: right(tight) / 4)
    tree, given = begun(family, 2, 2)
    assert falls(fit(tree, *given, Settings(epochs=40, tolerance=-np.inf, prune=False)).bound)


def test_each_factor_by_itself_raises_the_bound() -> None:
    tree, (X, Y, weight) = begun("linear", 2, 2)
    search = variational._Search(X, Y, weight, Settings())
    field = variational.first_field(tree)
    found, before = search.assess(field)
    better = search.improved(field, found)
    for part in ("experts", "gates"):
        alone = MeanField(**{**vars(field), part: getattr(better, part)})
        assert search.assess(alone)[1] > before


# ---- against the exact evidence -------------------------------------------------------------------------------------


def log_marginal(y: np.ndarray, X: np.ndarray) -> float:
    """log P(y) of a linear model by its multivariate Student distribution."""
    if not len(y):
        return 0.0
    shape = PRIOR.noise_scale / PRIOR.noise_shape * (np.eye(len(y)) + X @ X.T / PRIOR.precision)
    return float(stats.multivariate_t.logpdf(y, np.zeros(len(y)), shape, df=2 * PRIOR.noise_shape))


@pytest.mark.parametrize("family", ["linear", "constant"])
def test_one_expert_has_the_exact_evidence(family: str) -> None:
    X, Y, _ = problem(family, 40)
    copies = np.random.default_rng(0).integers(1, 4, 40)
    tree = splits.random_tree(family, X, Y, copies.astype(float), 0, 2, np.random.default_rng(0))
    found = fit(tree, X, Y, copies.astype(float), Settings())
    seen = np.repeat(X if family == "linear" else X[:, -1:], copies, axis=0)
    exact = sum(log_marginal(y, seen) for y in np.repeat(Y, copies, axis=0).T)
    assert found.bound[-1] == pytest.approx(exact, rel=1e-9)


def gate_points(columns: int, free: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights of the prior of one gate's coefficients (points, free, columns), by quantiles.

    Slopes share one precision and offsets another, so that for one coefficient each the prior is Student's.
    """
    nodes, weights = np.polynomial.legendre.leggauss(count)
    quantiles, weights = (nodes + 1) / 2, weights / 2
    if free == 1:
        axes = [stats.t.ppf(quantiles, 2 * PRIOR.gate_shape) * np.sqrt(PRIOR.gate_rate / PRIOR.gate_shape)] * columns
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 1, columns)
        return points, np.prod(np.stack(np.meshgrid(*[weights] * columns, indexing="ij")), axis=0).ravel()
    assert columns == 1
    precision = stats.gamma.ppf(quantiles, PRIOR.gate_shape, scale=1 / PRIOR.gate_rate)
    normal = stats.norm.ppf(quantiles)
    grid = np.stack(np.meshgrid(precision, *[normal] * free, indexing="ij"), axis=-1).reshape(-1, free + 1)
    total = np.prod(np.stack(np.meshgrid(*[weights] * (free + 1), indexing="ij")), axis=0).ravel()
    return (grid[:, 1:] / np.sqrt(grid[:, :1]))[..., None], total


def two_levels(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows at two levels, by their first input."""
    generator = np.random.default_rng(4)
    x = np.linspace(-1.5, 1.5, rows)
    y = np.where(x > 0, 1.0, -1.0) + 0.15 * generator.normal(size=rows)
    return np.column_stack([x, np.ones(rows)])[:, 2 - columns :], y[:, None]


def enumerated(X: np.ndarray, y: np.ndarray, branching: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every way to send the rows to the branches; log P(decisions, gate, y) at each point of the gate; the points."""
    points, weights = gate_points(X.shape[1], branching - 1, count)
    decisions = np.array(list(product(range(branching), repeat=len(y))))
    experts = np.array([sum(log_marginal(y[z == k], X[z == k][:, -1:]) for k in range(branching)) for z in decisions])
    log_gates = log_probabilities(X, points)
    chosen = np.eye(branching)[decisions]
    joint = np.einsum("gnk,znk->gz", log_gates, chosen) + experts + np.log(weights)[:, None]
    return decisions, joint, points


@pytest.mark.parametrize(("branching", "columns", "gap"), [(2, 2, 1.3), (3, 1, 1.6)])
def test_the_bound_is_below_the_evidence(branching: int, columns: int, gap: float) -> None:
    """Of a gate over constant experts, summed over all decisions and integrated over the gate.

    The experts have no names, so that the posterior has branching! modes; the mean field takes one. The gaps beside
    that, which the test states, are of few rows that a gate could divide as sharply as it likes.
    """
    X, Y = two_levels(8 if branching == 2 else 6, columns)
    _, joint, _ = enumerated(X, Y[:, 0], branching, 60 if branching == 2 else 24)
    evidence = float(special.logsumexp(joint))
    settings, weight = Settings(epochs=500, tolerance=1e-9, prune=False), np.ones(len(Y))
    initial_trees = [
        splits.random_tree("constant", X, Y, weight, 1, branching, np.random.default_rng(s)) for s in range(5)
    ]
    best = max((fit(begin, X, Y, weight, settings) for begin in initial_trees), key=lambda found: found.bound[-1])
    assert best.bound[-1] < evidence
    assert evidence - np.log(special.factorial(branching)) - best.bound[-1] < gap
    assert best.bound[-1] + best.field.divergence(PRIOR) > evidence  # the saboteur: no divergence


@pytest.mark.parametrize(("classes", "columns", "gap"), [(2, 2, 1.3), (3, 1, 0.9)])
def test_the_bound_of_experts_for_classes(classes: int, columns: int, gap: float) -> None:
    generator = np.random.default_rng(2)
    X = np.column_stack([generator.normal(size=12), np.ones(12)])[:, 2 - columns :]
    Y = np.eye(classes)[generator.integers(classes, size=12) if columns == 1 else (X[:, 0] > 0.3).astype(int)]
    points, weights = gate_points(columns, classes - 1, 80 if columns == 2 else 40)
    each = np.einsum("gnk,nk->g", log_probabilities(X, points), Y)
    evidence = float(special.logsumexp(each + np.log(weights)))
    tree = splits.random_tree("multinomial", X, Y, np.ones(12), 0, 2, generator)
    bound = fit(tree, X, Y, np.ones(12), Settings(epochs=500, tolerance=1e-12)).bound[-1]
    assert bound < evidence < bound + gap


def test_moments_against_the_exact_posterior() -> None:
    """Of the mode that the mean field is at: decisions, and the levels of both experts."""
    X, Y = two_levels(8, 2)
    y = Y[:, 0]
    decisions, joint, points = enumerated(X, y, 2, 60)
    tree = splits.random_tree("constant", X, Y, np.ones(8), 1, 2, np.random.default_rng(0))
    field = fit(tree, X, Y, np.ones(8), Settings(epochs=500, tolerance=1e-9, prune=False)).field
    side = np.sign(field.gates[0].coefficients[0, 0, 0])
    joint = joint[np.sign(points[:, 0, 0]) == side]
    weight = np.exp(joint - special.logsumexp(joint))
    of_decisions = weight.sum(axis=0)
    exact = np.array([(of_decisions[:, None] * (decisions == k)).sum(axis=0) for k in range(2)])
    found = field.decisions(X, Y).node[-1]
    assert isinstance(field.experts, Lines)
    assert np.abs(found - exact).max() < 0.03
    for k in range(2):
        count = (decisions == k).sum(axis=1)
        centre = np.where(decisions == k, y, 0).sum(axis=1) / (count + PRIOR.precision)
        mean = of_decisions @ centre
        assert abs(field.experts.experts.coefficients[k, 0, 0] - mean) < 0.03
    # Rows that are divided without exception leave the gate's sharpness a long tail, which no normal factor has.
    slope = weight.sum(axis=1) @ points[np.sign(points[:, 0, 0]) == side][:, 0, 0]
    assert 0.3 < field.gates[0].coefficients[0, 0, 0] / slope < 1


# ---- factors --------------------------------------------------------------------------------------------------------

LIVE = [(1, 1), (1, 1, 1), (1, 1, 1, 1), (1, 0, 1), (1, 1, 0), (0, 1, 1, 0), (0, 1), (1, 0, 0)]


def some_logits(live: tuple[int, ...], X: np.ndarray) -> Logits:
    generator = np.random.default_rng(len(live))
    known = np.array([live], dtype=bool)
    shares = np.where(known, generator.dirichlet(np.ones(len(live)), (1, len(X))).reshape(len(X), -1), 0)
    targets = (shares / shares.sum(axis=-1, keepdims=True))[None]
    factor = Logits.first(np.zeros((1, len(live) - 1, X.shape[1]))).among(known)
    for _ in range(20):
        factor = factor.updated(X, targets, np.ones((1, len(X))), PRIOR)
    return factor


@pytest.mark.parametrize("live", LIVE)
def test_expected_log_shares_are_bounded(live: tuple[int, ...]) -> None:
    """From below, and by draws of the factor not by much; classes that are no more have none."""
    X = problem("linear", 25)[0]
    factor = some_logits(live, X)
    generator = np.random.default_rng(0)
    draws = np.stack([log_probabilities(X, factor.draw(generator)[0]) for _ in range(2000)])
    there = np.array(live, dtype=bool)
    mean, error = draws.mean(axis=0)[:, there], draws.std(axis=0)[:, there] / np.sqrt(len(draws))
    bound = factor.log_shares(X)[0]
    assert (bound[:, there] < mean + 4 * error + 1e-12).all()
    assert (bound[:, there] > mean - 4 * error - 0.35).all()
    assert (bound[:, ~there] == -np.inf).all()
    assert (np.exp(draws[..., ~there]) == 0).all()


@pytest.mark.parametrize("factor", ["logits", "lines"])
def test_draws_have_the_moments(factor: str) -> None:
    X, Y, weight = problem("linear", 30)
    generator = np.random.default_rng(1)
    count = 4000
    if factor == "logits":
        found = some_logits((1, 1, 1), X)
        draws = np.stack([found.draw(generator) for _ in range(count)]).reshape(count, -1)
        mean, sd = found.coefficients.ravel(), np.sqrt(np.diagonal(found.spread[0]))
    else:
        tree = splits.random_tree("linear", X, Y, weight, 0, 2, generator)
        assert isinstance(tree.experts, Gaussian)
        lines = Lines.first(tree.experts).updated(X, Y, weight[None], PRIOR)
        draws = np.stack([lines.draw(generator).coefficients for _ in range(count)]).reshape(count, -1)
        mean = lines.experts.coefficients.ravel()
        of_rows = np.diagonal(lines.spread[0])[:, None] * lines.scale[0] / (lines.shape[0] - 1)
        sd = np.sqrt(of_rows).ravel()
        variances = np.stack([lines.draw(generator).variance for _ in range(count)])[:, 0]
        error = variances.std(axis=0) / np.sqrt(count)
        assert (np.abs(variances.mean(axis=0) - lines.experts.variance[0]) < 4 * error).all()
    assert (np.abs(draws.mean(axis=0) - mean) < 4 * sd / np.sqrt(count)).all()
    # The Student distributions of coefficients have heavier tails than normal ones, by a few per cent here.
    assert (np.abs(draws.var(axis=0) / sd**2 - 1) < 4 * np.sqrt(2.2 / count)).all()
    assert not (np.abs(draws.var(axis=0) / (1.3 * sd**2) - 1) < 4 * np.sqrt(2.2 / count)).any()


@pytest.mark.parametrize(("family", "depth", "branching"), [("linear", 1, 2), ("multinomial", 1, 3)])
def test_the_evidence_by_importance(family: str, depth: int, branching: int) -> None:
    """Draws weighted by P(y | θ) P(θ) / q(θ) have the evidence as their mean: no less than the bound."""
    tree, (X, Y, weight) = begun(family, depth, branching, rows=40)
    found = fit(tree, X, Y, weight, Settings(epochs=300, tolerance=1e-9, prune=False))
    assert found.bound[-1] < log_importance(found.field, X, Y, weight)


def log_importance(field: MeanField, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, count: int = 500) -> float:
    """log of the mean weight of the draws; precisions are integrated out of prior and q's coefficients alike."""
    generator = np.random.default_rng(0)
    logs = []
    for tree in field.draws(count, generator):
        parts = [densities(gates, factor) for gates, factor in zip(tree.gates, field.gates, strict=True)]
        if isinstance(field.experts, Lines):
            parts.append(densities_of_lines(tree, field.experts))
        else:
            parts.append(densities(tree.experts.coefficients, field.experts.logits))
        prior, drawn = np.sum(parts, axis=0)
        assert field.log_prior(tree, PRIOR) == pytest.approx(prior, rel=1e-9)
        logs.append(float(weight @ tree.log_likelihood(X, Y)) + prior - drawn)
    return float(special.logsumexp(logs) - np.log(count))


def densities(coefficients: np.ndarray, factor: Logits) -> tuple[float, float]:
    """log P(coefficients), the precisions integrated out, and log q(coefficients) of logit models."""
    prior = drawn = 0.0
    for node in range(len(coefficients)):
        for part in (coefficients[node, :, :-1].ravel(), coefficients[node, :, -1].ravel()):
            scale = PRIOR.gate_rate / PRIOR.gate_shape * np.eye(len(part))
            prior += float(stats.multivariate_t.logpdf(part, np.zeros(len(part)), scale, df=2 * PRIOR.gate_shape))
        mean = factor.coefficients[node].ravel()
        drawn += float(stats.multivariate_normal.logpdf(coefficients[node].ravel(), mean, factor.spread[node]))
    return prior, drawn


def densities_of_lines(tree: SoftTree, factor: Lines) -> tuple[float, float]:
    """log P(β, σ²) and log q(β, σ²) of linear models."""
    prior = drawn = 0.0
    found, mean = tree.experts, factor.experts.coefficients
    assert isinstance(found, Gaussian)
    for leaf, output in np.ndindex(found.variance.shape):
        beta, variance = found.coefficients[leaf, :, output], found.variance[leaf, output]
        around = variance / PRIOR.precision * np.eye(len(beta))
        prior += stats.multivariate_normal.logpdf(beta, np.zeros(len(beta)), around)
        prior += stats.invgamma.logpdf(variance, PRIOR.noise_shape, scale=PRIOR.noise_scale)
        drawn += stats.multivariate_normal.logpdf(beta, mean[leaf, :, output], variance * factor.spread[leaf])
        drawn += stats.invgamma.logpdf(variance, factor.shape[leaf], scale=factor.scale[leaf, output])
    return float(prior), float(drawn)


# ---- pruning --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "branching"), [(3, 2), (2, 3)])
def test_branches_that_nothing_needs_are_shut(depth: int, branching: int) -> None:
    """Rows of two lines leave two leaves of eight or nine; the others are reached by no row, to the bit."""
    tree, (X, Y, weight) = begun("linear", depth, branching, rows=200)
    kept = fit(tree, X, Y, weight, Settings(prune=False))
    found = fit(tree, X, Y, weight, Settings())
    assert kept.field.live.all() and found.field.live.sum() == 2
    assert found.bound[-1] > kept.bound[-1] + 10
    for one in (found.field.mean, *found.field.draws(3, np.random.default_rng(0))):
        shares = np.exp(one.log_paths(X))
        assert (shares[~found.field.live] == 0).all()
        np.testing.assert_allclose(shares[found.field.live].sum(axis=0), 1)
        assert np.isfinite(one.log_likelihood(X, Y)).all()


def test_branches_that_are_needed_stay() -> None:
    tree, (X, Y, weight) = begun("linear", 1, 2, rows=200)
    found = fit(tree, X, Y, weight, Settings())
    assert found.field.live.all()
    search = variational._Search(X, Y, weight, Settings())
    assert search.pruned(found.field) is found.field
    _, with_both = search.assess(found.field)
    _, with_one = search.assess(found.field.without(1, 0))
    assert with_one < with_both - 100


def test_one_leaf_is_left_where_there_is_nothing_to_learn() -> None:
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.normal(size=(100, 2)), np.ones(100)])
    Y = generator.normal(size=(100, 1))
    tree = splits.random_tree("linear", X, Y, np.ones(100), 3, 2, generator)
    found = fit(tree, X, Y, np.ones(100), Settings())
    assert found.field.live.sum() == 1
    assert found.bound[-1] == pytest.approx(log_marginal(Y[:, 0], X), rel=1e-9)


# ---- other arrays, other experts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_any_array_of_the_standard(family: str) -> None:
    xp = pytest.importorskip("array_api_strict")
    given = problem(family)
    X, Y, weight = (xp.asarray(part) for part in given)
    generators = np.random.default_rng(1), np.random.default_rng(1)
    settings = Settings(epochs=5)
    here = fit(splits.random_tree(family, *given, 2, 3, generators[0]), *given, settings)
    there = fit(splits.random_tree(family, X, Y, weight, 2, 3, generators[1]), X, Y, weight, settings)
    np.testing.assert_allclose(there.bound, here.bound, rtol=1e-9)
    assert len(there.field.draws(2, generators[1])) == 2


def test_experts_that_have_no_mean_field() -> None:
    tree, given = begun("poisson", 1, 2)
    with pytest.raises(bt.InputError, match=r"not poisson; choose EM"):
        fit(tree, *given, Settings())
