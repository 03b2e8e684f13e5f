"""One small tree for a whole posterior: the optimal one for the posterior mean, and how much of each draw it tells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..data.design import Design, Schema, require_design
from ..data.to_core import native_columns
from ..errors import InputError
from ..notebook import Shown
from ..posterior.prediction import Prediction, interval_of, row_blocks
from ..text import counted, percent
from ..trees.forest import Forest, rules_of
from ..trees.outline import outline
from ..trees.tree import Tree
from ..validation import require_prob, require_whole
from .explanation import ExplainsRows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LEAVES = 64
# Less is rounding, as a share of the variance.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class SummaryTree(Shown):
    """A small tree that stands for a posterior; ``print`` it.

    Attributes
    ----------
    tree : Tree
        The tree. Its leaves have the posterior mean of E(y | x), or of the class probabilities, of their rows.
    max_leaves : int
        The most leaves that it was allowed.
    by_leaves : tuple of float
        The share of the variance of the posterior mean, over the training rows, that the best tree found of at most 1,
        2, … leaves explains: its R².
    at_most : float
        The largest share that any tree of at most `max_leaves` leaves explains.
    in_draws : numpy.ndarray of shape (chains, draws)
        The share of the variance of each draw that the tree's leaves explain, with the draw's own means in them. Of a
        draw that says the same of all rows it is 1.
    leaf_interval : numpy.ndarray of shape (leaves, 2), or (leaves, classes, 2)
        Of each leaf, an equal-tailed interval of the mean that a draw has in it.
    prob : float
        The probability of the intervals.
    sets : int
        How many sets of rows were looked into.
    """

    tree: Tree
    max_leaves: int
    by_leaves: tuple[float, ...]
    at_most: float
    in_draws: np.ndarray
    leaf_interval: np.ndarray
    prob: float
    sets: int

    @property
    def explained(self) -> float:
        """The share of the variance of the posterior mean that the tree explains."""
        return self.by_leaves[-1]

    @property
    def certified(self) -> bool:
        """Whether no tree of at most as many leaves explains more."""
        return self.at_most == self.explained

    @property
    def explained_in_draws(self) -> tuple[float, float, float]:
        """The share of the variance of a draw that the tree explains: its mean, and the ends of an interval."""
        low, high = interval_of(self.in_draws.ravel(), self.prob)
        return float(self.in_draws.mean()), float(low), float(high)

    def __str__(self) -> str:
        mean, low, high = self.explained_in_draws
        best = (
            "no tree explains more"
            if self.certified
            else f"another may explain up to {self.at_most:.1%}: a larger budget tells"
        )
        gains = ", ".join(f"{share:.1%}" for share in self.by_leaves)
        return "\n".join([
            f"A tree of at most {counted(self.max_leaves, 'leaf', 'leaves')} for the posterior mean",
            outline(self.tree.rules, lambda rule, node: f"{self.tree.question(rule)}?", self._leaf_text),
            f"Of the variance of the posterior mean it explains {self.explained:.1%}; {best}",
            f"  with at most 1, 2, … leaves: {gains}",
            f"Of the variance of a draw it explains {mean:.1%}, {self.prob:.0%} interval {low:.1%} to {high:.1%}",
        ])  # fmt: skip

    def _leaf_text(self, node: int, leaf: int) -> str:
        value, rows = self.tree.values[leaf], counted(self.tree.rows[node], "row")
        if not isinstance(value, dict):
            low, high = self.leaf_interval[leaf]
            return f"{value:.4g}, {low:.4g} to {high:.4g} ({rows})"
        label = max(value, key=lambda name: value[name])
        low, high = self.leaf_interval[leaf, list(value).index(label)]
        return f"{label} {value[label]:.2f}, {low:.2f} to {high:.2f} ({rows})"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree, its leaves with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure that is large enough for all leaves.
        """
        share = percent(self.explained)
        intervals: tuple[Any, ...] = tuple(self.leaf_interval.tolist())
        if self.leaf_interval.ndim > 2:
            named = (
                zip(value, of_leaf, strict=True) for value, of_leaf in zip(self.tree.values, intervals, strict=True)
            )
            intervals = tuple(map(dict, named))
        tree = replace(self.tree, intervals=intervals, prob=self.prob)
        return tree.plot(ax, f"Summary tree for {tree.schema.response.name}: {share} of the variance of its mean")

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON-safe values."""
        mean, low, high = self.explained_in_draws
        return {
            "tree": self.tree.to_dict(),
            "max_leaves": self.max_leaves,
            "explained": self.explained,
            "at_most": self.at_most,
            "certified": self.certified,
            "by_leaves": list(self.by_leaves),
            "in_draws": {"mean": mean, "interval": [low, high]},
            "leaf_interval": self.leaf_interval.tolist(),
            "prob": self.prob,
            "sets": self.sets,
        }


class Summarisable(ExplainsRows):
    """Draws of functions of a table's rows, which one small tree can stand for."""

    def summary_tree(
        self, design: Design, *, max_leaves: int = 4, budget: int = 200_000, prob: float = 0.9
    ) -> SummaryTree:
        """The small tree that is nearest to the posterior mean: posterior summarisation, or "fit the fit" [1]_.

        Of all trees of at most so many leaves it is the one with the least squared error to the posterior mean of
        E(y | x), or of the class probabilities, at the rows of a design; certified, where the budget is large
        enough to tell. How much of the posterior it misses is said in every draw.

        Parameters
        ----------
        design : Design
            The training data. The weights of its rows count; offsets do not.
        max_leaves : int
            The most leaves of the tree, 64 at most.
        budget : int
            How many sets of rows the search may look into. The default takes some seconds of a table of 500 rows and
            10 numeric columns, and is enough for 4 leaves there; each leaf more needs about ten times as many.
        prob : float
            The probability of the intervals.

        Returns
        -------
        SummaryTree

        References
        ----------
        .. [1] Woody, Carvalho and Murray (2021), Model interpretation through lower-dimensional posterior
           summarization, Journal of Computational and Graphical Statistics 30, 144–161.
        """
        require_design(design)
        require_whole("max_leaves", max_leaves, 1)
        if max_leaves > MOST_LEAVES:
            raise InputError(f"max_leaves={max_leaves}: nobody reads so large a tree; choose {MOST_LEAVES} or fewer")
        require_whole("budget", budget, 1)
        require_prob(prob)
        # Rows that are in one leaf of every tree count together.
        bins, number = np.unique(self.bins_of(design), axis=0, return_inverse=True)
        number = number.ravel()
        weight = np.bincount(number, design.weight)
        mean = self._mean_at(bins).reshape(len(bins), -1)
        found = best_fits(self.schema, bins, weight, mean[:, 1:] if mean.shape[1] == 2 else mean, max_leaves, budget)
        forest = Forest(**found["forest"]).take(np.array([max_leaves - 1]))
        leaf = _core.Predictor(native_columns(self.schema), forest.arrays()).apply(bins)
        in_draws, leaf_means = projected(self.prediction, bins, weight, leaf, int(forest.leaves[0]))
        total = found["high"][0]
        shares = 1 - np.append(found["high"], found["low"][-1]) / total if total > 0 else np.ones(max_leaves + 1)
        *by_leaves, at_most = shares.tolist()
        if at_most - by_leaves[-1] < ROUNDING:
            at_most = by_leaves[-1]
        return SummaryTree(
            _tree(self.schema, forest, leaf, np.bincount(number), weight, mean),
            max_leaves,
            tuple(by_leaves),
            at_most,
            in_draws,
            _squeezed(interval_of(leaf_means.reshape(-1, *leaf_means.shape[2:]), prob)),
            prob,
            found["looks"],
        )

    def _mean_at(self, bins: np.ndarray) -> np.ndarray:
        """The posterior mean at some rows."""
        mean: np.ndarray = self.prediction.predict(bins, "mean")
        return mean


