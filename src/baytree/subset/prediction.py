"""Prediction by averaging over linear models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..bart.prediction import normals_by_row
from ..validation import require_prob, unknown_choice
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
    def level(self) -> np.ndarray:
        """What each draw predicts where every column is at its centre, all chains one after the other."""
        if not self.model.fit_intercept:
            return np.zeros(self.draws.model.size)
        found = self.model.calibrated
        return found.mean + self.draws.level.ravel() * (found.unit / np.sqrt(found.weight))

    @cached_property
    def intercept(self) -> np.ndarray:
        """The intercept of each draw, all chains one after the other; 0 without one."""
        draws = self.draws
        products = self.coefficient * self._scaled[1][draws.coefficient_column]
        return self.level - np.bincount(self._of_draw, weights=products, minlength=draws.model.size)

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
        # Without an intercept all centres are 0.
        return self.model.calibrated.mean - float(coefficients[self.columns] @ self._scaled[1]), coefficients

    @cached_property
    def _of_draw(self) -> np.ndarray:
        """The draw that each of the coefficients belongs to."""
        return np.repeat(np.arange(self.draws.model.size), np.diff(self.draws.coefficient_begin))

    @cached_property
    def _dense(self) -> np.ndarray:
        """The coefficients of the columns that any draw has, shape (all draws, used columns)."""
        used = self._used
        place = np.full(len(self.columns), -1)
        place[used] = np.arange(len(used))
        dense = np.zeros((self.draws.model.size, len(used)))
        dense[self._of_draw, place[self.draws.coefficient_column]] = self.coefficient
        return dense

    @cached_property
    def _used(self) -> np.ndarray:
        return np.unique(self.draws.coefficient_column)

    def _centred(self, matrix: np.ndarray, used: np.ndarray) -> np.ndarray:
        """Some columns less their centres: values far from 0 would lose their digits in an intercept."""
        return matrix[:, self.columns[used]] - self._scaled[1][used]

    def fits(self, matrix: np.ndarray) -> np.ndarray:
        """α + xβ of each draw and row of a matrix, shape (all draws, rows)."""
        return self._dense @ self._centred(matrix, self._used).T + self.level[:, None]

    def predict(self, matrix: np.ndarray, kind: str, prob: float) -> np.ndarray:
        """What `SubsetPosterior.predict` promises, for the matrix of the rows."""
        if kind not in KINDS:
            raise unknown_choice("kind of prediction", kind, KINDS)
        require_prob(prob)
        shape = self.draws.model.shape
        if kind == "mean":
            _, coefficients = self.mean
            used = np.arange(len(self.columns))
            return self.model.calibrated.mean + self._centred(matrix, used) @ coefficients[self.columns]
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

    def predictions(self, bins: np.ndarray) -> Iterator[np.ndarray]:
        """Predictions at rows of the matrix, shape (chains, draws, rows, 1)."""
        yield self._prediction(bins)[..., None]
