"""Tables as the inputs of soft trees: indicators for factors, standard units, and a column of ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.matrix import LinearDesign, LinearSchema
from ...data.standardise import standard_columns


@dataclass(frozen=True, eq=False)
class Inputs:
    """How rows of a table become inputs.

    Attributes
    ----------
    schema : LinearSchema
        The training table's columns. Where values are missing the mean takes their place, beside an indicator of it.
    kept : numpy.ndarray
        Which columns of its matrix are used: those that vary and do not repeat others of their predictor.
    centre, scale : numpy.ndarray
        What is subtracted from them, and what they are divided by.
    """

    schema: LinearSchema
    kept: np.ndarray
    centre: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, design: LinearDesign) -> Inputs:
        """Inputs that are standard over the rows of a design."""
        _, centre, scale, varies = standard_columns(design)
        kept = np.flatnonzero(varies)
        # Weights count copies of rows here, so mean squares are over their sum.
        weight = float(design.rows if design.weight is None else design.weight.sum())
        return cls(design.schema, kept, centre[kept], scale[kept] * np.sqrt(design.rows / weight))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the inputs, without the ones."""
        return tuple(self.schema.matrix_names[column] for column in self.kept)

    def matrix(self, table: Any) -> np.ndarray:
        """New rows as inputs, shape (rows, inputs + 1); the last column is ones."""
        return self.of_matrix(self.schema.encode(table))

    def of_matrix(self, matrix: np.ndarray) -> np.ndarray:
        """Rows of the schema's matrix as inputs."""
        standard = (matrix[:, self.kept] - self.centre) / self.scale
        return np.column_stack([standard, np.ones(len(standard))])
