"""What the posterior of a sum of trees says about its columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from .agreement import DRAWS
from .data import Design
from .discovery import Curves, Dependence, Interactions, Shap, Surface, VariableUse, dependence, shap, use
from .discovery.dependence import PredictDraws
from .errors import InputError, unknown_choice
from .sampled import Sampled
from .sums import Sums


class Explained(Sampled):
    """Draws of sums of trees, which can be asked about their columns.

    Attributes
    ----------
    mean : Sums
        The sums of trees.
    """

    mean: Sums

    def _drawn(self, codes: np.ndarray, draws: int | None) -> np.ndarray:
        """E(y | x) of evenly spaced draws, so many of each chain, shape (draws, rows); with classes one more axis."""
        raise NotImplementedError

    def _explain(self, codes: np.ndarray, draws: int | None, place: int) -> tuple[np.ndarray, np.ndarray]:
        """SHAP values of such draws, shape (draws, rows, columns), and their averages; `place` is that of a class."""
        raise NotImplementedError

    def variable_use(self, prob: float = use.PROB) -> VariableUse:
        """Of each column, the share of the splitting rules that use it; ``print`` or ``plot`` it.

        Parameters
        ----------
        prob : float
            The probability of the intervals.
        """
        return use.variable_use(self.mean, self.schema, prob)

    def interactions(self, prob: float = use.PROB) -> Interactions:
        """Of each pair of columns, the share of the trees that use both; ``print`` or ``plot`` it.

        Parameters
        ----------
        prob : float
            The probability of the intervals.
        """
        return use.interactions(self.mean, self.schema, prob)

    def partial_dependence(
        self,
        X: Any,
        column: str,
        *,
        of: Any = None,
        grid: Any = dependence.GRID,
        rows: int = dependence.ROWS,
        draws: int | None = DRAWS,
        seed: int = 0,
        prob: float = use.PROB,
    ) -> Dependence:
        """How the average response depends on one column.

        In every draw the column of all rows is set to a value and the responses are averaged over the rows; the band
        is over draws of that average.

        Parameters
        ----------
        X : Design, path, frame or array-like
            The rows to average over, such as the training rows.
        column : str
            The column that is set.
        of : class label, optional
            Of classes, the one whose probability is the response; of two by default the second.
        grid : int or iterable
            The values it is set to; or, of numbers, how many observed ones, at evenly spaced quantiles of the rows.
            Labels are all taken.
        rows : int
            Of more rows than so many, so many are drawn at random.
        draws : int or None
            How many draws of each chain are looked at, evenly spaced; None for all.
        seed : int
            By which the rows are drawn.
        prob : float
            The probability of the bands.
        """
        predict, response = self._response(of, draws)
        return dependence.partial_dependence(
            predict,
            self.schema,
            self._codes(X),
            column,
            grid=grid,
            rows=rows,
            seed=seed,
            prob=prob,
            response=response,
        )

    def two_way_dependence(
        self,
        X: Any,
        first: str,
        second: str,
        *,
        of: Any = None,
        grid: Any = dependence.SURFACE_GRID,
        rows: int = dependence.SURFACE_ROWS,
        draws: int | None = DRAWS,
        seed: int = 0,
        prob: float = use.PROB,
    ) -> Surface:
        """How the average response depends on two columns together.

        Parameters
        ----------
        first, second : str
            The columns that are set.
        grid : int, or tuple of two
            As for `partial_dependence`; for both columns, or for each.
        X, of, rows, draws, seed, prob
            As for `partial_dependence`.
        """
        predict, response = self._response(of, draws)
        return dependence.two_way_dependence(
            predict,
            self.schema,
            self._codes(X),
            (first, second),
            grid=grid,
            rows=rows,
            seed=seed,
            prob=prob,
            response=response,
        )

    def ice(
        self,
        X: Any,
        column: str,
        *,
        of: Any = None,
        grid: Any = dependence.GRID,
        rows: int = dependence.ROWS,
        draws: int | None = DRAWS,
        seed: int = 0,
        prob: float = use.PROB,
        centred: bool = False,
    ) -> Curves:
        """How the response of each single row depends on one column: individual conditional expectations.

        Parameters
        ----------
        X, column, of, grid, rows, draws, seed, prob
            As for `partial_dependence`.
        centred : bool
            Whether to take, in every draw, the difference from the response at the first value. Then curves that are
            not parallel tell an interaction.
        """
        predict, response = self._response(of, draws)
        return dependence.ice(
            predict,
            self.schema,
            self._codes(X),
            column,
            grid=grid,
            rows=rows,
            seed=seed,
            prob=prob,
            response=response,
            centred=centred,
        )

    def shap(self, X: Any, *, of: Any = None, draws: int | None = DRAWS, prob: float = use.PROB) -> Shap:
        """How much each column moves the prediction of each row away from the average one; ``print`` or ``plot`` it.

        Columns that are not known are averaged over by the training rows of each split [1]_. Of classes, what is
        explained is not the probability but the mean of the normal variable behind it, whose columns add up.

        Parameters
        ----------
        X : Design, path, frame or array-like
            The rows to explain.
        of : class label, optional
            Of classes, which; of two by default the second.
        draws : int or None
            How many draws of each chain are looked at, evenly spaced; None for all.
        prob : float
            The probability of the intervals.

        References
        ----------
        .. [1] Lundberg et al. (2020). From local explanations to global understanding with explainable AI for trees.
           Nature Machine Intelligence 2, 56-67.
        """
        place = 0 if self.schema.response.classes is None else self._class(of)
        return shap(lambda codes: self._explain(codes, draws, place), self.schema, self._codes(X), prob)

    def _codes(self, X: Any) -> np.ndarray:
        return self.codes_of(X) if isinstance(X, Design) else self.schema.encode(X)

    def _response(self, of: Any, draws: int | None) -> tuple[PredictDraws, str]:
        """What predicts the response, and what it is called."""
        response = self.schema.response
        if response.classes is None:
            if of is not None:
                raise InputError(f"of={of!r}: {response.name!r} has no classes; leave it out")
            return lambda codes: self._drawn(codes, draws), response.name
        place = self._class(of)
        return lambda codes: self._drawn(codes, draws)[..., place], f"P({response.name} = {response.classes[place]})"

    def _class(self, label: Any) -> int:
        classes = self.schema.response.classes
        assert classes is not None
        if label is None and len(classes) == 2:
            return 1
        found = np.flatnonzero(classes == label)
        if not len(found):
            raise unknown_choice("class", label, map(str, classes))
        return int(found[0])
