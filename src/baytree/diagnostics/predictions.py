"""Whether the chains of a posterior agree on what they predict.

What is looked at has limits, so that it costs about a second however long the run was and however large the table:
`ROWS` distinct rows, fewer where there are many classes, and `DRAWS` evenly spaced draws of each chain, or `LONG` for
what needs no rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, Protocol

import numpy as np

from ..data.design import AnyDesign
from .convergence import NEAR_RHAT, Diagnostics, PredictionDiagnostic, diagnose, ess_of, rhat_of

# How many predictions are monitored, one a row and, of classes, for each but the last; of at least FEWEST_ROWS rows.
ROWS = 200
FEWEST_ROWS = 20
DRAWS = 500
# How many draws of each chain the log-likelihood and the number of leaves are compared on.
LONG = 10_000
# In a large table, so many times as many rows are searched for distinct ones.
CANDIDATES = 20
# Which rows are monitored depends on nothing but the data.
ROWS_KEY = 1


class Rows(NamedTuple):
    """Distinct rows of a table.

    Attributes
    ----------
    bins : numpy.ndarray
        Their bins, shape (rows, columns).
    number : numpy.ndarray
        Their numbers in the table, ascending; of equal rows that of one.
    """

    bins: np.ndarray
    number: np.ndarray


def training_rows(design: AnyDesign) -> Rows:
    """The rows of a design that are monitored."""
    predictions = 1 if design.classes is None else len(design.classes) - 1
    most = max(FEWEST_ROWS, ROWS // predictions)
    looked_at = _some(design.rows, most * CANDIDATES)
    return distinct_rows(design.at(looked_at), looked_at, most)


def distinct_rows(bins: np.ndarray, number: np.ndarray | None = None, most: int | None = None) -> Rows:
    """Distinct rows, at random at most so many of them, the same ones each time.

    Parameters
    ----------
    bins : numpy.ndarray
        The bins of all rows, shape (rows, columns).
    number : numpy.ndarray, optional
        What the rows are called, ascending; by default they are counted from 0.
    most : int, optional
        How many to take at most; by default all.
    """
    first = np.sort(np.unique(bins, axis=0, return_index=True)[1])
    if most is not None:
        first = first[_some(len(first), most)]
    return Rows(np.ascontiguousarray(bins[first]), first if number is None else number[first])


def _some(among: int, most: int) -> np.ndarray:
    """At most so many of the numbers below `among`, at random, ascending."""
    return np.arange(among) if among <= most else np.sort(generator_of(ROWS_KEY).choice(among, most, replace=False))


def generator_of(key: int) -> np.random.Generator:
    """A generator of what depends on nothing but the data."""
    return np.random.Generator(np.random.Philox(key=key))


class Drawn(Protocol):
    """The size of a posterior."""

    @property
    def chains(self) -> int:
        """Number of chains."""

    @property
    def draws(self) -> int:
        """Number of draws of each chain."""


class Predicting(Drawn, Protocol):
    """Some draws of each chain, and what they predict."""

    def predictions(self, bins: np.ndarray) -> Iterator[np.ndarray]:
        """Predictions in blocks of rows, shape (chains, draws, rows, width); of classes all but the last."""


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
        predictions=None if predicting is None or rows is None else diagnose_rows(predicting, rows),
        splits=None,
        shared_trees=None,
        sigma=found.get("sigma"),
    )


def spaced(values: np.ndarray, draws: int | None) -> np.ndarray:
    """At most so many draws of each chain, the last one among them, evenly spaced up to rounding."""
    there = values.shape[1]
    if draws is None or there <= draws:
        return values
    return values[:, np.arange(1, draws + 1) * there // draws - 1]


def diagnose_rows(means: Predicting, rows: Rows) -> PredictionDiagnostic:
    """How well the chains know their predictions at some rows."""
    chains, draws = means.chains, means.draws
    judged = chains > 1 and draws >= 4
    rhats, spreads = [], []
    for values in means.predictions(rows.bins):
        # ArviZ leaves out the middle one of an odd number of draws, and with it perhaps the only change.
        rhats.append(np.nan_to_num(rhat_of(values.reshape(chains, draws, -1)), nan=1.0).reshape(values.shape[2:]))
        spreads.append(values.mean(axis=1).std(axis=0, ddof=1) if chains > 1 else np.zeros(values.shape[2:]))
    rhat = np.concatenate(rhats).max(axis=1)
    usual = _quantile(rhat, 0.95, "higher")
    bulk, tail = _sizes(means, rows.bins, rhat, all_rows=usual < NEAR_RHAT)
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


def _sizes(means: Predicting, bins: np.ndarray, rhat: np.ndarray, *, all_rows: bool) -> np.ndarray:
    """Bulk and tail effective sample sizes of each row, infinite for those not looked at."""
    looked_at = np.argsort(-rhat, kind="stable")[: None if all_rows else math.ceil(len(rhat) / 10)]
    sizes = np.full((2, len(rhat)), np.inf)
    found = []
    for values in means.predictions(bins[looked_at]):
        size = np.stack(ess_of(values.reshape(*values.shape[:2], -1))).reshape(2, *values.shape[2:])
        # What never changes is known as well as it can be.
        found.append(np.nan_to_num(size, nan=float(means.chains * means.draws)).min(axis=2))
    sizes[:, looked_at] = np.concatenate(found, axis=1)
    return sizes


def _quantile(figures: np.ndarray, share: float, method: Literal["lower", "higher"]) -> float:
    return float(np.quantile(figures, share, method=method))
