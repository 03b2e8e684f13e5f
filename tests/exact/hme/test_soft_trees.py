"""Soft trees: derivatives by differences, decisions by sums over paths, EM that never falls, rows one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from baytree.hme.fitting import em, online
from baytree.hme.numeric import arrays
from baytree.hme.numeric.arrays import log_gamma
from baytree.hme.numeric.logit import fit_least_squares, fit_newton, gradient, negative_hessian, objective
from baytree.hme.tree import splits
from baytree.hme.tree.experts import Classes, Gamma, Gaussian, Poisson
from baytree.hme.tree.soft_tree import SoftTree, path_products, responsibilities

FAMILIES = ("linear", "constant", "logistic", "multinomial", "poisson", "gamma")


def problem(family: str, rows: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs with ones at the end, outputs of a kind that suits the experts, and weights."""
    generator = np.random.default_rng(seed)
    X = np.column_stack([generator.normal(size=(rows, 2)), np.ones(rows)])
    level = np.where(X[:, 0] > 0, 1 + X[:, 1], -0.5 - X[:, 1])
    outputs = {
        "linear": lambda: np.column_stack([level, -level]) + 0.3 * generator.normal(size=(rows, 2)),
        "constant": lambda: level[:, None] + 0.3 * generator.normal(size=(rows, 1)),
        "logistic": lambda: np.eye(2)[(level + generator.normal(size=rows) > 0).astype(int)],
        "multinomial": lambda: np.eye(3)[np.digitize(level + generator.normal(size=rows), [-0.5, 0.7])],
        "poisson": lambda: generator.poisson(np.exp(0.5 * level))[:, None].astype(float),
        "gamma": lambda: generator.gamma(2.0, np.exp(level) / 2)[:, None],
    }
    return X, outputs[family](), generator.uniform(0.5, 2, rows)


def tree_of(family: str, depth: int = 2, branching: int = 2) -> tuple[SoftTree, np.ndarray, np.ndarray, np.ndarray]:
    X, Y, weight = problem(family)
    return splits.random_tree(family, X, Y, weight, depth, branching, np.random.default_rng(1)), X, Y, weight


# ---- derivatives ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_gates_have_the_derivatives_of_their_objective(classes: int) -> None:
    generator = np.random.default_rng(classes)
    X = generator.normal(size=(30, 3))
    targets, weight = generator.dirichlet(np.ones(classes), 30), generator.uniform(size=30)
    at = generator.normal(size=(classes - 1, 3))

    def value(flat: np.ndarray) -> float:
        return float(objective(X, targets, weight, flat.reshape(at.shape), 0.3))

    step = 1e-5 * np.eye(at.size)
    slopes = [(value(at.ravel() + e) - value(at.ravel() - e)) / 2e-5 for e in step]
    np.testing.assert_allclose(gradient(X, targets, weight, at, 0.3).ravel(), slopes, rtol=1e-7, atol=1e-7)
    curves = [
        (
            gradient(X, targets, weight, at + e.reshape(at.shape), 0.3)
            - gradient(X, targets, weight, at - e.reshape(at.shape), 0.3)
        )
        / 2e-5
        for e in step
    ]
    found = negative_hessian(X, targets, weight, at, 0.3)
    np.testing.assert_allclose(found, -np.array(curves).reshape(found.shape), rtol=1e-6, atol=1e-7)
    best = fit_newton(X, targets, weight, at, 0.3, 25)
    assert np.abs(gradient(X, targets, weight, best, 0.3)).max() < 1e-5


