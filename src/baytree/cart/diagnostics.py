"""Whether chains over single trees agree: on predictions, on splits of the rows, on trees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..diagnostics.convergence import Diagnostics, PredictionDiagnostic, SplitDiagnostic
from ..diagnostics.predictions import DRAWS, Rows, diagnose_rows, diagnose_series, generator_of, spaced
from .prediction import LeafMeans

if TYPE_CHECKING:
    from .posterior import Posterior

# A split counts from this frequency in some chain on, as in MrBayes.
LEAST_FREQUENCY = 0.1
# The names of splits depend on nothing but the data.
SPLITS_KEY = 2


def diagnose_posterior(posterior: Posterior, rows: Rows | None, draws: int | None = DRAWS) -> Diagnostics:
    """All that tells whether the chains agree.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    rows : Rows or None
        The rows at which to compare predictions and splits.
    draws : int or None
        How many draws of each chain to compare them on, evenly spaced; None for all, and all for the rest too.
    """
    means = None if rows is None else LeafMeans(posterior, spaced(posterior.tree_index, draws))
    series = {"log-likelihood": posterior.log_likelihood, "leaves": posterior.n_leaves.astype(float)}
    return replace(
        diagnose_series(posterior, series, means, rows, draws),
        splits=None if means is None or rows is None else _splits(means, rows.bins),
        shared_trees=shared_trees(posterior),
    )


def diagnose_predictions(posterior: Posterior, rows: Rows, draws: int | None = DRAWS) -> PredictionDiagnostic:
    """How well the chains know their predictions; of the same cost however many draws there are.

    Parameters
    ----------
    posterior, rows, draws
        As for `diagnose_posterior`.
    """
    return diagnose_rows(LeafMeans(posterior, spaced(posterior.tree_index, draws)), rows)


def _splits(means: LeafMeans, bins: np.ndarray) -> SplitDiagnostic | None:
    chains, draws = means.chains, means.draws
    if chains == 1:
        return None
    tree, split = splits_of(means, bins)
    names, number = np.unique(split, return_inverse=True)
    frequency = np.empty((chains, len(names)))
    for chain, place in enumerate(means.place):
        visits = np.bincount(place, minlength=len(means.forest))
        frequency[chain] = np.bincount(number, weights=visits[tree], minlength=len(names)) / draws
    spread = frequency[:, frequency.max(axis=0, initial=0) >= LEAST_FREQUENCY].std(axis=0, ddof=1)
    if not len(spread):
        return SplitDiagnostic(0, None, None)
    return SplitDiagnostic(len(spread), float(spread.mean()), float(spread.max()))


def splits_of(means: LeafMeans, bins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The splits of the rows that the trees make: pairs of a tree and a 64-bit name of a split, each once.

    A set of rows is named by the sum of random numbers, one a row, and a split by the smaller name of its two sides.
    """
    forest = means.forest
    names = generator_of(SPLITS_KEY).integers(2**64, size=len(bins), dtype=np.uint64)
    in_leaf = np.zeros(len(means.values), dtype=np.uint64)
    start = 0
    for block in means.row_blocks(bins):
        for leaf in means.leaf(block).T:  # of a row, one leaf of each tree: no leaf twice
            in_leaf[leaf] += names[start]
            start += 1
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
