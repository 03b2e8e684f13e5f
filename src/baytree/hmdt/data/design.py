"""The design of sequences: a table in the order of time, whose response may be missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.design import AnyDesign, hashed
from ...data.frames import name_of
from ...data.matrix import LinearDesign, LinearSchema
from ...data.response import Task
from ...errors import InputError
from ...hme.data.outputs import design_of_outputs
from ...text import counted
from .reading import joined, seen


@dataclass(frozen=True, eq=False)
class SequenceDesign(AnyDesign):
    """Sequences of rows as the matrix of a linear model, one sequence after the other, each in the order of time.

    Attributes
    ----------
    schema : LinearSchema
        Names, levels, means, units and the response.
    matrix : numpy.ndarray
        As of a `LinearDesign`.
    y : numpy.ndarray
        Likewise. Where the response was not seen, one that was stands for it.
    seen : numpy.ndarray of shape (rows,)
        Whether the response was seen.
    begin : numpy.ndarray of shape (sequences + 1,)
        The first row of each sequence, and the number of rows.
    """

    schema: LinearSchema
    matrix: np.ndarray
    y: np.ndarray
    seen: np.ndarray
    begin: np.ndarray

    # Sequences take neither: rows that count twice would come twice in time.
    weight = offset = None
    shaped_by = "groups and interactions"

    @property
    def sequences(self) -> int:
        """Number of sequences."""
        return len(self.begin) - 1

    @property
    def table(self) -> LinearDesign:
        """All rows, as rows that know nothing of each other."""
        return LinearDesign(self.schema, self.matrix, self.y)

    @property
    def seen_rows(self) -> LinearDesign:
        """Those whose response was seen, likewise."""
        return LinearDesign(self.schema, self.matrix[self.seen], self.y[self.seen])

    def at(self, rows: Any) -> np.ndarray:
        """Some rows of the matrix, as `LinearSchema.encode` gives them."""
        return self.matrix[rows]

    def __repr__(self) -> str:
        shape = f"{counted(self.sequences, 'sequence')}, {counted(self.rows, 'row')}"
        return f"<SequenceDesign: {shape}, response {self.response.name!r}>"

    def describe(self) -> str:
        """The sequences in words, then the rows whose response was seen."""
        lengths = np.diff(self.begin)
        spread = f"{lengths.min():,} to {lengths.max():,} rows" if np.ptp(lengths) else counted(lengths[0], "row")
        unseen = self.rows - int(self.seen.sum())
        gaps = f"; the response was not seen at {counted(unseen, 'row')}" if unseen else ""
        return f"{counted(self.sequences, 'sequence')} of {spread}{gaps}\n{self.seen_rows.describe()}"

    def fingerprint(self) -> str:
        """A short hash of the schema, the matrix, the responses and where sequences begin."""
        return hashed(self.schema.to_dict(), self.matrix.T, self.y, self.seen, self.begin)


def require_sequences(design: Any) -> None:
    """Raise InputError for anything but a design of sequences."""
    if not isinstance(design, SequenceDesign):
        raise InputError(
            f"a hidden Markov decision tree needs a SequenceDesign, not {type(design).__name__}; make one with "
            "make_sequence_design"
        )


def make_sequence_design(
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    task: Task = "regression",
    categorical_features: Any = None,
    interactions: str | Iterable[tuple[str | int, str | int]] | None = None,
    names: Sequence[str] | None = None,
    target: str | None = None,
) -> SequenceDesign:
    """Make a design of rows that follow each other in time.

    Parameters
    ----------
    X : frame or two-dimensional array-like, or list of them
        The predictors, in the order of time; a list has one table for each sequence.
    y : array-like of shape (rows,), for numbers also (rows, outputs), or list of them
        The responses, NaN or None where they were not seen.
    groups : array-like, optional
        Of one table, the sequence of each row; rows of a sequence lie together. Left out, all are one sequence.
    task : {"auto", "classification", "regression"}
        Whether the response holds numbers or classes.
    categorical_features, interactions, names, target
        As for `make_linear_design`.

    Returns
    -------
    SequenceDesign
    """
    given = joined(X, y, groups)
    values, was_seen = seen(given.y)
    table = design_of_outputs(
        given.X,
        values,
        task,
        categorical_features=categorical_features,
        names=names,
        target=name_of(y[0] if given.listed else y) if target is None else target,
        interactions=interactions,
    )
    return SequenceDesign(table.schema, table.matrix, table.y, was_seen, given.begin)