@pytest.mark.parametrize("classes", [2, 3])
def test_gates_fitted_together_are_those_fitted_alone(classes: int) -> None:
    generator = np.random.default_rng(classes)
    X = generator.normal(size=(40, 3))
    targets, weight = generator.dirichlet(np.ones(classes), (4, 40)), generator.uniform(size=(4, 40))
    weight[3] *= 1e-8  # one that hardly any row reaches ends elsewhere, and later
    start_at = 3 * generator.normal(size=(4, classes - 1, 3))
    free = np.array([[1.0, 1, 1], [1, 0, 1], [0, 0, 1], [1, 1, 1]])
    for given in (None, free):
        together = fit_newton(X, targets, weight, start_at, 0.3, 25, given)
        squares = fit_least_squares(X, targets, weight, 0.3, given)
        for node in range(4):
            mask = None if given is None else given[node]
            alone = fit_newton(X, targets[node], weight[node], start_at[node], 0.3, 25, mask)
            np.testing.assert_allclose(together[node], alone, rtol=1e-5, atol=1e-7)
            np.testing.assert_allclose(
                squares[node], fit_least_squares(X, targets[node], weight[node], 0.3, mask), rtol=1e-9
            )
    kept = free[:, None, :] == 0
    np.testing.assert_array_equal(np.where(kept, together, 0), np.where(kept, start_at, 0))
    assert not np.where(kept, squares, 0).any()
    slope = gradient(X, targets, weight, together, 0.3) * free[:, None, :]
    assert np.abs(slope).max() < 1e-5
    one = fit_newton(X[:, :1], targets[0], weight[0], np.zeros((classes - 1, 1)), 0.3, 25)
    begun = np.zeros((classes - 1, 3))
    np.testing.assert_allclose(
        fit_newton(X, targets[0], weight[0], begun, 0.3, 25, np.array([1.0, 0, 0]))[:, :1], one, rtol=1e-5
    )


def test_sums_over_blocks_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    X, Y = generator.normal(size=(25, 3)), generator.normal(size=(25, 2))
    weight = generator.uniform(size=(2, 4, 25))
    for block in (1, 40, 1 << 17):
        monkeypatch.setattr(arrays, "BLOCK", block)
        expected = np.einsum("ni,...n,nj->...ij", X, weight, X)
        np.testing.assert_allclose(arrays.weighted_gram(X, weight), expected, rtol=1e-12)
    np.testing.assert_allclose(
        arrays.weighted_cross(X, Y, weight), np.einsum("ni,...n,nj->...ij", X, weight, Y), rtol=1e-12
    )


@pytest.mark.parametrize(
    "experts", [Poisson(np.zeros((1, 3, 1))), Gamma(np.zeros((1, 3, 1)), 2.5)], ids=lambda e: e.family
)
def test_experts_have_the_derivatives_of_their_density(experts: Poisson | Gamma) -> None:
    generator = np.random.default_rng(0)
    predictor, y = generator.normal(size=20), generator.poisson(3, 20) + 1.0
    step = 1e-5
    slope, curvature = experts.derivatives_of(predictor, y)
    up, down = experts.log_density_of(predictor + step, y), experts.log_density_of(predictor - step, y)
    np.testing.assert_allclose(slope, (up - down) / (2 * step), rtol=1e-6, atol=1e-7)
    second = (experts.derivatives_of(predictor + step, y)[0] - experts.derivatives_of(predictor - step, y)[0]) / 2e-5
    np.testing.assert_allclose(experts.curvature_of(predictor, y), -second, rtol=1e-6)
    # What IRLS takes for the curvature is that at the mean, which is what is expected of it.
    np.testing.assert_allclose(experts.curvature_of(predictor, experts.mean_of(predictor)), curvature)


def test_densities_are_densities() -> None:
    from scipy import stats

    X, Y, _ = problem("linear")
    coefficients = np.random.default_rng(2).normal(size=(2, 3, 2))
    variance = np.array([[0.5, 2.0], [1.0, 0.1]])
    found = Gaussian(coefficients, variance, np.zeros(2)).log_density(X, Y)
    expected = [stats.norm.logpdf(Y, X @ coefficients[leaf], np.sqrt(variance[leaf])).sum(axis=1) for leaf in range(2)]
    np.testing.assert_allclose(found, expected)
    one = np.random.default_rng(3).normal(size=(2, 3, 1)) / 2
    mean = np.exp(X @ one)[..., 0]
    counts, times = problem("poisson")[1], problem("gamma")[1]
    np.testing.assert_allclose(Poisson(one).log_density(X, counts), stats.poisson.logpmf(counts[:, 0], mean))
    np.testing.assert_allclose(
        Gamma(one, 2.0).log_density(X, times), stats.gamma.logpdf(times[:, 0], 2.0, scale=mean / 2)
    )
    classes = problem("multinomial")[1]
    shares = Classes(np.random.default_rng(4).normal(size=(2, 2, 3))).means(X)
    np.testing.assert_allclose(shares.sum(axis=-1), 1)
    assert shares.shape == (2, 60, 3) and classes.shape == (60, 3)