def best_fits(
    schema: Schema, bins: np.ndarray, weight: np.ndarray, values: np.ndarray, leaves: int, budget: int
) -> dict[str, Any]:
    """The best trees of at most 1, 2, … leaves for values of rows, what they leave, and what any tree leaves at least.

    Parameters
    ----------
    schema : Schema
        The table.
    bins : numpy.ndarray of uint32, shape (rows, columns)
        The rows, encoded.
    weight : numpy.ndarray
        Their weights.
    values : numpy.ndarray of shape (rows, width)
        What is fitted.
    leaves, budget : int
        The most leaves, and the most sets of rows to look into.
    """
    native = _core.Design(len(bins))
    columns = [np.ascontiguousarray(column, dtype=np.uint16) for column in bins.T]
    for column, codes in zip(schema.columns, columns, strict=True):
        native.add_column(codes, column.kind == "categorical", column.observed, column.has_missing)
    native.validate()
    return _core.best_fits(native, weight.astype(float), np.ascontiguousarray(values), leaves, budget)


def projected(
    prediction: Prediction, bins: np.ndarray, weight: np.ndarray, leaf: np.ndarray, leaves: int
) -> tuple[np.ndarray, np.ndarray]:
    """Of each draw the share of its variance between leaves, and its means in them.

    Parameters
    ----------
    prediction : Prediction
        What the draws say.
    bins, weight, leaf : numpy.ndarray
        The rows, encoded, their weights and their leaves.
    leaves : int
        How many leaves there are.

    Returns
    -------
    tuple of numpy.ndarray
        Shapes (chains, draws) and (chains, draws, leaves, width).
    """
    width = prediction.classes or 1
    sums = np.zeros((*prediction.shape, leaves, width))
    squares = np.zeros(prediction.shape)
    inside = np.zeros((len(bins), leaves))
    inside[np.arange(len(bins)), leaf] = weight
    centre = prediction.predict(bins[:1], "mean").reshape(width)  # so that squares are of what varies
    for block in row_blocks(len(bins), prediction.numbers(keeps_draws=True)):
        drawn = prediction.predict(bins[block], "draws")
        drawn = drawn.reshape(*prediction.shape, -1, width) - centre
        sums += np.einsum("cdrw,rl->cdlw", drawn, inside[block])
        squares += np.einsum("cdrw,r->cd", drawn**2, weight[block])
    in_leaf = inside.sum(axis=0)[:, None]
    whole = (sums.sum(axis=2) ** 2).sum(axis=-1) / weight.sum()
    between, total = (sums**2 / in_leaf).sum(axis=(2, 3)) - whole, squares - whole
    varies = total > ROUNDING * np.maximum(squares, np.finfo(float).tiny)
    share = np.where(varies, between / np.where(varies, total, 1.0), 1.0)
    return np.clip(share, 0.0, 1.0), sums / in_leaf + centre


