"""Simulation-based calibration of mixtures of experts: where parameters and outputs come from the model, the truth
ranks uniformly among the draws of the posterior."""

import numpy as np
import pytest
from scipy import stats

from faults import injected
from invariance.cart.test_sbc import rank
from invariance.hme.simulation import LINEAR, LOGISTIC, MIXTURES, MULTINOMIAL, Forward, State
from reference.agreement import Disagreement
from reference.hme.mixtures import Floats, Mixture

pytestmark = pytest.mark.slow

REPLICATES = 800
DRAWS = 63
THIN = 20
BINS = 16
LEAST_P = 1e-4


def statistics(forward: Forward, state: State, log_likelihood: float, log_prior: float) -> list[float]:
    """What does not depend on the order of the leaves: between their orders a chain may move slowly."""
    means = forward.means(state)
    found = [log_likelihood, log_prior, means[0, 0], means[-1, -1]]
    if state.variance is not None:
        found += [state.variance.min(), np.log(state.variance).sum()]
    return [float(value) for value in found]


def states_of(part: dict[str, Floats], truth: State) -> list[State]:
    variances = part.get("variance", [None] * len(part["gates"]))
    return [
        State(
            gates.reshape(truth.gates.shape),
            coefficients.reshape(truth.coefficients.shape),
            None if truth.variance is None else variance.reshape(truth.variance.shape),
            truth.leaf,
        )
        for gates, coefficients, variance in zip(part["gates"], part["coefficients"], variances, strict=True)
    ]


def replicate(mixture: Mixture, seed: int) -> list[int]:
    """The ranks of one simulated data set."""
    forward = Forward(mixture, np.random.default_rng(seed))
    truth = forward.state()
    y = forward.outputs(truth)
    chain = forward.chain(y, seed)
    chain.advance(10 * THIN)
    chain.draw(DRAWS, THIN)
    part = chain.take()
    drawn = np.array(
        [
            statistics(forward, state, log_likelihood, log_prior)
            for state, log_likelihood, log_prior in zip(
                states_of(part, truth), part["log_likelihood"], part["log_prior"], strict=True
            )
        ]
    )
    flat = (truth.gates, truth.coefficients, truth.variance)
    true = statistics(forward, truth, log_mixture(forward, truth, y), mixture.log_prior(*flat))
    generator = np.random.default_rng(seed + 1_000_000)
    return [rank(value, column, generator) for value, column in zip(true, drawn.T, strict=True)]


def log_mixture(forward: Forward, state: State, y: Floats) -> float:
    fits = forward.fits(state)
    if state.variance is None:
        density = np.einsum("nlo,no->nl", fits, y)
    else:
        density = stats.norm(fits, np.sqrt(state.variance)).pdf(y[:, None, :]).prod(axis=2)
    return float(np.log((forward.paths(state.gates) * density).sum(axis=1)).sum())


def calibrated(mixture: Mixture, replicates: int = REPLICATES) -> None:
    ranks = np.array([replicate(mixture, seed) for seed in range(replicates)])
    p_values = [
        float(stats.chisquare(np.bincount(column * BINS // (DRAWS + 1), minlength=BINS)).pvalue) for column in ranks.T
    ]
    if min(p_values) <= LEAST_P:
        raise Disagreement(f"ranks are not uniform: {np.round(p_values, 6)}")


@pytest.mark.parametrize("mixture", MIXTURES, ids=lambda mixture: mixture.name)
def test_truth_ranks_uniformly(mixture: Mixture) -> None:
    calibrated(mixture)


@pytest.mark.parametrize(
    ("mixture", "fault"),
    [(LINEAR, "hme_freedom"), (LOGISTIC, "hme_tilt"), (MULTINOMIAL, "hme_offset")],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_faults_are_caught(mixture: Mixture, fault: str) -> None:
    with injected(fault), pytest.raises(Disagreement):
        calibrated(mixture)
