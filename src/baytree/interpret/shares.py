"""How often the trees of each draw use something: counted where it occurs, summarised over all draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..posterior.prediction import tails
from ..trees.forest import Ensemble, Forest, ranges

# So many trees are looked at together: about 30 MB.
TREES_PER_BLOCK = 250_000


@dataclass(frozen=True, eq=False)
class Occurrences:
    """What each stored tree uses: of tree t the entries ``begin[t]`` to ``begin[t + 1] - 1``.

    Attributes
    ----------
    begin : numpy.ndarray
        Where the entries of each tree begin, and at last their number.
    item : numpy.ndarray
        What is used, ascending within a tree.
    times : numpy.ndarray
        How often.
    """

    begin: np.ndarray
    item: np.ndarray
    times: np.ndarray

    @property
    def tree(self) -> np.ndarray:
        """The tree of each entry."""
        return np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))


def columns_in(forest: Forest, columns: int) -> Occurrences:
    """In how many rules of each tree each of so many columns occurs."""
    tree = np.repeat(np.arange(len(forest)), forest.end - forest.begin.astype(np.int64))
    split = forest.feature >= 0
    key, times = np.unique(tree[split] * columns + forest.feature[split], return_counts=True)
    return Occurrences(np.searchsorted(key, columns * np.arange(len(forest) + 1)), key % columns, times)


def pairs_in(forest: Forest, columns: int) -> Occurrences:
    """Which pairs of columns occur together in each tree, numbered as `pairs` has them."""
    single = columns_in(forest, columns)
    tree = single.tree
    found = [np.empty(0, dtype=np.int64)]
    number = columns * (columns - 1) // 2
    # The columns of a tree lie side by side in ascending order, so a pair is two entries at some distance.
    for apart in range(1, int(np.diff(single.begin).max(initial=0))):
        same = tree[apart:] == tree[:-apart]
        first, second = single.item[:-apart][same], single.item[apart:][same]
        found.append(tree[apart:][same] * number + pair_number(first, second, columns))
    key = np.sort(np.concatenate(found))
    begin = np.searchsorted(key, number * np.arange(len(forest) + 1))
    return Occurrences(begin, key % max(number, 1), np.ones(len(key), dtype=np.int64))


def pair_number(first: np.ndarray, second: np.ndarray, columns: int) -> np.ndarray:
    """The place of pairs first < second in the order (0, 1), (0, 2), …, (1, 2) and so on."""
    return first * (2 * columns - first - 1) // 2 + second - first - 1


def share_summary(
    sums: Ensemble, occurrences: Occurrences, items: int, total: np.ndarray, prob: float
) -> tuple[np.ndarray, np.ndarray]:
    """Over all draws, the mean and an equal-tailed interval of the share of each item.

    Only what occurs is stored, so that memory grows with the trees and not with draws × items.

    Parameters
    ----------
    sums : Ensemble
        The draws.
    occurrences : Occurrences
        What each stored tree uses.
    items : int
        How many items there are.
    total : numpy.ndarray
        What the counts of each draw are divided by, all chains after one another; a draw whose total is 0 has share 0.
    prob : float
        The probability of the interval.

    Returns
    -------
    mean : numpy.ndarray of shape (items,)
    interval : numpy.ndarray of shape (items, 2)
    """
    item, share = _shares(sums, occurrences, total)
    order = np.lexsort((share, item))
    item, share = item[order], share[order]
    draws = sums.chains * sums.draws
    positive = np.bincount(item, minlength=items)
    mean = np.bincount(item, share, minlength=items) / draws
    end = np.cumsum(positive)

    def ranked(rank: int) -> np.ndarray:
        """Of each item the share of this rank among all draws, most of which may be 0 and are not stored."""
        stored = rank - draws + positive >= 0
        shares = np.zeros(items)
        shares[stored] = share[(end + rank - draws)[stored]]
        return shares

    def quantile(level: float) -> np.ndarray:
        below, part = divmod(level * (draws - 1), 1)
        low = ranked(int(below))
        return low + part * (ranked(min(int(below) + 1, draws - 1)) - low)

    return mean, np.stack([quantile(level) for level in tails(prob)], axis=1)


def _shares(sums: Ensemble, occurrences: Occurrences, total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The items that occur in some draw and their shares of it, an entry for each draw that uses the item."""
    trees = sums.tree_index.reshape(-1, sums.trees)
    step = max(1, TREES_PER_BLOCK // max(sums.trees, 1))
    items, shares = [np.empty(0, dtype=np.int64)], [np.empty(0)]
    for first in range(0, len(trees), step):
        index = trees[first : first + step]
        begin, end = occurrences.begin[index], occurrences.begin[index + 1]
        entry = ranges(begin.ravel(), end.ravel())
        draw = np.repeat(np.arange(first, first + len(index)), (end - begin).sum(axis=1))
        key, place = np.unique(occurrences.item[entry] * len(trees) + draw, return_inverse=True)
        count = np.bincount(place, occurrences.times[entry], minlength=len(key))
        items.append(key // len(trees))
        shares.append(count / total[key % len(trees)])
    return np.concatenate(items), np.concatenate(shares)
