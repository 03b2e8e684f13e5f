"""Draws of sums of trees: which trees each draw adds up, and the values of their leaves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .trees import Forest


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of trees, one a draw.

    The rules of a tree often stay while the values of its leaves change with every draw. So rules are stored once and
    values with every draw: those of draw d of chain c are ``values[first[c, d, t] : first[c, d, t] + leaves]`` for its
    tree t, in the order of the tree's leaves.

    Attributes
    ----------
    forest : Forest
        The trees that are stored, without values.
    tree_index : numpy.ndarray of int32, shape (chains, draws, trees)
        Which stored tree each tree of each draw is.
    values : numpy.ndarray of float32
        The leaf values of all draws: chain after chain, draw after draw, tree after tree, leaf after leaf.
    bandwidths : numpy.ndarray of float32 or None
        Where rules are soft, the bandwidth of every split of all draws, in the same order; 0 of those that are hard
        all the same.
    """

    forest: Forest
    tree_index: np.ndarray
    values: np.ndarray
    bandwidths: np.ndarray | None = None

    @property
    def chains(self) -> int:
        """Number of chains."""
        return self.tree_index.shape[0]

    @property
    def draws(self) -> int:
        """Number of draws of each chain."""
        return self.tree_index.shape[1]

    @property
    def trees(self) -> int:
        """Number of trees in each sum."""
        return self.tree_index.shape[2]

    @cached_property
    def leaves(self) -> np.ndarray:
        """The number of leaves of every tree of every draw, shape (chains, draws, trees)."""
        return self.forest.leaves[self.tree_index]

    @cached_property
    def first(self) -> np.ndarray:
        """Where the values of every tree of every draw begin, shape (chains, draws, trees)."""
        leaves = self.leaves.ravel()
        return (np.cumsum(leaves) - leaves).reshape(self.tree_index.shape)

    def take(self, draws: np.ndarray) -> Sums:
        """Some of the draws of each chain, in the order given."""
        # Of a tree there is one split fewer than leaves, so its splits begin that many places earlier.
        first, count = self.first[:, draws, 0], self.leaves[:, draws].sum(axis=2)
        before = np.arange(self.tree_index.size).reshape(self.tree_index.shape)[:, draws, 0]
        return Sums(
            self.forest,
            np.ascontiguousarray(self.tree_index[:, draws]),
            _parts(self.values, first, count),
            None if self.bandwidths is None else _parts(self.bandwidths, first - before, count - self.trees),
        )


def _parts(array: np.ndarray, first: np.ndarray, count: np.ndarray) -> np.ndarray:
    """The given stretches of an array, one after the other."""
    ends = zip(first.ravel().tolist(), count.ravel().tolist(), strict=True)
    return np.concatenate([array[:0], *(array[begin : begin + size] for begin, size in ends)])
