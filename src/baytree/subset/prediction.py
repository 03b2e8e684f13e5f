"""Prediction by averaging over linear models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..posterior.prediction import NUMBER_KINDS, Block, Prediction, log_normal, normals_by_row
from .draws import SubsetDraws
from .model import Subset
from .moments import Moments


@dataclass(frozen=True, eq=False)
class LinearPrediction(Prediction):
    """Coefficients in the units of the table, and what they predict.

    Attributes
    ----------
    model : Subset
        The model, resolved.
    drawn : SubsetDraws
        Its draws.
    columns : numpy.ndarray
        Which columns of the matrix those of the draws are.
    seed : int
        Of new responses.
    moments : Moments or None
        What all models together say, where they were enumerated; means and standard deviations are exact then.
    """

    model: Subset
    drawn: SubsetDraws
    columns: np.ndarray
    seed: int
    moments: Moments | None = None

    rows_alone = False

    classes = None
    kinds = (*NUMBER_KINDS, "sigma")

    @property
    def weighs_noise(self) -> bool:
        """The weight is of the noise."""
        return True

    @cached_property
    def _scaled(self) -> tuple[np.ndarray, np.ndarray]:
        """What a coefficient in standard units is multiplied by, and the centre, of each column of the draws."""
        found = self.model.calibrated
        spread, centre = np.array(found.spread)[self.columns], np.array(found.centre)[self.columns]
        return found.unit / spread, centre

    @cached_property
    def coefficient(self) -> np.ndarray:
        """The coefficients of each draw, one after the other, as `SubsetDraws.coefficient`."""
        return self.drawn.coefficient * self._scaled[0][self.drawn.coefficient_column]

    @cached_property
    def level(self) -> np.ndarray:
        """What each draw predicts where every column is at its centre, all chains one after the other."""
        if not self.model.fit_intercept:
            return np.zeros(self.drawn.model.size)
        found = self.model.calibrated
        return found.mean + self.drawn.level.ravel() * (found.unit / np.sqrt(found.weight))

    @cached_property
    def intercept(self) -> np.ndarray:
        """The intercept of each draw, all chains one after the other; 0 without one."""
        drawn = self.drawn
        products = self.coefficient * self._scaled[1][drawn.coefficient_column]
        return self.level - np.bincount(self._of_draw, weights=products, minlength=drawn.model.size)

    @cached_property
    def sigma(self) -> np.ndarray:
        """The noise's standard deviation of each draw, all chains one after the other."""
        return self.drawn.sigma.ravel() * self.model.calibrated.unit

    @cached_property
    def coefficient_mean(self) -> tuple[float, np.ndarray]:
        """The posterior means of the intercept and of the coefficient of each column of the matrix.

        Without moments, each model's own posterior mean, averaged over the draws: less noisy than the average of those.
        """
        drawn = self.drawn
        if self.moments is None:
            visits = np.bincount(drawn.model.ravel(), minlength=len(drawn.begin) - 1) / drawn.model.size
            share = np.repeat(visits, drawn.width)
            standard = np.bincount(drawn.column, weights=drawn.mean * share, minlength=len(self.columns))
        else:
            standard = self.moments.coefficient_mean
        coefficients = np.zeros(len(self.model.calibrated.spread))
        coefficients[self.columns] = standard * self._scaled[0]
        # Without an intercept all centres are 0.
        return self.model.calibrated.mean - float(coefficients[self.columns] @ self._scaled[1]), coefficients

    @property
    def coefficient_sd(self) -> np.ndarray | None:
        """The exact standard deviations of the intercept and of each column's coefficient; None where not known."""
        moments = self.moments
        if moments is None:
            return None
        factor, centre = self._scaled
        found = np.zeros(1 + len(self.model.calibrated.spread))
        if not np.isfinite(moments.variance):
            found[[0, *(1 + self.columns)]] = np.inf
            return found
        found[1 + self.columns] = factor * np.sqrt(np.maximum(np.diag(moments.covariance), 0))
        level = self._level_share * moments.variance * self.model.calibrated.unit**2
        found[0] = np.sqrt(level + moments.variance_along((factor * centre)[None])[0])
        return found

    @property
    def _level_share(self) -> float:
        """The variance of what is predicted where every column is at its centre, as a share of σ²."""
        return 1 / self.model.calibrated.weight if self.model.fit_intercept else 0.0

    def sd(self, matrix: np.ndarray) -> np.ndarray | None:
        """The exact standard deviation of a new y for each row of a matrix; None where it is not known."""
        if self.moments is None:
            return None
        standard = (
            self._centred(matrix, np.arange(len(self.columns))) / np.array(self.model.calibrated.spread)[self.columns]
        )
        variance = (1 + self._level_share) * self.moments.variance + self.moments.variance_along(standard)
        return np.sqrt(variance) * self.model.calibrated.unit

    @cached_property
    def _of_draw(self) -> np.ndarray:
        """The draw that each of the coefficients belongs to."""
        return np.repeat(np.arange(self.drawn.model.size), np.diff(self.drawn.coefficient_begin))

    @cached_property
    def _dense(self) -> np.ndarray:
        """The coefficients of the columns that any draw has, shape (all draws, used columns)."""
        used = self._used
        place = np.full(len(self.columns), -1)
        place[used] = np.arange(len(used))
        dense = np.zeros((self.drawn.model.size, len(used)))
        dense[self._of_draw, place[self.drawn.coefficient_column]] = self.coefficient
        return dense

    def coefficients(self) -> np.ndarray:
        """The coefficient of each column of the matrix in each draw, shape (chains, draws, columns)."""
        every = np.zeros((*self.shape, len(self.model.calibrated.spread)))
        every[..., self.columns[self._used]] = self._dense.reshape(*self.shape, -1)
        return every

    @cached_property
    def _used(self) -> np.ndarray:
        return np.unique(self.drawn.coefficient_column)

    def _centred(self, matrix: np.ndarray, used: np.ndarray) -> np.ndarray:
        """Some columns less their centres: values far from 0 would lose their digits in an intercept."""
        return matrix[:, self.columns[used]] - self._scaled[1][used]

    def average(self, matrix: np.ndarray) -> np.ndarray:
        """α + xβ of each row of a matrix, with the posterior means of α and β."""
        _, coefficients = self.coefficient_mean
        used = np.arange(len(self.columns))
        return self.model.calibrated.mean + self._centred(matrix, used) @ coefficients[self.columns]

    def fits(self, matrix: np.ndarray) -> np.ndarray:
        """α + xβ of each draw and row of a matrix, shape (all draws, rows)."""
        return self._dense @ self._centred(matrix, self._used).T + self.level[:, None]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of chains and of draws of each."""
        return self.drawn.chains, self.drawn.draws

    @property
    def averages(self) -> tuple[str, ...]:
        """Those that keep no draw in memory."""
        return ("mean", "sigma") if self.moments is None else ("mean", "sd", "sigma")

    def numbers(self, keeps_draws: bool) -> int:
        """How many numbers are in memory at once for a row, with or without those of every draw."""
        return self.drawn.model.size if keeps_draws else 1

    def take(self, draws: np.ndarray) -> LinearPrediction:
        """From some of the draws of each chain, by their numbers."""
        return replace(self, drawn=self.drawn.take(draws))

    def blocks(self, rows: np.ndarray) -> Callable[[slice, Sequence[str]], LinearBlock]:
        """What tells what the draws say of some rows of the matrix."""
        return lambda some, _: LinearBlock(self, rows[some], some.start)


class LinearBlock(Block):
    """What every linear model says of a block of rows.

    Parameters
    ----------
    prediction : LinearPrediction
        The draws.
    matrix : numpy.ndarray
        The rows.
    first : int
        The number of the first of them.
    """

    def __init__(self, prediction: LinearPrediction, matrix: np.ndarray, first: int) -> None:
        self._prediction, self._matrix, self._first = prediction, matrix, first

    @cached_property
    def draws(self) -> np.ndarray:
        """E(y | x) of each draw and row."""
        return self._prediction.fits(self._matrix)

    @cached_property
    def predictive(self) -> np.ndarray:
        """A new y of weight 1 for each draw and row."""
        fits, sigma = self.draws, self._prediction.sigma[:, None]
        return fits + sigma * normals_by_row(self._prediction.seed, self._first, len(self._matrix), len(fits)).T

    def log_density(self, y: np.ndarray, weight: np.ndarray | float) -> np.ndarray:
        """log P(y | x, γ, α, β, σ) of each draw and row; the noise of a row of weight w has the variance σ²/w."""
        return log_normal(y, self.draws, self._prediction.sigma[:, None] / np.sqrt(weight))

    @property
    def mean(self) -> np.ndarray:
        """The posterior mean of E(y | x), by the models' own posterior means."""
        return self._prediction.average(self._matrix)

    @property
    def sd(self) -> np.ndarray:
        """√Var(y | x), by Var(y | x) = E σ² + Var E(y | x, model); without moments of the draws."""
        exact = self._prediction.sd(self._matrix)
        noise = (self._prediction.sigma**2).mean()
        return np.sqrt(noise + self.draws.var(axis=0)) if exact is None else exact

    @property
    def sigma(self) -> np.ndarray:
        """The posterior mean of σ."""
        moments, unit = self._prediction.moments, self._prediction.model.calibrated.unit
        mean = self._prediction.sigma.mean() if moments is None else moments.sigma * unit
        return np.full(len(self._matrix), mean)