# ---- decisions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("depth", "branching"), [(0, 2), (1, 2), (2, 3), (3, 2)])
def test_decisions_are_those_of_sums_over_paths(family: str, depth: int, branching: int) -> None:
    tree, X, Y, _ = tree_of(family, depth, branching)
    products = path_products(tree, X, Y)
    found = responsibilities(tree, X, Y)
    total = products.sum(axis=0)
    np.testing.assert_allclose(found.log_likelihood, np.log(total), rtol=1e-10)
    np.testing.assert_allclose(tree.log_likelihood(X, Y), np.log(total), rtol=1e-10)
    np.testing.assert_allclose(found.node[-1], products / total, rtol=1e-9, atol=1e-15)
    for level in range(depth):
        of_node = products.reshape(branching**level, -1, len(X)).sum(axis=1)
        np.testing.assert_allclose(found.node[level], of_node / total, rtol=1e-9, atol=1e-15)
        of_child = products.reshape(branching**level, branching, -1, len(X)).sum(axis=2)
        expected = of_child / of_node[:, None, :]
        np.testing.assert_allclose(found.branch[level], expected.transpose(0, 2, 1), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(np.exp(tree.log_paths(X)).sum(axis=0), 1)


def test_decisions_where_every_density_underflows() -> None:
    tree, X, Y, _ = tree_of("linear")
    found = responsibilities(tree, X, Y + 1e4)
    assert np.isfinite(found.log_likelihood).all()
    np.testing.assert_allclose(found.node[-1].sum(axis=0), 1)


def test_moments_are_those_of_the_mixture() -> None:
    tree, X, _Y, _ = tree_of("linear")
    share = np.exp(tree.log_paths(X))
    means, variances = tree.experts.means(X), tree.experts.variances(X)
    mean = np.einsum("kn,kno->no", share, means)
    np.testing.assert_allclose(tree.means(X), mean)
    np.testing.assert_allclose(tree.variances(X), np.einsum("kn,kno->no", share, variances + means**2) - mean**2)


# ---- EM -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_the_likelihood_never_falls(family: str, ridge: float) -> None:
    tree, X, Y, weight = tree_of(family)
    fitted = em.fit(tree, X, Y, weight, em.Settings(ridge=ridge, epochs=30, tolerance=0.0))
    rises = np.diff(fitted.objective)
    assert (rises >= -1e-9 * np.abs(fitted.objective[1:])).all()
    assert fitted.objective[-1] > fitted.objective[0]


def test_a_wrong_step_is_seen_to_fall() -> None:
    """The check above can fail: a gate that goes the other way lowers the likelihood."""
    tree, X, Y, weight = tree_of("linear")
    settings = em.Settings(epochs=1)
    found = responsibilities(tree, X, Y)
    learned = em.maximise(tree, X, Y, weight, found, settings)
    wrong = replace(learned, gates=tuple(-gate for gate in learned.gates))
    value = [em.penalised(one, one.log_likelihood(X, Y), weight, settings.ridge) for one in (tree, learned, wrong)]
    assert value[1] > value[0] > value[2]


def test_em_finds_the_tree_that_made_the_rows() -> None:
    generator = np.random.default_rng(5)
    X = np.column_stack([generator.normal(size=(3000, 2)), np.ones(3000)])
    truth = SoftTree(
        (np.array([[[4.0, 0.0, 0.5]]]),),
        Gaussian(np.array([[[1.0], [2.0], [0.0]], [[-1.0], [0.0], [1.0]]]), np.full((2, 1), 0.04), np.zeros(1)),
    )
    leaf = (generator.random(3000) > np.exp(truth.log_paths(X)[0])).astype(int)
    Y = truth.experts.means(X)[leaf, np.arange(3000)] + 0.2 * generator.normal(size=(3000, 1))
    begin = splits.random_tree("linear", X, Y, np.ones(3000), 1, 2, generator)
    for algorithm in ("em", "em2"):
        fitted = em.fit(begin, X, Y, np.ones(3000), em.Settings(algorithm, ridge=0.0, epochs=200, tolerance=1e-7)).tree
        gate, coefficients = fitted.gates[0][0, 0], fitted.experts.coefficients
        if gate[0] < 0:
            gate, coefficients = -gate, coefficients[::-1]
        np.testing.assert_allclose(coefficients, truth.experts.coefficients, atol=0.03)
        if algorithm == "em":
            np.testing.assert_allclose(gate, [4.0, 0.0, 0.5], atol=0.5)
        else:
            # Least squares on ln h is no likelihood: it makes gates too sharp, but points them the right way.
            np.testing.assert_allclose(gate / np.linalg.norm(gate), np.array([4, 0, 0.5]) / np.hypot(4, 0.5), atol=0.05)


def test_the_gate_by_least_squares() -> None:
    """Where the targets are those of a gate, ln h is linear and one least squares finds it."""
    generator = np.random.default_rng(6)
    X = np.column_stack([generator.normal(size=(50, 2)), np.ones(50)])
    truth = generator.normal(size=(2, 3))
    scores = np.column_stack([X @ truth.T, np.zeros(50)])
    targets = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fit_least_squares(X, targets, np.ones(50), 0.0), truth, rtol=1e-6, atol=1e-8)


