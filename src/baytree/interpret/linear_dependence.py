"""How the response depends on a column of a table that a model takes as a matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..data.matrix import LinearSchema
from ..posterior.prediction import interval_of
from .dependence import GRID, MISSING, Dependence, Grid, chosen_rows
from .importance import PROB


def linear_dependence(
    predict: Callable[[np.ndarray], np.ndarray],
    schema: LinearSchema,
    matrix: np.ndarray,
    column: str,
    *,
    grid: int = GRID,
    rows: int = 100,
    prob: float = PROB,
    response: str = "response",
) -> Dependence:
    """Partial dependence, with bands, as `partial_dependence` gives it of bins.

    Parameters
    ----------
    predict : callable
        Gives the response of each draw and row, shape (draws, rows), from rows of the matrix.
    schema : LinearSchema
        What the matrix means.
    matrix : numpy.ndarray
        The rows to average over, of many some.
    column : str
        The column of the table that is set.
    grid : int
        How many observed numbers it is set to; labels are all taken.
    rows : int
        The most rows.
    prob : float
        The probability of the bands.
    response : str
        What is predicted, in words.
    """
    place = schema.names.index(column)
    unit, of = schema.units[place], schema.columns[place]
    observed = matrix[:, unit.begin]
    rows_used = np.asfortranarray(matrix[chosen_rows(len(matrix), rows, 0)])
    indicated = unit.end - unit.begin - of.has_missing
    blocks: list[tuple[object, np.ndarray]]
    empty = np.zeros(unit.end - unit.begin)
    if of.kind == "categorical":
        blocks = [
            (level, np.concatenate([np.arange(1, indicated + 1) == at, empty[indicated:]]))
            for at, level in enumerate(of.levels)
        ]
        observed = np.empty(0)
        if of.has_missing:
            blocks.append((MISSING, np.concatenate([empty[:-1], [1.0]])))
    else:
        values = np.unique(np.quantile(observed, np.linspace(0, 1, grid), method="inverted_cdf"))
        blocks = [(float(value), np.concatenate([[value], empty[1:]])) for value in values]
    averages = []
    for _, block in blocks:
        rows_used[:, unit.columns] = block
        schema.complete(rows_used)
        averages.append(predict(rows_used).mean(axis=1))
    drawn = np.stack(averages)
    set_to = Grid(column, tuple(value for value, _ in blocks), np.empty(0), observed)
    return Dependence(set_to, drawn.mean(axis=1), interval_of(drawn.T, prob), prob, response)
