"""Trees as the core stores them, many in a row."""

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


def forest_to_lists(arrays: Mapping[str, np.ndarray]) -> dict[str, list[int]]:
    """A small forest as JSON-safe values."""
    return {name: array.tolist() for name, array in arrays.items()}


def forest_from_lists(record: Mapping[str, list[int]]) -> Forest:
    """The forest that `forest_to_lists` described."""
    return Forest(**{name: np.array(record[name], dtype) for name, dtype in FOREST_TYPES.items()})


def rules_of(forest: Forest, tree: int) -> tuple[Rule | None, ...]:
    """The rules of one tree of a forest, in preorder."""
    at = forest.nodes(tree)
    columns = (forest.feature, forest.cut, forest.subset, forest.missing_left)
    nodes: Iterator[Any] = zip(*(array[at].tolist() for array in columns), strict=True)
    return tuple(Rule(f, cut, subset, bool(left)) if f >= 0 else None for f, cut, subset, left in nodes)
