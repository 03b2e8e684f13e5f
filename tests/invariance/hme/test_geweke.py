"""Geweke's joint-distribution test of mixtures of experts: alternating state | y by the sampler and y | state by
simulation keeps the joint distribution, so that parameters keep their priors, and decisions and outputs their laws."""

import numpy as np
import pytest

from faults import injected
from invariance.hme.simulation import CONSTANT, LINEAR, LOGISTIC, MIXTURES, MULTINOMIAL, Forward
from reference.agreement import Disagreement, assert_means_agree
from reference.hme.mixtures import Mixture

CHAINS = 4


def name(mixture: Mixture) -> str:
    return mixture.name


def agrees(mixture: Mixture, steps: int) -> None:
    values = []
    for chain in range(CHAINS):
        forward = Forward(mixture, np.random.default_rng(chain))
        state = forward.state()
        for step in range(steps):
            y = forward.outputs(state)
            state = forward.step(y, state, chain * steps + step)
            variance = None if state.variance is None else state.variance[None]
            found = mixture.quantities(state.gates[None], state.coefficients[None], variance)
            values.append(np.concatenate([found[0], forward.surprise(state, y)]))
    means = forward.prior_means()
    exact = np.concatenate([means, np.zeros(len(values[0]) - len(means))])
    assert_means_agree(np.reshape(values, (CHAINS, steps, -1)), exact)


@pytest.mark.parametrize("mixture", MIXTURES, ids=name)
def test_joint_distribution_is_kept_for_a_while(mixture: Mixture) -> None:
    agrees(mixture, steps=1500)


@pytest.mark.slow
@pytest.mark.parametrize("mixture", MIXTURES, ids=name)
def test_joint_distribution_is_kept(mixture: Mixture) -> None:
    agrees(mixture, steps=20_000)


@pytest.mark.parametrize(
    ("mixture", "fault"),
    [
        (LINEAR, "hme_freedom"),
        (LINEAR, "hme_tilt"),
        (CONSTANT, "hme_offset"),
        (CONSTANT, "hme_decisions"),
        (LOGISTIC, "hme_tilt"),
        (MULTINOMIAL, "hme_offset"),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_faults_are_caught(mixture: Mixture, fault: str) -> None:
    with injected(fault), pytest.raises(Disagreement):
        agrees(mixture, steps=1500)
