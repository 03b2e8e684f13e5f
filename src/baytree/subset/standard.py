"""Linear designs in standard units, in which nothing depends on how the table was measured."""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp, ldexp, sqrt

import numpy as np

from ..errors import InputError
from .design import LinearDesign, weighted_mean

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
    """

    matrix: np.ndarray
    y: np.ndarray
    centre: np.ndarray
    scale: np.ndarray
    mean: float
    unit: float
    freedom: int

    @property
    def varies(self) -> np.ndarray:
        """Whether each column of the matrix varies; one that does not never enters a model."""
        varies: np.ndarray = np.any(self.matrix, axis=0)
        return varies


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
    matrix = np.empty_like(design.matrix)
    centre, scale = np.empty((2, design.schema.width))
    for at, values in enumerate(design.matrix.T):
        matrix[:, at], centre[at], scale[at] = _standard(values, design.weight, intercept)
    y, mean, unit = _standard(design.y, design.weight, intercept)
    if not y.any():
        raise InputError(
            f"column {design.response.name!r}: its values differ from {mean:g} by no more than rounding; subtract that"
        )
    return Standard(matrix, y, centre, scale, mean, unit, design.rows - intercept)


def _standard(values: np.ndarray, weight: np.ndarray | None, intercept: bool) -> tuple[np.ndarray, float, float]:
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
        size = sqrt(float(spread @ spread) / len(spread))
    return spread / size, ldexp(centre, exponent), ldexp(size, exponent)
