"""Predictions from draws of sums of trees: numbers, and classes by the normal variables behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import _core
from ..cart.prediction import BLOCK_NUMBERS, KINDS, NUMBER_KINDS, PREDICTION_KEY
from ..data.design import Schema
from ..data.response import learn_offset
from ..data.to_core import native_columns
from ..errors import InputError
from ..trees.ensemble import Ensemble
from ..validation import require_prob, unknown_choice

# Of sums of trees with normal noise.
SUM_KINDS = (*NUMBER_KINDS, "sigma")
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
        return cls(sums, _core.SumPredictor(native_columns(schema), sums.forest.arrays()), outputs)

    def take(self, draws: np.ndarray) -> SumPredictor:
        """Of some of the draws of each chain."""
        return replace(self, sums=self.sums.take(draws))

    @property
    def draws(self) -> int:
        """Number of draws of all chains."""
        return self.sums.chains * self.sums.draws

    @cached_property
    def _draws(self) -> _core.SumDraws:
        index = np.ascontiguousarray(self.sums.tree_index.reshape(self.draws, self.sums.trees))
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
class SumPrediction:
    """What draws of sums of trees say about new rows.

    A number is y = f(x) + ε with f the centre, the offset and the sum of the trees, and ε normal. Of two classes the
    second has P = Φ(f); of more, each has a variable N(f_k, 1), and the largest is the class.

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
    """

    schema: Schema
    mean: SumPredictor
    seed: int
    centre: float | np.ndarray = 0.0
    sigma: np.ndarray | None = None
    variance: SumPredictor | None = None

    @property
    def classes(self) -> int | None:
        """Number of classes; None where numbers are predicted."""
        names = self.schema.response.classes
        return None if names is None else len(names)

    def take(self, draws: np.ndarray) -> SumPrediction:
        """From some of the draws of each chain."""
        return replace(
            self,
            mean=self.mean.take(draws),
            sigma=None if self.sigma is None else self.sigma[:, draws],
            variance=None if self.variance is None else self.variance.take(draws),
        )

    def predict(
        self, bins: np.ndarray, kind: str = "mean", prob: float = 0.9, offset: Any = None, first: int = 0
    ) -> np.ndarray:
        """Predict new rows, averaging over the draws.

        Parameters
        ----------
        bins : numpy.ndarray of uint32, shape (rows, columns)
            The rows, encoded.
        kind : {"mean", "interval", "draws", "predictive", "predictive_interval", "sigma"}
            ``"mean"``: the posterior mean of E(y | x), shape (rows,); with classes their probabilities, (rows,
            classes).
            ``"interval"``: an equal-tailed credible interval of the same quantity, with a last axis of 2.
            ``"draws"``: its draws, with leading axes (chains, draws).
            ``"predictive"``: draws of a new y, shape (chains, draws, rows); with classes, positions in the classes.
            ``"predictive_interval"``: of numbers, an equal-tailed interval of a new y.
            ``"sigma"``: of numbers, the posterior mean of the noise's standard deviation σ(x), shape (rows,).
        prob : float
            The probability of an interval.
        offset : array-like of shape (rows,) or None
            What is added to f, of numbers or two classes.
        first : int
            The place of the first row in a longer table of which this is a part.
        """
        kinds = SUM_KINDS if self.classes is None else KINDS
        if kind not in kinds:
            raise unknown_choice("kind of prediction", kind, kinds)
        require_prob(prob)
        added = self._offset(offset, len(bins))
        if kind == "mean" and self.classes is None:
            return self.mean.mean(bins)[0] + (self.centre + added)
        if kind == "sigma":
            take = self._sigmas
        else:
            take = self._new_responses if kind.startswith("predictive") else self._values
        blocks = (take(bins[rows], added[rows], first + rows.start) for rows in self.row_blocks(len(bins)))
        if kind in ("mean", "sigma"):
            return np.concatenate([block.mean(axis=0) for block in blocks])
        if kind.endswith("interval"):
            tails = [(1 - prob) / 2, (1 + prob) / 2]
            return np.concatenate([np.moveaxis(np.quantile(block, tails, axis=0), 0, -1) for block in blocks])
        draws = np.concatenate(list(blocks), axis=1)
        return draws.reshape(self.mean.sums.chains, self.mean.sums.draws, *draws.shape[1:])

    def stream(
        self, tables: Iterable[Any], kind: str = "mean", prob: float = 0.9, offsets: Iterable[Any] | None = None
    ) -> Iterator[np.ndarray]:
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
            yield self.predict(bins, kind, prob, offset, first)
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

    def row_blocks(self, rows: int, width: int = NUMBERS_OF_A_SUM) -> Iterator[slice]:
        """The rows in blocks of which `width` numbers for every sum fill bounded memory, at least one block."""
        step = max(1, BLOCK_NUMBERS // max(self.mean.draws * self.mean.outputs * width, 1))
        for begin in range(0, max(rows, 1), step):
            yield slice(begin, min(begin + step, rows))

    def _offset(self, offset: Any, rows: int) -> np.ndarray:
        if offset is None:
            return np.zeros(rows)
        if self.mean.outputs > 1:
            raise InputError(f"offset: with {self.mean.outputs} classes there is no sum to add it to; leave it out")
        return learn_offset("offset", offset, rows)

    def _fits(self, bins: np.ndarray, added: np.ndarray) -> np.ndarray:
        """What f is, shape (all draws, outputs, rows)."""
        centre = np.reshape(self.centre, (-1, 1))
        return self.mean.each(bins) + (centre + added)

    def _values(self, bins: np.ndarray, added: np.ndarray, first: int) -> np.ndarray:
        """E(y | x) of each draw and row, or the class probabilities with a last axis of classes."""
        fits = self._fits(bins, added)
        if self.classes is None:
            return fits[:, 0]
        return two_class_probabilities(fits[:, 0]) if self.mean.outputs == 1 else largest_probabilities(fits)

    def _new_responses(self, bins: np.ndarray, added: np.ndarray, first: int) -> np.ndarray:
        """A new y for each draw and row."""
        fits = self._fits(bins, added)
        variables = fits + self._deviations(bins) * self._normals(first, len(bins))
        if self.classes is None:
            return variables[:, 0]
        return (variables[:, 0] > 0).astype(np.int64) if self.mean.outputs == 1 else variables.argmax(axis=1)

    def _sigmas(self, bins: np.ndarray, added: np.ndarray, first: int) -> np.ndarray:
        """The standard deviation of the noise of each draw and row."""
        deviations = np.asarray(self._deviations(bins))
        return np.broadcast_to(deviations[:, 0], (self.mean.draws, len(bins)))

    def _deviations(self, bins: np.ndarray) -> np.ndarray | float:
        """The standard deviations of the variables, as they fit to the shape (all draws, outputs, rows)."""
        if self.variance is not None:
            return np.exp(0.5 * self.variance.each(bins).astype(np.float64))
        return 1.0 if self.sigma is None else np.reshape(self.sigma, (-1, 1, 1))

    def _normals(self, first: int, rows: int) -> np.ndarray:
        """Standard normal numbers, shape (all draws, outputs, rows)."""
        numbers = normals_by_row(self.seed, first, rows, self.mean.draws * self.mean.outputs)
        return np.moveaxis(numbers.reshape(rows, self.mean.draws, self.mean.outputs), 0, -1)


def normals_by_row(seed: int, first: int, rows: int, each: int) -> np.ndarray:
    """Standard normal numbers, so many for each row, the same for a row whatever the blocks.

    Every row has a stretch of the generator's counter to itself, and every number takes one uniform one.

    Parameters
    ----------
    seed : int
        The seed.
    first, rows : int
        The first row's number, and how many rows there are.
    each : int
        How many numbers a row gets.

    Returns
    -------
    numpy.ndarray
        Shape (rows, each).
    """
    from scipy.special import ndtri

    # A step of the counter gives four numbers.
    steps = -(-each // 4)
    key = np.array([seed, PREDICTION_KEY], dtype=np.uint64)
    bits = np.random.Philox(key=key, counter=first * steps).random_raw(rows * steps * 4).reshape(rows, steps * 4)
    # 52 bits and a half of the last: inside (0, 1), and exact.
    uniform = ((bits[:, :each] >> 12) + 0.5) * 2.0**-52
    numbers: np.ndarray = ndtri(uniform)
    return numbers


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
