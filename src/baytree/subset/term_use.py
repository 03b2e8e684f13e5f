"""Which columns the terms of linear models are, to be seen beside those that the rules of trees use."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..data.matrix import LinearSchema
from ..errors import InputError
from ..interpret.importance import DRAWN, Shares
from ..interpret.null import Null
from ..plots import columns as plots
from ..posterior.prediction import interval_of
from .draws import SubsetDraws

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class TermUse(Shares):
    """Of each column, the share of the terms of a model that have it, over the draws.

    A term is a unit of the model; an interaction counts half for each of its columns. The shares of a draw sum to 1,
    as those of the rules of a sum of trees do, and are 0 where the model is empty. A column that trees use and linear
    models do not is related to the response in a way that is not linear.
    """

    title: ClassVar[str] = "Share of the linear model's terms that have a column"
    label: ClassVar[str] = "share of the terms"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.columns

    def _of_null(self, null: Null) -> np.ndarray | None:
        return None

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the shares as dots with their intervals, largest first; of more than 50 columns the 50 largest."""
        return self.dots(ax)

    def plot_beside(self, trees: Shares, axes: tuple[Axes, Axes] | None = None) -> tuple[Axes, Axes]:
        """Draw the shares beside those of a sum of trees, column by column.

        Where they disagree the linear model was too tight. Of more than 50 columns the 50 that either uses most are
        drawn.

        Parameters
        ----------
        trees : VariableUse
            What `BARTPosterior.variable_use` gives for the same columns.
        axes : pair of matplotlib Axes, optional
            Where; by default on a new figure.
        """
        if trees.columns != self.columns:
            raise InputError(
                f"the trees have columns {', '.join(trees.columns)}; here they are {', '.join(self.columns)}"
            )
        # Each line is one column in both, so that of many columns those are shown that either uses most.
        largest = np.argsort(-np.maximum(self.mean, trees.mean), kind="stable")[:DRAWN]
        shown = np.sort(largest)
        if axes is None:
            first, second = plots.panels(1, 2, (10, 0.25 * len(shown) + 1.5), sharey=True)
            axes = (first, second)
        for ax, shares, title in zip(axes, (self, trees), ("Linear models", "Sums of trees"), strict=True):
            shares.dots(ax, shown, title)
        return axes


def term_use(drawn: SubsetDraws, schema: LinearSchema, possible: list[int], prob: float) -> TermUse:
    """The share of the terms that have each column.

    Parameters
    ----------
    drawn : SubsetDraws
        The draws.
    schema : LinearSchema
        The table.
    possible : list of int
        The units that the draws count.
    prob : float
        The probability of the intervals.
    """
    has = np.zeros((len(possible), len(schema.columns)))
    for place, number in enumerate(possible):
        of = schema.units[number].parents or (number,)
        for column in of:
            has[place, column] += 1 / len(of)
    included = drawn.included().astype(float)
    terms = np.maximum(included.sum(axis=1, keepdims=True), 1)
    shares = (included @ has / terms)[drawn.model.ravel()]
    return TermUse(schema.names, shares.mean(axis=0), interval_of(shares, prob), prob, response=schema.response.name)