def test_held_out_rows_choose_the_epoch() -> None:
    tree, X, Y, weight = tree_of("linear", depth=3)
    other = problem("linear", seed=9)
    fitted = em.fit(tree, X, Y, weight, em.Settings(epochs=60, ridge=0.0, tolerance=0.0, patience=4), held_out=other)
    assert len(fitted.held_out) < 61
    best = float(np.average(fitted.tree.log_likelihood(*other[:2]), weights=other[2]))
    assert best == pytest.approx(max(fitted.held_out))


def test_growing_changes_nothing_at_first() -> None:
    tree, X, Y, weight = tree_of("linear", depth=1)
    taller = splits.grown(tree, np.random.default_rng(0))
    assert (taller.depth, taller.leaves) == (2, 4)
    np.testing.assert_allclose(taller.log_likelihood(X, Y), tree.log_likelihood(X, Y))
    settings = em.Settings(epochs=20)
    assert em.fit(taller, X, Y, weight, settings).objective[-1] > em.fit(tree, X, Y, weight, settings).objective[-1]


def test_a_hard_tree_becomes_soft() -> None:
    from sklearn.tree import DecisionTreeRegressor

    X, Y, weight = problem("constant", rows=300)
    hard = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X[:, :-1], Y)
    levels = splits.splits_of(hard, 3)
    assert [len(level) for level in levels] == [1, 2, 4] and levels[2] == [None] * 4
    soft = splits.tree_from_splits("constant", X, Y, weight, levels[:2])
    column, cut = levels[0][0]
    share = np.exp(soft.log_gates(X)[0][0, :, 0])
    np.testing.assert_array_equal(share > 0.5, X[:, column] < cut)
    assert np.count_nonzero(soft.gates[0][0, 0, :-1]) == 1


