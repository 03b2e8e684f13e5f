"""Geweke's joint-distribution test of sums of trees whose noise is a product of trees: state | y by the sampler and
y | state by simulation in turn keep the joint distribution, so that trees and values keep their priors."""

import numpy as np
import pytest
from scipy import stats

from baytree.mcmc.mixtures import MixtureSpec
from faults import injected
from invariance.bart.variance_simulation import NUMBERS, TREES, VarianceForward
from reference.agreement import Disagreement, assert_agrees, assert_means_agree

CHAINS = 4
BOTH: MixtureSpec = {"birth_death": 1, "change": 1}


def agrees(proposal: MixtureSpec, steps: int, noise: float = 1.0) -> None:
    """States have their prior, and scaled residuals are standard normal whatever the state."""
    trees, found = [], []
    for number in range(CHAINS):
        forward = VarianceForward(NUMBERS, np.random.default_rng(number))
        state = forward.state()
        for place in range(steps):
            response = forward.response(state, noise)
            state = forward.step(proposal, response, state, number * steps + place)
            fit, log_variance = forward.at_rows(state)
            scaled = (response - NUMBERS.centre - fit) * np.sqrt(NUMBERS.row_weights) * np.exp(-log_variance / 2)
            trees.append(state.trees)
            found.append([fit, fit**2, log_variance, log_variance**2, scaled, scaled**2, scaled**2 * log_variance])
    positions = np.array(trees).reshape(CHAINS, steps, -1)
    for slot in range(2 * TREES):
        assert_agrees(positions[..., slot], np.exp(NUMBERS.space.log_prior), NUMBERS.space.groupings)
    rows, factor = len(NUMBERS.row_weights), forward.factor
    log_factor = stats.loggamma(factor.nu / 2)
    mean = TREES * (np.log(factor.rate) - log_factor.mean())
    exact = [0, TREES * NUMBERS.sigma_mu**2, mean, TREES * log_factor.var() + mean**2, 0, 1, mean]
    assert_means_agree(np.array(found).reshape(CHAINS, steps, -1), np.repeat(exact, rows))


def test_joint_distribution_is_kept_for_a_while() -> None:
    agrees(BOTH, steps=800)


@pytest.mark.slow
def test_joint_distribution_is_kept() -> None:
    agrees(BOTH, steps=8000)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["sum_birth_death", "sum_change"])
def test_wrong_moves_are_caught(fault: str) -> None:
    with injected(fault), pytest.raises(Disagreement):
        agrees(BOTH, steps=4000)


@pytest.mark.slow
def test_wrong_simulation_is_caught() -> None:
    with pytest.raises(Disagreement):
        agrees(BOTH, steps=4000, noise=1.1)
