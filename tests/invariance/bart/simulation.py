"""Sums of trees run forwards on small tables: weights of columns, trees, leaf values, noise, responses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

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
from reference.bart.normal_sums import Noise, SumSpace
from reference.bart.spaces import BLOCKED, CLASSES
from reference.bart.utilities import UtilitySpace, class_probability
from reference.trees.dirichlet_weights import DirichletWeights, asking
from reference.trees.enumeration import Dirichlet
from reference.trees.spaces import WEIGHTED_REAL

Floats = NDArray[np.float64]
SumModel = SumSpace | UtilitySpace

# Two trees; the noise is as large as what they say, so that responses that are drawn again and again move.
NUMBERS = SumSpace(
    name="numbers", space=WEIGHTED_REAL, trees=2, noise=Noise(1.0, nu=8.0, q=0.7), k=1.0, weights=DirichletWeights()
)
PROBIT = UtilitySpace(
    name="probit",
    space=replace(
        BLOCKED,
        response=("no", "yes", "no", "yes", "yes", "no", "yes", "no"),
        leaf=Dirichlet(1.0, 2),
        prior=replace(BLOCKED.prior, min_leaf=2),  # or wrong births would change the number of leaves but little
    ),
    trees=2,
    k=3.0,
    weights=DirichletWeights(),
)
SEVERAL = UtilitySpace(name="classes", space=CLASSES, k=3.0)
MODELS = (NUMBERS, PROBIT, SEVERAL)

# Iterations for each response. One would do, but columns of little weight wait long for a split.
ITERATIONS = 20

# Leaf values lie on this grid, which is coarser than a chain's for any response that comes up.
GRID = 2.0**-10


@dataclass(frozen=True)
class State:
    """Trees by their positions, the values of their leaves, σ, the log weights of columns and their concentration."""

    trees: tuple[int, ...]
    values: tuple[Floats, ...]
    sigma: float
    log_weights: tuple[float, ...]
    concentration: float


@dataclass(frozen=True)
class Forward:
    """Draws from a model, and the sampler's chains for it."""

    sums: SumModel
    generator: np.random.Generator

    # ---- forwards -------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """A draw from the prior."""
        sums, draw = self.sums, self.generator
        concentration, log_weights, log_prior = 1.0, np.empty(0), sums.space.log_prior
        if sums.weights is not None:
            columns = len(sums.space.raw)
            share = draw.beta(0.5, 1.0)
            concentration = columns * share / (1 - share)
            each = concentration / columns
            log_gamma = np.log(draw.gamma(np.full(columns, each + 1))) + np.log(draw.random(columns)) / each
            log_weights = log_gamma - np.logaddexp.reduce(log_gamma)
            log_prior = asking(sums.space).log_prior(log_weights)
        trees = draw.choice(len(log_prior), sums.slots, p=np.exp(log_prior))
        values = tuple(on_grid(sums.sigma_mu * draw.standard_normal(sums.space.leaves[tree])) for tree in trees)
        sigma = 1.0
        if isinstance(sums, SumSpace):
            scaled = sums.noise.guess**2 * chi2.ppf(1 - sums.noise.q, sums.noise.nu)
            sigma = float(np.sqrt(scaled / draw.chisquare(sums.noise.nu)))
        return State(tuple(trees.tolist()), values, sigma, tuple(log_weights.tolist()), concentration)

    def at_rows(self, state: State) -> Floats:
        """The value of each tree at each row."""
        pairs = zip(state.trees, state.values, strict=True)
        return np.stack([values[self.sums.leaf_of[tree]] for tree, values in pairs])

    def fits(self, state: State) -> Floats:
        """What the trees say of each row: E(y), (rows, 1), or its utilities, (rows, utilities)."""
        sums = self.sums
        utilities = sums.utilities if isinstance(sums, UtilitySpace) else 1
        by_utility = self.at_rows(state).reshape(utilities, sums.trees, -1).sum(axis=1)
        return by_utility.T + sums.centre

    def response(self, state: State) -> NDArray[Any]:
        """Numbers, or classes by their positions, given a state."""
        fits, draw = self.fits(state), self.generator
        if isinstance(self.sums, SumSpace):
            return fits[:, 0] + state.sigma / np.sqrt(self.sums.row_weights) * draw.standard_normal(len(fits))
        noisy = fits + draw.standard_normal(fits.shape)
        return (noisy[:, 0] > 0 if noisy.shape[1] == 1 else noisy.argmax(axis=1)).astype(np.int32)

    def surprise(self, state: State, response: NDArray[Any]) -> Floats:
        """Numbers of mean zero where state and response come from the model."""
        fits = self.fits(state)
        if isinstance(self.sums, SumSpace):
            scaled = (response - fits[:, 0]) * np.sqrt(self.sums.row_weights) / state.sigma
            return np.concatenate([scaled, scaled**2 - 1, scaled * (fits[:, 0] - self.sums.centre)])
        odd = [(response == one) - class_probability(fits, one) for one in range(max(fits.shape[1], 2))]
        return np.concatenate([*odd, *(part * fits[:, 0] for part in odd)])

    def statistics(self, state: State, log_likelihood: float) -> dict[str, float]:
        """What is ranked: numbers that say where a state is."""
        fits = self.fits(state)
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

    # ---- the sampler ----------------------------------------------------------------------------------------------

    @cached_property
    def _calibration(self) -> Calibration:
        """That of the space, whatever the response."""
        scale = 1.0
        if isinstance(self.sums, SumSpace):
            noise = self.sums.noise
            scale = noise.guess**2 * chi2.ppf(1 - noise.q, noise.nu) / noise.nu
        return Calibration(tuple(np.atleast_1d(self.sums.centre).tolist()), self.sums.sigma_mu, float(scale), 1.0)

    def chain(self, proposal: MixtureSpec, response: NDArray[Any], seed: int) -> tuple[bt.BART, _core.SumChain]:
        """A chain for this response, and its model."""
        design = replace(read_space(self.sums.space), y=response)
        bart = replace(model(self.sums, proposal), calibration=self._calibration).resolve(design)
        return bart, bart.chains(design, seed, 1)[0]

    def step(self, proposal: MixtureSpec, response: NDArray[Any], state: State, seed: int) -> State:
        """Some iterations of the sampler from a state."""
        bart, chain = self.chain(proposal, response, seed)
        self.place(bart, chain, state)
        chain.advance(ITERATIONS)
        return self.read(bart.state_of(chain))

    def place(self, bart: bt.BART, chain: _core.SumChain, state: State) -> None:
        """Put a chain at a state."""
        schema, trees = read_space(self.sums.space).schema, list(self.sums.space.trees)
        forest = Forest.concatenate([bt.Tree(schema, trees[tree]).forest().arrays() for tree in state.trees])
        begin = bart.state_of(chain) | {
            "trees": {name: array.tolist() for name, array in forest.arrays().items()},
            "values": np.concatenate(state.values).tolist(),
            "sigma": state.sigma,
            "log_weights": list(state.log_weights),
            "concentration": state.concentration,
        }
        bart.restore(chain, begin)

    def read(self, record: dict) -> State:
        """A chain's state as it describes it."""
        positions = positions_of(self.sums.space, forest_from_lists(record["trees"]))
        ends = np.cumsum(self.sums.space.leaves[positions])[:-1]
        values = tuple(np.split(on_grid(np.array(record["values"])), ends))
        log_weights, concentration = tuple(record["log_weights"]), record["concentration"]
        return State(tuple(positions.tolist()), values, record["sigma"], log_weights, concentration)


def on_grid(values: Floats) -> Floats:
    return np.round(values / GRID) * GRID
