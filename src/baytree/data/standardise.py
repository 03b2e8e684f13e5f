"""Linear designs in standard units (centred and scaled), in which nothing depends on how the table was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import frexp, ldexp, sqrt

import numpy as np

from ..errors import InputError
from ..text import counted, listed
from .matrix import LinearDesign, weighted_mean

# A column of whose square other columns leave less than this share depends on them.
DEPENDENT = 1e-8
# What spreads by less than this share of its largest value does not vary: the rest is rounding.
ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class Standard:
    """A linear design whose rows are multiplied by √w, and whose columns are centred and scaled.

    With an intercept, whose prior is flat, columns and response are centred at their weighted means, and one row's
    worth of freedom is spent; without one nothing is centred. All that the weights do is in the products of columns
    then, and y'y is the residual sum of squares of the empty model.

    Attributes
    ----------
    matrix : numpy.ndarray
        ``float64``, shape (rows, width), each column contiguous: √w (x − centre) / scale. The squares of a column sum
        to the number of rows; a column that does not vary is 0.
    y : numpy.ndarray
        √w (y − mean) / unit, likewise.
    centre, scale : numpy.ndarray
        Of the columns of the matrix; the scale of one that does not vary is 1.
    mean, unit : float
        Of the response.
    freedom : int
        Number of rows, less one with an intercept.
    kept : numpy.ndarray
        Whether each column of the matrix varies, and does not depend on those before it in its unit and those of the
        unit's parents, as a product of two levels that never meet does. The others have coefficient 0; a unit that
        keeps none never enters a model.
    """

    matrix: np.ndarray
    y: np.ndarray
    centre: np.ndarray
    scale: np.ndarray
    mean: float
    unit: float
    freedom: int
    kept: np.ndarray


def standardise(design: LinearDesign, *, intercept: bool = True) -> Standard:
    """Bring a linear design into standard units.

    Parameters
    ----------
    design : LinearDesign
        The table.
    intercept : bool
        Whether the model has an intercept.

    Returns
    -------
    Standard
    """
    matrix, centre, scale, kept = standard_columns(design, intercept=intercept)
    y, mean, spread = _standard(design.response.name, design.y, design.weight, intercept)
    if not y.any():
        raise InputError(
            f"column {design.response.name!r}: its values differ from {mean:g} by no more than rounding; subtract that"
        )
    return Standard(matrix, y, centre, scale, mean, spread, design.rows - intercept, kept)


def standard_columns(
    design: LinearDesign, *, intercept: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The matrix, centre, scale and kept columns of `Standard`, whatever the response."""
    matrix = np.empty_like(design.matrix)
    centre, scale = np.empty((2, design.schema.width))
    for at, (name, values) in enumerate(zip(design.schema.matrix_names, design.matrix.T, strict=True)):
        matrix[:, at], centre[at], scale[at] = _standard(name, values, design.weight, intercept)
    return matrix, centre, scale, _kept(matrix, design)


def left_out(names: Sequence[str]) -> list[str]:
    """What a person should know about columns that are not kept; nothing where all are."""
    if not names:
        return []
    some = listed(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return [f"{counted(len(names), 'column')} left out, as it never varies, or says the same as others: {some}"]


def _standard(
    name: str, values: np.ndarray, weight: np.ndarray | None, intercept: bool
) -> tuple[np.ndarray, float, float]:
    """Values in standard units, their centre and their scale."""
    # By a power of two, which is exact, so that no difference or square leaves the range of numbers.
    exponent = frexp(float(np.abs(values).max()))[1]
    spread = np.ldexp(values, -exponent)
    centre = 0.0
    if intercept:
        # What rounding of the mean leaves is taken away as well: of values that are far from 0 it may be much.
        for _ in range(2):
            part = weighted_mean(spread, weight)
            spread, centre = spread - part, centre + part
    size = sqrt(float(np.average(spread**2, weights=weight)))
    if size <= ROUNDING:
        return np.zeros_like(spread), ldexp(centre, exponent), 1.0
    if weight is not None:
        spread *= np.sqrt(weight)
        size = sqrt(float(np.mean(spread**2)))
    try:
        return spread / size, ldexp(centre, exponent), ldexp(size, exponent)
    except OverflowError:
        raise InputError(f"column {name!r}: its values, times √weight, spread beyond float64; rescale it") from None


def _kept(matrix: np.ndarray, design: LinearDesign) -> np.ndarray:
    units, columns_of_table = design.units, design.schema.columns
    kept = np.zeros(matrix.shape[1], dtype=bool)
    indicators: set[bytes] = set()
    for number, unit in enumerate(units):
        given = [at for parent in unit.parents for at in range(units[parent].begin, units[parent].end) if kept[at]]
        columns = np.concatenate([matrix[:, given], matrix[:, unit.columns]], axis=1)
        kept[unit.columns] = _independent(columns)[len(given) :]
        # Predictors that lack values in the same rows have one indicator in common, or they could not both be in a
        # model.
        if number < len(columns_of_table) and columns_of_table[number].has_missing and kept[unit.columns].sum() > 1:
            indicator = matrix[:, unit.end - 1].tobytes()
            kept[unit.end - 1] &= indicator not in indicators
            indicators.add(indicator)
    return kept


def _independent(columns: np.ndarray) -> np.ndarray:
    """Which columns in standard units do not depend on those before them."""
    rows, width = columns.shape
    basis = np.empty((rows, min(rows, width)), order="F")
    kept = np.zeros(width, dtype=bool)
    found = 0
    for at, column in enumerate(columns.T):
        rest = column
        for _ in range(2):  # the second time for what rounding left of the first
            rest = rest - basis[:, :found] @ (basis[:, :found].T @ rest)
        square = float(np.sum(rest**2))
        if found < rows and square > DEPENDENT * rows:
            basis[:, found] = rest / sqrt(square)
            kept[at] = True
            found += 1
    return kept
