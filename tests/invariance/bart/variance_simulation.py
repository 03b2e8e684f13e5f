"""Sums of trees whose noise is a product of trees, run forwards on a small table: trees, leaf values, responses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

import baytree as bt
from baytree import _core
from baytree.bart.calibration import Calibration
from baytree.mcmc.mixtures import MixtureSpec
from baytree.trees.forest import Forest, forest_from_lists
from exact.bart.chains import model, positions_of
from exact.trees.native import read_space
from invariance.bart.simulation import on_grid
from reference.bart.normal_sums import Noise, SumSpace
from reference.bart.variance_products import Factor
from reference.trees.spaces import WEIGHTED_REAL

TREES = 2  # of the mean, and of the variance
NUMBERS = SumSpace(name="variance", space=WEIGHTED_REAL, trees=TREES, noise=Noise(1.0, nu=8.0, q=0.7), k=1.0)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class State:
    """The trees of the mean and then those of the variance by their positions, and the values of their leaves."""

    trees: tuple[int, ...]
    values: tuple[Floats, ...]


@dataclass(frozen=True)
class VarianceForward:
    """Draws from a model, and the sampler's chains for it."""

    sums: SumSpace
    generator: np.random.Generator

    @cached_property
    def factor(self) -> Factor:
        return Factor(self.sums.noise, TREES)

    # ---- forwards -------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """A draw from the prior."""
        sums, draw, factor = self.sums, self.generator, self.factor
        trees = draw.choice(len(sums.space.trees), 2 * TREES, p=np.exp(sums.space.log_prior))
        leaves = sums.space.leaves[trees]
        mean = [on_grid(sums.sigma_mu * draw.standard_normal(number)) for number in leaves[:TREES]]
        variance = [np.log(factor.rate / draw.gamma(factor.nu / 2, size=number)) for number in leaves[TREES:]]
        return State(tuple(trees.tolist()), (*mean, *variance))

    def at_rows(self, state: State) -> Floats:
        """f − centre and log s² of each row, (2, rows)."""
        pairs = zip(state.trees, state.values, strict=True)
        values = np.stack([values[self.sums.leaf_of[tree]] for tree, values in pairs])
        return values.reshape(2, TREES, -1).sum(axis=1)

    def response(self, state: State, noise: float = 1.0) -> Floats:
        """Numbers given a state; a saboteur has more noise."""
        fit, log_variance = self.at_rows(state)
        spread = noise * np.exp(log_variance / 2) / np.sqrt(self.sums.row_weights)
        return self.sums.centre + fit + spread * self.generator.standard_normal(len(fit))

    def statistics(self, state: State, log_likelihood: float) -> dict[str, float]:
        """What is ranked: numbers that say where a state is."""
        fit, log_variance = self.at_rows(state)
        return {
            "f at the first row": fit[0],
            "f at the last row": fit[-1],
            "log variance at the first row": log_variance[0],
            "log variance at the last row": log_variance[-1],
            "leaves of the mean": float(sum(map(len, state.values[:TREES]))),
            "leaves of the variance": float(sum(map(len, state.values[TREES:]))),
            "log likelihood": log_likelihood,
        }

    # ---- the sampler ----------------------------------------------------------------------------------------------

    def chain(self, proposal: MixtureSpec, response: Floats, seed: int) -> tuple[bt.BART, _core.SumChain]:
        """A chain for this response, and its model."""
        noise = self.sums.noise
        scale = noise.guess**2 * chi2.ppf(1 - noise.q, noise.nu) / noise.nu
        calibration = Calibration((self.sums.centre,), self.sums.sigma_mu, float(scale), 1.0)
        design = replace(read_space(self.sums.space), y=response)
        forest = replace(model(self.sums, proposal), variance="forest", variance_trees=TREES, calibration=calibration)
        bart = forest.resolve(design)
        return bart, bart.chains(design, seed, 1)[0]

    def step(self, proposal: MixtureSpec, response: Floats, state: State, seed: int) -> State:
        """One iteration of the sampler from a state."""
        bart, chain = self.chain(proposal, response, seed)
        self.place(bart, chain, state)
        chain.advance(1)
        return self.read(bart.state_of(chain))

    def place(self, bart: bt.BART, chain: _core.SumChain, state: State) -> None:
        """Put a chain at a state."""
        schema, trees = read_space(self.sums.space).schema, list(self.sums.space.trees)
        forest = Forest.concatenate([bt.Tree(schema, trees[tree]).forest().arrays() for tree in state.trees])
        begin = {
            "trees": {name: array.tolist() for name, array in forest.arrays().items()},
            "values": np.concatenate(state.values).tolist(),
        }
        bart.restore(chain, bart.state_of(chain) | begin)

    def read(self, record: dict) -> State:
        """A chain's state as it describes it."""
        positions = positions_of(self.sums.space, forest_from_lists(record["trees"]))
        values = np.split(np.array(record["values"]), np.cumsum(self.sums.space.leaves[positions])[:-1])
        return State(tuple(positions.tolist()), (*map(on_grid, values[:TREES]), *values[TREES:]))
