"""Geweke's joint-distribution test of sums of trees whose noise is a product of trees: state | y by the sampler and
y | state by simulation in turn keep the joint distribution, so that trees and values keep their priors."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from exact.agreement import Disagreement, assert_agrees, assert_means_agree
from exact.chains import native_prior
from exact.normal_sums import Noise, SumSpace
from exact.spaces import WEIGHTED_REAL
from exact.sum_chains import Moves, positions_of
from exact.variance_products import Factor
from numpy.typing import NDArray
from scipy import stats

import baytree as bt
from baytree.bart_model import Calibration
from baytree.trees import Forest, forest_from_lists, forest_to_lists
from invariance.sum_simulation import on_grid

CHAINS = 4
TREES = 2  # of the mean, and of the variance
BOTH: Moves = {"birth_death": 1, "change": 1}
SUMS = SumSpace(name="numbers", space=WEIGHTED_REAL, trees=TREES, noise=Noise(1.0, nu=8.0, q=0.7), k=1.0)
FACTOR = Factor(SUMS.noise, TREES)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class State:
    """The trees of the mean and then those of the variance by their positions, and the values of their leaves."""

    trees: tuple[int, ...]
    values: tuple[Floats, ...]

    @property
    def at_rows(self) -> Floats:
        """f − centre and log s² of each row, (2, rows)."""
        pairs = zip(self.trees, self.values, strict=True)
        return np.stack([values[SUMS.leaf_of[tree]] for tree, values in pairs]).reshape(2, TREES, -1).sum(axis=1)


def from_prior(generator: np.random.Generator) -> State:
    trees = generator.choice(len(SUMS.space.trees), 2 * TREES, p=np.exp(SUMS.space.log_prior))
    leaves = SUMS.space.leaves[trees]
    mean = [on_grid(SUMS.sigma_mu * generator.standard_normal(number)) for number in leaves[:TREES]]
    variance = [np.log(FACTOR.rate / generator.gamma(FACTOR.nu / 2, size=number)) for number in leaves[TREES:]]
    return State(tuple(trees.tolist()), (*mean, *variance))


def respond(state: State, generator: np.random.Generator, noise: float = 1.0) -> Floats:
    fit, log_variance = state.at_rows
    spread = noise * np.exp(log_variance / 2) / np.sqrt(SUMS.row_weights)
    return SUMS.centre + fit + spread * generator.standard_normal(len(fit))


def step(state: State, response: Floats, moves: Moves, seed: int) -> State:
    """One iteration of the sampler."""
    noise, space = SUMS.noise, SUMS.space
    scale = noise.guess**2 * stats.chi2.ppf(1 - noise.q, noise.nu) / noise.nu
    model = bt.BART(
        trees=TREES,
        prior=native_prior(space),
        nu=noise.nu,
        variance="forest",
        variance_trees=TREES,
        moves=moves,
        calibration=Calibration((SUMS.centre,), SUMS.sigma_mu, float(scale), 1.0),
    )
    design = replace(space.design, y=response)
    (chain,) = model.resolve(design).chains(design, seed, 1)
    trees = list(space.trees)
    forest = Forest.concatenate([bt.Tree(design.schema, trees[tree]).forest().arrays() for tree in state.trees])
    record = {"trees": forest_to_lists(forest.arrays()), "values": np.concatenate(state.values).tolist()}
    model.restore(chain, model.state_of(chain) | record)
    chain.advance(1)
    record = model.state_of(chain)
    positions = positions_of(space, forest_from_lists(record["trees"]))
    values = np.split(np.array(record["values"]), np.cumsum(space.leaves[positions])[:-1])
    return State(tuple(positions.tolist()), (*map(on_grid, values[:TREES]), *values[TREES:]))


def agrees(moves: Moves, steps: int, noise: float = 1.0) -> None:
    """States have their prior, and scaled residuals are standard normal whatever the state."""
    trees, found = [], []
    for number in range(CHAINS):
        generator = np.random.default_rng(number)
        state = from_prior(generator)
        for place in range(steps):
            response = respond(state, generator, noise)
            state = step(state, response, moves, number * steps + place)
            fit, log_variance = state.at_rows
            scaled = (response - SUMS.centre - fit) * np.sqrt(SUMS.row_weights) * np.exp(-log_variance / 2)
            trees.append(state.trees)
            found.append([fit, fit**2, log_variance, log_variance**2, scaled, scaled**2, scaled**2 * log_variance])
    positions = np.array(trees).reshape(CHAINS, steps, -1)
    for slot in range(2 * TREES):
        assert_agrees(positions[..., slot], np.exp(SUMS.space.log_prior), SUMS.space.groupings)
    rows = len(SUMS.row_weights)
    factor = stats.loggamma(FACTOR.nu / 2)
    mean = TREES * (np.log(FACTOR.rate) - factor.mean())
    exact = [0, TREES * SUMS.sigma_mu**2, mean, TREES * factor.var() + mean**2, 0, 1, mean]
    assert_means_agree(np.array(found).reshape(CHAINS, steps, -1), np.repeat(exact, rows))


def test_joint_distribution_is_kept_for_a_while() -> None:
    agrees(BOTH, steps=800)


@pytest.mark.slow
def test_joint_distribution_is_kept() -> None:
    agrees(BOTH, steps=8000)


@pytest.mark.slow
@pytest.mark.parametrize("moves", [{"wrong:birth_death": 1, "change": 1}, {"birth_death": 1, "wrong:change": 1}])
def test_wrong_moves_are_caught(moves: Moves) -> None:
    with pytest.raises(Disagreement):
        agrees(moves, steps=4000)


@pytest.mark.slow
def test_wrong_simulation_is_caught() -> None:
    with pytest.raises(Disagreement):
        agrees(BOTH, steps=4000, noise=1.1)
