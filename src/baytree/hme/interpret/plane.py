"""Which leaf answers where: P(leaf | x) over two columns, the others held at a typical row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...data.matrix import LinearSchema
from ...errors import InputError
from ...plots.planes import shares_over_plane
from ...validation import unknown_choice
from ..data.inputs import Inputs
from ..tree.soft_tree import SoftTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 100


@dataclass(frozen=True, eq=False)
class ResponsibilityPlane:
    """P(leaf | x) as two columns change, every other column being at its median or most frequent level.

    Attributes
    ----------
    columns : tuple of two str
        The columns.
    grids : tuple of two numpy.ndarray
        Their values.
    share : numpy.ndarray of shape (values of the first, values of the second, leaves)
        P(leaf | x).
    rows : numpy.ndarray of shape (rows, 2)
        What the rows have in the two columns.
    """

    columns: tuple[str, str]
    grids: tuple[np.ndarray, np.ndarray]
    share: np.ndarray
    rows: np.ndarray

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the plane in the leaves' colours, mixed by their probabilities, with the rows as dots.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure.
        """
        return shares_over_plane(ax, self.share, self.grids, self.rows, self.columns)


def responsibility_plane(
    tree: SoftTree, inputs: Inputs, matrix: np.ndarray, columns: tuple[str | int, str | int], grid: int = GRID
) -> ResponsibilityPlane:
    """P(leaf | x) over two columns.

    Parameters
    ----------
    tree : SoftTree
        The tree.
    inputs : Inputs
        How rows become its inputs.
    matrix : numpy.ndarray
        Rows as the schema's matrix; they say what is typical, and how far the plane reaches.
    columns : tuple of two str or int
        Numeric columns, by name or position.
    grid : int
        Values of each.
    """
    schema = inputs.schema
    first, second = (schema.units[_numeric(schema, column)] for column in columns)
    if first == second:
        raise InputError(f"columns: both are {first.name!r}; choose two different ones")
    values = [np.linspace(matrix[:, unit.begin].min(), matrix[:, unit.begin].max(), grid) for unit in (first, second)]
    points = np.tile(_typical(schema, matrix), (grid * grid, 1))
    # Where a number is given it is not missing.
    points[:, first.columns] = points[:, second.columns] = 0
    points[:, first.begin], points[:, second.begin] = (each.ravel() for each in np.meshgrid(*values, indexing="ij"))
    share = np.exp(tree.log_paths(inputs.of_matrix(points))).T.reshape(grid, grid, -1)
    return ResponsibilityPlane(
        (first.name, second.name), (values[0], values[1]), share, matrix[:, [first.begin, second.begin]]
    )


def _numeric(schema: LinearSchema, column: str | int) -> int:
    """The position of a numeric column."""
    names = [each.name for each in schema.columns]
    if isinstance(column, str) and column not in names:
        raise unknown_choice("column", column, names)
    if not isinstance(column, str) and not 0 <= column < len(names):
        raise InputError(f"columns: there is no column {column}; choose from 0 to {len(names) - 1}")
    place = names.index(column) if isinstance(column, str) else int(column)
    if schema.columns[place].kind != "numeric":
        raise InputError(f"columns: {names[place]!r} is {schema.columns[place].kind}; choose numeric ones")
    return place


def _typical(schema: LinearSchema, matrix: np.ndarray) -> np.ndarray:
    """A row with the median of each number and the most frequent level of each factor."""
    row = np.zeros(matrix.shape[1])
    for unit, column in zip(schema.units, schema.columns, strict=False):
        block = matrix[:, unit.columns]
        if column.kind == "numeric":
            known = block[:, -1] == 0 if column.has_missing else np.ones(len(block), dtype=bool)
            row[unit.begin] = np.median(block[known, 0]) if known.any() else schema.centres[unit.begin]
        elif block.shape[1]:
            patterns, counts = np.unique(block, axis=0, return_counts=True)
            row[unit.columns] = patterns[counts.argmax()]
    return row
