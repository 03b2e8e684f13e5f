"""Predictions from draws of sums of trees: numbers, and classes by the normal variables behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import _core
from ..data.design import Schema
from ..data.response import learn_offset
from ..data.switches import widest_registers
from ..data.to_core import native_columns
from ..errors import InputError
from ..interpret.interpretation import Explainable
from ..posterior.prediction import (
    KINDS,
    NUMBER_KINDS,
    Block,
    Kind,
    Window,
    log_normal,
    log_share,
    log_student,
    normals_by_row,
    row_blocks,
    students_by_row,
)
from ..trees.forest import Ensemble

# Of sums of trees with normal noise.
SUM_KINDS = (*NUMBER_KINDS, "sigma")
# From which on the error of a class's probability does not show in its logarithm. Below, its integral is taken on so
# many points, from this far below its mean to as far above the largest mean.
LEAST_PROBABILITY = 1e-3
REACH, STEPS = 10.0, 2001
# What is in memory at once of a sum: itself, and what is drawn and computed for it.
NUMBERS_OF_A_SUM = 3


@dataclass(frozen=True, eq=False)
class SumPredictor:
    """Adds up the leaves that new rows fall into.

    Attributes
    ----------
    sums : Ensemble
        The draws.
    stored : _core.SumPredictor
        Their stored trees, as the core takes them.
    outputs : int
        How many sums a draw consists of, each of as many of its trees.
    """

    sums: Ensemble
    stored: _core.SumPredictor
    outputs: int = 1

    @classmethod
    def of(cls, schema: Schema, sums: Ensemble, outputs: int = 1) -> SumPredictor:
        """The predictor of these draws; raises InputError where the stored trees are not trees of these columns."""
        native = _core.SumPredictor(native_columns(schema), sums.forest.arrays(), widest_registers())
        return cls(sums, native, outputs)

    def take(self, draws: np.ndarray) -> SumPredictor:
        """Of some of the draws of each chain."""
        return replace(self, sums=self.sums.take(draws))

    @property
    def draws(self) -> int:
        """Number of draws of all chains."""
        return self.sums.tree_index[:, :, 0].size

    @cached_property
    def _draws(self) -> _core.SumDraws:
        chains, draws, trees = self.sums.tree_index.shape
        index = np.ascontiguousarray(self.sums.tree_index.reshape(chains * draws, trees))
        return _core.SumDraws(index, self.sums.values, self.sums.bandwidths, self.outputs)

    def each(self, bins: np.ndarray) -> np.ndarray:
        """The sums of every draw, float32 of shape (all draws, outputs, rows)."""
        return self.stored.sums(bins, self._draws).reshape(self.draws, self.outputs, len(bins))

    def mean(self, bins: np.ndarray) -> np.ndarray:
        """Their mean over the draws, float64 of shape (outputs, rows); no draw is kept."""
        return self.stored.mean(bins, self._draws).reshape(self.outputs, len(bins))

    def shapley(self, bins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What each column adds to the sums of every draw, and what these are expected to be of an unknown row.

        Float64 of shapes (all draws, outputs, rows, columns) and (all draws, outputs).
        """
        values, expected = self.stored.shapley(bins, self._draws)
        shape = (self.draws, self.outputs)
        return values.reshape(*shape, *bins.shape), expected.reshape(shape)


