"""Trees as people see them, and forests as the core stores them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import notebook
from ..data.binning import Column
from ..data.design import Schema
from ..errors import InputError
from ..plots import trees as plots
from ..text import counted
from ..validation import unknown_choice
from .forest import Forest, Rule, forest_from_lists
from .outline import depths_of, fold, outline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Levels of a tree that a notebook shows before any is asked for.
UNFOLDED = 4


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
    intervals : tuple
        Of each leaf a credible interval of the same, its two ends, or a mapping of classes to them; empty where it is
        not known.
    prob : float
        The probability of the intervals.
    """

    schema: Schema
    rules: tuple[Rule | None, ...]
    rows: tuple[int, ...] = ()
    values: tuple[Any, ...] = ()
    intervals: tuple[Any, ...] = ()
    prob: float = 0.9

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

    def _repr_html_(self) -> str:
        # Each node is told the answer that leads to it.
        def split(node: int, left: Callable[[str], str], right: Callable[[str], str]) -> Callable[[str], str]:
            rule = self.rules[node]
            assert rule is not None
            below = f'<div style="margin-left:1.2em">{left("yes: ")}{right("no: ")}</div>'
            # What lies deeper than anyone reads at once is folded up.
            unfolded = self.depths[node] < UNFOLDED
            return lambda answer: notebook.folded(f"{answer}{self.question(rule)}?", below, shown=unfolded)

        def leaf(node: int, place: int) -> Callable[[str], str]:
            return lambda answer: notebook.line(f"{answer}{self.leaf_text(node, place)}", style="margin-left:1.05em")

        size = f"{counted(self.n_leaves, 'leaf', 'leaves')}, depth {self.depth}; {self.schema.response.name}"
        return notebook.boxed(notebook.line(size, style=notebook.MUTED), self.walk(split, leaf)(""))

    def plot(self, ax: Axes | None = None, title: str = "") -> Axes:
        """Draw the tree from the left to the right, with what its leaves say, its intervals and its rows.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure that is large enough for all leaves.
        title : str
            What it is; by default a tree for the response.
        """
        questions = [None if rule is None else self.question(rule) for rule in self.rules]
        return plots.tree(
            ax, questions, self.rows, self._drawn_leaves, title or f"Tree for {self.schema.response.name}"
        )

    @property
    def _drawn_leaves(self) -> plots.Leaves | None:
        if not self.values:
            return None
        of_classes = isinstance(self.values[0], Mapping)
        classes = tuple(self.values[0]) if of_classes else ()

        def numbers(values: tuple[Any, ...]) -> np.ndarray:
            return np.array([list(value.values()) for value in values] if of_classes else values)

        interval = numbers(self.intervals) if self.intervals else None
        return plots.Leaves(self.schema.response.name, numbers(self.values), classes, interval, self.prob)

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
            value |= {"interval": self.intervals[place]} if self.intervals else {}
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


def tree_of(schema: Schema, tree: Tree | Mapping[str, Any]) -> Tree:
    """A tree of this table, from a tree or from nested dictionaries."""
    if not isinstance(tree, Tree):
        return Tree.from_dict(schema, tree)
    if tree.schema is not schema and tree.schema != schema:
        raise InputError("the tree belongs to another table; rebuild it with Tree.from_dict(schema, tree.to_dict())")
    return tree


def _question(column: Column, rule: Rule) -> str:
    if column.kind == "categorical":
        left = [level for place, level in enumerate(column.levels) if rule.subset >> place & 1]
        right = [level for place, level in enumerate(column.levels) if not rule.subset >> place & 1]
        missing = column.has_missing and bool(rule.subset >> column.missing_bin & 1)
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
        left = [level for place, level in enumerate(column.levels) if rule.subset >> place & 1]
        missing = {"missing": side[bool(rule.subset >> column.missing_bin & 1)]} if column.has_missing else {}
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
            subset |= 1 << column.missing_bin
        if not subset & 1:
            raise InputError(f"column {column.name!r}: level {column.levels[0]!r} goes left; swap the children")
        return Rule(feature, 0, subset, False)
    if missing == "asked":
        return Rule(feature, len(column.cuts), 0, False)
    if "threshold" not in node:
        raise InputError(f"column {column.name!r}: a split needs a threshold")
    return Rule(feature, column.cut_at(node["threshold"]), 0, column.has_missing and missing == "left")
