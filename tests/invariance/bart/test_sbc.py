"""Simulation-based calibration of sums of trees: where state and response come from the model, the truth ranks
uniformly among the draws of the posterior, for any function of trees, values, noise, weights and response."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from baytree.mcmc.mixtures import MixtureSpec
from faults import injected
from invariance.bart import simulation, soft_simulation, student_simulation, variance_simulation
from invariance.bart.simulation import Forward
from invariance.bart.soft_simulation import SoftForward
from invariance.bart.student_simulation import StudentForward
from invariance.bart.variance_simulation import VarianceForward
from invariance.cart.test_sbc import rank
from reference.agreement import Disagreement
from reference.bart.normal_sums import Noise

REPLICATES = 1600
DRAWS = 63
BINS = 16
LEAST_P = 1e-4


@dataclass(frozen=True, eq=False)
class Case:
    """What is simulated, by which class, and how many sweeps lie between draws, as only independent ones rank
    uniformly: columns of little weight wait long for a split."""

    forward: type[Forward] | type[SoftForward] | type[VarianceForward]
    sums: Any
    thin: int

    @property
    def proposal(self) -> MixtureSpec:
        soft = {"bandwidth": 1} if self.forward is SoftForward else {}
        return {"birth_death": 1, "change": 1} | soft


CASES = {
    "numbers": Case(Forward, simulation.NUMBERS, 25),
    "probit": Case(Forward, simulation.PROBIT, 100),
    "classes": Case(Forward, simulation.SEVERAL, 25),
    "soft": Case(SoftForward, soft_simulation.NUMBERS, 10),
    "student": Case(StudentForward, student_simulation.NUMBERS, 25),
    "variance": Case(VarianceForward, variance_simulation.NUMBERS, 10),
}


def replicate(case: Case, simulated: Any, seed: int) -> list[int]:
    """The ranks of one simulated data set, which ``simulated`` makes."""
    forward: Any = case.forward(case.sums, np.random.default_rng(seed))
    truthful: Any = case.forward(simulated, forward.generator)
    truth = truthful.state()
    bart, chain = forward.chain(case.proposal, truthful.response(truth), seed)
    chain.warm_up(30 * case.thin, 1)
    drawn = []
    for _ in range(DRAWS):
        chain.advance(case.thin)
        drawn.append(forward.statistics(forward.read(bart.state_of(chain)), chain.log_likelihood))
    forward.place(bart, chain, truth)
    true = forward.statistics(truth, chain.log_likelihood)
    generator = np.random.default_rng(seed + 1_000_000)
    return [rank(value, np.array([one[name] for one in drawn]), generator) for name, value in true.items()]


def calibrated(case: Case, simulated: Any = None) -> None:
    ranks = np.array([replicate(case, simulated or case.sums, seed) for seed in range(REPLICATES)])
    p_values = [
        float(stats.chisquare(np.bincount(column * BINS // (DRAWS + 1), minlength=BINS)).pvalue) for column in ranks.T
    ]
    if min(p_values) <= LEAST_P:
        raise Disagreement(f"ranks are not uniform: {np.round(p_values, 6)}")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_truth_ranks_uniformly(case: str) -> None:
    calibrated(CASES[case])


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_wrong_moves_are_caught(case: str) -> None:
    with injected("sum_birth_death"), pytest.raises(Disagreement):
        calibrated(CASES[case])


OTHERS: dict[str, dict[str, Any]] = {
    "numbers, noise": {"noise": Noise(1.2, nu=8.0, q=0.7)},
    "numbers, k": {"k": 0.75},
    "probit, k": {"k": 2.2},
    "classes, k": {"k": 2.2},
    "soft, bandwidth": {"bandwidth": 0.6},
    "student, noise": {"noise": Noise(1.2, nu=8.0, q=0.7)},
    "variance, noise": {"noise": Noise(1.2, nu=8.0, q=0.7)},
}


@pytest.mark.slow
@pytest.mark.parametrize("other", OTHERS)
def test_another_simulation_is_caught(other: str) -> None:
    case = CASES[other.split(",")[0]]
    with pytest.raises(Disagreement):
        calibrated(case, replace(case.sums, **OTHERS[other]))
