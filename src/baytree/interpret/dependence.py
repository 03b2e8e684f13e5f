"""How the response depends on one column or two, the other columns being as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.binning import Column
from ..data.design import Schema
from ..errors import InputError
from ..plots import columns as plots
from ..posterior.prediction import interval_of
from ..validation import require_prob, require_whole, unknown_choice
from .importance import PROB

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What a column is set to where nothing else is asked for, and how many rows that is averaged over.
GRID, ROWS = 20, 200
SURFACE_GRID, SURFACE_ROWS = 10, 100
MISSING = "(missing)"

# f(x), or the probability of a class, in every draw: from bins of shape (rows, columns) to shape (draws, rows).
PredictDraws = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Grid:
    """Values that a column is set to.

    Attributes
    ----------
    column : str
        The column's name.
    values : tuple of float or str
        The numbers or labels, ascending if they were not given.
    bins : numpy.ndarray
        Their bins.
    observed : numpy.ndarray
        The column's values in the rows looked at; empty unless they are numbers.
    """

    column: str
    values: tuple[Any, ...]
    bins: np.ndarray
    observed: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Dependence:
    """The average response as a column changes: partial dependence, with bands.

    Attributes
    ----------
    grid : Grid
        The values of the column.
    mean : numpy.ndarray
        The posterior mean, over draws, of the average over rows; one for each value.
    interval : numpy.ndarray of shape (values, 2)
        An equal-tailed interval, over draws, of the same average.
    prob : float
        Its probability.
    response : str
        What is averaged.
    """

    grid: Grid
    mean: np.ndarray
    interval: np.ndarray
    prob: float
    response: str

    def __repr__(self) -> str:
        return f"<Dependence: average {self.response} by {self.grid.column}>"

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON-safe values."""
        return {
            "column": self.grid.column,
            "values": list(self.grid.values),
            "response": self.response,
            "prob": self.prob,
            "mean": self.mean.tolist(),
            "interval": self.interval.tolist(),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the mean with its band, and the values that rows have."""
        grid = self.grid
        labels = (grid.column, f"average {self.response}")
        title = f"Partial dependence of {self.response} on {grid.column}"
        below = f"posterior mean and {self.prob:.0%} credible band; ticks: observed values"
        return plots.band(ax, grid.values, self.mean, self.interval, grid.observed, labels, title, below)


@dataclass(frozen=True, eq=False, repr=False)
class Curves:
    """The response of single rows as a column changes: individual conditional expectation, with bands.

    Attributes
    ----------
    grid : Grid
        The values of the column.
    rows : numpy.ndarray
        Which rows they are.
    mean : numpy.ndarray of shape (rows, values)
        The posterior mean of each row's response.
    interval : numpy.ndarray of shape (rows, values, 2)
        An equal-tailed interval of the same.
    prob : float
        Its probability.
    response : str
        What is drawn.
    """

    grid: Grid
    rows: np.ndarray
    mean: np.ndarray
    interval: np.ndarray
    prob: float
    response: str

    def __repr__(self) -> str:
        return f"<Curves: {self.response} of {len(self.mean):,} rows by {self.grid.column}>"

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON-safe values."""
        return {
            "column": self.grid.column,
            "values": list(self.grid.values),
            "response": self.response,
            "prob": self.prob,
            "rows": self.rows.tolist(),
            "mean": self.mean.tolist(),
            "interval": self.interval.tolist(),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a line for each row, and their average."""
        title = f"{self.response[0].upper()}{self.response[1:]} of single rows by {self.grid.column}"
        below = "posterior mean of each row (individual conditional expectation), and their average"
        labels = (self.grid.column, self.response)
        return plots.curves(ax, self.grid.values, self.mean, self.grid.observed, labels, title, below)


@dataclass(frozen=True, eq=False, repr=False)
class Surface:
    """The average response as two columns change together, with bands.

    Attributes
    ----------
    grids : tuple of two Grid
        The values of the columns.
    mean : numpy.ndarray of shape (values of the first, values of the second)
        The posterior mean of the average over rows.
    interval : numpy.ndarray of shape (values of the first, values of the second, 2)
        An equal-tailed interval of the same average.
    prob : float
        Its probability.
    response : str
        What is averaged.
    """

    grids: tuple[Grid, Grid]
    mean: np.ndarray
    interval: np.ndarray
    prob: float
    response: str

    def __repr__(self) -> str:
        first, second = self.grids
        return f"<Surface: average {self.response} by {first.column} and {second.column}>"

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON-safe values."""
        return {
            "columns": [grid.column for grid in self.grids],
            "values": [list(grid.values) for grid in self.grids],
            "response": self.response,
            "prob": self.prob,
            "mean": self.mean.tolist(),
            "interval": self.interval.tolist(),
        }

    def plot(self, ax: Axes | None = None, kind: str = "mean") -> Axes:
        """Draw contours.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure.
        kind : {"mean", "lower", "upper"}
            Of the mean, or of an end of the interval.
        """
        shown = {"mean": self.mean, "lower": self.interval[..., 0], "upper": self.interval[..., 1]}
        if kind not in shown:
            raise unknown_choice("kind of plot", kind, shown)
        first, second = self.grids
        label = f"average {self.response}"
        title = f"Partial dependence of {self.response} on {first.column} and {second.column}"
        below = "posterior mean" if kind == "mean" else f"{kind} end of the {self.prob:.0%} credible interval"
        labels = (first.column, second.column, label)
        return plots.surface(ax, first.values, second.values, shown[kind], labels, title, below)


def partial_dependence(
    predict: PredictDraws,
    schema: Schema,
    bins: np.ndarray,
    column: str,
    *,
    grid: int | Iterable[Any] = GRID,
    rows: int = ROWS,
    seed: int = 0,
    prob: float = PROB,
    response: str = "response",
) -> Dependence:
    """How the average response depends on one column.

    In every draw the column of all rows is set to a value and the responses are averaged over the rows; the band is
    over draws of that average.

    Parameters
    ----------
    predict : callable
        Gives the response of each draw and row, shape (draws, rows), from bins.
    schema : Schema
        What the bins mean.
    bins : numpy.ndarray of shape (rows, columns)
        The rows to average over.
    column : str
        The column that is set.
    grid : int or iterable
        The values it is set to; or, of numbers, how many observed ones, at evenly spaced quantiles of the rows. Labels
        are all taken.
    rows : int
        Of more rows than so many, so many are drawn at random.
    seed : int
        By which they are drawn.
    prob : float
        The probability of the bands.
    response : str
        What is predicted, in words.
    """
    bins, _ = _prepared(bins, rows, seed, prob)
    place, values = _grid(schema, bins, column, grid)
    averages = np.stack([drawn.mean(axis=1) for drawn in _along(predict, bins, place, values)])
    return Dependence(values, averages.mean(axis=1), interval_of(averages.T, prob), prob, response)


def ice(
    predict: PredictDraws,
    schema: Schema,
    bins: np.ndarray,
    column: str,
    *,
    grid: int | Iterable[Any] = GRID,
    rows: int = ROWS,
    seed: int = 0,
    prob: float = PROB,
    response: str = "response",
    centred: bool = False,
) -> Curves:
    """How the response of each single row depends on one column.

    Parameters
    ----------
    predict, schema, bins, column, grid, rows, seed, prob, response
        As for `partial_dependence`.
    centred : bool
        Whether to take, in every draw, the difference from the response at the first value. Then curves that are not
        parallel tell an interaction.
    """
    bins, chosen = _prepared(bins, rows, seed, prob)
    place, values = _grid(schema, bins, column, grid)
    means, intervals, first = [], [], None
    for drawn in _along(predict, bins, place, values):
        first = drawn if first is None else first
        drawn = drawn - first if centred else drawn
        means.append(drawn.mean(axis=0))
        intervals.append(interval_of(drawn, prob))
    response = f"change of {response}" if centred else response
    return Curves(values, chosen, np.stack(means, axis=1), np.stack(intervals, axis=1), prob, response)


def two_way_dependence(
    predict: PredictDraws,
    schema: Schema,
    bins: np.ndarray,
    columns: tuple[str, str],
    *,
    grid: int | tuple[int | Iterable[Any], int | Iterable[Any]] = SURFACE_GRID,
    rows: int = SURFACE_ROWS,
    seed: int = 0,
    prob: float = PROB,
    response: str = "response",
) -> Surface:
    """How the average response depends on two columns together.

    Parameters
    ----------
    predict, schema, bins, rows, seed, prob, response
        As for `partial_dependence`.
    columns : tuple of two str
        The columns that are set.
    grid : int, or tuple of two
        As for `partial_dependence`; for both columns, or for each.
    """
    first, second = columns
    if first == second:
        raise InputError(f"column {first!r} was named twice; name two columns")
    bins, _ = _prepared(bins, rows, seed, prob)
    each = grid if isinstance(grid, tuple) else (grid, grid)
    (at, of_first), (to, of_second) = (_grid(schema, bins, *both) for both in zip(columns, each, strict=True))
    mean = np.empty((len(of_first.bins), len(of_second.bins)))
    interval = np.empty((*mean.shape, 2))
    for i, code in enumerate(of_first.bins):
        bins[:, at] = code
        for j, drawn in enumerate(_along(predict, bins, to, of_second)):
            average = drawn.mean(axis=1)
            mean[i, j] = average.mean()
            interval[i, j] = interval_of(average, prob)
    return Surface((of_first, of_second), mean, interval, prob, response)


def _prepared(bins: np.ndarray, rows: int, seed: int, prob: float) -> tuple[np.ndarray, np.ndarray]:
    """A copy of the rows looked at, and which they are."""
    require_prob(prob)
    chosen = chosen_rows(len(bins), rows, seed)
    return bins[chosen], chosen


def chosen_rows(present: int, rows: int, seed: int) -> np.ndarray:
    """All rows, or so many of them drawn at random, in their order."""
    require_whole("rows", rows, 1)
    if not present:
        raise InputError("no rows; give a table with one row at least")
    if present <= rows:
        return np.arange(present)
    return np.sort(np.random.default_rng(seed).choice(present, rows, replace=False))


def _along(predict: PredictDraws, bins: np.ndarray, place: int, grid: Grid) -> Iterator[np.ndarray]:
    """The responses of each draw and row where a column is set to each value in turn."""
    for code in grid.bins:
        bins[:, place] = code
        yield predict(bins)


def _grid(schema: Schema, bins: np.ndarray, name: str, asked: int | Iterable[Any]) -> tuple[int, Grid]:
    """The place of a column, and the values it is set to."""
    if name not in schema.names:
        raise unknown_choice("column", name, schema.names)
    place = schema.names.index(name)
    column = schema.columns[place]
    present = bins[:, place][bins[:, place] < column.missing_bin].astype(np.int64)
    observed = np.empty(0) if column.kind != "numeric" else np.array(column.lowest)[present]
    if isinstance(asked, (int, np.integer)):
        return place, Grid(name, *_observed_values(column, present, int(asked)), observed)
    values = tuple(asked)
    if not values:
        raise InputError(f"column {name!r}: an empty grid; give one value at least")
    return place, Grid(name, values, _bins_of(column, values), observed)


def _observed_values(column: Column, present: np.ndarray, points: int) -> tuple[tuple[Any, ...], np.ndarray]:
    """All labels, or observed numbers at evenly spaced quantiles, and their bins."""
    if column.kind == "categorical":
        labels = (*column.levels, *((MISSING,) if column.has_missing else ()))
        return labels, np.arange(len(labels), dtype=np.uint32)
    if column.kind == "boolean":
        return ("false", "true"), np.arange(2, dtype=np.uint32)
    require_whole("grid", points, 1)
    if not len(present):
        raise InputError(f"column {column.name!r} has no value in these rows; give its grid as values")
    distinct = np.unique(present)
    if len(distinct) > points:
        distinct = np.unique(np.quantile(present, np.linspace(0, 1, points), method="inverted_cdf"))
    return tuple(column.lowest[code] for code in distinct), distinct.astype(np.uint32)


def _bins_of(column: Column, values: tuple[Any, ...]) -> np.ndarray:
    """The bins of values that were given; of labels only those that training saw."""
    if column.kind == "categorical":
        for value in values:
            if str(value) not in (*column.levels, *column.pooled):
                raise unknown_choice(f"level of column {column.name!r}", value, column.levels)
        values = tuple(map(str, values))
    return column.encode(np.array(values))
