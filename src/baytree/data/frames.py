"""Any source of rows and columns (a file, a frame, an array) read one column at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from ..errors import InputError, InputTypeError
from ..validation import unknown_choice
from .columns import Columns
from .files import read_file, require_unique


@dataclass(frozen=True)
class Table:
    """Named columns of one length, each read only when it is asked for.

    Attributes
    ----------
    names : tuple of str
        The column names; ``x0``, ``x1``, … where the source has none.
    rows : int
        Number of rows.
    named : bool
        Whether the names came with the source.
    raw : callable
        The column at a position, as the source holds it.
    """

    names: tuple[str, ...]
    rows: int
    named: bool
    raw: Callable[[int], Any]

    def position(self, name: str) -> int:
        """Where the column of this name is."""
        try:
            return self.names.index(name)
        except ValueError:
            raise unknown_choice("column", name, self.names) from None


def table_of(source: Any, *, text: Collection[str] = ()) -> Table:
    """Wrap a source as a table.

    Parameters
    ----------
    source : path, frame or two-dimensional array-like
        A file that `read_file` knows; a pandas, polars or pyarrow frame; or anything NumPy makes a matrix of.
    text : collection of str
        Of a text file, the columns to be read as text.

    Returns
    -------
    Table
    """
    if isinstance(source, (str, os.PathLike)):
        source = read_file(source, text)
    if isinstance(source, Columns):
        names = tuple(source.columns)
        return Table(names, source.height, True, lambda position: source[names[position]])
    if hasattr(source, "toarray"):
        raise InputTypeError("Sparse data was passed, but dense data is required; convert it with X.toarray()")
    try:
        frame = nw.from_native(source, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        # pyarrow keeps names apart from columns.
        names = source.column_names if hasattr(source, "column_names") else source.columns
        require_unique([str(name) for name in names])
        raise
    return _frame_table(frame) if isinstance(frame, nw.DataFrame) else _array_table(source)


def _frame_table(frame: nw.DataFrame[Any]) -> Table:
    rows, width = frame.shape
    # pandas may label columns by number, which is a position rather than a name.
    named = all(isinstance(name, str) for name in frame.columns)
    names = tuple(frame.columns) if named else default_names(width)
    return Table(names, rows, named, lambda position: frame[:, position])


def _array_table(source: Any) -> Table:
    if hasattr(source, "collect"):
        raise InputTypeError(f"{type(source).__name__} is lazy; collect() it into a data frame first")
    try:
        array = source if np.ma.isMaskedArray(source) else np.asarray(source)
        if array.dtype.kind == "U" and not isinstance(source, np.ndarray):
            # NumPy makes text of every value of a list that holds some; keep the numbers among them.
            array = np.asarray(source, dtype=object)
    except ValueError as error:
        raise InputError(f"X cannot be made a table ({error}); every row needs the same number of columns") from error
    if array.ndim < 2:
        raise InputError(
            f"Expected a 2D array of rows and columns, got shape {array.shape}. Reshape your data with "
            "X.reshape(-1, 1) if it is one column, or X.reshape(1, -1) if it is one row"
        )
    if array.ndim > 2:
        raise InputError(f"Found array with dim {array.ndim}, shape {array.shape}; X must be 2D: rows and columns")
    if array.dtype.kind == "c":
        raise InputError(f"Complex data not supported: X has type {array.dtype}; pass real and imaginary columns")
    rows, width = array.shape
    return Table(default_names(width), rows, False, lambda position: array[:, position])


def default_names(width: int) -> tuple[str, ...]:
    """Names for the columns of a source that has none."""
    return tuple(f"x{position}" for position in range(width))


def name_of(y: Any) -> str:
    """The name that a response comes with: that of a series, or of the one column of a frame; else ``y``."""
    found = nw.from_native(y, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(found, nw.DataFrame):
        name: Any = found.columns[0] if len(found.columns) == 1 else None
    else:
        name = found.name if isinstance(found, nw.Series) else None
    return name if isinstance(name, str) and name else "y"
