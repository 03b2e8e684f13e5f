"""Prediction by averaging over linear models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import require_prob, unknown_choice
from ..sum_prediction import normals_by_row
from .draws import SubsetDraws
from .model import Subset

KINDS = ("mean", "interval", "draws", "predictive", "predictive_interval", "sigma")
# How many numbers a block of rows has, over all draws.
BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True, eq=False)
class LinearPrediction:
    """Coefficients in the units of the table, and what they predict.

    Attributes
    ----------
    model : Subset
        The model, resolved.
    draws : SubsetDraws
        Its draws.
    columns : numpy.ndarray
        Which columns of the matrix those of the draws are.
    seed : int
        Of new responses.
    """

    model: Subset
    draws: SubsetDraws
    columns: np.ndarray
    seed: int

    @cached_property
    def _scaled(self) -> tuple[np.ndarray, np.ndarray]:
        """What a coefficient in standard units is multiplied by, and the centre, of each column of the draws."""
        found = self.model.calibrated
        spread, centre = np.array(found.spread)[self.columns], np.array(found.centre)[self.columns]
        return found.unit / spread, centre

    @cached_property
    def coefficient(self) -> np.ndarray:
        """The coefficients of each draw, one after the other, as `SubsetDraws.coefficient`."""
        return self.draws.coefficient * self._scaled[0][self.draws.coefficient_column]

    @cached_property
    def intercept(self) -> np.ndarray:
        """The intercept of each draw, all chains one after the other; 0 without one."""
        if not self.model.fit_intercept:
            return np.zeros(self.draws.model.size)
        found = self.model.calibrated
        level = found.mean + self.draws.level.ravel() * (found.unit / np.sqrt(found.weight))
        return level - self._summed(self.coefficient, self._scaled[1], self.draws.coefficient_column, self._edges)

    @cached_property
    def sigma(self) -> np.ndarray:
        """The noise's standard deviation of each draw, all chains one after the other."""
        return self.draws.sigma.ravel() * self.model.calibrated.unit

    @cached_property
    def mean(self) -> tuple[float, np.ndarray]:
        """The posterior means of the intercept and of the coefficient of each column of the matrix.

        Each model's own posterior mean, averaged over the draws: less noisy than the average of the draws.
        """
        draws = self.draws
        visits = np.bincount(draws.model.ravel(), minlength=len(draws.begin) - 1) / draws.model.size
        share = np.repeat(visits, draws.width)
        standard = np.bincount(draws.column, weights=draws.mean * share, minlength=len(self.columns))
        coefficients = np.zeros(len(self.model.calibrated.spread))
        coefficients[self.columns] = standard * self._scaled[0]
        if not self.model.fit_intercept:
            return 0.0, coefficients
        return self.model.calibrated.mean - float(coefficients[self.columns] @ self._scaled[1]), coefficients

    @property
    def _edges(self) -> np.ndarray:
        return self.draws.coefficient_begin

    @staticmethod
    def _summed(coefficient: np.ndarray, of_column: np.ndarray, column: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """The sum over each draw's columns of coefficient times a number of the column."""
        before = np.concatenate([[0.0], np.cumsum(coefficient * of_column[column])])
        return before[edges[1:]] - before[edges[:-1]]

    @cached_property
    def _dense(self) -> np.ndarray:
        """The coefficients of the columns that any draw has, shape (all draws, used columns)."""
        used = self._used
        place = np.full(len(self.columns), -1)
        place[used] = np.arange(len(used))
        dense = np.zeros((self.draws.model.size, len(used)))
        rows = np.repeat(np.arange(self.draws.model.size), np.diff(self._edges))
        dense[rows, place[self.draws.coefficient_column]] = self.coefficient
        return dense

    @cached_property
    def _used(self) -> np.ndarray:
        return np.unique(self.draws.coefficient_column)

    def fits(self, matrix: np.ndarray) -> np.ndarray:
        """α + xβ of each draw and row of a matrix, shape (all draws, rows)."""
        used = self.columns[self._used]
        # Against the centres, so that large values far from 0 do not lose digits.
        centre = self._scaled[1][self._used]
        level = self.intercept + self._dense @ centre
        return self._dense @ (matrix[:, used] - centre).T + level[:, None]

    def predict(self, matrix: np.ndarray, kind: str, prob: float) -> np.ndarray:
        """What `SubsetPosterior.predict` promises, for the matrix of the rows."""
        if kind not in KINDS:
            raise unknown_choice("kind of prediction", kind, KINDS)
        require_prob(prob)
        shape = self.draws.model.shape
        if kind == "mean":
            intercept, coefficients = self.mean
            return intercept + matrix @ coefficients
        if kind == "sigma":
            return np.full(len(matrix), self.sigma.mean())
        if kind in ("draws", "predictive"):
            blocks = [self._values(kind, matrix[block], block.start) for block in self._blocks(len(matrix))]
            return np.concatenate(blocks, axis=1).reshape(*shape, len(matrix))
        tails = [(1 - prob) / 2, (1 + prob) / 2]
        source = "draws" if kind == "interval" else "predictive"
        quantiles = [
            np.quantile(self._values(source, matrix[block], block.start), tails, axis=0).T
            for block in self._blocks(len(matrix))
        ]
        return np.concatenate(quantiles)

    def _values(self, kind: str, matrix: np.ndarray, first: int) -> np.ndarray:
        fits = self.fits(matrix)
        if kind == "predictive":
            fits += self.sigma[:, None] * normals_by_row(self.seed, first, len(matrix), len(fits)).T
        return fits

    def _blocks(self, rows: int) -> Iterator[slice]:
        step = max(1, BLOCK_NUMBERS // max(self.draws.model.size, 1))
        for begin in range(0, max(rows, 1), step):
            yield slice(begin, min(begin + step, rows))


class Fits:
    """What some draws predict, for the comparison of chains."""

    def __init__(self, prediction: Callable[[np.ndarray], np.ndarray], chains: int, draws: int) -> None:
        self._prediction, self.chains, self.draws = prediction, chains, draws

    def predictions(self, codes: np.ndarray) -> Iterator[np.ndarray]:
        """Predictions at rows of the matrix, shape (chains, draws, rows, 1)."""
        yield self._prediction(codes)[..., None]
