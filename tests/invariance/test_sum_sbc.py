"""Simulation-based calibration of sums of trees: where state and response come from the model, the truth ranks
uniformly among the draws of the posterior, for any function of trees, values, noise, weights and response."""

from dataclasses import replace

import numpy as np
import pytest
from exact.agreement import Disagreement
from exact.normal_sums import Noise
from exact.sum_chains import Moves
from scipy import stats

from invariance.sum_simulation import MODELS, NUMBERS, PROBIT, SEVERAL, Forward, State, SumModel
from invariance.test_sbc import rank

REPLICATES = 1600
DRAWS = 63
# Sweeps between draws: only independent ones rank uniformly, and columns of little weight wait long for a split.
THIN = {"numbers": 25, "probit": 100, "classes": 25}
BINS = 16
LEAST_P = 1e-4
BOTH: Moves = {"birth_death": 1, "change": 1}


def statistics(forward: Forward, state: State, log_likelihood: float) -> dict[str, float]:
    fits = forward.fits(state)
    found = {
        "f at the first row": fits[0, 0],
        "f at the last row": fits[-1, -1],
        "leaves": float(sum(map(len, state.values))),
        "log likelihood": log_likelihood,
        "sigma": state.sigma,
    }
    if state.log_weights:
        found |= {"a weight": state.log_weights[0], "concentration": state.concentration}
    return found


def replicate(sums: SumModel, moves: Moves, simulated: SumModel, seed: int) -> list[int]:
    """The ranks of one simulated data set, which ``simulated`` makes."""
    forward = Forward(sums, np.random.default_rng(seed))
    simulation = Forward(simulated, forward.generator)
    truth = simulation.state()
    response = simulation.response(truth)
    bart, chain = forward.chain(moves, response, seed)
    thin = THIN[sums.name]
    chain.warm_up(30 * thin, 1)
    states, log_likelihoods = [], []
    for _ in range(DRAWS):
        chain.advance(thin)
        states.append(forward.read(bart.state_of(chain)))
        log_likelihoods.append(chain.log_likelihood)
    forward.place(bart, chain, truth)
    true = statistics(forward, truth, chain.log_likelihood)
    drawn = [statistics(forward, state, value) for state, value in zip(states, log_likelihoods, strict=True)]
    generator = np.random.default_rng(seed + 1_000_000)
    return [rank(value, np.array([one[name] for one in drawn]), generator) for name, value in true.items()]


def calibrated(sums: SumModel, moves: Moves, simulated: SumModel | None = None, replicates: int = REPLICATES) -> None:
    ranks = np.array([replicate(sums, moves, simulated or sums, seed) for seed in range(replicates)])
    p_values = [
        float(stats.chisquare(np.bincount(column * BINS // (DRAWS + 1), minlength=BINS)).pvalue) for column in ranks.T
    ]
    if min(p_values) <= LEAST_P:
        raise Disagreement(f"ranks are not uniform: {np.round(p_values, 6)}")


@pytest.mark.slow
@pytest.mark.parametrize("sums", MODELS, ids=lambda sums: sums.name)
def test_truth_ranks_uniformly(sums: SumModel) -> None:
    calibrated(sums, BOTH)


@pytest.mark.slow
@pytest.mark.parametrize("sums", MODELS, ids=lambda sums: sums.name)
def test_wrong_moves_are_caught(sums: SumModel) -> None:
    with pytest.raises(Disagreement):
        calibrated(sums, {"wrong:birth_death": 1, "change": 1})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sums", "other"),
    [
        (NUMBERS, {"noise": Noise(1.2, nu=8.0, q=0.7)}),
        (NUMBERS, {"k": 0.75}),
        (PROBIT, {"k": 2.2}),
        (SEVERAL, {"k": 2.2}),
    ],
    ids=["numbers, noise", "numbers, k", "probit, k", "classes, k"],
)
def test_another_simulation_is_caught(sums: SumModel, other: dict[str, object]) -> None:
    with pytest.raises(Disagreement):
        calibrated(sums, BOTH, simulated=replace(sums, **other))
