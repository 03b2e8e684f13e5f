"""The reference of sums of trees itself: simulation, integrals, and the enumeration of single trees."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from reference.bart.normal_sums import Noise, SumSpace
from reference.bart.spaces import (
    BLOCKED,
    CUBE,
    ONE,
    ONE_DRAWN,
    PROBIT,
    SEVERAL,
    SPARSE,
    TWO,
)
from reference.bart.tuples import Tuples
from reference.bart.utilities import UtilitySpace, class_probability
from reference.trees.dirichlet_weights import DirichletWeights, asking, questions
from reference.trees.enumeration import Normal, NormalInverseGamma
from reference.trees.spaces import GAP, MISSING, Space

DRAWS = 20_000
LIMIT = 4.5  # Monte Carlo errors, of some dozens of comparisons


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(1)


def name(value: object) -> str:
    return value.name if isinstance(value, Tuples) else str(value)


def assert_means(draws: np.ndarray, exact: np.ndarray | float) -> None:
    """Means of independent draws, over the first axis."""
    error = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - exact) < LIMIT * error + 1e-12)


# ---- normal noise ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("sums", [*ONE, *ONE_DRAWN, *TWO, *SPARSE, *PROBIT, *SEVERAL], ids=name)
def test_probabilities_sum_to_one(sums: SumSpace | UtilitySpace, power: float) -> None:
    target = sums.target(power)
    assert target.min() > 0 and target.sum() == pytest.approx(1, abs=1e-12)
    if power == 0 and sums.space.prior.constraints.max_leaves is None:
        np.testing.assert_allclose(target, np.exp(sums.log_prior), atol=1e-12)


@pytest.mark.parametrize("sums", ONE, ids=name)
def test_one_tree_and_known_noise_is_the_enumeration_of_single_trees(sums: SumSpace) -> None:
    single = replace(sums.space, leaf=sums.leaf)
    np.testing.assert_allclose(sums.target(1.0), single.target(1.0), rtol=1e-10)
    log_likelihood = sums.log_likelihood(np.array([sums.noise.guess]), 1.0)[:, 0]
    np.testing.assert_allclose(log_likelihood, single.log_likelihood, rtol=0, atol=1e-10)


def test_known_noise_is_the_limit_of_a_strong_prior() -> None:
    """The marginal of normal leaves against that of leaves with a variance of their own, which is all but known."""
    leaf = Normal(0.4, 0.7, 0.3)
    strong = NormalInverseGamma(0.4, (0.3 / 0.7) ** 2, 1e7, 0.09)
    y = [0.1, 0.9, -0.2, 0.5]
    assert leaf.log_marginal(y, [1.0] * 4) == pytest.approx(strong.log_marginal(y, [1.0] * 4), abs=1e-5)


@pytest.mark.parametrize("weight", [None, (0.5, 2.0, 1.25)])
def test_normal_leaf_by_quadrature(weight: tuple[float, ...] | None) -> None:
    leaf, y = Normal(0.4, 0.7, 0.3), np.array([0.1, 0.9, -0.2])
    w = np.ones(3) if weight is None else np.array(weight)

    def density(mu: float) -> float:
        return float(stats.norm.pdf(mu, 0.4, 0.7) * np.prod(stats.norm.pdf(y, mu, 0.3 / np.sqrt(w))))

    total = quad(density, -4, 4, epsabs=1e-12)[0]
    mean, spread = leaf.posterior(y.tolist(), w.tolist())
    assert np.exp(leaf.log_marginal(y.tolist(), w.tolist())) == pytest.approx(total, rel=1e-8)
    assert mean == pytest.approx(quad(lambda mu: mu * density(mu), -4, 4)[0] / total, rel=1e-6)
    assert spread**2 == pytest.approx(quad(lambda mu: (mu - mean) ** 2 * density(mu), -4, 4)[0] / total, rel=1e-6)


def simulate(sums: SumSpace, state: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Leaf values of each tree at each row, (draws, trees, rows), and σ, from the prior given the trees."""
    leaves = sums.space.leaves[sums.parts[state]]
    values = [sums.sigma_mu * generator.standard_normal((DRAWS, count)) for count in leaves]
    at_rows = [value[:, sums.leaf_of[tree]] for value, tree in zip(values, sums.parts[state], strict=True)]
    noise = sums.noise
    if np.isinf(noise.nu):
        return np.stack(at_rows, axis=1), np.full(DRAWS, noise.guess)
    scaled = noise.guess**2 * stats.chi2.isf(noise.q, noise.nu)
    return np.stack(at_rows, axis=1), np.sqrt(scaled / generator.chisquare(noise.nu, DRAWS))


