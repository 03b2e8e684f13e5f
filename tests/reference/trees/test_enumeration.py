"""The reference itself: its priors sum to one, its marginals agree with numerical integration."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad, trapezoid

from reference.trees.enumeration import (
    Column,
    Dirichlet,
    GrowTree,
    NormalInverseGamma,
    Rule,
    Table,
    choices,
    enumerate_trees,
    leaves,
)
from reference.trees.spaces import SPACES, Space


def numeric(*bins: int) -> Column:
    return Column("numeric", max(bins) + 1, False, bins)


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_prior_sums_to_one(space: Space) -> None:
    assert math.fsum(math.exp(tree.log_prior) for tree in space.trees.values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_likelihood_is_the_sum_over_leaves(space: Space) -> None:
    """The enumerator adds subtrees up; here each tree's leaves are found from its rules alone."""
    for tree, scored in itertools.islice(space.trees.items(), 0, None, 7):
        rows = space.table.leaf_rows(tree)
        assert len(rows) == leaves(tree)
        assert frozenset().union(*rows) == space.table.all_rows
        assert min(map(len, rows)) >= min(space.prior.min_leaf, len(space.table.all_rows))
        total = math.fsum(space.table.log_marginal(space.leaf, leaf) for leaf in rows)
        assert scored.log_likelihood == pytest.approx(total, abs=1e-11)


def test_three_values_by_hand() -> None:
    """One column of three values: a leaf, two trees of two leaves, two of three."""
    table = Table((numeric(0, 1, 2),), (0.0, 1.0, 0.0))
    trees = enumerate_trees(table, GrowTree(0.8, 1.0, 1, "variable"), Dirichlet(1.0, 2))
    low, high = Rule(0, 0, 0, False), Rule(0, 1, 0, False)
    by_hand = {
        (None,): (0.2, 1 / 12),
        (low, None, None): (0.8 / 2 * 0.6, 1 / 2 * 1 / 6),
        (high, None, None): (0.8 / 2 * 0.6, 1 / 6 * 1 / 2),
        (low, None, high, None, None): (0.8 / 2 * 0.4, 1 / 8),
        (high, low, None, None, None): (0.8 / 2 * 0.4, 1 / 8),
    }
    assert set(trees) == set(by_hand)
    for tree, (prior, likelihood) in by_hand.items():
        assert math.exp(trees[tree].log_prior) == pytest.approx(prior, rel=1e-13)
        assert math.exp(trees[tree].log_likelihood) == pytest.approx(likelihood, rel=1e-13)


def test_rules_of_a_column() -> None:
    """2C + 1 rules with missing values, 2^(L−1) − 1 level sets, and nothing for a constant column."""
    assert numeric(0, 0).rules(0) == []
    assert [rule.cut for rule in numeric(0, 1, 2).rules(4)] == [0, 1]
    missing = Column("numeric", 3, True, (0, 1, 2, 3))
    assert set(missing.rules(0)) == {
        Rule(0, 0, 0, False),
        Rule(0, 1, 0, False),
        Rule(0, 0, 0, True),
        Rule(0, 1, 0, True),
        Rule(0, 2, 0, False),
    }
    is_missing = Rule(0, 2, 0, False)
    assert [missing.goes_left(is_missing, code) for code in range(4)] == [True, True, True, False]
    assert Column("numeric", 1, True, (0, 1)).rules(0) == [Rule(0, 0, 0, False)]
    assert [rule.subset for rule in Column("categorical", 3, False, (0, 1, 2)).rules(0)] == [1, 3, 5]
    assert len(Column("categorical", 3, True, (0, 1, 2, 3)).rules(0)) == 7


def test_rules_that_divide_alike_are_all_counted() -> None:
    """At a node that holds the bins 0 and 3 only, three cuts divide alike and are three rules."""
    table = Table((numeric(0, 3, 1, 2), numeric(0, 1, 2, 2)), (0.0, 0.0, 1.0, 1.0))
    ways = choices(table, GrowTree(0.5, 1.0, 1, "variable"), frozenset({0, 1}))
    assert [way.rule.cut for way in ways] == [0, 1, 2, 0]
    assert [way.probability for way in ways] == [1 / 6, 1 / 6, 1 / 6, 1 / 2]
    ways = choices(table, GrowTree(0.5, 1.0, 1, "uniform"), frozenset({0, 1}))
    assert [way.probability for way in ways] == [1 / 4] * 4


def test_certain_splits_leave_no_other_tree() -> None:
    """With alpha = 1 and beta = 0 every node with an admissible rule splits."""
    table = Table((numeric(0, 1, 2, 3),), (0.0, 1.0, 0.0, 1.0))
    trees = enumerate_trees(table, GrowTree(1.0, 0.0, 1, "variable"), Dirichlet(1.0, 2))
    assert {leaves(tree) for tree in trees} == {4} and len(trees) == 5


