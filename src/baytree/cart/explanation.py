"""The paths that a row takes down the trees of a posterior, and the rules that decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.binning import Column
from ..data.design import Schema
from ..interpret.explanation import Effect, Path, Reasons, shown
from ..trees.forest import Forest

if TYPE_CHECKING:
    from .posterior import Posterior

# A part of the table's space in words: of each column that is asked about, where in it.
Region = tuple[tuple[int, str], ...]


def reasons_of(posterior: Posterior, values: Sequence[Any], row: np.ndarray, place: int) -> Reasons:
    """What decides about a row: the parts of the table's space that it shares a leaf with, over all draws.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    values : sequence
        The row.
    row : numpy.ndarray of shape (1, columns)
        The same in bins.
    place : int
        With classes, which of them is explained.
    """
    schema, forest = posterior.schema, posterior.forest
    weight = posterior.visits.sum(axis=0) / posterior.tree_index.size
    drawn = np.flatnonzero(weight)
    means = posterior.leaf_means(posterior.prediction.leaves_of(row)[drawn, 0])[:, place]
    shares: Counter[Region] = Counter()
    sums: Counter[Region] = Counter()
    for tree, mean in zip(drawn.tolist(), means.tolist(), strict=True):
        region = region_of(forest, tree, schema, row[0])
        shares[region] += weight[tree]
        sums[region] += weight[tree] * mean
    paths = tuple(
        Path(tuple(answer for _, answer in region), float(share), float(sums[region] / share))
        for region, share in shares.most_common()
    )
    return Reasons(
        paths,
        _effects(schema, values, shares),
        titles=("Paths that the draws take, and what is predicted at their ends", "Columns that decide"),
    )


def region_of(forest: Forest, tree: int, schema: Schema, row: np.ndarray) -> Region:
    """The part of space that the leaf of a row is, column by column, whatever the order of the questions."""
    node = int(forest.begin[tree])
    asked: dict[int, np.ndarray] = {}
    while (feature := int(forest.feature[node])) >= 0:
        column = schema.columns[feature]
        left = goes_left(forest, node, column)
        here = left[min(int(row[feature]), column.missing_bin)]
        same = left if here else ~left
        asked[feature] = asked.get(feature, np.ones_like(left)) & same
        node = node + 1 if here else int(forest.below[node + 1])
    return tuple((feature, said(schema.columns[feature], asked[feature])) for feature in sorted(asked))


def goes_left(forest: Forest, node: int, column: Column) -> np.ndarray:
    """Which bins of a column a rule sends left, the bin of missing values last."""
    bins = np.arange(column.observed + 1)
    if column.kind == "categorical":
        subset = int(forest.subset[node])
        return np.array([bool(subset >> int(one) & 1) for one in bins])
    left = bins <= forest.cut[node]
    left[column.missing_bin] = bool(forest.missing_left[node])
    return left


def said(column: Column, inside: np.ndarray) -> str:
    """Some bins of a column in words, such as ``8.5 < Start <= 12.5``."""
    known, missing = np.flatnonzero(inside[:-1]), inside[-1] and column.has_missing
    if not len(known):
        return f"{column.name} is missing"
    if len(known) == column.observed:
        return f"{column.name} is known" if not missing else f"{column.name} is anything"
    more = " or missing" if missing else ""
    if column.kind == "categorical":
        labels = [column.levels[place] for place in known]
        listed = f"is {labels[0]}" if len(labels) == 1 else f"in {{{', '.join(labels)}}}"
        return f"{column.name} {listed}{more}"
    if column.kind == "boolean":
        return f"{column.name} is {'true' if known[0] else 'false'}{more}"
    low = "" if known[0] == 0 else f"{column.cuts[known[0] - 1]:.6g}"
    high = "" if known[-1] == column.observed - 1 else f"{column.cuts[known[-1]]:.6g}"
    if low and high:
        return f"{low} < {column.name} <= {high}{more}"
    return f"{column.name} <= {high}{more}" if high else f"{column.name} > {low}{more}"


def _effects(schema: Schema, values: Sequence[Any], shares: Counter[Region]) -> tuple[Effect, ...]:
    """Of each column, how probable it is that it is asked about, and the answer that is given most often."""
    of_columns: dict[int, Counter[str]] = {}
    for region, share in shares.items():
        for feature, answer in region:
            of_columns.setdefault(feature, Counter())[answer] += share
    effects = [
        Effect(schema.names[feature], shown(values[feature]), float(answers.total()), rule=answers.most_common(1)[0][0])
        for feature, answers in of_columns.items()
    ]
    return tuple(sorted(effects, key=lambda effect: -(effect.share or 0)))