@dataclass(frozen=True, eq=False)
class SumPrediction(Explainable):
    """What draws of sums of trees say about new rows.

    A number is y = f(x) + ε with f the centre, the offset and the sum of the trees, and ε normal or Student's. Of two
    classes the second has P = Φ(f); of more, each has a variable N(f_k, 1), and the largest is the class.

    Attributes
    ----------
    schema : Schema
        The columns and the response.
    mean : SumPredictor
        The draws of f; with more than two classes, of that of each class.
    seed : int
        Of the random numbers of new responses: those of a row depend on it and on the row's place alone.
    centre : float or numpy.ndarray
        What is added to f; with more than two classes, of each class.
    sigma : numpy.ndarray or None
        The standard deviation of ε in every draw, shape (chains, draws), where it is one for all rows.
    variance : SumPredictor or None
        The draws of log σ²(x), where it depends on the row.
    freedom : numpy.ndarray or None
        The degrees of freedom of ε in every draw, where it is Student's.
    """

    schema: Schema
    mean: SumPredictor
    seed: int
    centre: float | np.ndarray = 0.0
    sigma: np.ndarray | None = None
    variance: SumPredictor | None = None
    freedom: np.ndarray | None = None

    @property
    def classes(self) -> int | None:
        """Number of classes; None where numbers are predicted."""
        names = self.schema.response.classes
        return None if names is None else len(names)

    @property
    def weighs_noise(self) -> bool:
        """Of numbers the weight is of the noise; a class of weight w is w equal ones."""
        return self.classes is None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of chains and of draws of each."""
        chains, draws, _ = self.mean.sums.tree_index.shape
        return chains, draws

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of prediction that there are."""
        return SUM_KINDS if self.classes is None else KINDS

    @property
    def averages(self) -> tuple[str, ...]:
        """Those that keep no draw in memory."""
        return ("mean",) if self.classes is None else ()

    def numbers(self, keeps_draws: bool) -> int:
        """How many numbers are in memory at once for a row, with or without those of every draw."""
        return self.mean.draws * self.mean.outputs * NUMBERS_OF_A_SUM if keeps_draws else 1

    def take(self, draws: np.ndarray) -> SumPrediction:
        """From some of the draws of each chain."""
        return replace(
            self,
            mean=self.mean.take(draws),
            sigma=None if self.sigma is None else self.sigma[:, draws],
            variance=None if self.variance is None else self.variance.take(draws),
            freedom=None if self.freedom is None else self.freedom[:, draws],
        )

    def blocks(
        self, rows: np.ndarray, offset: Any = None, first: int = 0
    ) -> Callable[[slice, Sequence[str]], SumBlock]:
        """What tells what the draws say of some of the rows.

        Parameters
        ----------
        rows : numpy.ndarray of uint32, shape (rows, columns)
            The rows, encoded.
        offset : array-like of shape (rows,) or None
            What is added to f, of numbers or two classes.
        first : int
            The place of the first row in a longer table of which this is a part.
        """
        added = offset if offset is None or isinstance(offset, Window) else self._offset(offset, len(rows))

        def block(some: slice, kinds: Sequence[str]) -> SumBlock:
            here = rows[some]
            beside = np.zeros(len(here)) if added is None else added[some]
            return SumBlock(self, here, beside, first + some.start, set(kinds) != {"mean"})

        return block

    def stream(
        self, tables: Iterable[Any], kind: Kind = "mean", prob: float = 0.9, offsets: Iterable[Any] | None = None
    ) -> Iterator[Any]:
        """Predict a table that comes in parts; together they give what `predict` gives of the whole.

        Parameters
        ----------
        tables : iterable of paths, frames or arrays
            The parts, of any number of rows.
        kind, prob
            As in `predict`.
        offsets : iterable of array-likes or None
            The offset of each part.
        """
        first = 0
        pairs = ((table, None) for table in tables) if offsets is None else zip(tables, offsets, strict=True)
        for table, offset in pairs:
            bins = self.schema.encode(table)
            yield self.predict(bins, kind, prob, offset=offset, first=first)
            first += len(bins)

    def explain(self, bins: np.ndarray, place: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Shapley values of f, and what it is expected to be of a row of which nothing is known.

        Parameters
        ----------
        bins : numpy.ndarray of uint32, shape (rows, columns)
            The rows, encoded.
        place : int
            With classes, which of them; of two, f is that of the second, and the first has its negative.

        Returns
        -------
        tuple of numpy.ndarray
            Shapes (all draws, rows, columns) and (all draws,).
        """
        values, expected = self.mean.shapley(bins)
        expected = expected + self.centre
        if self.mean.outputs > 1:
            return values[:, place], expected[:, place]
        sign = -1 if self.classes is not None and place == 0 else 1
        return sign * values[:, 0], sign * expected[:, 0]

    def explained_together(self, rows: int) -> Iterator[slice]:
        """The rows in blocks whose Shapley values fill bounded memory."""
        return row_blocks(rows, self.mean.draws * self.mean.outputs * len(self.schema.columns))

    def _offset(self, offset: Any, rows: int) -> np.ndarray:
        if self.mean.outputs > 1:
            raise InputError(f"offset: with {self.mean.outputs} classes there is no sum to add it to; leave it out")
        return learn_offset("offset", offset, rows)


class SumBlock(Block):
    """What every sum of trees says of a block of rows.

    Parameters
    ----------
    prediction : SumPrediction
        The draws.
    bins, added : numpy.ndarray
        The rows, and what is added to f of each.
    first : int
        The place of the first of them.
    keeps_draws : bool
        Whether any kind needs every draw; else a mean is the core's, which keeps none.
    """

    def __init__(
        self, prediction: SumPrediction, bins: np.ndarray, added: np.ndarray, first: int, keeps_draws: bool
    ) -> None:
        self._prediction, self._bins, self._added, self._first = prediction, bins, added, first
        self._keeps_draws = keeps_draws

    @cached_property
    def _sums(self) -> np.ndarray:
        return self._prediction.mean.each(self._bins)

    @cached_property
    def fits(self) -> np.ndarray:
        """What f is, shape (all draws, outputs, rows)."""
        centre = np.reshape(self._prediction.centre, (-1, 1))
        return self._sums + (centre + self._added)

    @cached_property
    def draws(self) -> np.ndarray:
        """E(y | x) of each draw and row, or the class probabilities with a last axis of classes."""
        if self._prediction.classes is None:
            return self.fits[:, 0]
        return two_class_probabilities(self.fits[:, 0]) if self._one_sum else largest_probabilities(self.fits)

    @cached_property
    def predictive(self) -> np.ndarray:
        """A new y for each draw and row."""
        variables = self.fits + self.deviations * self._noise
        if self._prediction.classes is None:
            return variables[:, 0]
        return (variables[:, 0] > 0).astype(np.int64) if self._one_sum else variables.argmax(axis=1)

    def log_density(self, y: np.ndarray, weight: np.ndarray | float) -> np.ndarray:
        """log P(y | x, trees, σ) of each draw and row.

        The noise of a number of weight w has the variance σ²/w; a class of weight w counts as w equal rows.
        """
        if self._prediction.classes is None:
            deviations, freedom = np.asarray(self.deviations)[:, 0] / np.sqrt(weight), self._prediction.freedom
            if freedom is None:
                return log_normal(y, self.fits[:, 0], deviations)
            return log_student(y, self.fits[:, 0], deviations, np.reshape(freedom, (-1, 1)))
        if self._one_sum:
            from scipy.special import log_ndtr

            density: np.ndarray = weight * log_ndtr(np.where(y == 1, 1, -1) * self.fits[:, 0])
            return density
        return weight * log_largest(self.fits, y)

    @property
    def mean(self) -> np.ndarray:
        """The posterior mean of E(y | x), or of the class probabilities."""
        given = self._prediction
        if given.classes is not None:
            return super().mean
        if not self._keeps_draws:
            return given.mean.mean(self._bins)[0] + (given.centre + self._added)
        # Draw by draw, as the core adds up, so that the bits are its.
        total = np.zeros(len(self._bins))
        for one in self._sums[:, 0]:
            total += one
        return total / len(self._sums) + (given.centre + self._added)

    @property
    def sd(self) -> np.ndarray:
        """The standard deviation of a new number: that of f over the draws, and the noise of each.

        Infinite where draws have Student noise of two degrees of freedom or less.
        """
        noise = np.asarray(self.deviations)[:, 0] ** 2
        if self._prediction.freedom is not None:
            freedom = np.reshape(self._prediction.freedom, (-1, 1))
            with np.errstate(divide="ignore"):
                noise = noise * np.where(freedom > 2, freedom / np.maximum(freedom - 2, 0), np.inf)
        return np.sqrt(self.fits[:, 0].var(axis=0) + noise.mean(axis=0))

    @property
    def sigma(self) -> np.ndarray:
        """The posterior mean of the standard deviation of the noise, or of its scale."""
        deviations = np.asarray(self.deviations)[:, 0]
        mean: np.ndarray = np.broadcast_to(deviations, (self._prediction.mean.draws, len(self._bins))).mean(axis=0)
        return mean

    @cached_property
    def deviations(self) -> np.ndarray | float:
        """The standard deviations or scales of the variables, as they fit to the shape (all draws, outputs, rows)."""
        given = self._prediction
        if given.variance is not None:
            return np.exp(0.5 * given.variance.each(self._bins).astype(np.float64))
        return 1.0 if given.sigma is None else np.reshape(given.sigma, (-1, 1, 1))

    @property
    def _one_sum(self) -> bool:
        return self._prediction.mean.outputs == 1

    @property
    def _noise(self) -> np.ndarray:
        """Standard normal numbers, or Student's, shape (all draws, outputs, rows)."""
        given = self._prediction
        draws, outputs = given.mean.draws, given.mean.outputs
        if given.freedom is None:
            numbers = normals_by_row(given.seed, self._first, len(self._bins), draws * outputs)
        else:
            numbers = students_by_row(given.seed, self._first, len(self._bins), given.freedom.ravel())
        return np.moveaxis(numbers.reshape(len(self._bins), draws, outputs), 0, -1)


def two_class_probabilities(fits: np.ndarray) -> np.ndarray:
    """The probabilities of both classes, 1 − Φ(f) and Φ(f), with a last axis of 2."""
    from scipy.special import ndtr

    return np.stack([ndtr(-fits), ndtr(fits)], axis=-1)


def largest_probabilities(fits: np.ndarray) -> np.ndarray:
    """P(k) of variables N(f_k, 1) of which the largest is the class.

    Parameters
    ----------
    fits : numpy.ndarray, shape (draws, classes, rows)
        Their means.

    Returns
    -------
    numpy.ndarray
        Shape (draws, rows, classes).
    """
    means = np.ascontiguousarray(np.moveaxis(fits, 1, -1))
    return _core.class_probabilities(means.reshape(-1, means.shape[-1])).reshape(means.shape)


def log_largest(fits: np.ndarray, y: np.ndarray) -> np.ndarray:
    """log P(y) of variables N(f_k, 1) of which the largest is the class, accurate also where it hardly ever is.

    Parameters
    ----------
    fits : numpy.ndarray, shape (draws, classes, rows)
        Their means.
    y : numpy.ndarray, shape (rows,)
        The class of each row.

    Returns
    -------
    numpy.ndarray
        Shape (draws, rows).
    """
    found = log_share(largest_probabilities(fits), y)
    for draw, row in zip(*np.nonzero(found < np.log(LEAST_PROBABILITY)), strict=True):
        means, own = fits[draw, :, row], y[row]
        found[draw, row] = _log_beyond(means[own], np.delete(means, own))
    return found


def _log_beyond(mean: float, others: np.ndarray) -> float:
    """log P that a variable of this mean exceeds all others, by the trapezoidal rule on logarithms."""
    from scipy.special import log_ndtr

    z = np.linspace(mean - REACH, max(mean, others.max()) + REACH, STEPS)
    density = -0.5 * ((z - mean) ** 2 + np.log(2 * np.pi)) + log_ndtr(z[:, None] - others).sum(axis=1)
    return float(np.logaddexp.reduce(density) + np.log(z[1] - z[0]))
