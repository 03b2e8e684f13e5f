"""Tables where polars is not installed: named arrays of one length."""

from __future__ import annotations

import csv
import importlib.util
import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np


class _Forked:
    """Whether this process was forked from one with polars, whose threads did not come along: polars waits for them."""

    here = False

    @classmethod
    def tell(cls) -> None:
        cls.here = "polars" in sys.modules


if hasattr(os, "register_at_fork"):  # not on Windows, which cannot fork
    os.register_at_fork(after_in_child=_Forked.tell)


def is_forked() -> bool:
    """Whether polars is of no use here, as this process was forked from one that used it."""
    return _Forked.here


def has_polars() -> bool:
    """Whether polars is installed and works in this process."""
    return not is_forked() and importlib.util.find_spec("polars") is not None


def frame_of(columns: Mapping[str, Any]) -> Any:
    """Columns of one length as a data frame: of polars, or `Columns` where that is not to be had.

    Parameters
    ----------
    columns : mapping
        The values of each column by its name.

    Returns
    -------
    polars.DataFrame or Columns
    """
    if not has_polars():
        return Columns(columns)
    import polars as pl

    return pl.DataFrame(columns)


class Columns:
    """Named arrays of one length, with what the package asks of a polars frame, under the same names.

    Parameters
    ----------
    columns : mapping
        The values of each column by its name.
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = {name: np.asarray(values) for name, values in columns.items()}

    @property
    def columns(self) -> list[str]:
        """The names."""
        return list(self._columns)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self._columns)

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(next(iter(self._columns.values()), ()))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.height, self.width

    def __len__(self) -> int:
        return self.height

    def __repr__(self) -> str:
        return f"Columns({self.height:,} rows: {', '.join(map(repr, self.columns))})"

    def __getitem__(self, key: Any) -> Any:
        """The values of a name, or the table of some names or rows."""
        if isinstance(key, str):
            return self._columns[key]
        if isinstance(key, list) and all(isinstance(name, str) for name in key):
            return Columns({name: self._columns[name] for name in key})
        return Columns({name: values[key] for name, values in self._columns.items()})

    def drop(self, *names: str) -> Columns:
        """The table without these columns."""
        return self[[name for name in self._columns if name not in names]]

    def head(self, n: int = 5) -> Columns:
        """The first rows."""
        return self[:n]

    def rows(self) -> list[tuple[Any, ...]]:
        """The rows, as values of Python."""
        return list(zip(*(values.tolist() for values in self._columns.values()), strict=True))

    def iter_rows(self, *, named: bool = False) -> Iterator[Any]:
        """The rows one by one, as tuples or by name."""
        return iter(self.to_dicts() if named else self.rows())

    def to_dicts(self) -> list[dict[str, Any]]:
        """Each row by name."""
        return [dict(zip(self._columns, row, strict=True)) for row in self.rows()]

    def to_numpy(self) -> np.ndarray:
        """All columns as a matrix."""
        return np.column_stack(list(self._columns.values()))

    def write_csv(
        self, file: str | Path | IO[bytes] | None = None, *, separator: str = ",", include_header: bool = True
    ) -> str | None:
        """Write the table into a file, by its name or open for bytes, or return its text."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter=separator, lineterminator="\n")
        if include_header:
            writer.writerow(self._columns)
        writer.writerows(map(_cells, zip(*(values.tolist() for values in self._columns.values()), strict=True)))
        if file is None:
            return text.getvalue()
        if isinstance(file, str | Path):
            Path(file).write_text(text.getvalue(), encoding="utf-8", newline="")
        else:
            file.write(text.getvalue().encode())
        return None


def _cells(row: Iterable[Any]) -> Iterator[Any]:
    """A row as polars writes it: truth in small letters."""
    return (str(cell).lower() if isinstance(cell, bool) else cell for cell in row)
