"""Many trees in flat arrays: a forest, and the ensembles (sums of trees) that draws make of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from .outline import depths_of

FOREST_TYPES = {
    "feature": np.int32,
    "cut": np.uint32,
    "subset": np.uint64,
    "missing_left": np.uint8,
    "rows": np.uint32,
    "begin": np.uint64,
}
ENSEMBLE_TYPES = FOREST_TYPES | {"tree": np.int32, "value": np.float32, "bandwidth": np.float32}


class Rule(NamedTuple):
    """One question about one column; see docs/design/trees.md.

    Numeric: left if bin ≤ cut, and missing values left if `missing_left`. Categorical: left if bit `bin` of `subset`
    is set.
    """

    feature: int
    cut: int
    subset: int
    missing_left: bool


@dataclass(frozen=True)
class Forest:
    """Many trees in flat arrays, each in preorder, a leaf having feature −1.

    A tree with m nodes has (m + 1) / 2 leaves, so the first leaf of tree t among all leaves is ``(begin[t] + t) / 2``.
    """

    feature: np.ndarray
    cut: np.ndarray
    subset: np.ndarray
    missing_left: np.ndarray
    rows: np.ndarray
    begin: np.ndarray

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name, as the core takes them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __len__(self) -> int:
        return len(self.begin)

    @cached_property
    def end(self) -> np.ndarray:
        """One past the last node of each tree."""
        return np.append(self.begin[1:], np.uint64(len(self.feature))).astype(np.int64)

    @cached_property
    def leaves(self) -> np.ndarray:
        """The number of leaves of each tree."""
        return (self.end - self.begin.astype(np.int64) + 1) // 2

    @cached_property
    def first_leaf(self) -> np.ndarray:
        """The first leaf of each tree among all leaves."""
        return (self.begin.astype(np.int64) + np.arange(len(self))) // 2

    @cached_property
    def depths(self) -> np.ndarray:
        """The depth of the deepest leaf of each tree."""
        return np.array([max(depths_of(rules_of(self, tree))) for tree in range(len(self))])

    def asks(self, columns: int) -> np.ndarray:
        """Which of so many columns the rules of each tree ask about, bool of shape (trees, columns)."""
        tree_of_node = np.repeat(np.arange(len(self)), self.end - self.begin.astype(np.int64))
        split = self.feature >= 0
        asked = np.zeros((len(self), columns), dtype=bool)
        asked[tree_of_node[split], self.feature[split]] = True
        return asked

    def nodes(self, tree: int) -> slice:
        """Where the nodes of one tree lie."""
        return slice(int(self.begin[tree]), int(self.end[tree]))

    def key(self, tree: int) -> bytes:
        """Equal for two trees of the same forest exactly when their structure and rules are."""
        at = self.nodes(tree)
        return b"".join(array[at].tobytes() for array in (self.feature, self.cut, self.subset, self.missing_left))

    @cached_property
    def identity(self) -> np.ndarray:
        """Of each tree, the first one that is equal to it."""
        first: dict[bytes, int] = {}
        return np.array([first.setdefault(self.key(tree), tree) for tree in range(len(self))], dtype=np.int64)

    @cached_property
    def below(self) -> np.ndarray:
        """One past the last node below each node, itself if it is a leaf."""
        # Counted along the nodes, +1 for a split and −1 for a leaf, a subtree ends where the count first falls below
        # its start. The counts and places are sorted together, so that this place is found by bisection.
        nodes = len(self.feature)
        count = np.cumsum(np.where(self.feature >= 0, 1, -1))
        places = (count + nodes) * (nodes + 1) + np.arange(nodes)
        before = np.concatenate([[0], count[:-1]])
        ranked = np.sort(places)
        ends = ranked[np.searchsorted(ranked, (before - 1 + nodes) * (nodes + 1) + np.arange(nodes))]
        return ends % (nodes + 1) + 1

    def take(self, trees: np.ndarray) -> Forest:
        """Some of the trees, in the order given."""
        nodes = ranges(self.begin.astype(np.int64)[trees], self.end[trees])
        taken = {name: array[nodes] for name, array in self.arrays().items() if name != "begin"}
        sizes = self.end[trees] - self.begin.astype(np.int64)[trees]
        return Forest(**taken, begin=(np.cumsum(sizes) - sizes).astype(np.uint64))

    def leaves_of(self, trees: np.ndarray) -> np.ndarray:
        """The leaves of some of the trees among all leaves, in the order given."""
        return ranges(self.first_leaf[trees], self.first_leaf[trees] + self.leaves[trees])

    @classmethod
    def concatenate(cls, forests: Sequence[Mapping[str, np.ndarray]]) -> Forest:
        """One forest of all their trees, in order; InputError where nodes belong to none of them."""
        if any(not np.array_equal(forest["begin"][:1], [0][: len(forest["feature"])]) for forest in forests):
            raise InputError("trees are missing, and their nodes are there")
        parts = {f.name: [forest[f.name] for forest in forests] for f in fields(cls)}
        nodes = np.cumsum([0, *(len(feature) for feature in parts["feature"][:-1])])
        parts["begin"] = [begin + np.uint64(first) for begin, first in zip(parts["begin"], nodes, strict=True)]
        return cls(**{name: np.concatenate(arrays) for name, arrays in parts.items()})


def ranges(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The numbers begin … end − 1 of each range, one range after the other."""
    sizes = end - begin
    return np.arange(sizes.sum()) + np.repeat(begin - (np.cumsum(sizes) - sizes), sizes)


def forest_from_lists(record: Mapping[str, list[int]]) -> Forest:
    """The forest whose arrays are given as lists, by name."""
    return Forest(**{name: np.array(record[name], dtype) for name, dtype in FOREST_TYPES.items()})


def rules_of(forest: Forest, tree: int) -> tuple[Rule | None, ...]:
    """The rules of one tree of a forest, in preorder."""
    at = forest.nodes(tree)
    columns = (forest.feature, forest.cut, forest.subset, forest.missing_left)
    nodes: Iterator[Any] = zip(*(array[at].tolist() for array in columns), strict=True)
    return tuple(Rule(f, cut, subset, bool(left)) if f >= 0 else None for f, cut, subset, left in nodes)


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

    def check(self, draws: tuple[int, ...]) -> None:
        """Raise InputError where the parts do not belong together, or are of other numbers of chains and draws."""
        leaves, index = self.forest.leaves, self.tree_index
        if index.shape[:2] != draws or index.size == 0 or index.min() < 0 or index.max() >= len(leaves):
            raise InputError("draws are missing, or refer to trees that are not there")
        if int(self.leaves.sum()) != len(self.values) or not np.isfinite(self.values).all():
            raise InputError("leaf values are missing or no numbers")
        # Of a tree there is one split fewer than leaves.
        if self.bandwidths is not None and len(self.bandwidths) != len(self.values) - self.tree_index.size:
            raise InputError("the bandwidths of soft rules are missing")
        if self.bandwidths is not None and not (np.isfinite(self.bandwidths) & (self.bandwidths >= 0)).all():
            raise InputError("the bandwidths of soft rules are no positive numbers")


def _parts(array: np.ndarray, first: np.ndarray, count: np.ndarray) -> np.ndarray:
    """The given stretches of an array, one after the other."""
    ends = zip(first.ravel().tolist(), count.ravel().tolist(), strict=True)
    return np.concatenate([array[:0], *(array[begin : begin + size] for begin, size in ends)])