@pytest.mark.parametrize("power", [0.5, 1.0])
@pytest.mark.parametrize("sums", [ONE[0], ONE[3], *ONE_DRAWN, *TWO], ids=name)
def test_posterior_by_weighted_simulation(sums: SumSpace, power: float, generator: np.random.Generator) -> None:
    """Marginal likelihood, σ, and moments of sums and parts, by draws from the prior weighted with the likelihood."""
    states = generator.choice(len(sums.parts), 3, replace=False)
    joint = sums.joint(power)
    log_total = joint.sum(axis=1) / np.exp(sums.log_prior)
    likelihoods = []
    for state in states:
        values, sigma = simulate(sums, state, generator)
        at = sums.response - sums.centre - values.sum(axis=1)
        scale = sigma[:, None] / np.sqrt(sums.row_weights)
        weight = np.exp(power * stats.norm.logpdf(at, 0, scale).sum(axis=1))
        likelihoods.append(weight)
        states_of = np.full(len(sigma), state)
        for row, part in [(0, None), (3, 0), (2, sums.trees - 1)]:
            mean, spread = sums.moments(states_of, sigma, power, row, part)
            drawn = values.sum(axis=1)[:, row] if part is None else values[:, part, row]
            # Weighted residuals from the conditional mean and variance have mean zero.
            assert_means(weight * (drawn - mean) / weight.mean(), 0.0)
            assert_means(weight * ((drawn - mean) ** 2 - spread**2) / weight.mean(), 0.0)
            share = sums.value_share(states_of, sigma, drawn, power, row, part)
            assert_means(weight * (share - 0.5) / weight.mean(), 0.0)
        if np.isfinite(sums.noise.nu):
            share = sums.sigma_share(states_of, sigma, power)
            assert_means(weight * (share - 0.5) / weight.mean(), 0.0)
            assert_means(weight * ((share < 0.2) - 0.2) / weight.mean(), 0.0)
    for one, other in zip(range(2), range(1, 3), strict=True):
        ratio = log_total[states[one]] / log_total[states[other]]
        assert_means(
            likelihoods[one] / likelihoods[other].mean() - ratio * likelihoods[other] / likelihoods[other].mean(), 0.0
        )


def test_a_pair_of_single_leaves_is_one_leaf_of_twice_the_variance() -> None:
    two = SumSpace(name="two", space=GAP, trees=2, noise=Noise(0.4), k=1.0)
    one = SumSpace(name="one", space=GAP, trees=1, noise=Noise(0.4), k=1.0)
    sigma = np.array([0.4])
    assert one.sigma_mu**2 == pytest.approx(2 * two.sigma_mu**2)
    leaf = GAP.index[(None,)]
    pair = two.state(np.array([leaf, leaf]))
    assert two.log_likelihood(sigma, 1.0)[pair] == pytest.approx(one.log_likelihood(sigma, 1.0)[leaf])


def test_trees_of_a_pair_can_be_exchanged() -> None:
    two = TWO[1]
    target = two.target(1.0).reshape(len(two.space.trees), -1)
    np.testing.assert_allclose(target, target.T, rtol=1e-8)


# ---- weights of columns ---------------------------------------------------------------------------------------------


