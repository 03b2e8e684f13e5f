"""SHAP values, averaged over draws: how much each column moves each prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.design import Schema
from ..errors import InputError
from ..notebook import Shown
from ..plots import columns as plots
from ..posterior.prediction import interval_of
from ..text import counted
from ..validation import require_prob, unknown_choice
from .importance import LISTED, PROB

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# From bins of shape (rows, columns) the SHAP values of every draw, shape (draws, rows, columns), and what each draw
# predicts on average.
ExplainDraws = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False, repr=False)
class Shap(Shown):
    r"""How much each column moves each prediction away from the average one; ``print`` it.

    Of each row, `base` and the row's `mean` add up to the posterior mean of its prediction.

    Attributes
    ----------
    columns : tuple of str
        The names of the columns.
    rows : numpy.ndarray
        Which rows they are.
    mean : numpy.ndarray of shape (rows, columns)
        The posterior mean of each SHAP value.
    interval : numpy.ndarray of shape (rows, columns, 2)
        An equal-tailed interval over the draws.
    size : numpy.ndarray
        Of each column the posterior mean of the average over rows of \|SHAP\|.
    size_interval : numpy.ndarray of shape (columns, 2)
        An equal-tailed interval of that average.
    base : float
        The posterior mean of the average prediction.
    prob : float
        The probability of the intervals.
    levels : numpy.ndarray of shape (rows, columns)
        How high the row's value is among the column's bins, from 0 to 1; NaN for labels and missing values.
    values : numpy.ndarray of object, shape (rows, columns)
        The values of the rows: labels, and of numbers the smallest of their bin; NaN where missing.
    response : str
        What is explained.
    """

    columns: tuple[str, ...]
    rows: np.ndarray
    mean: np.ndarray
    interval: np.ndarray
    size: np.ndarray
    size_interval: np.ndarray
    base: float
    prob: float
    levels: np.ndarray
    values: np.ndarray
    response: str

    @property
    def order(self) -> np.ndarray:
        """The columns from the largest to the smallest."""
        return np.argsort(-self.size, kind="stable")

    def __str__(self) -> str:
        listed = self.order[:LISTED]
        width = max(len(self.columns[place]) for place in listed)
        over = f"of {self.response} over {counted(len(self.mean), 'row')}"
        lines = [f"Average |SHAP value| {over}; mean and {self.prob:.0%} interval"]
        for place in listed:
            low, high = self.size_interval[place]
            lines.append(f"  {self.columns[place]:<{width}}  {self.size[place]:8.3g}  {low:.3g} to {high:.3g}")
        rest = self.order[LISTED:]
        if len(rest):
            lines.append(f"  {counted(len(rest), 'other')}, at most {self.size[rest[0]]:.3g} each")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON-safe values."""
        return {
            "columns": list(self.columns),
            "rows": self.rows.tolist(),
            "response": self.response,
            "base": self.base,
            "prob": self.prob,
            "size": self.size.tolist(),
            "size_interval": self.size_interval.tolist(),
            "mean": self.mean.tolist(),
            "interval": self.interval.tolist(),
        }

    def to_explanation(self) -> Any:
        """The values as the package ``shap`` has them, so that its plots draw them.

        Returns
        -------
        shap.Explanation
            Needs ``pip install shap``. Labels are shown as they are, and stand for their places where plots need
            numbers.
        """
        try:
            from shap import Explanation
        except ImportError as error:
            raise InputError("an Explanation is an object of the package shap; install it: pip install shap") from error
        numbers = [_places(column) for column in self.values.T]
        return Explanation(
            values=self.mean,
            base_values=np.full(len(self.mean), self.base),
            data=np.column_stack(numbers),
            display_data=self.values,
            feature_names=list(self.columns),
            output_names=self.response,
        )

    def plot(self, ax: Axes | None = None, kind: str = "size") -> Axes:
        """Draw the columns, largest first.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure.
        kind : {"size", "rows"}
            The average size with its interval, or a point for each row.
        """
        names = [self.columns[place] for place in self.order]
        if kind == "size":
            interval = self.size_interval[self.order]
            label, below = f"average |SHAP value| of {self.response}", f"mean and {self.prob:.0%} credible interval"
            title = f"What moves {self.response}"
            return plots.dots(ax, names, self.size[self.order], interval, None, label, title, below)
        if kind == "rows":
            label, below = f"SHAP value of {self.response}", "a point for each row: its posterior mean"
            values, colours = self.mean[:, self.order], self.levels[:, self.order]
            return plots.swarm(ax, names, values, colours, label, f"What moves {self.response}", below)
        raise unknown_choice("kind of plot", kind, ("size", "rows"))


def shap(
    explain: ExplainDraws,
    schema: Schema,
    bins: np.ndarray,
    rows: np.ndarray,
    *,
    blocks: Iterable[slice],
    prob: float = PROB,
    response: str = "response",
) -> Shap:
    """Summarise SHAP values over draws, in bounded memory.

    Parameters
    ----------
    explain : callable
        Gives the SHAP values of each draw, row and column, shape (draws, rows, columns), and the average prediction of
        each draw, from bins.
    schema : Schema
        What the bins mean.
    bins : numpy.ndarray of shape (all rows, columns)
        A table.
    rows : numpy.ndarray
        Its rows that are explained.
    blocks : iterable of slice
        Which of these are explained together.
    prob : float
        The probability of the intervals.
    response : str
        What is explained, in words.
    """
    require_prob(prob)
    bins = bins[rows]
    means, intervals, sizes = [], [], []
    for block in blocks:
        values, base = explain(bins[block])
        means.append(values.mean(axis=0))
        intervals.append(interval_of(values, prob))
        sizes.append(np.abs(values).sum(axis=1))
    size = np.sum(sizes, axis=0) / len(bins)
    return Shap(
        columns=schema.names,
        rows=rows,
        mean=np.concatenate(means),
        interval=np.concatenate(intervals),
        size=size.mean(axis=0),
        size_interval=interval_of(size, prob),
        base=float(base.mean()),
        prob=prob,
        levels=_levels(schema, bins),
        values=_values(schema, bins),
        response=response,
    )


def _levels(schema: Schema, bins: np.ndarray) -> np.ndarray:
    levels = np.full(bins.shape, np.nan)
    for place, column in enumerate(schema.columns):
        if column.kind != "categorical":
            known = bins[:, place] < column.missing_bin
            levels[known, place] = bins[known, place] / max(column.observed - 1, 1)
    return levels


def _values(schema: Schema, bins: np.ndarray) -> np.ndarray:
    """The values that bins stand for."""
    values = np.empty(bins.shape, dtype=object)
    for place, column in enumerate(schema.columns):
        named: list[Any] = [*(column.levels if column.kind == "categorical" else column.lowest), np.nan]
        values[:, place] = [named[code] for code in np.minimum(bins[:, place], column.missing_bin)]
    return values


def _places(values: np.ndarray) -> np.ndarray:
    """Numbers as they are; of labels the places in their alphabet."""
    if not any(isinstance(value, str) for value in values):
        return values.astype(float)
    labels = values.astype(str)
    return np.where(labels == "nan", np.nan, np.unique(labels, return_inverse=True)[1])