# ---- other arrays ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_any_array_of_the_standard(family: str) -> None:
    """The same code on arrays that have nothing but what the array API promises."""
    xp = pytest.importorskip("array_api_strict")
    X, Y, weight = problem(family)
    plain = splits.random_tree(family, X, Y, weight, 2, 2, np.random.default_rng(1))
    strict = splits.random_tree(
        family, xp.asarray(X), xp.asarray(Y), xp.asarray(weight), 2, 2, np.random.default_rng(1)
    )
    settings = em.Settings(epochs=3)
    here = em.fit(plain, X, Y, weight, settings)
    there = em.fit(strict, xp.asarray(X), xp.asarray(Y), xp.asarray(weight), settings)
    np.testing.assert_allclose(there.objective, here.objective, rtol=1e-9)


def test_log_gamma_within_the_array_api() -> None:
    from scipy.special import gammaln

    values = np.concatenate([np.geomspace(1e-3, 1e8, 400), np.arange(1.0, 40)])
    np.testing.assert_allclose(log_gamma(values), gammaln(values), rtol=2e-14, atol=2e-14)


# ---- one row at a time ----------------------------------------------------------------------------------------------


def test_the_recursions_as_printed() -> None:
    """One row, against the formulas written out node by node."""
    tree, X, Y, _ = tree_of("linear")
    state = online.first_state(tree)
    for row in range(5):
        tree, state = online.learn_row(tree, state, X[row], Y[row], 0.99)
    x, y, decay = X[7], Y[7], 0.99
    found = responsibilities(tree, x[None], y[None])
    learned, after = online.learn_row(tree, state, x, y, decay)
    for leaf in range(4):
        h, R = found.node[-1][leaf, 0], state.experts.spread[leaf]
        R_next = R - (1 / decay) * (R @ np.outer(x, x) @ R) / (decay / h + x @ R @ x)
        np.testing.assert_allclose(after.experts.spread[leaf], R_next, rtol=1e-9)
        U = tree.experts.coefficients[leaf].T
        U_next = U + h * np.outer(y - U @ x, x) @ R_next
        np.testing.assert_allclose(learned.experts.coefficients[leaf].T, U_next, rtol=1e-9)
    for node in range(2):
        h = found.node[1][node, 0]
        for branch in range(2):
            S, v = state.gate_spread[1][node, branch], state.scores[1][node, branch]
            S_next = S - (1 / decay) * (S @ np.outer(x, x) @ S) / (decay / h + x @ S @ x)
            v_next = v + S_next @ x * h * (np.log(found.branch[1][node, 0, branch]) - v @ x)
            np.testing.assert_allclose(after.gate_spread[1][node, branch], S_next, rtol=1e-9)
            np.testing.assert_allclose(after.scores[1][node, branch], v_next, rtol=1e-9)


def test_rows_one_by_one_come_to_what_all_at_once_do() -> None:
    generator = np.random.default_rng(8)
    rows = 4000
    X = np.column_stack([generator.uniform(-2, 2, size=(rows, 1)), np.ones(rows)])
    Y = np.where(X[:, :1] > 0, 2 * X[:, :1], -X[:, :1]) + 0.1 * generator.normal(size=(rows, 1))
    begin = splits.random_tree("linear", X[:200], Y[:200], np.ones(200), 1, 2, generator)
    batch = em.fit(begin, X, Y, np.ones(rows), em.Settings(epochs=50)).tree
    tree, state = begin, online.first_state(begin)
    for row in range(rows):
        tree, state = online.learn_row(tree, state, X[row], Y[row], 0.999)
    errors = [float(np.mean((one.means(X) - Y) ** 2)) for one in (begin, batch, tree)]
    assert errors[2] < 2 * errors[1] < errors[0] / 2
    experts = sorted(tree.experts.coefficients[:, 0, 0])
    np.testing.assert_allclose(experts, [-1, 2], atol=0.1)


def information(family: str, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, at: list[np.ndarray]) -> np.ndarray:
    """I + Σ w D ⊗ x x', each row at the coefficients that the recursions had there, written out."""
    size = at[0].size
    total = np.eye(size)
    for x, y, w, coefficients in zip(X, Y, weight, at, strict=True):
        if family == "multinomial":
            share = np.exp(np.append(coefficients @ x, 0))
            share = (share / share.sum())[:-1]
            total += w * np.kron(np.diag(share) - np.outer(share, share), np.outer(x, x))
        else:
            mean = float(np.exp(coefficients[:, 0] @ x))
            curvature = {"linear": 1.0, "gamma": y[0] / mean, "poisson": mean}[family]
            total += w * curvature * np.outer(x, x)
    return total


