"""What a posterior of trees says about its columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ..data.design import Design
from ..diagnostics.comparison import DRAWS
from ..posterior.prediction import Prediction
from ..trees.forest import Ensemble
from ..validation import require_whole
from . import dependence
from . import importance as use
from .dependence import Curves, Dependence, PredictDraws, Surface
from .importance import Interactions, VariableUse
from .shap import Shap, shap
from .summary_tree import Summarisable


class Explainable(Prediction):
    """Draws whose predictions can be told apart into what each column adds."""

    @abstractmethod
    def explain(self, bins: np.ndarray, place: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Shapley values of each draw, row and column, and what each draw predicts of a row that nobody knows.

        Parameters
        ----------
        bins : numpy.ndarray of uint32, shape (rows, columns)
            The rows, encoded.
        place : int
            With classes, which of them.

        Returns
        -------
        tuple of numpy.ndarray
            Shapes (all draws, rows, columns) and (all draws,).
        """

    @abstractmethod
    def explained_together(self, rows: int) -> Iterator[slice]:
        """The rows in blocks whose Shapley values fill bounded memory."""


class Interpretable(Summarisable):
    """Draws of trees, or of sums of them, which can be asked about their columns."""

    # What SHAP values of a class add up to.
    adds_up_to: ClassVar[str] = "P({})"

    @property
    @abstractmethod
    def sums(self) -> Ensemble:
        """The draws as sums of trees; a single tree is a sum of one."""

    @property
    @abstractmethod
    def prediction(self) -> Explainable:
        """What the draws say about rows that the schema encoded, and how."""

    def variable_use(self, prob: float = use.PROB) -> VariableUse:
        """Of each column, the share of the splitting rules that use it; ``print`` or ``plot`` it.

        Parameters
        ----------
        prob : float
            The probability of the intervals.
        """
        return use.variable_use(self.sums, self.schema, prob)

    def interactions(self, prob: float = use.PROB) -> Interactions:
        """Of each pair of columns, the share of the trees that use both; ``print`` or ``plot`` it.

        Parameters
        ----------
        prob : float
            The probability of the intervals.
        """
        return use.interactions(self.sums, self.schema, prob)

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
            self._bins(X),
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
            self._bins(X),
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
            self._bins(X),
            column,
            grid=grid,
            rows=rows,
            seed=seed,
            prob=prob,
            response=response,
            centred=centred,
        )

    def _some(self, draws: int | None) -> Any:
        """Predictions from evenly spaced draws, so many of each chain; None for all."""
        if draws is not None:
            require_whole("draws", draws, 1)
        return self.prediction.some(draws)

    def _bins(self, X: Any) -> np.ndarray:
        return self.bins_of(X) if isinstance(X, Design) else self.schema.encode(X)

    def _response(self, of: Any, draws: int | None) -> tuple[PredictDraws, str]:
        """What predicts the response, and what it is called."""
        prediction, place = self._some(draws), self.schema.response.place_of(of)
        has_classes = self.schema.response.classes is not None

        def predict(bins: np.ndarray) -> np.ndarray:
            drawn = prediction.predict(bins, "draws")
            drawn = drawn.reshape(-1, *drawn.shape[2:])
            return drawn[..., place] if has_classes else drawn

        return predict, self._name("P({})", place)

    def _name(self, of_class: str, place: int) -> str:
        """What the response is called; with classes, `of_class` says what of them it is."""
        response = self.schema.response
        if response.classes is None:
            return response.name
        return of_class.format(f"{response.name} = {response.classes[place]}")

    def shap(
        self,
        X: Any,
        *,
        of: Any = None,
        rows: int = dependence.ROWS,
        draws: int | None = DRAWS,
        seed: int = 0,
        prob: float = use.PROB,
    ) -> Shap:
        """How much each column moves the prediction of each row away from its average: SHAP values, with bands.

        They are the path-dependent ones [1]_: a column that is not known sends a row both ways, in the shares of the
        training rows.

        Parameters
        ----------
        X : Design, path, frame or array-like
            The rows to explain.
        of : class label, optional
            Of classes, the one that is explained; of two by default the second. Of single trees it is its
            probability, of sums of trees its normal variable, with which the probability grows.
        rows, draws, seed, prob
            As for `partial_dependence`.

        References
        ----------
        .. [1] Lundberg et al. (2020), From local explanations to global understanding with explainable AI for trees,
           Nature Machine Intelligence 2, 56–67.
        """
        prediction, bins, place = self._some(draws), self._bins(X), self.schema.response.place_of(of)
        chosen = dependence.chosen_rows(len(bins), rows, seed)
        return shap(
            lambda block: prediction.explain(block, place),
            self.schema,
            bins,
            chosen,
            blocks=prediction.explained_together(len(chosen)),
            prob=prob,
            response=self._name(self.adds_up_to, place),
        )
