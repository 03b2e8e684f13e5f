"""Tuples of trees of one space: the states of a sampler of sums of trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from reference.trees.dirichlet_weights import DirichletWeights
from reference.trees.spaces import Space

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Tuples:
    """Every tuple of trees of a space, the first tree counting most.

    ``space`` says the table and the prior of each tree; its leaf model only tells classes from numbers. Trees are
    independent, or share the weights of their columns.
    """

    name: str
    space: Space
    trees: int = 1
    weights: DirichletWeights | None = None

    @property
    def slots(self) -> int:
        """The number of trees in a tuple."""
        return self.trees

    @cached_property
    def parts(self) -> Ints:
        """The trees of each state as positions in the space, (states, slots)."""
        return np.array(list(product(range(len(self.space.trees)), repeat=self.slots)))

    def state(self, positions: Ints) -> Ints:
        """States from the positions of their trees, (…, slots)."""
        return np.ravel_multi_index(tuple(np.moveaxis(positions, -1, 0)), (len(self.space.trees),) * self.slots)

    @cached_property
    def log_prior(self) -> Floats:
        if self.weights is not None:
            return self.weights.log_prior(self.space, self.parts)
        return self.space.log_prior[self.parts].sum(axis=1)

    @cached_property
    def leaf_of(self) -> Ints:
        """The leaf, in preorder, that each row lies in, (trees of the space, rows)."""
        table = self.space.table
        places = np.empty((len(self.space.trees), len(table.response)), dtype=np.int64)
        for tree, place in zip(self.space.trees, places, strict=True):
            for leaf, rows in enumerate(table.leaf_rows(tree)):
                place[sorted(rows)] = leaf
        return places

    @cached_property
    def groupings(self) -> dict[str, Ints]:
        """What states have in common, for those that are too rare to be judged alone."""
        grouped = {f"tree {slot}": self.parts[:, slot] for slot in range(self.slots)}
        for name, labels in self.space.groupings.items():
            grouped[name] = np.unique(labels[self.parts], axis=0, return_inverse=True)[1].ravel()
        grouped["all leaves"] = self.space.leaves[self.parts].sum(axis=1)
        return grouped
