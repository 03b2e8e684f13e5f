"""Which columns the rules of a sum of trees use, and which pairs of columns meet in one tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ..data.design import Schema
from ..errors import InputError
from ..notebook import Shown
from ..plots import columns as plots
from ..text import counted
from ..trees.forest import Ensemble
from ..validation import require_prob, unknown_choice
from .null import LEVEL, Null, thresholds
from .shares import columns_in, pairs_in, share_summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PROB = 0.9
# The most shares that are printed, and drawn in a row: those above are the largest.
LISTED, DRAWN = 20, 50


@dataclass(frozen=True, eq=False, repr=False)
class Shares(Shown):
    """Shares with their posterior uncertainty; ``print`` them.

    Attributes
    ----------
    columns : tuple of str
        The names of the columns.
    mean : numpy.ndarray
        The posterior mean of each share.
    interval : numpy.ndarray of shape (shares, 2)
        An equal-tailed interval over the draws.
    prob : float
        Its probability.
    threshold : numpy.ndarray or None
        What counts as large; None until `against` has said it.
    response : str
        What the columns are used for.
    """

    columns: tuple[str, ...]
    mean: np.ndarray
    interval: np.ndarray
    prob: float
    threshold: np.ndarray | None = None
    response: str = ""

    title: ClassVar[str]
    label: ClassVar[str]
    # What a picture is called.
    pictured: ClassVar[str] = "Variable importance"

    @property
    def names(self) -> tuple[str, ...]:
        """What each share belongs to."""
        raise NotImplementedError

    @property
    def large(self) -> np.ndarray:
        """Which means exceed their threshold."""
        if self.threshold is None:
            raise InputError("what is large is not known yet; compare with a permutation null: .against(null)")
        return self.mean > self.threshold

    def against(self, null: Null, kind: str = "local", level: float = LEVEL) -> Self:
        """The same with thresholds beside it.

        Parameters
        ----------
        null : Null
            What `baytree.permutation_null` gave for the same columns.
        kind : {"local", "global_max", "global_se"}
            ``"local"`` judges each share by itself, so that some exceed it by chance; ``"global_max"`` is exceeded by
            the largest of all shares, and so by any, with probability 1 − level at most; ``"global_se"`` lies
            between them.
        level : float
            The probability that a share stays below its threshold where there is nothing to be found.
        """
        if null.columns != self.columns:
            raise InputError(f"the null has columns {', '.join(null.columns)}; here they are {', '.join(self.columns)}")
        drawn = self._of_null(null)
        if drawn is None:
            raise InputError(f"this null says nothing of what is compared: {null!r}; make one that does")
        return replace(self, threshold=thresholds(drawn, kind, level))

    def _of_null(self, null: Null) -> np.ndarray | None:
        raise NotImplementedError

    @property
    def order(self) -> np.ndarray:
        """The shares from the largest to the smallest."""
        return np.argsort(-self.mean, kind="stable")

    def __str__(self) -> str:
        listed = self.order[:LISTED]
        width = max((len(self.names[place]) for place in listed), default=0)
        lines = [f"{self.title}; mean and {self.prob:.0%} interval" + self._legend()]
        for place in listed:
            low, high = self.interval[place]
            line = f"  {self.names[place]:<{width}}  {self.mean[place]:.3f}  {low:.3f} to {high:.3f}"
            if self.threshold is not None:
                line += f"  {self.threshold[place]:.3f}{' *' if self.large[place] else ''}"
            lines.append(line)
        rest = self.order[LISTED:]
        if len(rest):
            lines.append(f"  {counted(len(rest), 'other')}, at most {self.mean[rest[0]]:.3f} each")
        return "\n".join(lines)

    def _legend(self) -> str:
        return "" if self.threshold is None else "; the threshold, with * where the mean exceeds it"

    def dots(self, ax: Axes | None = None, shown: np.ndarray | None = None, title: str | None = None) -> Axes:
        """Draw some shares, by default the 50 largest, as dots with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure.
        shown : numpy.ndarray, optional
            The places of the shares to draw, in their order from the top.
        title : str, optional
            Another than the shares' own.
        """
        if shown is None:
            shown = self.order[:DRAWN]
        names = [self.names[place] for place in shown]
        threshold = None if self.threshold is None else self.threshold[shown]
        mean, interval = self.mean[shown], self.interval[shown]
        title = self._headline if title is None else title
        return plots.dots(ax, names, mean, interval, threshold, self.label, title, self._measured)

    @property
    def _headline(self) -> str:
        return f"{self.pictured} for {self.response}" if self.response else self.pictured

    @property
    def _measured(self) -> str:
        return f"mean and {self.prob:.0%} credible interval"

    def to_dict(self) -> dict[str, Any]:
        """The shares as JSON-safe values, by name."""
        records = {}
        for place, name in enumerate(self.names):
            records[name] = {"mean": float(self.mean[place]), "interval": self.interval[place].tolist()}
            if self.threshold is not None:
                records[name] |= {"threshold": float(self.threshold[place]), "large": bool(self.large[place])}
        return {"prob": self.prob, "shares": records}


class VariableUse(Shares):
    """Of each column, the share v of the splitting rules of a draw that use it [1]_, over the draws.

    The shares of a draw sum to 1, and are 0 where it has no rule at all. With many trees columns that do not matter
    have their share too, because rules are cheap; with few, such as ``BART(trees=20)``, columns compete.

    References
    ----------
    .. [1] Chipman, George and McCulloch (2012), Bayesian regression structure discovery, eq. 30.
    """

    title: ClassVar[str] = "Share of the splitting rules that use a column"
    label: ClassVar[str] = "share of the splitting rules"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.columns

    def _of_null(self, null: Null) -> np.ndarray | None:
        return null.use

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the shares as dots with their intervals, largest first, and the thresholds where they are known.

        Of more than 50 columns the 50 with the largest shares are drawn.
        """
        return self.dots(ax)