def _tree(
    schema: Schema, forest: Forest, leaf: np.ndarray, rows: np.ndarray, weight: np.ndarray, mean: np.ndarray
) -> Tree:
    """The tree with the rows of its nodes, and in each leaf the mean."""
    leaves, rules = int(forest.leaves[0]), rules_of(forest, 0)
    in_leaf = np.bincount(leaf, rows, leaves).astype(int).tolist()
    in_weight = np.bincount(leaf, weight, leaves)
    values = np.stack([np.bincount(leaf, weight * column, leaves) / in_weight for column in mean.T], axis=1)
    in_node = [0] * len(rules)

    def count(node: int, number: int) -> int:
        in_node[node] = number
        return number

    Tree(schema, rules).walk(
        lambda node, left, right: count(node, left + right), lambda node, place: count(node, in_leaf[place])
    )
    classes = schema.response.classes
    if classes is None:
        return Tree(schema, rules, tuple(in_node), tuple(values[:, 0].tolist()))
    named = [dict(zip(map(str, classes), of_leaf.tolist(), strict=True)) for of_leaf in values]
    return Tree(schema, rules, tuple(in_node), tuple(named))


def _squeezed(intervals: np.ndarray) -> np.ndarray:
    return intervals[:, 0] if intervals.shape[1] == 1 else intervals
