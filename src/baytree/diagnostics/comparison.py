"""Comparing chains, by ArviZ's R-hat and effective sample sizes: on series of numbers, and on what they predict.

What is looked at has limits, so that it costs about a second however long the run was and however large the table:
`ROWS` distinct rows, fewer where there are many classes, and `DRAWS` evenly spaced draws of each chain, or `LONG` for
what needs no rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple, Protocol

import numpy as np

from ..data.design import AnyDesign
from .convergence import NEAR_RHAT, Diagnostic, Diagnostics, PredictionDiagnostic

# How many predictions are monitored, one a row and, of classes, for each but the last; of at least FEWEST_ROWS rows.
ROWS = 200
FEWEST_ROWS = 20
DRAWS = 500
# How many draws of each chain the log-likelihood and the number of leaves are compared on.
LONG = 10_000
# In a large table, so many times as many rows are searched for distinct ones.
CANDIDATES = 20
# The R-hat of chains that stand still at different values is infinite, which JSON cannot hold.
INFINITE_RHAT = 1e6
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


class Predicting(Protocol):
    """Some draws of each chain, and what they predict."""

    def predictions(self, bins: np.ndarray) -> Iterable[np.ndarray]:
        """Predictions in blocks of rows, shape (chains, draws, rows, width); of classes all but the last."""


def diagnose_series(
    series: Mapping[str, np.ndarray],
    predicting: Predicting | None,
    rows: Rows | None,
    draws: int | None = DRAWS,
    size: str = "leaves",
) -> Diagnostics:
    """Whether the chains agree on series of numbers, and on predictions where some are given.

    Parameters
    ----------
    series : mapping of str to numpy.ndarray
        ``"log-likelihood"``, the size and what else there is, each of shape (chains, draws).
    predicting : Predicting or None
        What predicts at the rows.
    rows, draws
        As for `BasePosterior.diagnostics`.
    size : str
        What the size of a draw is called.
    """
    most = None if draws is None else LONG
    found = {name: diagnose(name, spaced(values, most)) for name, values in series.items()}
    chains, every = series["log-likelihood"].shape
    return Diagnostics(
        chains=chains,
        draws=every,
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
    rhats, spreads, sds = [], [], []
    for values in means.predictions(rows.bins):
        chains, draws = values.shape[:2]
        # ArviZ leaves out the middle one of an odd number of draws, and with it perhaps the only change.
        rhats.append(np.nan_to_num(rhat_of(values.reshape(chains, draws, -1)), nan=1.0).reshape(values.shape[2:]))
        sds.append(values.std(axis=(0, 1)))
        spreads.append(values.mean(axis=1).std(axis=0, ddof=1) if chains > 1 else np.zeros(values.shape[2:]))
    rhat = np.concatenate(rhats).max(axis=1)
    usual = _quantile(rhat, 0.95, "higher")
    looked_at = np.argsort(-rhat, kind="stable")[: None if usual < NEAR_RHAT else math.ceil(len(rhat) / 10)]
    # Several blocks need not fit into memory together, so that they are predicted again; a single one is at hand.
    again = means.predictions(rows.bins[looked_at]) if len(rhats) > 1 else [values[:, :, looked_at]]
    bulk, tail = sizes = np.full((2, len(rhat)), np.inf)
    sizes[:, looked_at] = np.concatenate([_sizes(values) for values in again], axis=1)
    judged = chains > 1 and draws >= 4
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
        sd=float(np.concatenate(sds).mean()),
    )


def _sizes(values: np.ndarray) -> np.ndarray:
    """Bulk and tail effective sample sizes of each row of a block of predictions."""
    chains, draws, *of_row = values.shape
    size = np.stack(ess_of(values.reshape(chains, draws, -1))).reshape(2, *of_row)
    # What never changes is known as well as it can be.
    return np.nan_to_num(size, nan=float(chains * draws)).min(axis=2)


def _quantile(figures: np.ndarray, share: float, method: Literal["lower", "higher"]) -> float:
    return float(np.quantile(figures, share, method=method))


def diagnose(quantity: str, values: np.ndarray) -> Diagnostic:
    """Diagnose one quantity.

    Parameters
    ----------
    quantity : str
        Its name.
    values : numpy.ndarray
        Its draws, shape (chains, draws).
    """
    series = values[..., None]
    rhat, bulk, tail = (_known(figures[0]) for figures in (rhat_of(series), *ess_of(series)))
    return Diagnostic(quantity, float(values.mean()), float(values.std()), rhat, bulk, tail)


def effective_size(values: np.ndarray) -> float:
    """The effective sample size of the mean of one chain's draws; their number where they never change."""
    if len(values) < 4 or np.ptp(values) == 0:
        return float(len(values))
    from arviz_stats.base import array_stats

    size = float(array_stats.ess(values[None], method="mean", chain_axis=0, draw_axis=1))
    return size if np.isfinite(size) else 1.0


def rhat_of(values: np.ndarray) -> np.ndarray:
    """R-hat of many quantities; NaN where one never changes, or there are too few draws or chains.

    Parameters
    ----------
    values : numpy.ndarray
        Their draws, shape (chains, draws, quantities).
    """

    def rhat(series: np.ndarray) -> np.ndarray:
        from arviz_stats.base import array_stats

        return np.minimum(array_stats.rhat(series), INFINITE_RHAT)

    return _where_changing(rhat, values)


def ess_of(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bulk and tail effective sample sizes of many quantities; NaN as for `rhat_of`.

    Parameters
    ----------
    values : numpy.ndarray
        Their draws, shape (chains, draws, quantities).
    """

    def bulk(series: np.ndarray) -> np.ndarray:
        from arviz_stats.base import array_stats

        return array_stats.ess(series)

    def tail(series: np.ndarray) -> np.ndarray:
        from arviz_stats.base import array_stats

        return array_stats.ess(series, method="tail", prob=(0.05, 0.95))

    return _where_changing(bulk, values), _where_changing(tail, values)


def _where_changing(figure: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> np.ndarray:
    """A figure of the quantities that change, which ArviZ takes as (quantities, chains, draws)."""
    figures = np.full(values.shape[2], np.nan)
    changing = np.flatnonzero(np.ptp(values, axis=(0, 1)) > 0)
    if values.shape[1] >= 4 and len(changing):
        # Chains that stand still have no variance to divide by.
        with np.errstate(divide="ignore", invalid="ignore"):
            figures[changing] = figure(np.ascontiguousarray(np.moveaxis(values[..., changing], 2, 0)))
    return figures


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
