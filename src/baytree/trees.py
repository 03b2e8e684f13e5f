"""Trees as people see them, and forests as the core stores them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .data.binning import Column
from .data.design import Schema
from .errors import InputError, unknown_choice


class Rule(NamedTuple):
    """One question about one column; see docs/design.md.

    Numeric: left if code ≤ cut, and missing values left if `missing_left`. Categorical: left if bit `code` of `subset`
    is set.
    """

    feature: int
    cut: int
    subset: int
    missing_left: bool


FOREST_TYPES = {
    "feature": np.int32,
    "cut": np.uint32,
    "subset": np.uint64,
    "missing_left": np.uint8,
    "rows": np.uint32,
    "begin": np.uint64,
}


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
        """One forest of all their trees, in order."""
        parts = {f.name: [forest[f.name] for forest in forests] for f in fields(cls)}
        nodes = np.cumsum([0, *(len(feature) for feature in parts["feature"][:-1])])
        parts["begin"] = [begin + np.uint64(first) for begin, first in zip(parts["begin"], nodes, strict=True)]
        return cls(**{name: np.concatenate(arrays) for name, arrays in parts.items()})


def ranges(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The numbers begin … end − 1 of each range, one range after the other."""
    sizes = end - begin
    return np.arange(sizes.sum()) + np.repeat(begin - (np.cumsum(sizes) - sizes), sizes)


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree with the names, cut points and classes of its table, and what its leaves know about the response.

    Two trees are equal, and have the same hash, when their structure and rules are.

    Attributes
    ----------
    schema : Schema
        The table it divides.
    rules : tuple of Rule or None
        The nodes in preorder; None is a leaf.
    rows : tuple of int
        The training rows of each node.
    values : tuple
        Of each leaf, what it predicts: a mapping of classes to probabilities, or a mean.
    """

    schema: Schema
    rules: tuple[Rule | None, ...]
    rows: tuple[int, ...] = ()
    values: tuple[Any, ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree) or self.rules != other.rules:
            return False
        return self.schema is other.schema or self.schema == other.schema

    def __hash__(self) -> int:
        return hash(self.rules)

    def __repr__(self) -> str:
        return f"<Tree: {self.n_leaves} leaves, depth {self.depth}>"

    def __str__(self) -> str:
        return self.to_text()

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return (len(self.rules) + 1) // 2

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """The depth of each node; the root has 0."""
        return depths_of(self.rules)

    @property
    def depth(self) -> int:
        """The depth of the deepest leaf."""
        return max(self.depths)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the columns its rules ask about, in the table's order."""
        used = {rule.feature for rule in self.rules if rule is not None}
        return tuple(self.schema.names[feature] for feature in sorted(used))

    def question(self, rule: Rule) -> str:
        """A rule in words; what answers yes goes left."""
        return _question(self.schema.columns[rule.feature], rule)

    def walk(self, visit_split: Callable[[int, Any, Any], Any], visit_leaf: Callable[[int, int], Any]) -> Any:
        """Fold the tree from its leaves to its root.

        Parameters
        ----------
        visit_split : callable (node, left, right)
            Gets what the two children gave.
        visit_leaf : callable (node, leaf)
            Gets the leaf's place among the nodes and among the leaves.
        """
        return fold(self.rules, visit_split, visit_leaf)

    def to_text(self) -> str:
        """The tree drawn with lines; at each question *yes* comes first."""
        return outline(self.rules, lambda rule, node: f"{self.question(rule)}?", self.leaf_text)

    def leaf_text(self, node: int, leaf: int) -> str:
        """What a leaf predicts and how many rows it rests on."""
        rows = f"{self.rows[node]:,} rows" if self.rows else ""
        if not self.values:
            return rows or "leaf"
        value = self.values[leaf]
        if isinstance(value, Mapping):
            label = max(value, key=lambda name: value[name])
            return f"{label} {value[label]:.2f} ({rows})"
        return f"{value:.4g} ({rows})"

    def to_dict(self) -> dict[str, Any]:
        """The tree as nested JSON-safe dictionaries, readable by `from_dict`."""

        def split(node: int, left: Any, right: Any) -> dict[str, Any]:
            rule = self.rules[node]
            assert rule is not None
            column = self.schema.columns[rule.feature]
            record: dict[str, Any] = {"leaf": False, "feature": column.name, **_rule_to_dict(column, rule)}
            return record | self._rows_of(node) | {"left": left, "right": right}

        def leaf(node: int, place: int) -> dict[str, Any]:
            value = {"value": self.values[place]} if self.values else {}
            return {"leaf": True} | self._rows_of(node) | value

        return self.walk(split, leaf)

    def _rows_of(self, node: int) -> dict[str, int]:
        return {"n": self.rows[node]} if self.rows else {}

    @classmethod
    def from_dict(cls, schema: Schema, record: Mapping[str, Any]) -> Tree:
        """The tree that nested dictionaries describe.

        A split has ``feature`` and ``left``/``right``, and ``threshold`` (left if x ≤ threshold, moved to the cut
        that divides the table alike), ``levels`` (those that go left) or ``missing: "asked"``; ``missing`` may say
        ``"left"`` or ``"right"``.
        """
        rules: list[Rule | None] = []
        pending = [record]
        while pending:
            node = pending.pop()
            if not isinstance(node, Mapping):
                raise InputError(f"tree: {node!r} is not a node; a node is a dictionary")
            if node.get("leaf", "left" not in node):
                rules.append(None)
                continue
            for field in ("feature", "left", "right"):
                if field not in node:
                    raise InputError(f"tree: a split without {field!r}: {sorted(map(str, node))}")
            if node["feature"] not in schema.names:
                raise unknown_choice("column", node["feature"], schema.names)
            feature = schema.names.index(node["feature"])
            rules.append(_rule_from_dict(feature, schema.columns[feature], node))
            pending += [node["right"], node["left"]]
        return cls(schema, tuple(rules))

    def forest(self) -> Forest:
        """The tree alone, as the core takes it."""
        rules = [rule or Rule(-1, 0, 0, False) for rule in self.rules]
        columns = dict(zip(Rule._fields, map(list, zip(*rules, strict=True)), strict=True))
        return forest_from_lists({**columns, "rows": list(self.rows or [0] * len(rules)), "begin": [0]})


