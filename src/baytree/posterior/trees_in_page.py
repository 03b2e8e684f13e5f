"""Trees as a page has them: their nodes as arrays, and the rows that reach each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.binning import Column
from ..data.design import Schema
from ..report.packed import packed
from ..report.tree_picture import NodeData
from ..trees.forest import Forest, Rule

# Questions fit into 16 bits up to here.
MOST_SHORT = 1 << 15


def forest_for_page(schema: Schema, forest: Forest) -> dict[str, Any]:
    """The trees of a forest for `assets/predictor.js`: distinct questions, and nodes that ask one or are leaves, −1.

    Parameters
    ----------
    schema : Schema
        The columns.
    forest : Forest
        The trees.
    """
    asks = forest.feature >= 0
    rules = np.stack(
        [
            forest.feature,
            forest.cut,
            forest.subset & np.uint64(0xFFFFFFFF),
            forest.subset >> np.uint64(32),
            forest.missing_left,
        ],
        axis=1,
    ).astype(np.int64)[asks]
    distinct, place = np.unique(rules, axis=0, return_inverse=True)
    node = np.full(len(asks), -1)
    node[asks] = place.ravel()
    feature, cut, low, high, missing = distinct.T
    thresholds = [_threshold(schema.columns[f], int(c)) for f, c in zip(feature.tolist(), cut.tolist(), strict=True)]
    return {
        "feature": packed(feature, "i2" if len(schema.columns) < MOST_SHORT else "i4"),
        "threshold": packed(thresholds, "f8"),
        "cut": packed(cut, "i4"),
        "low": packed(low, "u4"),
        "high": packed(high, "u4"),
        "missing": packed(missing, "u1"),
        "node": packed(node, "i2" if len(distinct) < MOST_SHORT else "i4"),
        "begin": packed(forest.begin, "i4"),
    }


def _threshold(column: Column, cut: int) -> float:
    """Up to which value a row goes left; of the question whether a value is known, any."""
    return float(column.cuts[cut]) if cut < len(column.cuts) else np.inf


def goes_left(column: Column, rule: Rule, bins: np.ndarray) -> np.ndarray:
    """Which rows a rule sends to the left, by their bins in its column."""
    if column.kind == "categorical":
        left = np.array([rule.subset >> level & 1 for level in range(column.missing_bin + 1)], dtype=bool)
        return left[np.minimum(bins, column.missing_bin)]
    return np.where(bins >= column.missing_bin, rule.missing_left, bins <= rule.cut)


def node_data(
    schema: Schema, rules: Sequence[Rule | None], bins: np.ndarray, y: np.ndarray, classes: bool
) -> list[NodeData]:
    """The rows of each node of a tree, in preorder.

    Parameters
    ----------
    schema : Schema
        The table.
    rules : sequence of Rule or None
        The tree.
    bins : numpy.ndarray of shape (rows, columns)
        The rows.
    y : numpy.ndarray of shape (rows,)
        Their responses.
    classes : bool
        Whether these are positions in the classes.
    """
    span = float(np.ptp(y)) or 1.0
    shown = y.astype(int) if classes else (y - y.min()) / span
    pending, found = [np.arange(len(y))], []
    for rule in rules:
        rows = pending.pop()
        if rule is None:
            found.append(NodeData(np.empty(0), None, shown[rows]))
            continue
        column, here = schema.columns[rule.feature], bins[rows, rule.feature]
        known = here < column.missing_bin
        found.append(NodeData(_place(column, here[known]), _cut_place(column, rule.cut), shown[rows[known]]))
        left = goes_left(column, rule, here)
        pending += [rows[~left], rows[left]]
    return found


def _ends(column: Column) -> tuple[float, float]:
    low, high = column.lowest[0], column.lowest[-1]
    return low, (high - low) or 1.0


def _place(column: Column, bins: np.ndarray) -> np.ndarray:
    """Where values lie along their column, from 0 to 1."""
    if column.kind == "categorical" or not column.lowest:
        return (bins + 0.5) / column.observed
    low, span = _ends(column)
    return (np.array(column.lowest)[bins] - low) / span


def _cut_place(column: Column, cut: int) -> float | None:
    if column.kind == "categorical" or cut >= len(column.cuts):
        return None
    if not column.lowest:
        return (cut + 1) / column.observed
    low, span = _ends(column)
    return (float(column.cuts[cut]) - low) / span


def question_lines(question: str) -> list[str]:
    """A question in the lines of a node: what becomes of missing values stands below."""
    said, missing, rest = question.replace("<=", "≤").partition(" or missing")
    return [said, f"or missing{rest}"] if missing else [said]
