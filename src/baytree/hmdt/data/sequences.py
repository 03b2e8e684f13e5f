"""Sequences of rows: what hidden Markov decision trees compute with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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