class Trees(Sequence[Tree]):
    """Trees that are made when asked for.

    Parameters
    ----------
    number : int
        How many.
    make : callable (int)
        Makes one of them.
    """

    def __init__(self, number: int, make: Callable[[int], Tree]) -> None:
        self._places, self._make = range(number), make

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: Any) -> Any:
        chosen = self._places[index]
        return [self._make(place) for place in chosen] if isinstance(index, slice) else self._make(chosen)


def fold(
    nodes: Sequence[Any], visit_split: Callable[[int, Any, Any], Any], visit_leaf: Callable[[int, int], Any]
) -> Any:
    """What `Tree.walk` promises, of any nodes in preorder, None being a leaf."""
    folded: list[Any] = []
    leaf = (len(nodes) + 1) // 2
    for node in range(len(nodes) - 1, -1, -1):
        if nodes[node] is None:
            leaf -= 1
            folded.append(visit_leaf(node, leaf))
        else:
            left, right = folded.pop(), folded.pop()
            folded.append(visit_split(node, left, right))
    return folded[0]


def outline(nodes: Sequence[Any], question: Callable[[Any, int], str], leaf: Callable[[int, int], str]) -> str:
    """Nodes in preorder, drawn with lines; at each question *yes* comes first.

    Parameters
    ----------
    nodes : sequence
        None is a leaf.
    question : callable (split, node)
        The line of a split.
    leaf : callable (node, leaf)
        The line of a leaf.
    """

    def indent(answer: str, lines: list[str], last: bool) -> list[str]:
        corner, bar = ("└─ ", "   ") if last else ("├─ ", "│  ")
        return [f"{corner}{answer} {lines[0]}"] + [bar + line for line in lines[1:]]

    def split(node: int, left: list[str], right: list[str]) -> list[str]:
        return [question(nodes[node], node), *indent("yes:", left, False), *indent("no: ", right, True)]

    return "\n".join(fold(nodes, split, lambda node, place: [leaf(node, place)]))