def log_dirichlet(each: np.ndarray, columns: int, generator: np.random.Generator) -> np.ndarray:
    """Logs of Dirichlet draws; parameters near zero take a gamma variable's logarithm, as it is no number itself."""
    shape = np.repeat(each[:, None], columns, axis=1)
    log_gamma = np.log(generator.gamma(shape + 1)) + np.log(generator.random(shape.shape)) / shape
    return log_gamma - np.logaddexp.reduce(log_gamma, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("space", "concentration"),
    [
        (BLOCKED, 0.1),
        (BLOCKED, 3.0),
        (BLOCKED, None),
        (GAP, None),
        (MISSING, 1.0),
        (CUBE, 0.1),
        (CUBE, 5.0),
        (CUBE, None),
    ],
    ids=str,
)
def test_integrated_weights_by_simulation(
    space: Space, concentration: float | None, generator: np.random.Generator
) -> None:
    columns = len(space.table.columns)
    share = generator.beta(0.5, 1, DRAWS)
    each = share / (1 - share) if concentration is None else np.full(DRAWS, concentration / columns)
    weights = log_dirichlet(each, columns, generator)
    exact = DirichletWeights(concentration).log_prior(space, np.arange(len(space.trees))[:, None])
    for position in range(0, len(space.trees), max(1, len(space.trees) // 12)):
        log_share = log_choices(space, position, weights)
        assert_means(np.exp(log_share), np.exp(exact[position] - asking(space).kept[position]))
    given = [asking(space).log_prior(drawn) for drawn in weights[:2000]]
    assert_means(np.exp(given), np.exp(exact))


def log_choices(space: Space, position: int, weights: np.ndarray) -> np.ndarray:
    """The log probability, given log weights, that a tree's splits choose their columns."""
    log_share = np.zeros(len(weights))
    for column, among in questions(space, list(space.trees)[position]):
        log_share += weights[:, column] - np.logaddexp.reduce(weights[:, sorted(among)], axis=1)
    return log_share


@pytest.mark.parametrize("space", [BLOCKED, CUBE], ids=str)
def test_means_of_weights_by_simulation(space: Space, generator: np.random.Generator) -> None:
    columns = len(space.table.columns)
    share = generator.beta(0.5, 1, DRAWS)
    weights = log_dirichlet(share / (1 - share), columns, generator)
    drawn = np.column_stack([np.exp(weights), share])
    exact = DirichletWeights().means(space, np.arange(len(space.trees))[:, None])
    np.testing.assert_allclose(exact[space.index[(None,)]], [*[1 / columns] * columns, 1 / 3], atol=1e-5)
    for position in range(1, len(space.trees), max(1, len(space.trees) // 8)):
        weight = np.exp(log_choices(space, position, weights))
        weight /= weight.mean()
        assert_means(weight[:, None] * (drawn - exact[position]), 0.0)


def test_questions_by_hand() -> None:
    """A column of two values cannot be asked about again."""
    (first,), (second, _) = (column.rules(feature) for feature, column in enumerate(BLOCKED.table.columns))
    tree = (first, None, second, None, None)
    assert list(questions(BLOCKED, tree)) == [(0, frozenset({0, 1})), (1, frozenset({1}))]


def test_strong_weights_are_even_ones() -> None:
    exact = DirichletWeights(1500.0).log_prior(CUBE, np.arange(len(CUBE.trees))[:, None])
    np.testing.assert_allclose(exact, CUBE.log_prior, atol=0.01)


def test_weights_tie_trees_together() -> None:
    """Two trees that ask about one column have more than the product of their probabilities."""
    one, two = SPARSE[1], SPARSE[3]
    alone = np.exp(one.log_prior)
    together = np.exp(two.log_prior).reshape(len(alone), -1)
    np.testing.assert_allclose(together.sum(axis=1), alone, atol=1e-12)
    ask = BLOCKED.index[(BLOCKED.table.columns[0].rules(0)[0], None, None)]
    assert together[ask, ask] > alone[ask] ** 2


# ---- classes --------------------------------------------------------------------------------------------------------


def test_probabilities_of_classes(generator: np.random.Generator) -> None:
    utilities = generator.normal(0, 2, (5, 3))
    total = sum(class_probability(utilities, one) for one in range(3))
    np.testing.assert_allclose(total, 1, atol=1e-10)
    drawn = np.argmax(utilities[0] + generator.standard_normal((DRAWS, 3)), axis=1)
    for one in range(3):
        assert_means((drawn == one).astype(float), class_probability(utilities, one)[0])
    two = class_probability(utilities[:, :1], 1)
    np.testing.assert_allclose(two, stats.norm.cdf(utilities[:, 0]), atol=1e-12)


def test_one_tree_by_quadrature_of_each_leaf() -> None:
    probit = PROBIT[0]
    signs = 2 * np.array(probit.space.table.response) - 1
    for state in range(0, len(probit.parts), 11):
        total = 1.0
        for leaf in range(probit.space.leaves[state]):
            mine = signs[probit.leaf_of[state] == leaf]

            def density(mu: float, mine: np.ndarray = mine) -> float:
                return stats.norm.pdf(mu, 0, 1.5) * np.prod(stats.norm.cdf((mu + probit.centre) * mine))

            total *= quad(density, -12, 12)[0]
        assert probit.likelihood[state] == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("power", [0.0, 1.0])
@pytest.mark.parametrize(
    "utilities",
    [*PROBIT[2:], *SEVERAL],
    ids=name,
)
def test_classes_by_weighted_simulation(utilities: UtilitySpace, power: float, generator: np.random.Generator) -> None:
    states = generator.choice(len(utilities.parts), DRAWS, p=np.exp(utilities.log_prior))
    values = utilities.sigma_mu * generator.standard_normal((DRAWS, utilities.slots, 4))
    leaf = utilities.leaf_of[utilities.parts[states]]
    at_rows = np.take_along_axis(values, leaf, axis=2)
    at = at_rows.reshape(DRAWS, utilities.utilities, utilities.trees, -1).sum(axis=2).transpose(0, 2, 1)
    at = at + utilities.centre
    if utilities.offset is not None:
        at = at + np.array(utilities.offset)[:, None]
    counted = list(zip(map(int, utilities.space.table.response), utilities.row_weights, strict=True))
    weight = np.prod(
        [class_probability(at[:, row], one) ** (power * count) for row, (one, count) in enumerate(counted)], axis=0
    )  # of no use but where the power is 1
    for row in (0, 3):
        for one in range(max(utilities.utilities, 2)):
            exact = utilities.expectation(partial(class_probability, one=one), row, power)
            assert_means(weight * (class_probability(at[:, row], one) - exact) / weight.mean(), 0.0)
        exact = utilities.expectation(lambda u: u[..., -1], row, power)
        assert_means(weight * (at[:, row, -1] - exact) / weight.mean(), 0.0)
    target = utilities.target(power)
    for state in np.argsort(-target)[:5]:
        assert_means(weight * ((states == state) - target[state]) / weight.mean(), 0.0)
