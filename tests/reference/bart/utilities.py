"""Classes by latent utilities, by brute force.

Two classes have one utility, f + ε with ε ~ N(0, 1), and the second class where it is positive. More classes have one
each, and the class is that of the largest. Given the leaf values, rows are independent, so the probability of the
classes is an integral over the leaf values of all trees: a product of quadratures, in which rows with equal bins, a
*cell*, make one factor.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from reference.bart.tuples import Floats, Tuples
from reference.trees.enumeration import Dirichlet

# For each leaf value, and for the noise.
NODES = 49


def normal_rule(spread: float, reach: int = 1) -> tuple[Floats, Floats]:
    """Nodes and weights for expectations under N(0, spread²): even steps, which converge fastest for such functions.

    They go as far as `reach` times seven standard deviations, where probabilities may be that small.
    """
    at = np.linspace(-7 * reach, 7 * reach, reach * (NODES - 1) + 1)
    weight = np.exp(-(at**2) / 2)
    return spread * at, weight / weight.sum()


def class_probability(utilities: Floats, one: int) -> Floats:
    """P(class | utilities without their noise), which the last axis lists; one utility stands for two classes."""
    if utilities.shape[-1] == 1:
        return ndtr(utilities[..., 0] if one else -utilities[..., 0])
    noise, weight = normal_rule(1.0, reach=2)
    product = np.ones((*utilities.shape[:-1], len(noise)))
    for other in range(utilities.shape[-1]):
        if other != one:
            product *= ndtr(noise + (utilities[..., one] - utilities[..., other])[..., None])
    return product @ weight


@dataclass(frozen=True, eq=False, kw_only=True)
class UtilitySpace(Tuples):
    """Sums of ``trees`` trees for each utility; those of the first utility come first in a state.

    A row of weight w counts as w rows.
    """

    k: float = 2.0
    offset: tuple[float, ...] | None = None

    @cached_property
    def row_weights(self) -> Floats:
        weight = self.space.table.weight
        return np.ones(len(self.space.table.response)) if weight is None else np.array(weight)

    @property
    def sigma_mu(self) -> float:
        """Three is far for a utility; so many standard deviations of the sum of trees reach there."""
        return 3 / (self.k * math.sqrt(self.trees))

    @property
    def centre(self) -> Floats:
        """What each utility is without any tree: of two classes, the probit of the second one's share."""
        if self.utilities > 1:
            return np.zeros(self.utilities)
        second = self.row_weights[np.array(self.space.table.response) == 1].sum()
        return ndtri([(second + 1) / (self.row_weights.sum() + 2)])  # with one more row of each class

    @property
    def utilities(self) -> int:
        assert isinstance(self.space.leaf, Dirichlet)
        return 1 if self.space.leaf.classes == 2 else self.space.leaf.classes

    @property
    def slots(self) -> int:
        return self.trees * self.utilities

    @cached_property
    def values(self) -> Floats:
        """The utilities of every combination of one leaf value of each tree, (nodes, …, nodes, utilities)."""
        nodes, _ = normal_rule(self.sigma_mu)
        grids = np.stack(np.meshgrid(*[nodes] * self.slots, indexing="ij"), axis=-1)
        return grids.reshape(*grids.shape[:-1], self.utilities, self.trees).sum(axis=-1) + self.centre

    @cached_property
    def cells(self) -> list[list[int]]:
        """The rows of each cell."""
        rows: dict[tuple[int, ...], list[int]] = {}
        for row, bins in enumerate(zip(*(column.bins for column in self.space.table.columns), strict=True)):
            rows.setdefault(bins, []).append(row)
        return list(rows.values())

    @cached_property
    def factors(self) -> list[Floats]:
        """The probability of the classes of each cell, over the leaf values that its rows can have."""
        return [np.prod([self.of_row(row) for row in cell], axis=0) for cell in self.cells]

    def of_row(self, row: int) -> Floats:
        """The probability of a row's class, as often as the row counts."""
        return class_probability(self.at_row(row), int(self.space.table.response[row])) ** self.row_weights[row]

    def at_row(self, row: int) -> Floats:
        """The utilities of a row."""
        return self.values if self.offset is None else self.values + self.offset[row]

    def integrate(self, state: int, factors: list[tuple[int, Floats]]) -> float:
        """The expectation, over the leaf values of a state, of a product of functions of the utilities at rows."""
        _, weight = normal_rule(self.sigma_mu)
        letters: dict[tuple[int, int], str] = {}

        def places(row: int) -> str:
            leaves = [(slot, int(self.leaf_of[tree, row])) for slot, tree in enumerate(self.parts[state])]
            return "".join(letters.setdefault(leaf, string.ascii_letters[len(letters)]) for leaf in leaves)

        inputs = [places(row) for row, _ in factors]
        arrays = [factor for _, factor in factors]
        formula = ",".join([*inputs, *letters.values()]) + "->"
        return float(np.einsum(formula, *arrays, *[weight] * len(letters), optimize="greedy"))

    @cached_property
    def likelihood(self) -> Floats:
        """P(y | trees) for each state."""
        factors = [(cell[0], factor) for cell, factor in zip(self.cells, self.factors, strict=True)]
        return np.array([self.integrate(state, factors) for state in range(len(self.parts))])

    def target(self, power: float) -> Floats:
        """The probability of each state."""
        unnormalised = np.exp(self.log_prior) * self.likelihood**power
        return unnormalised / unnormalised.sum()

    def expectation(self, function: Callable[[Floats], Floats], row: int, power: float) -> float:
        """The mean of a function of a row's utilities, whose values the last axis of its argument lists."""
        extra = (row, function(self.at_row(row)))
        factors = [(cell[0], factor) for cell, factor in zip(self.cells, self.factors, strict=True)]
        given = [extra] if power == 0 else [extra, *factors]
        means = np.array([self.integrate(state, given) for state in range(len(self.parts))])
        return float(self.target(power) @ (means if power == 0 else means / self.likelihood))
