"""Sequences of rows: from groups or lists to one table, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from ..data.frames import table_of
from ..data.response import response_vector
from ..data.values import column_values, plain_array
from ..errors import InputError
from ..text import counted


@dataclass(frozen=True)
class Sequences:
    """Rows in the order of time, one sequence after the other.

    Attributes
    ----------
    X : numpy.ndarray of shape (rows, inputs + 1)
        Inputs in standard units, with ones in the last column.
    Y : numpy.ndarray of shape (rows, outputs)
        Outputs. Where they were not seen, anything that an output can be.
    seen : numpy.ndarray of shape (rows,)
        Whether the outputs were seen.
    begin : numpy.ndarray of shape (sequences + 1,)
        The first row of each sequence, and the number of rows.
    """

    X: np.ndarray
    Y: np.ndarray
    seen: np.ndarray
    begin: np.ndarray

    @property
    def rows(self) -> int:
        """Number of rows of all sequences."""
        return len(self.X)

    @property
    def first(self) -> np.ndarray:
        """Whether each row is the first of its sequence."""
        first = np.zeros(self.rows, dtype=bool)
        first[self.begin[:-1]] = True
        return first

    def totals(self, values: np.ndarray) -> np.ndarray:
        """The sums over the rows of each sequence."""
        return np.add.reduceat(values, self.begin[:-1])


@dataclass(frozen=True)
class Joined:
    """Sequences as they were given, one table after the other.

    Attributes
    ----------
    X : frame or array
        All rows.
    y : Any
        Their responses, or None.
    begin : numpy.ndarray of shape (sequences + 1,)
        The first row of each sequence, and the number of rows.
    listed : bool
        Whether they came as a list; what is found for them goes back as one then.
    """

    X: Any
    y: Any
    begin: np.ndarray
    listed: bool

    def given_back(self, values: np.ndarray) -> Any:
        """What was found for the rows, in the form in which they were given."""
        return np.split(values, self.begin[1:-1]) if self.listed else values


def joined(X: Any, y: Any, groups: Any) -> Joined:
    """Read sequences.

    Parameters
    ----------
    X : frame, array-like, or list of them
        One table, or one for each sequence.
    y : array-like, list of array-like, or None
        The responses, likewise.
    groups : array-like, optional
        Of one table, what tells the sequences apart; the rows of each lie together.
    """
    if not _is_list_of_tables(X):
        rows = table_of(X).rows
        return Joined(X, y, np.array([0, rows]) if groups is None else _begins(groups, rows), False)
    if groups is not None:
        raise InputError("groups is for one table, and X is a list of sequences already; leave it out")
    if y is not None and (not isinstance(y, Sequence) or len(y) != len(X)):
        given = f"{len(y):,}" if isinstance(y, Sequence) else "no list"
        raise InputError(f"X is a list of {counted(len(X), 'sequence')} and y has {given}; give one y for each")
    lengths = [table_of(each).rows for each in X]
    for number, length in enumerate(lengths):
        if not length:
            raise InputError(f"sequence {number} has no rows; leave it out")
        if y is not None and len(y[number]) != length:
            raise InputError(f"sequence {number}: X has {counted(length, 'row')} and y {len(y[number]):,}; align them")
    return Joined(_stacked(X), None if y is None else _stacked(y), np.cumsum([0, *lengths]), True)


def seen(y: Any) -> tuple[Any, np.ndarray]:
    """Responses in which something stands for those that are missing, and which are not.

    A row of several outputs was seen when all of them were.
    """
    several = getattr(y, "ndim", 1) == 2 and y.shape[1] > 1
    values = np.asarray(y) if several else plain_array("y", response_vector(y))
    if several:
        missing = np.any([column_values("y", column).missing for column in values.T], axis=0)
    else:
        missing = column_values("y", values).missing
    if missing.all():
        raise InputError("y: every value is missing; at least two rows must be seen")
    if missing.any():
        values = values.copy()
        values[missing] = values[int((~missing).argmax())]
    return values, ~missing


def _is_list_of_tables(X: Any) -> bool:
    return isinstance(X, list | tuple) and len(X) > 0 and all(len(getattr(each, "shape", ())) == 2 for each in X)


def _stacked(parts: Sequence[Any]) -> Any:
    frames = [nw.from_native(part, eager_only=True, allow_series=True, pass_through=True) for part in parts]
    if all(isinstance(frame, nw.DataFrame) for frame in frames):
        return nw.concat(frames).to_native()
    return np.concatenate([np.asarray(part) for part in parts])


def _begins(groups: Any, rows: int) -> np.ndarray:
    array = plain_array("groups", groups)
    if array.shape != (rows,):
        raise InputError(f"groups has shape {array.shape}, and there are {counted(rows, 'row')}; give one for each")
    if column_values("groups", array).missing.any():
        raise InputError("groups: some are missing; say to which sequence each row belongs")
    labels = array.tolist()
    begins = [0] + [row for row in range(1, rows) if labels[row] != labels[row - 1]]
    known: set[Any] = set()
    for row in begins:
        if labels[row] in known:
            raise InputError(
                f"groups: the rows of {labels[row]!r} do not lie together; sort the rows by group, then by time"
            )
        known.add(labels[row])
    return np.array([*begins, rows])