@pytest.mark.parametrize("family", ["linear", "poisson", "gamma", "multinomial"])
def test_rows_one_by_one_add_up_to_the_information(family: str) -> None:
    X, Y, weight = problem(family)
    Y = Y[:, :1] if family == "linear" else Y
    tree = splits.random_tree(family, X, Y, weight, 0, 2, np.random.default_rng(0))
    state = online.first_state(tree)
    at = []
    for x, y, w in zip(X, Y, weight, strict=True):
        at.append(tree.experts.coefficients[0])
        tree, state = online.learn_row(tree, state, x, y, 1.0, w)
    found = np.linalg.inv(state.experts.spread[0])
    np.testing.assert_allclose(found, information(family, X, Y, weight, at), rtol=1e-8, atol=1e-8)
    # Saboteur: rows of weight 1.
    assert not np.allclose(found, information(family, X, Y, np.ones(len(X)), at), rtol=1e-2)


def test_linear_experts_one_by_one_are_ridge_regression() -> None:
    X, Y, weight = problem("linear")
    begin = splits.random_tree("linear", X, Y, weight, 0, 2, np.random.default_rng(0))
    zero = replace(begin.experts, coefficients=np.zeros_like(begin.experts.coefficients))
    tree = SoftTree((), zero)
    state = online.first_state(tree)
    for x, y, w in zip(X, Y, weight, strict=True):
        tree, state = online.learn_row(tree, state, x, y, 1.0, w)
    expected = np.linalg.solve(np.eye(3) + (X.T * weight) @ X, (X.T * weight) @ Y)
    np.testing.assert_allclose(tree.experts.coefficients[0], expected, rtol=1e-9)


@pytest.mark.parametrize("family", ["logistic", "multinomial", "poisson", "gamma"])
def test_other_experts_one_by_one_come_to_the_batch_fit(family: str) -> None:
    """Within a share of the standard errors, by which all rows at once differ from the truth."""
    generator = np.random.default_rng(9)
    X = np.column_stack([generator.normal(size=(4000, 2)), np.ones(4000)])
    predictor = X @ [0.5, -0.3, 0.2]
    noise = generator.logistic(size=4000)
    outputs = {
        "logistic": lambda: np.eye(2)[(predictor + noise < 0).astype(int)],
        "multinomial": lambda: np.eye(3)[np.digitize(predictor + noise, [-1, 1])],
        "poisson": lambda: generator.poisson(np.exp(predictor))[:, None].astype(float),
        "gamma": lambda: generator.exponential(np.exp(predictor))[:, None],
    }
    Y, weight = outputs[family](), np.ones(len(X))
    begin = splits.random_tree(family, X, Y, weight, 0, 2, np.random.default_rng(0))
    batch = em.fit(begin, X, Y, weight, em.Settings(ridge=1.0, epochs=30, tolerance=0)).tree.experts.coefficients
    tree = SoftTree((), replace(begin.experts, coefficients=np.zeros_like(begin.experts.coefficients)))
    state = online.first_state(tree)
    for x, y in zip(X, Y, strict=True):
        tree, state = online.learn_row(tree, state, x, y, 1.0)
    error = np.sqrt(np.diag(state.experts.spread[0]))
    apart = np.abs(tree.experts.coefficients - batch).ravel() / error
    assert apart.max() < 0.5
    # Saboteur: the fit of a tenth of the rows is further away.
    tenth = em.fit(begin, X[:400], Y[:400], weight[:400], em.Settings(ridge=1.0, epochs=30)).tree.experts.coefficients
    assert (np.abs(tenth - batch).ravel() / error).max() > 1
