"""What all subsets together say of coefficients and noise, exactly, where they were enumerated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from math import inf
from typing import Self

import numpy as np

from ..errors import InputError


@dataclass(frozen=True, eq=False)
class Moments:
    """Posterior moments over all models, of columns and a response in standard units.

    Attributes
    ----------
    coefficient_mean : numpy.ndarray
        The mean of the coefficient of each column, which is 0 in models without it.
    coefficient_covariance : numpy.ndarray
        The lower triangle of their covariance matrix, row by row.
    noise : numpy.ndarray
        The means of σ and of σ²; 0 where they are infinite, which no file may hold.
    """

    coefficient_mean: np.ndarray
    coefficient_covariance: np.ndarray
    noise: np.ndarray

    @classmethod
    def of(cls, found: Mapping[str, np.ndarray]) -> Self:
        """From what the core's enumeration, or a file, has by these names."""
        noise = found["noise"]
        return cls(found["coefficient_mean"], found["coefficient_covariance"], np.where(np.isfinite(noise), noise, 0.0))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in MOMENTS}

    @property
    def sigma(self) -> float:
        """The mean of σ; infinite where it has none."""
        return float(self.noise[0]) or inf

    @property
    def variance(self) -> float:
        """The mean of σ², likewise."""
        return float(self.noise[1]) or inf

    @cached_property
    def covariance(self) -> np.ndarray:
        """The covariance matrix of the coefficients; what the noise adds to it is left out where σ² has no mean."""
        width = len(self.coefficient_mean)
        matrix = np.zeros((width, width))
        matrix[np.tril_indices(width)] = self.coefficient_covariance
        return matrix + np.tril(matrix, -1).T

    def variance_along(self, columns: np.ndarray) -> np.ndarray:
        """The variance of β'x for rows x of so many columns."""
        return np.maximum(np.einsum("ij,ij->i", columns @ self.covariance, columns), 0)

    def check(self, columns: int) -> None:
        """Raise InputError where these are not the moments of so many columns."""
        sizes = [np.shape(getattr(self, name)) for name in MOMENTS]
        fits = sizes == [(columns,), (columns * (columns + 1) // 2,), (2,)]
        if not fits or not (self.noise >= 0).all() or not (np.diag(self.covariance) >= -1e-12).all():
            raise InputError("the moments of the coefficients are damaged")


MOMENTS = tuple(field.name for field in fields(Moments))
