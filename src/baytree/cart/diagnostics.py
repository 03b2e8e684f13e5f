"""Whether chains over single trees agree: on predictions, on splits of the rows, on trees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..diagnostics.comparison import Rows, generator_of
from ..diagnostics.convergence import Diagnostics, SplitDiagnostic
from ..posterior.prediction import row_blocks
from .prediction import TreePrediction

if TYPE_CHECKING:
    from .posterior import Posterior

# A split counts from this frequency in some chain on, as in MrBayes.
LEAST_FREQUENCY = 0.1
# The names of splits depend on nothing but the data.
SPLITS_KEY = 2


def with_trees(found: Diagnostics, posterior: Posterior, rows: Rows | None, draws: int | None) -> Diagnostics:
    """What was found, and what else trees tell about whether the chains agree.

    Parameters
    ----------
    found : Diagnostics
        What was found by series and predictions.
    posterior : Posterior
        The draws.
    rows : Rows or None
        The rows at which to compare splits.
    draws : int or None
        How many draws of each chain to compare them on, evenly spaced; None for all.
    """
    splits = None if rows is None else _splits(posterior.prediction.some(draws), rows.bins)
    return replace(found, splits=splits, shared_trees=shared_trees(posterior))


def _splits(drawn: TreePrediction, bins: np.ndarray) -> SplitDiagnostic | None:
    chains, draws = drawn.shape
    if chains == 1:
        return None
    tree, split = splits_of(drawn, bins)
    names, number = np.unique(split, return_inverse=True)
    frequency = np.empty((chains, len(names)))
    for chain, place in enumerate(drawn.tree_index):
        visits = np.bincount(place, minlength=len(drawn.forest))
        frequency[chain] = np.bincount(number, weights=visits[tree], minlength=len(names)) / draws
    spread = frequency[:, frequency.max(axis=0, initial=0) >= LEAST_FREQUENCY].std(axis=0, ddof=1)
    if not len(spread):
        return SplitDiagnostic(0, None, None)
    return SplitDiagnostic(len(spread), float(spread.mean()), float(spread.max()))


def splits_of(drawn: TreePrediction, bins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The splits of the rows that the trees make: pairs of a tree and a 64-bit name of a split, each once.

    A set of rows is named by the sum of random numbers, one a row, and a split by the smaller name of its two sides.
    """
    forest = drawn.forest
    names = generator_of(SPLITS_KEY).integers(2**64, size=len(bins), dtype=np.uint64)
    in_leaf = np.zeros(len(drawn.statistics), dtype=np.uint64)
    for rows in row_blocks(len(bins), len(forest)):
        # Of a row, one leaf of each tree: no leaf twice.
        for name, leaf in zip(names[rows], drawn.leaves_of(np.ascontiguousarray(bins[rows])).T, strict=True):
            in_leaf[leaf] += name
    before = np.concatenate([np.zeros(1, np.uint64), np.cumsum(in_leaf)])
    leaves_before = np.concatenate([[0], np.cumsum(forest.feature < 0)])
    inside = before[leaves_before[forest.below]] - before[leaves_before[:-1]]
    outside = names.sum() - inside
    tree = np.repeat(np.arange(len(forest)), forest.end - forest.begin.astype(np.int64))
    split = np.minimum(inside, outside)
    # One side of what splits nothing, such as the root's edge, has no rows and so the name 0.
    pairs = np.unique(np.column_stack([tree[split > 0].astype(np.uint64), split[split > 0]]), axis=0)
    return pairs[:, 0].astype(np.int64), pairs[:, 1]


def shared_trees(posterior: Posterior) -> float:
    """The share of the draws whose tree every chain visits."""
    visits = posterior.distinct_visits
    return float(visits[:, (visits > 0).all(axis=0)].sum() / visits.sum())