def depths_of(nodes: Sequence[Any]) -> tuple[int, ...]:
    """The depth of each node in preorder; the root has 0."""
    depths, pending = [], [0]
    for node in nodes:
        depth = pending.pop()
        depths.append(depth)
        if node is not None:
            pending += [depth + 1, depth + 1]
    return tuple(depths)


def tree_of(schema: Schema, tree: Tree | Mapping[str, Any]) -> Tree:
    """A tree of this table, from a tree or from nested dictionaries."""
    if not isinstance(tree, Tree):
        return Tree.from_dict(schema, tree)
    if tree.schema is not schema and tree.schema != schema:
        raise InputError("the tree belongs to another table; rebuild it with Tree.from_dict(schema, tree.to_dict())")
    return tree


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


def _question(column: Column, rule: Rule) -> str:
    if column.kind == "categorical":
        left = [level for code, level in enumerate(column.levels) if rule.subset >> code & 1]
        right = [level for code, level in enumerate(column.levels) if not rule.subset >> code & 1]
        missing = column.has_missing and bool(rule.subset >> column.missing_code & 1)
        if not right:
            return f"{column.name} is known"
        text = f"{column.name} is {left[0]}" if len(left) == 1 else f"{column.name} in {{{', '.join(left)}}}"
    else:
        missing = rule.missing_left
        if rule.cut >= len(column.cuts):
            return f"{column.name} is known"
        text = (
            f"{column.name} is false" if column.kind == "boolean" else f"{column.name} <= {_cut_text(column, rule.cut)}"
        )
    return text + (" or missing" if missing else "")


def _cut_text(column: Column, cut: int) -> str:
    """A cut point in as few digits as tell it from its neighbours, six at least."""
    near = column.cuts[max(cut - 1, 0) : cut + 2]
    value = column.cuts[cut]
    for digits in range(6, 18):
        text = f"{value:.{digits}g}"
        if "e" not in text and sum(f"{other:.{digits}g}" == text for other in near) == 1:
            return text
    return repr(float(value))


def _rule_to_dict(column: Column, rule: Rule) -> dict[str, Any]:
    side = {True: "left", False: "right"}
    if column.kind == "categorical":
        left = [level for code, level in enumerate(column.levels) if rule.subset >> code & 1]
        missing = {"missing": side[bool(rule.subset >> column.missing_code & 1)]} if column.has_missing else {}
        return {"levels": left, **missing}
    if rule.cut >= len(column.cuts):
        return {"missing": "asked"}
    missing = {"missing": side[rule.missing_left]} if column.has_missing else {}
    return {"threshold": float(column.cuts[rule.cut]), **missing}


def _rule_from_dict(feature: int, column: Column, node: Mapping[str, Any]) -> Rule:
    missing = node.get("missing", "right")
    if missing not in ("left", "right", "asked"):
        raise unknown_choice("place for missing values", missing, ("left", "right", "asked"))
    if column.kind == "categorical":
        unknown = [level for level in node.get("levels", ()) if level not in column.levels]
        if unknown or "levels" not in node:
            raise unknown_choice(f"level of column {column.name!r}", unknown[0] if unknown else None, column.levels)
        subset = sum(1 << column.levels.index(level) for level in set(node["levels"]))
        if column.has_missing and missing == "left":
            subset |= 1 << column.missing_code
        if not subset & 1:
            raise InputError(f"column {column.name!r}: level {column.levels[0]!r} goes left; swap the children")
        return Rule(feature, 0, subset, False)
    if missing == "asked":
        return Rule(feature, len(column.cuts), 0, False)
    if "threshold" not in node:
        raise InputError(f"column {column.name!r}: a split needs a threshold")
    return Rule(feature, column.cut_at(node["threshold"]), 0, column.has_missing and missing == "left")
