"""Trees that belong to no table yet: what somebody trusts, from wherever it comes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from ..data.binning import BOOLEAN_LABELS, Column
from ..data.design import Schema
from ..data.files import read_text
from ..data.values import label_of
from ..errors import InputError
from ..text import counted
from ..validation import is_number, is_whole, unknown_choice
from .outline import depths_of, fold, outline
from .template_text import MOST_DEPTH, Nodes, Question, read_tree_text
from .tree import Tree

SIDES = ("left", "right", "asked")
# How scikit-learn names the columns of an array, by their places.
_PLACE = re.compile(r"feature_(\d+)")


@dataclass(frozen=True)
class Template:
    """A tree that names columns and values, but belongs to no table.

    Attributes
    ----------
    nodes : tuple of Question or None
        The nodes in preorder; None is a leaf.
    """

    nodes: Nodes

    def __repr__(self) -> str:
        return f"<Template: {counted(self.n_leaves, 'leaf', 'leaves')}>"

    def __str__(self) -> str:
        return outline(self.nodes, lambda question, node: f"{question}?", lambda node, leaf: "leaf")

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return (len(self.nodes) + 1) // 2

    def to_dict(self) -> dict[str, Any]:
        """The tree as nested JSON-safe dictionaries, such as `Tree.from_dict` takes."""

        def split(node: int, left: Any, right: Any) -> dict[str, Any]:
            question = self.nodes[node]
            assert question is not None
            asked = {
                "threshold": question.threshold,
                "levels": None if question.levels is None else list(question.levels),
                "missing": question.missing,
            }
            given = {name: value for name, value in asked.items() if value is not None}
            return {"leaf": False, "feature": question.feature, **given, "left": left, "right": right}

        return fold(self.nodes, split, lambda node, leaf: {"leaf": True})

    @classmethod
    def from_dict(cls, record: Any, name: str = "tree") -> Template:
        """The tree that nested dictionaries describe; see `Tree.from_dict`.

        Parameters
        ----------
        record : mapping
            The root; or what ``baytree show --json`` prints, of which the best tree is taken.
        name : str
            What the errors call it.
        """
        if isinstance(record, Mapping) and "best_tree" in record:
            record = record["best_tree"]
        nodes: list[Question | None] = []
        pending = [(record, name)]
        while pending:
            node, where = pending.pop()
            if not isinstance(node, Mapping):
                raise InputError(f"{where}: {node!r} is not a node; a node is a dictionary")
            if node.get("leaf", "left" not in node):
                nodes.append(None)
                continue
            for field in ("feature", "left", "right"):
                if field not in node:
                    raise InputError(f"{where}: a split without {field!r}: {sorted(map(str, node))}")
            nodes.append(_question_from_dict(node, where))
            pending += [(node[side], f"{where}.{side}") for side in ("right", "left")]
        if max(depths_of(nodes)) > MOST_DEPTH:
            raise InputError(f"{name}: it is more than {MOST_DEPTH} questions deep; give a smaller tree")
        return cls(tuple(nodes))

    def on(self, schema: Schema) -> Template:
        """The same tree in the words of a table: its names, its cuts and its order of levels.

        A threshold becomes the cut that divides the table's values alike, where it divides them at all. Of levels the
        first goes left: where it went right, the two sides change places. A split that sends all of the table's values
        to one side gives way to that side.

        Parameters
        ----------
        schema : Schema
            The table.
        """

        def split(node: int, left: Nodes, right: Nodes) -> Nodes:
            question = self.nodes[node]
            assert question is not None
            column = _column_of(schema, question.feature)
            fitted, swapped = _fitted(question, column)
            if swapped:
                left, right = right, left
            return left if fitted is None else (fitted, *left, *right)

        nodes: Nodes = fold(self.nodes, split, lambda node, leaf: (None,))
        return Template(nodes)


def template_of(tree: Any) -> Template:
    """A template from whatever holds a tree; see `EditTree` for what that may be."""
    if isinstance(tree, Template):
        return tree
    if isinstance(tree, os.PathLike):
        return _read_file(tree)
    if isinstance(tree, str):
        is_text = "\n" in tree or tree.lstrip().startswith("{")
        if not is_text and not tree.strip():
            raise InputError(f"tree={tree!r} is empty; give a tree as text, or the name of its file")
        return _from_text(tree, "tree") if is_text else _read_file(tree)
    if isinstance(tree, Mapping):
        return Template.from_dict(tree)
    if isinstance(tree, Tree):
        return Template.from_dict(tree.to_dict())
    if hasattr(tree, "posterior_"):
        tree = tree.posterior_
    if hasattr(tree, "best_tree"):
        return Template.from_dict(tree.best_tree().to_dict())
    if hasattr(tree, "tree_"):
        return _from_sklearn(tree)
    if hasattr(tree, "fit"):
        raise InputError(f"tree={tree!r} has no tree yet, or many; fit it first, or give a single tree")
    raise InputError(
        f"tree={tree!r} is no tree; give a Tree, nested dictionaries, text, the path of a file, a Posterior, or a "
        "fitted decision tree of scikit-learn"
    )


def _read_file(path: str | os.PathLike[str]) -> Template:
    return _from_text(read_text(path), os.fspath(path))


def _from_text(text: str, name: str) -> Template:
    if not text.lstrip().startswith("{"):
        return Template(read_tree_text(text, name))
    try:
        return Template.from_dict(json.loads(text), name)
    except json.JSONDecodeError as error:
        raise InputError(f"{name}: line {error.lineno}, column {error.colno}: not JSON ({error.msg})") from error
    except RecursionError as error:
        raise InputError(f"{name}: it is more than {MOST_DEPTH} questions deep; give a smaller tree") from error


def _from_sklearn(model: Any) -> Template:
    """A fitted decision tree of scikit-learn; its arrays give each node's children by number, −1 at a leaf."""
    tree, names = model.tree_, getattr(model, "feature_names_in_", None)
    missing_left = getattr(tree, "missing_go_to_left", None)
    nodes: list[Question | None] = []
    pending = [0]
    while pending:
        node = pending.pop()
        if tree.children_left[node] < 0:
            nodes.append(None)
            continue
        place = int(tree.feature[node])
        name = f"feature_{place}" if names is None else str(names[place])
        side = "left" if missing_left is not None and missing_left[node] else None
        nodes.append(Question(name, float(tree.threshold[node]), None, side))
        pending += [int(tree.children_right[node]), int(tree.children_left[node])]
    return Template(tuple(nodes))


