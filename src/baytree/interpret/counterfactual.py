"""What would have to change: the smallest change of one column that changes what is predicted of a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from ..data.binning import Column
from ..errors import InputError
from ..validation import did_you_mean

# Steps of a column whose values are not known: so many standard deviations to either side, by so many of them.
REACH, STEP = 3.0, 0.1
# How many of the nearest values of each column are looked at with all draws.
TRIED = 6


@dataclass(frozen=True)
class Change:
    """The smallest change of one column that changes the prediction.

    Attributes
    ----------
    column : str
        The column.
    before, after : Any
        Its value, and the one that it would have to have.
    distance : float
        How far that is, in standard deviations of the column; 1 for another label.
    mean : float
        What would be predicted: a number, or the probability that is explained.
    label : str or None
        With classes, the one that would be the most probable.
    """

    column: str
    before: Any
    after: Any
    distance: float
    mean: float
    label: str | None

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON-safe values."""
        return vars(self) | {"before": plain(self.before), "after": plain(self.after)}


def plain(value: Any) -> Any:
    """A value of a row as a JSON-safe one."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value


def values_of(row: Any, names: Sequence[str]) -> tuple[Any, ...]:
    """The values of one row, by column.

    Parameters
    ----------
    row : mapping, series, one-row frame, or array-like
        The row; by name where it has names, and any other columns are left out, else by position.
    names : sequence of str
        The columns.
    """
    frame = nw.from_native(row, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        if frame.shape[0] != 1:
            raise InputError(f"{frame.shape[0]:,} rows; one row is explained at a time, such as table[17:18]")
        row = {name: frame[name][0] for name in frame.columns}
    elif hasattr(row, "to_dict") and hasattr(row, "index"):
        row = row.to_dict()
    if isinstance(row, Mapping):
        return _by_name(row, names)
    values = np.asarray(row, dtype=object)
    if values.ndim == 2 and len(values) == 1:
        values = values[0]
    if values.ndim != 1 or len(values) != len(names):
        raise InputError(
            f"row of shape {values.shape}: give one value for each of {len(names)} columns ({', '.join(names[:5])}"
            f"{', …' if len(names) > 5 else ''}), or a mapping of names to values"
        )
    return tuple(values.tolist())


def _by_name(row: Mapping[Any, Any], names: Sequence[str]) -> tuple[Any, ...]:
    for name in names:
        if name not in row:
            said = did_you_mean(name, map(str, row))
            raise InputError(f"the row has no column {name!r}.{said} It has: {', '.join(map(str, row))}")
    return tuple(row[name] for name in names)


def table(rows: Sequence[Sequence[Any]]) -> np.ndarray:
    """Rows as an array that a schema encodes by position."""
    found = np.empty((len(rows), len(rows[0])), dtype=object)
    for place, row in enumerate(rows):
        found[place] = row
    return found


def candidates(column: Column, value: Any, centre: float, spread: float) -> list[tuple[Any, float]]:
    """Other values that a column may have, each with its distance, the nearest first.

    Of a column in bins they are the nearest value of every other bin; else steps of standard deviations.

    Parameters
    ----------
    column : Column
        The column.
    value : Any
        What it is in the row.
    centre, spread : float
        The mean and the standard deviation of its numbers, where there are no bins.
    """
    if column.kind != "numeric":
        labels: tuple[Any, ...] = (False, True) if column.kind == "boolean" else column.levels
        return [(label, 1.0) for label in labels if str(label).lower() != str(value).lower()]
    number = float(value) if value is not None else np.nan
    if len(column.lowest):
        here = int(np.searchsorted(column.cuts, number)) if np.isfinite(number) else -1
        spread = float(np.std(column.lowest)) or 1.0
        others = [_nearest(column, place, place < here) for place in range(column.observed) if place != here]
    else:
        steps = np.arange(1, round(REACH / STEP) + 1) * STEP * spread
        start = number if np.isfinite(number) else centre
        others = [float(f"{other:.4g}") for other in np.concatenate([start - steps, start + steps])]
    start = number if np.isfinite(number) else float(np.mean(others)) if others else 0.0
    return sorted(((other, abs(other - start) / spread) for other in others), key=lambda pair: pair[1])


def _nearest(column: Column, place: int, below: bool) -> float:
    """A value of a bin next to the values below or above it, of as few digits as tell it from other bins."""
    value = float(column.cuts[place] if below else column.lowest[place])
    for digits in range(1, 17):
        rounded = float(f"{value:.{digits}g}")
        if np.searchsorted(column.cuts, rounded) == place and (below or rounded <= column.lowest[-1]):
            return rounded
    return value


# What is predicted of rows as the schema encodes them: the mean, or with classes all probabilities.
Predict = Callable[[np.ndarray], np.ndarray]


def nearest_changes(
    schema: Any,
    values: Sequence[Any],
    spreads: Sequence[tuple[float, float]],
    quick: Predict,
    predict: Predict,
    differs: Callable[[np.ndarray], np.ndarray],
) -> list[tuple[str, Any, Any, float, np.ndarray]]:
    """Of each column the smallest change that makes a difference, the nearest first; of some there is none.

    Parameters
    ----------
    schema : Schema or LinearSchema
        The columns.
    values : sequence
        The row.
    spreads : sequence of (float, float)
        The mean and the standard deviation of each column, where it has no bins.
    quick, predict : callable
        What some draws predict, by which values are looked for, and what all do, which decides.
    differs : callable
        Whether predictions differ from that of the row, by row.

    Returns
    -------
    list of (column, before, after, distance, prediction)
    """
    found = []
    for place, column in enumerate(schema.columns):
        others = candidates(column, values[place], *spreads[place])
        if not others:
            continue
        rows = [(*values[:place], other, *values[place + 1 :]) for other, _ in others]
        hopeful = np.flatnonzero(differs(quick(schema.encode(table(rows)))))[:TRIED]
        if not len(hopeful):
            continue
        sure = predict(schema.encode(table([rows[at] for at in hopeful])))
        for at in np.flatnonzero(differs(sure))[:1]:
            other, distance = others[hopeful[at]]
            found.append((column.name, values[place], other, distance, sure[at]))
    return sorted(found, key=lambda change: change[3])
