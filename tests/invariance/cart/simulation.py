"""The whole model run forwards on a small table: trees from the prior, leaf parameters, responses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import baytree as bt
from exact.trees.native import read_space
from reference.trees.enumeration import NormalInverseGamma, Rows, Table, Tree
from reference.trees.spaces import GAP, Space

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Two columns of eight rows, and a prior that pulls enough for responses that are drawn again and again to move.
LEAF = NormalInverseGamma(mean=0.5, kappa=2.0, nu=8.0, scale=0.6)
SPACE: Space = replace(GAP, leaf=LEAF)


@dataclass(frozen=True)
class Forward:
    """Draws from the model. ``leaf`` is that of the space, or a wrong one for a saboteur."""

    leaf: NormalInverseGamma
    generator: np.random.Generator

    @cached_property
    def trees(self) -> list[Tree]:
        return list(SPACE.trees)

    @cached_property
    def leaf_rows(self) -> list[list[Rows]]:
        return [SPACE.table.leaf_rows(tree) for tree in self.trees]

    def tree(self) -> int:
        """The position of a tree drawn from the prior."""
        return int(self.generator.choice(len(self.trees), p=SPACE.target(0)))

    def parameters(self, leaf: NormalInverseGamma) -> tuple[float, float]:
        """A mean and a standard deviation."""
        sigma = np.sqrt(leaf.nu * leaf.scale / self.generator.chisquare(leaf.nu))
        return float(leaf.mean + sigma * self.generator.standard_normal() / np.sqrt(leaf.kappa)), float(sigma)

    def means(self, tree: int, given: Floats | None = None) -> tuple[Floats, Floats]:
        """Leaf parameters of each row, from the prior or from the posterior of the responses ``given``."""
        mu, sigma = np.empty(len(SPACE.response)), np.empty(len(SPACE.response))
        for rows in self.leaf_rows[tree]:
            at = sorted(rows)
            leaf = self.leaf if given is None else self.leaf.posterior(given[at].tolist(), [1.0] * len(at))
            mu[at], sigma[at] = self.parameters(leaf)
        return mu, sigma

    def response(self, mu: Floats, sigma: Floats) -> Floats:
        return mu + sigma * self.generator.standard_normal(len(mu))


def with_response(y: Floats) -> bt.Design:
    """The space's table with another response."""
    return replace(read_space(SPACE), y=np.ascontiguousarray(y))


def log_marginal(tree: int, y: Floats, forward: Forward) -> float:
    """log p(y | tree) by the reference."""
    table = Table(SPACE.table.columns, tuple(y.tolist()))
    return sum(table.log_marginal(SPACE.leaf, rows) for rows in forward.leaf_rows[tree])
