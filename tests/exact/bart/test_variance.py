"""Variances that are products of trees against the enumeration: trees and leaf values, of known and unknown means."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import baytree as bt
from baytree.bart.calibration import factor_prior
from baytree.mcmc.mixtures import MixtureSpec
from baytree.trees.forest import Ensemble
from exact.bart.chains import parted, positions_of
from exact.trees.native import native_prior, read_space
from faults import injected
from reference.agreement import Disagreement, assert_agrees, assert_means_agree
from reference.bart.normal_sums import Noise
from reference.bart.spaces import THREE
from reference.bart.tuples import Floats
from reference.bart.variance_products import BothSpace, Factor, ProductSpace
from reference.trees.dirichlet_weights import DirichletWeights
from reference.trees.enumeration import GrowTree
from reference.trees.spaces import ALONE, GAP, WEIGHTED_REAL, numeric

BOTH: MixtureSpec = {"birth_death": 1, "change": 1}
POWERS = pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
NOISE = Noise(0.5, nu=3.0)

# Rows whose squares differ by more than chance, so that trees of the variance have something to find.
SPREAD = replace(THREE, name="spread", response=(0.5, 0.52, 1.1, -0.3, 3.0, -2.0))
# Two columns, and three leaves at most.
PAIR = replace(
    SPREAD,
    name="pair",
    raw=(*SPREAD.raw, numeric((0, 1, 0, 1, 0, 1), (0, 1, 0, 1, 0, 1), 2)),
    prior=GrowTree(0.9, 0.4, 2, "variable"),
)
ONE = (
    ProductSpace(name="gap", space=GAP, noise=NOISE),
    ProductSpace(name="weighted", space=WEIGHTED_REAL, noise=Noise(0.8, nu=5.0, q=0.75)),
    ProductSpace(name="few degrees of freedom", space=SPREAD, noise=Noise(0.8, nu=1.5)),
    ProductSpace(name="boxes", space=ALONE["boxes"], noise=NOISE),
)
TWO = (
    ProductSpace(name="two of spread", space=SPREAD, trees=2, noise=NOISE),
    ProductSpace(name="two of three", space=THREE, trees=2, noise=Noise(0.8, nu=6.0, q=0.75)),
)
MIXED = (
    BothSpace(name="mean and variance", space=SPREAD, noise=Noise(0.8, nu=5.0)),
    BothSpace(
        name="weights", space=replace(THREE, weight=(0.5, 2.0, 1.0, 1.25, 3.0, 0.75)), noise=Noise(0.8, nu=5.0), k=0.5
    ),
)
# One set of weights for the columns of both trees.
SPARSE = BothSpace(name="sparse", space=PAIR, noise=Noise(0.8, nu=8.0), weights=DirichletWeights())


def name(value: object) -> str:
    return "+".join(value) if isinstance(value, dict) else str(getattr(value, "name", value))


def sample(
    tuples: ProductSpace | BothSpace, proposal: MixtureSpec, power: float, draws: int = 6000
) -> bt.BARTPosterior:
    """Draws from baytree. A known mean is a tree whose values are next to nothing."""
    noise: dict[str, Any] = {"sigma": tuples.noise.guess, "nu": tuples.noise.nu, "q": tuples.noise.q}
    prior = native_prior(tuples.space)
    model = bt.BART(
        trees=1,
        prior=prior if tuples.weights is None else prior & bt.Weights("sparse"),
        k=1e9 if isinstance(tuples, ProductSpace) else tuples.k,
        variance="forest",
        variance_trees=tuples.trees,
        proposal=proposal,
        power=power,
        **noise,
    )
    thin = (4 if tuples.weights is not None else 1) * (40 if proposal == "birth_death" else 12)
    return bt.sample(
        model, read_space(tuples.space), warmup=500, draws=draws, thin=thin, chains=4, seed=1, progress=False
    )


def log_variance(tuples: ProductSpace | BothSpace, post: bt.BARTPosterior) -> Floats:
    """log s² at each row, (chains, draws, rows)."""
    assert post.variance_ensemble is not None and post.sigma is None
    return values_at_rows(tuples, post.variance_ensemble)


def values_at_rows(tuples: ProductSpace | BothSpace, sums: Ensemble) -> Floats:
    trees = positions_of(tuples.space, sums.forest)[sums.tree_index]
    return sums.values[sums.first[..., None] + tuples.leaf_of[trees]].astype(np.float64).sum(axis=2)


def check(tuples: ProductSpace | BothSpace, post: bt.BARTPosterior, power: float) -> None:
    """Compare trees and values with their exact distribution."""
    target, means = tuples.posterior(power)
    values, forests = log_variance(tuples, post), [post.variance_ensemble]
    if isinstance(tuples, BothSpace):
        values = np.concatenate([values_at_rows(tuples, post.ensemble), values], axis=-1)
        forests = [post.ensemble, post.variance_ensemble]
    trees = [positions_of(tuples.space, sums.forest)[sums.tree_index] for sums in forests]
    states = tuples.state(np.concatenate(trees, axis=-1))
    assert_agrees(states, target, tuples.groupings)
    assert_means_agree(values, means)
    if isinstance(tuples, ProductSpace) and tuples.slots == 1:
        for row in (0, values.shape[-1] - 1):
            shares = tuples.value_share(states.ravel(), np.exp(values[..., row]).ravel(), power, row)
            parted(tuples, states, shares.reshape(states.shape), target)
    if tuples.weights is not None:
        share = post.concentration / (post.concentration + len(tuples.space.raw))
        drawn = np.concatenate([np.exp(post.log_weights), share[..., None]], axis=-1)
        assert_means_agree(drawn, target @ tuples.weights.means(tuples.space, tuples.parts))


def agrees(tuples: ProductSpace | BothSpace, proposal: MixtureSpec, power: float) -> None:
    post = sample(tuples, proposal, power)
    check(tuples, post, power)
    mean = tuples.mean
    fits = values_at_rows(tuples, post.ensemble) + mean.centre
    spread = np.exp(log_variance(tuples, post) / 2) / np.sqrt(mean.row_weights)
    logs = stats.norm.logpdf(mean.response, fits, spread).sum(axis=-1)
    np.testing.assert_allclose(post.log_likelihood, logs, rtol=1e-5, atol=2e-3)


@POWERS
@pytest.mark.parametrize("tuples", [*ONE, *TWO, *MIXED], ids=name)
def test_trees_and_values(tuples: ProductSpace | BothSpace, power: float) -> None:
    agrees(tuples, BOTH, power)


@pytest.mark.slow
@POWERS
def test_learned_weights(power: float) -> None:
    agrees(SPARSE, BOTH, power)


@pytest.mark.slow
@POWERS
@pytest.mark.parametrize(
    "proposal", ["birth_death", {"birth_death": 0.4, "change": 2.3}, {"birth_death": 0.5, "perturb": 3}], ids=name
)
@pytest.mark.parametrize("tuples", [ONE[2], TWO[0]], ids=name)
def test_other_mixtures(tuples: ProductSpace, proposal: MixtureSpec, power: float) -> None:
    agrees(tuples, proposal, power)


@pytest.mark.parametrize("tuples", [ONE[1], TWO[0], MIXED[0]], ids=name)
def test_other_powers_of_the_likelihood(tuples: ProductSpace | BothSpace) -> None:
    agrees(tuples, BOTH, 0.5)


# ---- the reference itself --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tuples", [*ONE, *TWO, *MIXED, SPARSE], ids=name)
def test_without_likelihood_the_reference_is_the_prior(tuples: ProductSpace | BothSpace) -> None:
    target, means = tuples.posterior(0.0)
    np.testing.assert_allclose(target, np.exp(tuples.log_prior), rtol=1e-4)
    noise, rows = tuples.noise, len(tuples.space.table.response)
    scaled = noise.guess**2 * stats.chi2.ppf(1 - noise.q, noise.nu)
    log_variance = np.log(scaled / 2) - stats.loggamma(noise.nu / 2).mean()
    np.testing.assert_allclose(means[-rows:], log_variance, atol=1e-3)


def test_two_integrals_of_one_state_are_the_same() -> None:
    """A state has the probability of the one with its trees exchanged, though one tree is integrated otherwise."""
    tuples = TWO[0]
    logs = {tuple(parts): tuples.integrals(state, 1.0)[0] for state, parts in enumerate(tuples.parts.tolist())}
    for (first, second), log in logs.items():
        assert log == pytest.approx(logs[second, first], abs=1e-4)


def test_marginal_by_quadrature() -> None:
    factor = Factor(NOISE, 2)

    def density(log_v: float) -> float:
        return float(np.exp(factor.log_density(np.exp(log_v)) - 1.5 * log_v - 0.7 / np.exp(log_v)))

    assert quad(density, -20, 40)[0] == pytest.approx(
        np.exp(factor.log_marginal(np.array(1.4), np.array(3.0))), rel=1e-6
    )


@pytest.mark.parametrize(("nu", "factors"), [(3.0, 40), (0.7, 5), (10.0, 1), (2.0, 200)])
def test_a_product_has_the_moments_of_the_variance(nu: float, factors: int) -> None:
    of_factor, scale = factor_prior(nu, 0.3, factors)
    factor, whole = stats.loggamma(of_factor / 2), stats.loggamma(nu / 2)
    assert factors * factor.var() == pytest.approx(whole.var(), rel=1e-6)
    mean = np.log(of_factor * scale / 2) - factor.mean()
    assert factors * mean == pytest.approx(np.log(nu * 0.3 / 2) - whole.mean(), abs=1e-6)


# ---- saboteurs -------------------------------------------------------------------------------------------------------


@POWERS
@pytest.mark.parametrize("tuples", [ONE[0], TWO[0], MIXED[0]], ids=name)
def test_wrong_births_are_caught(tuples: ProductSpace | BothSpace, power: float) -> None:
    with injected("sum_birth_death"), pytest.raises(Disagreement):
        agrees(tuples, {"birth_death": 1, "change": 1}, power)


@POWERS
def test_wrong_changes_are_caught(power: float) -> None:
    with injected("sum_change"), pytest.raises(Disagreement):
        agrees(ONE[1], {"birth_death": 1, "change": 2}, power)


@pytest.mark.parametrize(
    ("tuples", "other"),
    [
        (ONE[2], {"noise": Noise(0.8, nu=1.8)}),
        (TWO[0], {"noise": Noise(0.55, nu=3.0)}),
        (ONE[1], {"space": replace(WEIGHTED_REAL, weight=tuple(1.5 * w for w in WEIGHTED_REAL.weight or ()))}),
        (MIXED[0], {"noise": Noise(0.9, nu=5.0)}),
        (MIXED[0], {"k": 1.2}),
        pytest.param(SPARSE, {"weights": None}, marks=pytest.mark.slow),
    ],
    ids=name,
)
def test_another_model_is_caught(tuples: ProductSpace | BothSpace, other: dict[str, Any]) -> None:
    """The draws of one model against the reference of another that differs a little."""
    wrong, post = replace(tuples, **other), sample(tuples, BOTH, 1.0)
    with pytest.raises(Disagreement):
        check(wrong, post, 1.0)
