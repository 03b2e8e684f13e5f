"""CSV and TSV text read without any table library.

The values are those that polars gives, whose rules these are: a column holds whole numbers, numbers, truth values,
dates or text, whichever comes first that all its cells are.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

MISSING_CELLS = frozenset(["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "?"])
# What Unicode calls white space: Python also strips the separators of ASCII.
WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
WHOLE = re.compile(r"-?[0-9]+")
# What Python takes for a part of a number, and nobody else does.
ODD_IN_NUMBERS = re.compile(r"[_\x1c-\x1f\x80-\U0010ffff]")
DATE = r"\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4}"
TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
MOMENTS = {
    "date": re.compile(DATE),
    "time": re.compile(TIME),
    "date and time": re.compile(rf"(?:{DATE})[ T]{TIME}(?:Z|[-+]\d{{2}}:?\d{{2}})?"),
}


class UnreadableError(Exception):
    """A text that is no table, and where.

    Parameters
    ----------
    line : int
        The number of the line, from 1.
    what : str
        What is wrong there.
    """

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line:,}: {what}")
        self.line, self.what = line, what

    def below(self, lines: int) -> UnreadableError:
        """The same of a text that stands below so many lines."""
        return UnreadableError(self.line + lines, self.what)


def lines_of(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The number and the cells of each line.

    Raises
    ------
    UnreadableError
        If quotes are misplaced.
    """
    # Where a text ends with a separator, polars takes the cell behind it for none, unless it is alone in its line.
    if text.endswith(separator) and "\n" in text and not text.endswith(f"\n{separator}"):
        text = text.removesuffix(separator)
    return _quoted_lines(text, separator) if '"' in text else _plain_lines(text, separator)


def rows_of(lines: Iterable[tuple[int, list[str]]], width: int) -> list[list[str]]:
    """The cells of lines that are below a header of this width, short lines filled up with empty ones.

    Raises
    ------
    UnreadableError
        If a line has more cells than the header.
    """
    rows = []
    for number, cells in lines:
        if len(cells) > width:
            raise UnreadableError(number, f"{len(cells):,} cells, but the header has {width:,}")
        rows.append(cells if len(cells) == width else cells + [""] * (width - len(cells)))
    return rows


def columns_of(names: Sequence[str], rows: Sequence[Sequence[str]], text: Collection[str]) -> dict[str, np.ndarray]:
    """The values of each column by its name; those in `text` stay text."""
    cells = zip(*rows, strict=True) if rows else [()] * len(names)
    return {name: values_of(column, keep_text=name in text) for name, column in zip(names, cells, strict=True)}


def values_of(cells: Sequence[str], keep_text: bool = False) -> np.ndarray:
    """The cells of a column as values of the narrowest type that all of them have."""
    stripped = [cell.strip(WHITE_SPACE) for cell in cells]
    if keep_text:
        return _text(stripped)
    if (numbers := _numbers(stripped)) is not None:
        if not all(WHOLE.fullmatch(cell) for cell in cells if cell not in MISSING_CELLS):
            return numbers
        whole = [] if any(cell in MISSING_CELLS for cell in cells) else list(map(int, cells))
        fit = len(whole) > 0 and min(whole) >= -(2**63) and max(whole) < 2**63
        return np.array(whole) if fit else numbers + 0.0  # a whole number has no negative zero
    present = {cell.lower() for cell in cells if cell not in MISSING_CELLS}
    if present <= {"true", "false"}:
        truth = _objects(cells, lambda cell: cell.lower() == "true")
        return truth if None in truth else truth.astype(bool)
    dates = _dates(stripped)
    return _text(stripped) if dates is None else dates


def _plain_lines(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    lines = text.removesuffix("\n").split("\n")
    return ((number, line.removesuffix("\r").split(separator)) for number, line in enumerate(lines, 1))


def _quoted_lines(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The number and the cells of each line of a text some of whose cells are in quotes."""
    cell = re.compile(rf'(?:"([^"]*(?:""[^"]*)*)"|([^{re.escape(separator)}\n]*))(\r?\n|\r?\Z|{re.escape(separator)})')
    cells: list[str] = []
    at, number, began, end = 0, 1, 1, len(text)
    while at < end or cells:
        found = cell.match(text, at)
        if found is None or (found[2] or "").startswith('"'):
            closed = re.compile(r'"[^"]*(?:""[^"]*)*"').match(text, at)
            raise UnreadableError(number, "text stands behind a closing quote" if closed else "a quote is never closed")
        quoted, plain, ended = found.groups()
        cells.append(plain if quoted is None else quoted.replace('""', '"'))
        number += found[0].count("\n")
        at = found.end()
        if ended != separator:
            if quoted is None:
                cells[-1] = cells[-1].removesuffix("\r")
            yield began, cells
            cells, began = [], number


def _text(cells: Sequence[str]) -> np.ndarray:
    return np.array(cells, dtype=str) if MISSING_CELLS.isdisjoint(cells) else _objects(cells, str)


def _objects(cells: Sequence[str], value: Callable[[str], Any]) -> np.ndarray:
    """Values of Python, with None for a cell that is missing."""
    values = np.empty(len(cells), dtype=object)
    values[:] = [None if cell in MISSING_CELLS else value(cell) for cell in cells]
    return values


def _numbers(cells: Sequence[str]) -> np.ndarray | None:
    try:
        numbers = np.array([np.nan if cell in MISSING_CELLS else float(cell) for cell in cells], dtype=np.float64)
    except ValueError:
        return None
    return None if any(map(ODD_IN_NUMBERS.search, cells)) else numbers


def _dates(cells: Sequence[str]) -> np.ndarray | None:
    present = [cell for cell in cells if cell not in MISSING_CELLS]
    for pattern in MOMENTS.values():
        if all(map(pattern.fullmatch, present)):
            try:
                return _objects(cells, _moment)
            except ValueError:
                return None
    return None


def _moment(cell: str) -> datetime.datetime:
    """The moment that a cell names; a time of day is one of the first day."""
    numbers: Any = list(map(int, re.findall(r"\d+", cell)))
    if not MOMENTS["time"].fullmatch(cell):
        day = numbers[:3] if re.match(r"\d{4}", cell) else numbers[2::-1]
        return datetime.datetime(*day, *numbers[3:6])
    return datetime.datetime(1, 1, 1, *numbers[:3])
