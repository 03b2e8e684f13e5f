"""Sums of trees with soft rules run forwards on small tables: trees, bandwidths, leaf values, noise, responses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import chi2

import baytree as bt
from baytree import _core
from baytree.bart.calibration import Calibration
from baytree.mcmc.mixtures import MixtureSpec
from baytree.trees.forest import Forest, forest_from_lists
from exact.bart.chains import model, positions_of
from exact.trees.native import read_space
from invariance.bart import simulation
from reference.bart.normal_sums import Noise
from reference.bart.soft_sums import SoftSums
from reference.trees.spaces import WEIGHTED_REAL

TREES = 2
# Bandwidths are large, as states with a narrow rule stay for long.
NUMBERS = SoftSums(name="soft", space=WEIGHTED_REAL, trees=TREES, noise=Noise(1.0, nu=8.0, q=0.7), k=1.0, bandwidth=0.4)
# Two classes; what makes up the scale of numbers here only says how large leaf values are, and where the centre is.
PROBIT = SoftSums(
    name="soft probit", space=simulation.PROBIT.space, trees=TREES, noise=Noise(1.0), k=0.5, bandwidth=0.4
)
MODELS = (NUMBERS, PROBIT)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class State:
    """Trees by their positions, the values of their leaves, the bandwidths of their soft rules, and σ."""

    trees: tuple[int, ...]
    values: tuple[Floats, ...]
    bandwidths: tuple[Floats, ...]
    sigma: float


@dataclass(frozen=True)
class SoftForward:
    """Draws from a model, and the sampler's chains for it."""

    sums: SoftSums
    generator: np.random.Generator

    @property
    def of_classes(self) -> bool:
        return read_space(self.sums.space).classes is not None

    @cached_property
    def trees(self) -> list[tuple]:
        return list(self.sums.space.trees)

    @cached_property
    def soft(self) -> list[NDArray[np.bool_]]:
        """Of each tree, which of its splits are soft."""
        is_soft = self.sums.is_soft
        return [np.array([is_soft(rule) for rule in tree if rule is not None], dtype=bool) for tree in self.trees]

    @property
    def scaled(self) -> float:
        """νλ."""
        noise = self.sums.noise
        return float(noise.guess**2 * chi2.ppf(1 - noise.q, noise.nu))

    # ---- forwards -------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """A draw from the prior."""
        sums, draw = self.sums, self.generator
        trees = draw.choice(len(self.trees), TREES, p=np.exp(sums.space.log_prior))
        values = tuple(sums.sigma_mu * draw.standard_normal(number) for number in sums.space.leaves[trees])
        bandwidths = tuple(draw.exponential(sums.bandwidth, self.soft[tree].sum()) for tree in trees)
        sigma = 1.0 if self.of_classes else float(np.sqrt(self.scaled / draw.chisquare(sums.noise.nu)))
        return State(tuple(trees.tolist()), values, bandwidths, sigma)

    def fit(self, state: State) -> Floats:
        """What the trees add up to at each row."""
        each = zip(state.trees, state.values, state.bandwidths, strict=True)
        shares = self.sums.shares
        return np.sum([shares(self.trees[tree], widths[None])[0] @ values for tree, values, widths in each], axis=0)

    def response(self, state: State, noise: float = 1.0) -> NDArray[Any]:
        """Numbers, or classes by their positions, given a state; a saboteur has more noise."""
        spread = noise * state.sigma / np.sqrt(self.sums.row_weights)
        numbers = self.sums.centre + self.fit(state) + spread * self.generator.standard_normal(len(spread))
        return (numbers > 0).astype(np.int32) if self.of_classes else numbers

    def surprise(self, state: State, response: NDArray[Any]) -> Floats:
        """Numbers of mean zero where state and response come from the model."""
        fit, width = self.fit(state), np.concatenate(state.bandwidths).sum()
        if self.of_classes:
            odd = response - ndtr(self.sums.centre + fit)
            return np.concatenate([odd, odd * fit, odd * width])
        scaled = (response - self.sums.centre - fit) * np.sqrt(self.sums.row_weights) / state.sigma
        return np.concatenate([scaled, scaled**2 - 1, scaled * fit, (scaled**2 - 1) * width])

    def statistics(self, state: State, log_likelihood: float) -> dict[str, float]:
        """What is ranked: numbers that say where a state is."""
        fit = self.fit(state)
        return {
            "f at the first row": fit[0],
            "f at the last row": fit[-1],
            "leaves": float(sum(map(len, state.values))),
            "bandwidths": float(np.concatenate(state.bandwidths).sum()),
            "log likelihood": log_likelihood,
            "sigma": state.sigma,
        }

    # ---- the sampler ----------------------------------------------------------------------------------------------

    def chain(self, proposal: MixtureSpec, response: NDArray[Any], seed: int) -> tuple[bt.BART, _core.SumChain]:
        """A chain for this response, and its model."""
        scale = 1.0 if self.of_classes else self.scaled / self.sums.noise.nu
        calibration = Calibration((self.sums.centre,), self.sums.sigma_mu, scale, 1.0)
        design = replace(read_space(self.sums.space), y=response)
        bart = replace(model(self.sums, proposal), calibration=calibration).resolve(design)
        return bart, bart.chains(design, seed, 1)[0]

    def step(self, proposal: MixtureSpec, response: NDArray[Any], state: State, seed: int) -> State:
        """One iteration of the sampler from a state."""
        bart, chain = self.chain(proposal, response, seed)
        self.place(bart, chain, state)
        chain.advance(1)
        return self.read(bart.state_of(chain))

    def place(self, bart: bt.BART, chain: _core.SumChain, state: State) -> None:
        """Put a chain at a state."""
        schema = read_space(self.sums.space).schema
        forest = Forest.concatenate([bt.Tree(schema, self.trees[tree]).forest().arrays() for tree in state.trees])
        soft = np.concatenate([self.soft[tree] for tree in state.trees])
        bandwidths = np.zeros(len(soft))
        bandwidths[soft] = np.concatenate(state.bandwidths)
        begin = bart.state_of(chain) | {
            "trees": {name: array.tolist() for name, array in forest.arrays().items()},
            "values": np.concatenate(state.values).tolist(),
            "bandwidths": bandwidths.tolist(),
            "sigma": state.sigma,
        }
        bart.restore(chain, begin)

    def read(self, record: dict) -> State:
        """A chain's state as it describes it."""
        trees = positions_of(self.sums.space, forest_from_lists(record["trees"])).tolist()
        ends = np.cumsum([0, *(len(self.soft[tree]) for tree in trees)])
        all_widths = np.array(record["bandwidths"])
        widths = tuple(all_widths[a:b][self.soft[tree]] for tree, (a, b) in zip(trees, pairwise(ends), strict=True))
        values = np.split(np.array(record["values"]), np.cumsum(self.sums.space.leaves[trees])[:-1])
        return State(tuple(trees), tuple(values), widths, record["sigma"])