@pytest.mark.parametrize("concentration", [1.0, 0.5, 2.5])
def test_dirichlet_is_the_product_of_predictives(concentration: float) -> None:
    response, weight, classes = [0.0, 2.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 3.0, 1.0], 3
    counts, log_probability = [0] * classes, 0.0
    for y in (int(y) for y, w in zip(response, weight, strict=True) for _ in range(int(w))):
        log_probability += math.log((counts[y] + concentration) / (sum(counts) + classes * concentration))
        counts[y] += 1
    assert Dirichlet(concentration, classes).log_marginal(response, weight) == pytest.approx(log_probability, abs=1e-12)


@pytest.mark.parametrize("concentration", [1.0, 1.5, 3.0])
def test_dirichlet_with_fractional_weights_is_an_integral(concentration: float) -> None:
    response, weight = [0.0, 1.0, 1.0, 0.0], [0.5, 1.25, 2.0, 1.75]
    zeros = sum(w for y, w in zip(response, weight, strict=True) if y == 0)
    ones = sum(weight) - zeros
    density = stats.beta(concentration, concentration).pdf
    value, _ = quad(lambda p: density(p) * p**zeros * (1 - p) ** ones, 0, 1)
    assert Dirichlet(concentration, 2).log_marginal(response, weight) == pytest.approx(math.log(value), abs=1e-9)


def test_gaussian_is_the_product_of_student_predictives() -> None:
    response, weight = [1.2, -0.3, 0.8, 2.5], [1.0, 3.0, 1.0, 2.0]
    leaf = NormalInverseGamma(0.4, 0.7, 3.0, 0.9)
    mean, kappa, nu, sum_of_squares = leaf.mean, leaf.kappa, leaf.nu, leaf.nu * leaf.scale
    log_density = 0.0
    for y in (y for y, w in zip(response, weight, strict=True) for _ in range(int(w))):
        spread = math.sqrt(sum_of_squares / nu * (kappa + 1) / kappa)
        log_density += stats.t.logpdf(y, df=nu, loc=mean, scale=spread)
        sum_of_squares += kappa / (kappa + 1) * (y - mean) ** 2
        mean, kappa, nu = (kappa * mean + y) / (kappa + 1), kappa + 1, nu + 1
    assert leaf.log_marginal(response, weight) == pytest.approx(log_density, abs=1e-11)


def test_gaussian_with_fractional_weights_is_an_integral() -> None:
    """The prior's densities are scipy's own, so the parametrisation is checked too, not only the algebra."""
    response, weight = [1.2, -0.3, 0.8], [0.5, 1.25, 2.0]
    leaf = NormalInverseGamma(0.4, 0.7, 5.0, 0.9)
    variance = stats.invgamma(leaf.nu / 2, scale=leaf.nu * leaf.scale / 2)

    def given_variance(log_variance: float) -> float:
        """∫ p(y | μ, σ²)^w p(μ | σ²) dμ · p(log σ²), the inner integral on a fine grid of μ."""
        sigma2 = math.exp(log_variance)
        spread = math.sqrt(sigma2 / leaf.kappa)
        mu = leaf.mean + spread * np.linspace(-12, 12, 4001)
        log_integrand = stats.norm.logpdf(mu, leaf.mean, spread)
        for y, w in zip(response, weight, strict=True):
            log_integrand += w * stats.norm.logpdf(y, mu, math.sqrt(sigma2))
        return float(trapezoid(np.exp(log_integrand), mu)) * variance.pdf(sigma2) * sigma2

    value, _ = quad(given_variance, -8, 12, epsabs=0, epsrel=1e-9)
    assert leaf.log_marginal(response, weight) == pytest.approx(math.log(value), abs=1e-8)


def test_whole_weights_are_copies() -> None:
    response, weight = [1.2, -0.3, 0.8], [1.0, 3.0, 2.0]
    copies = [y for y, w in zip(response, weight, strict=True) for _ in range(int(w))]
    leaf = NormalInverseGamma(0.4, 0.7, 3.0, 0.9)
    assert leaf.log_marginal(response, weight) == pytest.approx(leaf.log_marginal(copies, [1.0] * 6), abs=1e-12)


def test_the_posterior_draws_what_the_marginal_says() -> None:
    """p(y) = p(y | θ) p(θ) / p(θ | y) at any θ ties ``posterior`` to ``log_marginal``."""
    response, leaf = [1.2, -0.3, 0.8], NormalInverseGamma(0.4, 0.7, 3.0, 0.9)
    after = leaf.posterior(response, [1.0] * 3)

    def log_density(part: NormalInverseGamma, mu: float, sigma2: float) -> float:
        spread = stats.norm.logpdf(mu, part.mean, math.sqrt(sigma2 / part.kappa))
        return spread + stats.invgamma.logpdf(sigma2, part.nu / 2, scale=part.nu * part.scale / 2)

    mu, sigma2 = 0.6, 1.3
    likelihood = np.sum(stats.norm.logpdf(response, mu, math.sqrt(sigma2)))
    candidate = likelihood + log_density(leaf, mu, sigma2) - log_density(after, mu, sigma2)
    assert leaf.log_marginal(response, [1.0] * 3) == pytest.approx(candidate, abs=1e-11)
