"""Geweke's joint-distribution test of sums of trees with soft rules: state | y by the sampler and y | state by
simulation in turn keep the joint distribution, so that trees, bandwidths, values and noise keep their priors."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import pytest
from exact.agreement import Disagreement, assert_agrees, assert_means_agree
from exact.normal_sums import Noise
from exact.soft_sums import SoftSums
from exact.spaces import WEIGHTED_REAL
from exact.sum_chains import Moves, model, positions_of
from numpy.typing import NDArray
from scipy import special, stats

import baytree as bt
from baytree.bart_model import Calibration
from baytree.trees import Forest, forest_from_lists, forest_to_lists

CHAINS, TREES = 4, 2
EVERY: Moves = {"birth_death": 1, "change": 1, "bandwidth": 1}
# One of the trees, whose values have the standard deviation that they have in the sum; and the sum. Bandwidths are
# large, as states with a narrow rule stay for long.
ALONE = SoftSums(name="alone", space=WEIGHTED_REAL, noise=Noise(1.0, nu=8.0, q=0.7), k=2**0.5, bandwidth=0.4)
SUMS = replace(ALONE, name="numbers", trees=TREES, k=1.0)
SCALE = SUMS.noise.guess**2 * stats.chi2.ppf(1 - SUMS.noise.q, SUMS.noise.nu)  # νλ

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class State:
    """Trees by their positions, the values of their leaves, the bandwidths of their soft rules, and σ."""

    trees: tuple[int, ...]
    values: tuple[Floats, ...]
    bandwidths: tuple[Floats, ...]
    sigma: float

    @cached_property
    def fit(self) -> Floats:
        """What the trees add up to at each row."""
        each = zip(self.trees, self.values, self.bandwidths, strict=True)
        return np.sum([SUMS.shares(TREE[tree], widths[None])[0] @ values for tree, values, widths in each], axis=0)


TREE = list(SUMS.space.trees)
# Of each tree, which of its splits are soft.
SOFT = [np.array([SUMS.is_soft(rule) for rule in tree if rule is not None], dtype=bool) for tree in TREE]


def from_prior(generator: np.random.Generator) -> State:
    trees = generator.choice(len(TREE), TREES, p=np.exp(SUMS.space.log_prior))
    values = [SUMS.sigma_mu * generator.standard_normal(number) for number in SUMS.space.leaves[trees]]
    bandwidths = [generator.exponential(SUMS.bandwidth, SOFT[tree].sum()) for tree in trees]
    sigma = np.sqrt(SCALE / generator.chisquare(SUMS.noise.nu))
    return State(tuple(trees.tolist()), tuple(values), tuple(bandwidths), float(sigma))


def respond(state: State, generator: np.random.Generator, noise: float = 1.0) -> Floats:
    spread = noise * state.sigma / np.sqrt(SUMS.row_weights)
    return SUMS.centre + state.fit + spread * generator.standard_normal(len(spread))


def step(state: State, response: Floats, moves: Moves, seed: int) -> State:
    """One iteration of the sampler."""
    design = replace(SUMS.space.design, y=response)
    calibration = Calibration((SUMS.centre,), SUMS.sigma_mu, SCALE / SUMS.noise.nu, 1.0)
    bart = replace(model(SUMS, moves), calibration=calibration).resolve(design)
    (chain,) = bart.chains(design, seed, 1)
    forest = Forest.concatenate([bt.Tree(design.schema, TREE[tree]).forest().arrays() for tree in state.trees])
    bandwidths = np.zeros(sum(len(SOFT[tree]) for tree in state.trees))
    bandwidths[np.concatenate([SOFT[tree] for tree in state.trees])] = np.concatenate(state.bandwidths)
    begin = {
        "trees": forest_to_lists(forest.arrays()),
        "values": np.concatenate(state.values).tolist(),
        "bandwidths": bandwidths.tolist(),
        "sigma": state.sigma,
    }
    bart.restore(chain, bart.state_of(chain) | begin)
    chain.advance(1)
    return read(bart.state_of(chain))


def read(record: dict) -> State:
    """A chain's state as it describes it."""
    trees = positions_of(SUMS.space, forest_from_lists(record["trees"])).tolist()
    ends = np.cumsum([0, *(len(SOFT[tree]) for tree in trees)])
    all_widths = np.array(record["bandwidths"])
    widths = tuple(all_widths[a:b][SOFT[tree]] for tree, (a, b) in zip(trees, pairwise(ends), strict=True))
    values = np.split(np.array(record["values"]), np.cumsum(SUMS.space.leaves[trees])[:-1])
    return State(tuple(trees), tuple(values), widths, record["sigma"])


def agrees(moves: Moves, steps: int, noise: float = 1.0) -> None:
    """States have their prior, and scaled residuals are standard normal whatever the state."""
    trees, found = [], []
    for number in range(CHAINS):
        generator = np.random.default_rng(number)
        state = from_prior(generator)
        for place in range(steps):
            response = respond(state, generator, noise)
            state = step(state, response, moves, number * steps + place)
            scaled = (response - SUMS.centre - state.fit) * np.sqrt(SUMS.row_weights) / state.sigma
            widths, log_variance = np.concatenate(state.bandwidths), 2 * np.log(state.sigma)
            total = [widths.sum(), np.exp(-widths / SUMS.bandwidth).sum()]
            others = [log_variance, log_variance**2, *total, *(total[0] * (scaled**2 - 1))]
            trees.append(state.trees)
            found.append(np.concatenate([state.fit, state.fit**2, scaled, scaled**2, scaled * state.fit, others]))
    positions = np.array(trees).reshape(CHAINS, steps, TREES)
    for slot in range(TREES):
        assert_agrees(positions[..., slot], np.exp(SUMS.space.log_prior), SUMS.space.groupings)
    rows = len(SUMS.row_weights)
    means, half = TREES * ALONE.means(0.0), SUMS.noise.nu / 2
    mean, variance = np.log(SCALE / 2) - special.psi(half), special.polygamma(1, half)
    residuals = np.repeat([0, 1, 0], rows)
    exact = [*means[: 2 * rows], *residuals, mean, variance + mean**2, *means[2 * rows :], *np.zeros(rows)]
    assert_means_agree(np.array(found).reshape(CHAINS, steps, -1), np.array(exact))


def test_joint_distribution_is_kept_for_a_while() -> None:
    agrees(EVERY, steps=800)


@pytest.mark.slow
def test_joint_distribution_is_kept() -> None:
    agrees(EVERY, steps=8000)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", EVERY)
def test_wrong_moves_are_caught(wrong: str) -> None:
    with pytest.raises(Disagreement):
        agrees({f"wrong:{move}" if move == wrong else move: 1 for move in EVERY}, steps=4000)


@pytest.mark.slow
def test_wrong_simulation_is_caught() -> None:
    with pytest.raises(Disagreement):
        agrees(EVERY, steps=4000, noise=1.1)