def _question_from_dict(node: Mapping[str, Any], where: str) -> Question:
    feature, missing = node["feature"], node.get("missing", "right")
    if is_whole(feature):
        feature = f"feature_{feature}"
    if not isinstance(feature, str):
        raise InputError(f"{where}: feature {feature!r} is no column; give its name, or its place counted from 0")
    if missing not in SIDES:
        raise unknown_choice(f"place for missing values ({where})", missing, SIDES)
    if missing == "asked":
        return Question(feature, missing="asked")
    side = None if missing == "right" else missing
    if "levels" in node:
        if not isinstance(node["levels"], (list, tuple)):
            raise InputError(f"{where}: levels {node['levels']!r}: give a list of those that go left")
        return Question(feature, None, tuple(label_of(level) for level in node["levels"]), side)
    threshold: Any = node.get("threshold")
    if not is_number(threshold) or not isfinite(threshold):
        raise InputError(f"{where}: a split on {feature!r} needs a threshold, or levels, not {threshold!r}")
    return Question(feature, float(threshold), None, side)


def _column_of(schema: Schema, feature: str) -> Column:
    place = _PLACE.fullmatch(feature)
    if feature in schema.names:
        return schema.columns[schema.names.index(feature)]
    if place is None:
        raise unknown_choice("column", feature, schema.names)
    if int(place[1]) >= len(schema.columns):
        raise InputError(f"the tree asks about column {place[1]}, counted from 0; the table has {len(schema.columns)}")
    return schema.columns[int(place[1])]


def _fitted(question: Question, column: Column) -> tuple[Question | None, bool]:
    """A question in the words of its column, and whether the two sides change places.

    None where all values go to one side, which is then the left one.
    """
    if column.kind == "categorical":
        return _fitted_levels(question, column)
    if question.missing == "asked":
        return (Question(column.name, missing="asked") if column.has_missing else None), False
    threshold, swapped = question.threshold, False
    if threshold is None:
        assert question.levels is not None
        values = [BOOLEAN_LABELS.get(level.lower()) for level in question.levels]
        if column.kind != "boolean" or len(values) != 1 or values[0] is None:
            raise InputError(f"column {column.name!r} is {column.kind}, but the tree asks whether {question}")
        threshold, swapped = 0.5, values[0] == 1.0
    if column.lowest and column.lowest[0] <= threshold < column.lowest[-1]:
        threshold = float(column.cuts[column.cut_at(threshold)])
    left = column.has_missing and (question.missing == "left") != swapped
    return Question(column.name, threshold, None, "left" if left else None), swapped


def _fitted_levels(question: Question, column: Column) -> tuple[Question | None, bool]:
    if question.threshold is not None:
        raise InputError(f"column {column.name!r} is categorical, but the tree asks whether {question}")
    levels = column.levels if question.levels is None else question.levels
    for level in levels:
        if level not in column.levels:
            raise unknown_choice(f"level of column {column.name!r}", level, column.levels)
    bins = set(range(column.n_bins))
    left = {column.levels.index(level) for level in levels}
    if column.has_missing and question.missing == "left":
        left.add(column.missing_bin)
    swapped = 0 not in left
    if swapped:
        left = bins - left
    if left == bins:
        return None, swapped
    named = tuple(level for place, level in enumerate(column.levels) if place in left)
    return Question(column.name, None, named, "left" if column.missing_bin in left else None), swapped
