"""Geweke's joint-distribution test of sums of trees with soft rules: state | y by the sampler and y | state by
simulation in turn keep the joint distribution, so that trees, bandwidths, values and noise keep their priors."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from baytree.mcmc.mixtures import MixtureSpec
from faults import injected
from invariance.bart.soft_simulation import MODELS, NUMBERS, PROBIT, TREES, Floats, SoftForward
from reference.agreement import Disagreement, assert_agrees, assert_means_agree
from reference.bart.soft_sums import SoftSums

CHAINS = 4
EVERY: MixtureSpec = {"birth_death": 1, "change": 1, "bandwidth": 1}


def prior_means(forward: SoftForward) -> list[float]:
    """Of f and its square at each row, of all bandwidths and their densities, and of log σ² and its square."""
    sums, half = forward.sums, forward.sums.noise.nu / 2
    # One of the trees, whose values have the standard deviation that they have in the sum.
    means: Floats = TREES * replace(sums, trees=1, k=sums.k * TREES**0.5).means(0.0)
    if forward.of_classes:
        return means.tolist()
    mean, variance = np.log(forward.scaled / 2) - special.psi(half), special.polygamma(1, half)
    return [*means.tolist(), mean, variance + mean**2]


def agrees(sums: SoftSums, proposal: MixtureSpec, steps: int, noise: float = 1.0) -> None:
    """States have their prior, and responses their place among them."""
    trees, found, surprises = [], [], []
    for number in range(CHAINS):
        forward = SoftForward(sums, np.random.default_rng(number))
        state = forward.state()
        for place in range(steps):
            response = forward.response(state, noise)
            state = forward.step(proposal, response, state, number * steps + place)
            fit, widths, log_variance = forward.fit(state), np.concatenate(state.bandwidths), 2 * np.log(state.sigma)
            of_noise = [] if forward.of_classes else [log_variance, log_variance**2]
            trees.append(state.trees)
            found.append([*fit, *fit**2, widths.sum(), np.exp(-widths / sums.bandwidth).sum(), *of_noise])
            surprises.append(forward.surprise(state, response))
    positions = np.array(trees).reshape(CHAINS, steps, TREES)
    for slot in range(TREES):
        assert_agrees(positions[..., slot], np.exp(sums.space.log_prior), sums.space.groupings)
    assert_means_agree(np.array(found).reshape(CHAINS, steps, -1), np.array(prior_means(forward)))
    assert_means_agree(np.array(surprises).reshape(CHAINS, steps, -1), np.zeros(len(surprises[0])))


def test_joint_distribution_is_kept_for_a_while() -> None:
    agrees(NUMBERS, EVERY, steps=800)


@pytest.mark.slow
@pytest.mark.parametrize("sums", MODELS, ids=lambda sums: sums.name)
def test_joint_distribution_is_kept(sums: SoftSums) -> None:
    agrees(sums, EVERY, steps=8000)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", EVERY)
def test_wrong_moves_are_caught(wrong: str) -> None:
    with injected(f"sum_{wrong}"), pytest.raises(Disagreement):
        agrees(NUMBERS, EVERY, steps=4000)


@pytest.mark.slow
@pytest.mark.parametrize(("sums", "noise"), [(NUMBERS, 1.1), (PROBIT, 2.0)], ids=["numbers", "probit"])
def test_wrong_simulation_is_caught(sums: SoftSums, noise: float) -> None:
    with pytest.raises(Disagreement):
        agrees(sums, EVERY, steps=4000, noise=noise)