class Interactions(Shares):
    """Of each pair of columns, the share z of the trees of a draw in which both appear [1]_, over the draws.

    The mean is in the order of `pairs`: the first column with the second, with the third, and so on.

    References
    ----------
    .. [1] Chipman, George and McCulloch (2012), Bayesian regression structure discovery, sections 3.2 and 4.2.
    """

    title: ClassVar[str] = "Share of the trees that use both columns of a pair"
    label: ClassVar[str] = "share of the trees"
    pictured: ClassVar[str] = "Interactions"

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of columns."""
        return tuple(combinations(self.columns, 2))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the pairs."""
        return tuple(f"{first} × {second}" for first, second in self.pairs)

    @property
    def matrix(self) -> np.ndarray:
        """The means by column and column, shape (columns, columns); NaN on the diagonal."""
        width = len(self.columns)
        found = np.full((width, width), np.nan)
        upper = np.triu_indices(width, 1)
        found[upper] = found.T[upper] = self.mean
        return found

    def _of_null(self, null: Null) -> np.ndarray | None:
        return null.interactions

    def plot(self, ax: Axes | None = None, kind: str = "map") -> Axes:
        """Draw the shares.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure.
        kind : {"map", "dots"}
            A matrix of the columns, or the pairs in a row with their intervals and thresholds; of more than 50 pairs
            those with the largest shares.
        """
        if kind not in ("map", "dots"):
            raise unknown_choice("kind of plot", kind, ("map", "dots"))
        if kind == "dots":
            return self.dots(ax)
        return plots.matrix(ax, self.columns, self.matrix, self.label, self._headline, "posterior mean, pair by pair")


def variable_use(sums: Ensemble, schema: Schema, prob: float = PROB) -> VariableUse:
    """The share of the splitting rules that use each column.

    Parameters
    ----------
    sums : Ensemble
        The draws.
    schema : Schema
        The table that the trees divide.
    prob : float
        The probability of the intervals.
    """
    require_prob(prob)
    columns = len(schema.columns)
    rules = (sums.leaves - 1).sum(axis=2).ravel()
    mean, interval = share_summary(sums, columns_in(sums.forest, columns), columns, rules, prob)
    return VariableUse(schema.names, mean, interval, prob, response=schema.response.name)


def interactions(sums: Ensemble, schema: Schema, prob: float = PROB) -> Interactions:
    """The share of the trees in which each pair of columns appears.

    Parameters
    ----------
    sums : Ensemble
        The draws.
    schema : Schema
        The table that the trees divide.
    prob : float
        The probability of the intervals.
    """
    require_prob(prob)
    columns = len(schema.columns)
    trees = np.full(sums.chains * sums.draws, sums.trees)
    pairs = columns * (columns - 1) // 2
    mean, interval = share_summary(sums, pairs_in(sums.forest, columns), pairs, trees, prob)
    return Interactions(schema.names, mean, interval, prob, response=schema.response.name)
