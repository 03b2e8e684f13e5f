"""Draws of ensembles (sums of trees): which trees each draw adds up, and the values of their leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from ..errors import InputError
from .forest import Forest, ranges


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Ensembles: sums of trees, one a draw.

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

    @cached_property
    def chains(self) -> int:
        """Number of chains."""
        return self.tree_index.shape[0]

    @cached_property
    def draws(self) -> int:
        """Number of draws of each chain."""
        return self.tree_index.shape[1]

    @cached_property
    def trees(self) -> int:
        """Number of trees of a draw: of several classes those of all their sums."""
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

    @cached_property
    def mean_over_rows(self) -> np.ndarray:
        """The sum of each draw, averaged over the training rows; shape (chains, draws)."""
        stored, forest = self.tree_index.ravel(), self.forest
        begin = forest.first_leaf[stored].astype(np.int64)
        leaf_rows = forest.rows[forest.feature < 0].astype(np.float64)
        weighted = leaf_rows[ranges(begin, begin + forest.leaves[stored])] * self.values
        rows = float(forest.rows[forest.begin[stored[0]]])
        return np.add.reduceat(weighted, self.first[:, :, 0].ravel()).reshape(self.tree_index.shape[:2]) / rows

    def take(self, draws: np.ndarray) -> Ensemble:
        """Some of the draws of each chain, in the order given."""
        # Of a tree there is one split fewer than leaves, so its splits begin that many places earlier.
        first, count = self.first[:, draws, 0], self.leaves[:, draws].sum(axis=2)
        before = np.arange(self.tree_index.size).reshape(self.tree_index.shape)[:, draws, 0]
        return Ensemble(
            self.forest,
            np.ascontiguousarray(self.tree_index[:, draws]),
            _parts(self.values, first, count),
            None if self.bandwidths is None else _parts(self.bandwidths, first - before, count - self.trees),
        )

    def part(self, chain: int, begin: int, end: int) -> dict[str, np.ndarray]:
        """Draws begin … end of one chain as arrays, with the trees that are new in them."""
        index, forest = self.tree_index[chain], self.forest
        before = int(index[:begin].max()) + 1 if begin else int(index[0].min())
        last = max(int(index[:end].max()) + 1, before)
        nodes = slice(int(forest.begin[before]) if before < len(forest) else len(forest.feature), 0)
        nodes = slice(nodes.start, int(forest.end[last - 1]) if last > before else nodes.start)
        arrays = {name: array[nodes] for name, array in forest.arrays().items() if name != "begin"}
        first = int(self.first[chain, begin, 0])
        count = int(self.leaves[chain, begin:end].sum())
        record = {
            **arrays,
            "begin": forest.begin[before:last] - np.uint64(nodes.start),
            "tree": (index[begin:end] - index[0].min()).ravel(),
            "value": self.values[first : first + count],
        }
        if self.bandwidths is not None:
            split = first - (chain * self.draws + begin) * self.trees  # of a tree there is one split fewer than leaves
            record["bandwidth"] = self.bandwidths[split : split + count - (end - begin) * self.trees]
        return record

    @classmethod
    def from_parts(cls, parts: Sequence[Sequence[dict[str, np.ndarray]]], trees: int, prefix: str = "") -> Ensemble:
        """Put together what the chains recorded, `parts[chain]` being its blocks in order; this takes it from them."""
        names = [*(field.name for field in fields(Forest)), "tree", "value"]
        soft = prefix + "bandwidth" in parts[0][0]
        names += ["bandwidth"] if soft else []
        taken = [[{name: part.pop(prefix + name) for name in names} for part in chain] for chain in parts]
        stored = [sum(len(part["begin"]) for part in chain) for chain in taken]
        first = np.cumsum([0, *stored[:-1]])
        tree = np.stack([np.concatenate([part["tree"] for part in chain]).reshape(-1, trees) for chain in taken])
        blocks = [part for chain in taken for part in chain]
        values = np.concatenate([part["value"] for part in blocks])
        bandwidths = np.concatenate([part["bandwidth"] for part in blocks]) if soft else None
        return cls(Forest.concatenate(blocks), (tree + first[:, None, None]).astype(np.int32), values, bandwidths)

    def check(self) -> None:
        """Raise InputError where the parts do not belong together."""
        if self.tree_index.size == 0 or self.tree_index.min() < 0 or self.tree_index.max() >= len(self.forest):
            raise InputError("draws refer to trees that are not there")
        if int(self.leaves.sum()) != len(self.values) or not np.isfinite(self.values).all():
            raise InputError("leaf values are missing or no numbers")
        # Of a tree there is one split fewer than leaves.
        if self.bandwidths is not None and len(self.bandwidths) != len(self.values) - self.tree_index.size:
            raise InputError("the bandwidths of soft rules are missing")


def _parts(array: np.ndarray, first: np.ndarray, count: np.ndarray) -> np.ndarray:
    """The given stretches of an array, one after the other."""
    ends = zip(first.ravel().tolist(), count.ravel().tolist(), strict=True)
    return np.concatenate([array[:0], *(array[begin : begin + size] for begin, size in ends)])
