"""Tempered chains against the enumeration: the cold rung, every other rung at its own power, and the evidence.

The saboteur swaps whatever the likelihoods are.
"""

import numpy as np
import pytest
from scipy.special import logsumexp

import baytree as bt
from exact.cart.chains import check, model, positions
from exact.trees.native import growtree, read_space
from faults import injected
from reference.agreement import Disagreement, assert_agrees
from reference.trees.spaces import MISSING, TIES, WEIGHTED, WEIGHTED_REAL, Space

LADDERS = ["adaptive", "mrbayes"]
CASES = [TIES, MISSING, WEIGHTED, WEIGHTED_REAL]


def sample(space: Space, ladder: str, temperatures: int = 4, program: bt.slp.Program | None = None) -> bt.Posterior:
    return bt.sample(
        model(space, "auto", 1.0, program),
        read_space(space),
        warmup=2000,
        draws=6000,
        thin=20,
        chains=4,
        temperatures=temperatures,
        ladder=ladder,
        seed=1,
        progress=False,
    )


def check_rungs(space: Space, posterior: bt.Posterior) -> None:
    """Each rung has the distribution of its power over the values that the log-likelihood takes."""
    assert posterior.rung_log_likelihood is not None
    values, label = np.unique(space.log_likelihood.round(9), return_inverse=True)
    for chain, ladder in zip(posterior.rung_log_likelihood, posterior.swaps().ladders, strict=True):
        for draws, power in zip(chain.T, ladder, strict=True):
            place = np.searchsorted(values, draws - 1e-6)
            np.testing.assert_allclose(values[place], draws, rtol=0, atol=1e-7)
            exact = np.bincount(label, weights=space.target(power))
            assert_agrees(place[None], exact)


def exact_evidence(space: Space) -> float:
    return float(logsumexp(space.log_prior + space.log_likelihood))


@pytest.mark.parametrize("ladder", LADDERS)
@pytest.mark.parametrize("space", CASES, ids=lambda space: space.name)
def test_every_rung_has_its_distribution(space: Space, ladder: str) -> None:
    posterior = sample(space, ladder)
    check(space, "auto", 1.0, positions(space, posterior))
    check_rungs(space, posterior)
    swaps = posterior.swaps()
    assert np.all(swaps.round_trips > 0)
    assert np.all(swaps.neighbours > 0)


@pytest.mark.parametrize("ladder", LADDERS)
def test_a_swap_that_ignores_the_likelihood_is_caught(ladder: str) -> None:
    with injected("rung_swap"):
        posterior = sample(TIES, ladder)
    with pytest.raises(Disagreement):
        check(TIES, "auto", 1.0, positions(TIES, posterior))
    with pytest.raises(Disagreement):
        check_rungs(TIES, posterior)


def test_programs_are_tempered_too() -> None:
    posterior = sample(TIES, "adaptive", 3, growtree(TIES, "reject"))
    check(TIES, "auto", 1.0, positions(TIES, posterior))
    check_rungs(TIES, posterior)
    agrees_with_evidence(TIES, posterior)


def agrees_with_evidence(space: Space, posterior: bt.Posterior) -> None:
    value, error = posterior.log_evidence()
    assert error < 0.05
    assert abs(value - exact_evidence(space)) < 4 * error


@pytest.mark.parametrize("temperatures", [2, 5])
@pytest.mark.parametrize("space", CASES, ids=lambda space: space.name)
def test_evidence(space: Space, temperatures: int) -> None:
    agrees_with_evidence(space, sample(space, "adaptive", temperatures))


def test_wrong_evidence_is_caught() -> None:
    with injected("rung_swap"):
        posterior = sample(TIES, "adaptive")
    value, error = posterior.log_evidence()
    assert abs(value - exact_evidence(TIES)) > 4 * error


def test_the_bound_of_independent_proposals() -> None:
    posterior = sample(TIES, "adaptive")
    ratio = np.exp(exact_evidence(TIES) - TIES.log_likelihood.max())
    bound = posterior.independence_bound(10)
    assert bound.distance == pytest.approx((1 - ratio) ** 10, abs=0.05)
    assert bound.log_likelihood == pytest.approx(TIES.log_likelihood.max())
    assert not bound.certified
