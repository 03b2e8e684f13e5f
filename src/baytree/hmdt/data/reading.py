"""Sequences of rows as a person gives them: from groups or lists to one table, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from ...data.frames import table_of
from ...data.response import Response, response_vector
from ...data.values import column_values, plain_array
from ...errors import InputError
from ...hme.data.outputs import indicators_of
from ...text import counted


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

    def given_back(self, values: np.ndarray, axis: int = 0) -> Any:
        """What was found for the rows, which lie on an axis, in the form in which they were given."""
        return np.split(values, self.begin[1:-1], axis) if self.listed else values


def tables_of(X: Any) -> list[Any]:
    """The tables that sequences come in: one, or one for each."""
    return list(X) if _is_list_of_tables(X) else [X]


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
        whole = np.array([0, rows] if rows else [0])  # no rows are no sequence
        return Joined(X, y, whole if groups is None else _begins(groups, rows), False)
    if groups is not None:
        raise InputError("groups is for one table, and X is a list of sequences already; leave it out")
    if y is not None and (not isinstance(y, Sequence) or len(y) != len(X)):
        given = f"{len(y):,}" if isinstance(y, Sequence) else "no list"
        raise InputError(f"X is a list of {counted(len(X), 'sequence')} and y has {given}; give one y for each")
    tables = [table_of(each) for each in X]
    for number, table in enumerate(tables):
        if len(table.names) != len(tables[0].names) or sorted(table.names) != sorted(tables[0].names):
            these, first = (", ".join(of.names) for of in (table, tables[0]))
            raise InputError(f"sequence {number} has the columns {these}, and sequence 0 {first}; give all the same")
    lengths = [table.rows for table in tables]
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


def responses_of(y: Any, response: Response, one_output: bool) -> tuple[np.ndarray, np.ndarray]:
    """New responses as numbers, of classes their indicators, shape (rows, outputs), and which were seen.

    Parameters
    ----------
    y : array-like
        The responses, NaN or None where they were not seen.
    response : Response
        What they are.
    one_output : bool
        Whether there is one a row.
    """
    if response.classes is not None:
        labels = plain_array("y", response_vector(y))
        was_seen = ~column_values("y", labels).missing
        return indicators_of(np.where(was_seen, labels, response.classes[0]), response.classes), was_seen
    columns = [y] if one_output else list(np.asarray(y).T)
    cells = [column_values("y", plain_array("y", response_vector(column))) for column in columns]
    for each in cells:
        if each.kind == "categorical":
            raise InputError(f"y: responses must be numbers, not text such as {each.values[0]!r}")
    was_seen = ~np.any([each.missing for each in cells], axis=0)
    values = np.column_stack([np.asarray(each.values, dtype=np.float64) for each in cells])
    return np.where(was_seen[:, None], values, 1.0), was_seen


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
    begins = [0][:rows] + [row for row in range(1, rows) if labels[row] != labels[row - 1]]
    known: set[Any] = set()
    for row in begins:
        if labels[row] in known:
            raise InputError(
                f"groups: the rows of {labels[row]!r} do not lie together; sort the rows by group, then by time"
            )
        known.add(labels[row])
    return np.array([*begins, rows])
