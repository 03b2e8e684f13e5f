"""Geweke's joint-distribution test of sums of trees: alternating state | y by the sampler and y | state by simulation
keeps the joint distribution, so that trees, values, noise and weights keep their priors, and y its place among them."""

from dataclasses import replace

import numpy as np
import pytest

from baytree.mcmc.mixtures import MixtureSpec
from exact.bart.chains import Draws, check
from faults import injected
from invariance.bart.simulation import MODELS, NUMBERS, PROBIT, Forward, State, SumModel
from reference.agreement import Disagreement, assert_means_agree
from reference.bart.utilities import UtilitySpace

CHAINS = 4
BOTH: MixtureSpec = {"birth_death": 1, "change": 1}


def successive(sums: SumModel, proposal: MixtureSpec, simulated: SumModel, steps: int) -> tuple[Draws, np.ndarray]:
    """States, and what they say of the responses that led to them; ``simulated`` makes the responses."""
    states: list[list[State]] = []
    surprises = []
    for chain in range(CHAINS):
        forward = Forward(sums, np.random.default_rng(chain))
        simulation = Forward(simulated, forward.generator)
        state = forward.state()
        states.append([])
        for step in range(steps):
            response = simulation.response(state)
            state = forward.step(proposal, response, state, chain * steps + step)
            states[-1].append(state)
            surprises.append(forward.surprise(state, response))
    return gathered(sums, states), np.array(surprises).reshape(CHAINS, steps, -1)


def gathered(sums: SumModel, states: list[list[State]]) -> Draws:
    forward = Forward(sums, np.random.default_rng(0))
    positions = np.array([[state.trees for state in chain] for chain in states])
    at_rows = np.array([[forward.at_rows(state) for state in chain] for chain in states])
    sigma = None if isinstance(sums, UtilitySpace) else np.array([[state.sigma for state in chain] for chain in states])
    weights = None
    if sums.weights is not None:
        columns = len(sums.space.raw)
        weights = np.array(
            [
                [[*np.exp(state.log_weights), state.concentration / (state.concentration + columns)] for state in chain]
                for chain in states
            ]
        )
    return Draws(sums.state(positions), at_rows, sigma, weights)


def agrees(sums: SumModel, proposal: MixtureSpec, steps: int, simulated: SumModel | None = None) -> None:
    draws, surprises = successive(sums, proposal, simulated or sums, steps)
    check(sums, draws, 0.0)
    assert_means_agree(surprises, np.zeros(surprises.shape[-1]))


def test_joint_distribution_is_kept_for_a_while() -> None:
    agrees(NUMBERS, BOTH, steps=1000)


@pytest.mark.slow
@pytest.mark.parametrize("sums", MODELS, ids=lambda sums: sums.name)
def test_joint_distribution_is_kept(sums: SumModel) -> None:
    agrees(sums, BOTH, steps=6000)


@pytest.mark.parametrize("sums", MODELS, ids=lambda sums: sums.name)
@pytest.mark.slow
def test_wrong_births_are_caught(sums: SumModel) -> None:
    with injected("sum_birth_death"), pytest.raises(Disagreement):
        agrees(sums, BOTH, steps=4000)


@pytest.mark.slow
def test_wrong_changes_are_caught() -> None:
    """Of numbers: on the tables of classes here, what can be split again hardly ever changes with a rule."""
    with injected("sum_change"), pytest.raises(Disagreement):
        agrees(NUMBERS, BOTH, steps=4000)


@pytest.mark.slow
@pytest.mark.parametrize("sums", [NUMBERS, PROBIT], ids=lambda sums: sums.name)
def test_wrong_simulation_is_caught(sums: SumModel) -> None:
    """Responses of less noise than the sampler thinks, or of another centre."""
    space = sums.space
    other = (
        replace(space, weight=tuple(1.5 * weight for weight in space.weight or ()))
        if space.weight
        else replace(space, response=("yes",) * 6 + ("no",) * 2)
    )
    with pytest.raises(Disagreement):
        agrees(sums, BOTH, steps=4000, simulated=replace(sums, space=other))
