"""Whether the chains of a posterior agree: on predictions, on splits of the rows, on trees.

What is looked at has limits, so that it costs about a second however long the run was and however large the table:
`ROWS` distinct rows, fewer where there are many classes, and `DRAWS` evenly spaced draws of each chain, or `LONG` for
what needs no rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import numpy as np

from .data.design import AnyDesign
from .diagnostics import NEAR_RHAT, Diagnostics, PredictionDiagnostic, SplitDiagnostic, diagnose, ess_of, rhat_of
from .prediction import LeafMeans

if TYPE_CHECKING:
    from .posterior import Posterior

# How many predictions are watched, one a row and, of classes, for each but the last; of at least FEWEST_ROWS rows.
ROWS = 200
FEWEST_ROWS = 20
DRAWS = 500
# How many draws of each chain the log-likelihood and the number of leaves are compared on.
LONG = 10_000
# In a large table, so many times as many rows are searched for distinct ones.
CANDIDATES = 20
# A split counts from this frequency in some chain on, as in MrBayes.
LEAST_FREQUENCY = 0.1
# Which rows are watched, and the names of splits, depend on nothing but the data.
ROWS_KEY, SPLITS_KEY = 1, 2


class Rows(NamedTuple):
    """Distinct rows of a table.

    Attributes
    ----------
    codes : numpy.ndarray
        Their codes, shape (rows, columns).
    number : numpy.ndarray
        Their numbers in the table, ascending; of equal rows that of one.
    """

    codes: np.ndarray
    number: np.ndarray


def training_rows(design: AnyDesign) -> Rows:
    """The rows of a design that are watched."""
    predictions = 1 if design.classes is None else len(design.classes) - 1
    most = max(FEWEST_ROWS, ROWS // predictions)
    looked_at = _some(design.rows, most * CANDIDATES)
    return distinct_rows(design.at(looked_at), looked_at, most)


def distinct_rows(codes: np.ndarray, number: np.ndarray | None = None, most: int | None = None) -> Rows:
    """Distinct rows, at random at most so many of them, the same ones each time.

    Parameters
    ----------
    codes : numpy.ndarray
        The codes of all rows, shape (rows, columns).
    number : numpy.ndarray, optional
        What the rows are called, ascending; by default they are counted from 0.
    most : int, optional
        How many to take at most; by default all.
    """
    first = np.sort(np.unique(codes, axis=0, return_index=True)[1])
    if most is not None:
        first = first[_some(len(first), most)]
    return Rows(np.ascontiguousarray(codes[first]), first if number is None else number[first])


def _some(among: int, most: int) -> np.ndarray:
    """At most so many of the numbers below `among`, at random, ascending."""
    return np.arange(among) if among <= most else np.sort(_generator(ROWS_KEY).choice(among, most, replace=False))


def _generator(key: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=key))


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
        splits=None if means is None or rows is None else _splits(means, rows.codes),
        shared_trees=shared_trees(posterior),
    )


class Predicting(Protocol):
    """Some draws of each chain, and what they predict."""

    chains: int
    draws: int

    def predictions(self, codes: np.ndarray) -> Iterator[np.ndarray]:
        """Predictions in blocks of rows, shape (chains, draws, rows, width); of classes all but the last."""


class Drawn(Protocol):
    """The size of a posterior."""

    @property
    def chains(self) -> int:
        """Number of chains."""

    @property
    def draws(self) -> int:
        """Number of draws of each chain."""


def diagnose_series(
    posterior: Drawn,
    series: Mapping[str, np.ndarray],
    predicting: Predicting | None,
    rows: Rows | None,
    draws: int | None = DRAWS,
    size: str = "leaves",
) -> Diagnostics:
    """Whether the chains agree on series of numbers, and on predictions where some are given.

    Parameters
    ----------
    posterior
        The draws.
    series : mapping of str to numpy.ndarray
        ``"log-likelihood"``, the size and what else there is, each of shape (chains, draws).
    predicting : Predicting or None
        What predicts at the rows.
    rows, draws
        As for `diagnose_posterior`.
    size : str
        What the size of a draw is called.
    """
    most = None if draws is None else LONG
    found = {name: diagnose(name, spaced(values, most)) for name, values in series.items()}
    return Diagnostics(
        chains=posterior.chains,
        draws=posterior.draws,
        log_likelihood=found["log-likelihood"],
        leaves=found[size],
        predictions=None if predicting is None or rows is None else _predictions(predicting, rows),
        splits=None,
        shared_trees=None,
        sigma=found.get("sigma"),
    )


def diagnose_predictions(posterior: Posterior, rows: Rows, draws: int | None = DRAWS) -> PredictionDiagnostic:
    """How well the chains know their predictions; of the same cost however many draws there are.

    Parameters
    ----------
    posterior, rows, draws
        As for `diagnose_posterior`.
    """
    return _predictions(LeafMeans(posterior, spaced(posterior.tree_index, draws)), rows)


def spaced(values: np.ndarray, draws: int | None) -> np.ndarray:
    """At most so many draws of each chain, the last one among them, evenly spaced up to rounding."""
    there = values.shape[1]
    if draws is None or there <= draws:
        return values
    return values[:, np.arange(1, draws + 1) * there // draws - 1]


def _predictions(means: Predicting, rows: Rows) -> PredictionDiagnostic:
    chains, draws = means.chains, means.draws
    judged = chains > 1 and draws >= 4
    rhats, spreads = [], []
    for values in means.predictions(rows.codes):
        # ArviZ leaves out the middle one of an odd number of draws, and with it perhaps the only change.
        rhats.append(np.nan_to_num(rhat_of(values.reshape(chains, draws, -1)), nan=1.0).reshape(values.shape[2:]))
        spreads.append(values.mean(axis=1).std(axis=0, ddof=1) if chains > 1 else np.zeros(values.shape[2:]))
    rhat = np.concatenate(rhats).max(axis=1)
    usual = _quantile(rhat, 0.95, "higher")
    bulk, tail = _sizes(means, rows.codes, rhat, all_rows=usual < NEAR_RHAT)
    return PredictionDiagnostic(
        rows=len(rhat),
        draws=draws,
        rhat=usual if judged else None,
        ess_bulk=_quantile(bulk, 0.05, "lower") if draws >= 4 else None,
        ess_tail=_quantile(tail, 0.05, "lower") if draws >= 4 else None,
        largest_rhat=float(rhat.max()) if judged else None,
        smallest_ess_bulk=float(bulk.min()) if draws >= 4 else None,
        smallest_ess_tail=float(tail.min()) if draws >= 4 else None,
        worst_row=int(rows.number[rhat.argmax()]) if judged else None,
        between_chain_sd=float(np.concatenate(spreads).mean()) if chains > 1 else None,
    )


def _sizes(means: Predicting, codes: np.ndarray, rhat: np.ndarray, *, all_rows: bool) -> np.ndarray:
    """Bulk and tail effective sample sizes of each row, infinite for those not looked at."""
    looked_at = np.argsort(-rhat, kind="stable")[: None if all_rows else math.ceil(len(rhat) / 10)]
    sizes = np.full((2, len(rhat)), np.inf)
    found = []
    for values in means.predictions(codes[looked_at]):
        size = np.stack(ess_of(values.reshape(*values.shape[:2], -1))).reshape(2, *values.shape[2:])
        # What never changes is known as well as it can be.
        found.append(np.nan_to_num(size, nan=float(means.chains * means.draws)).min(axis=2))
    sizes[:, looked_at] = np.concatenate(found, axis=1)
    return sizes


def _quantile(figures: np.ndarray, share: float, method: Literal["lower", "higher"]) -> float:
    return float(np.quantile(figures, share, method=method))


def _splits(means: LeafMeans, codes: np.ndarray) -> SplitDiagnostic | None:
    chains, draws = means.chains, means.draws
    if chains == 1:
        return None
    tree, split = splits_of(means, codes)
    names, number = np.unique(split, return_inverse=True)
    frequency = np.empty((chains, len(names)))
    for chain, place in enumerate(means.place):
        visits = np.bincount(place, minlength=len(means.forest))
        frequency[chain] = np.bincount(number, weights=visits[tree], minlength=len(names)) / draws
    spread = frequency[:, frequency.max(axis=0, initial=0) >= LEAST_FREQUENCY].std(axis=0, ddof=1)
    if not len(spread):
        return SplitDiagnostic(0, None, None)
    return SplitDiagnostic(len(spread), float(spread.mean()), float(spread.max()))


def splits_of(means: LeafMeans, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The splits of the rows that the trees make: pairs of a tree and a 64-bit name of a split, each once.

    A set of rows is named by the sum of random numbers, one a row, and a split by the smaller name of its two sides.
    """
    forest = means.forest
    names = _generator(SPLITS_KEY).integers(2**64, size=len(codes), dtype=np.uint64)
    in_leaf = np.zeros(len(means.values), dtype=np.uint64)
    start = 0
    for block in means.row_blocks(codes):
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
