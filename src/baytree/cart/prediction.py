"""Predictions from many trees: leaf look-ups in the core, and what the leaves know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import _core
from ..data.design import Schema
from ..data.switches import widest_registers
from ..data.to_core import native_columns
from ..interpret.interpretation import Explainable
from ..posterior.prediction import KINDS, NUMBER_KINDS, PREDICTION_KEY, Block, blocks_of_numbers, row_blocks
from ..trees.forest import Ensemble, Forest
from .leaves import Leaf

CLASS_KINDS = (*KINDS, "vote")


@dataclass(frozen=True, eq=False)
class TreePrediction(Explainable):
    """What draws of single trees say about new rows.

    Attributes
    ----------
    schema : Schema
        The columns and the response.
    leaf : Leaf
        The leaf model.
    forest : Forest
        The trees.
    statistics : numpy.ndarray
        The sufficient statistics of their leaves.
    values : numpy.ndarray or None
        Where trees must be monotone, what the chain drew for each leaf.
    tree_index : numpy.ndarray
        Which tree each draw is, shape (chains, draws).
    seed : int
        Of leaf parameters and new responses.
    """

    schema: Schema
    leaf: Leaf
    forest: Forest
    statistics: np.ndarray
    values: np.ndarray | None
    tree_index: np.ndarray
    seed: int

    averages = ("mean", "vote")

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of chains and of draws of each."""
        chains, draws = self.tree_index.shape
        return chains, draws

    @property
    def classes(self) -> int | None:
        """Number of classes; None where numbers are predicted."""
        names = self.schema.response.classes
        return None if names is None else len(names)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of prediction that there are."""
        return NUMBER_KINDS if self.classes is None else CLASS_KINDS

    def numbers(self, keeps_draws: bool) -> int:
        """How many numbers are in memory at once for a row, with or without those of every draw."""
        return self.tree_index.size * self.leaf.n_parameters(self.schema.response) if keeps_draws else 1

    def take(self, draws: np.ndarray) -> TreePrediction:
        """From some of the draws of each chain, by their numbers, with no trees but theirs."""
        kept = self.tree_index[:, draws]
        stored, place = np.unique(kept, return_inverse=True)
        leaves = self.forest.leaves_of(stored)
        return replace(
            self,
            forest=self.forest.take(stored),
            statistics=self.statistics[leaves],
            values=None if self.values is None else self.values[leaves],
            tree_index=place.reshape(kept.shape),
        )

    @cached_property
    def core(self) -> _core.Predictor:
        """The trees as the core takes them; raises InputError where they are not trees of these columns."""
        return _core.Predictor(native_columns(self.schema), self.forest.arrays())

    def leaves_of(self, bins: np.ndarray) -> np.ndarray:
        """The leaf of each tree that each row falls into, among all leaves of the trees, shape (trees, rows)."""
        return self.core.apply(bins).reshape(len(self.forest), len(bins))

    def sums(self, place: int = 0) -> Ensemble:
        """The draws as sums of one tree each, whose leaves predict a number or the probability of a class."""
        means = self.leaf_means()[:, place].astype(np.float32)
        index = np.ascontiguousarray(self.tree_index[:, :, None], dtype=np.int32)
        return Ensemble(self.forest, index, means[self.forest.leaves_of(self.tree_index.ravel())])

    def explain(self, bins: np.ndarray, place: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Shapley values of what the leaves predict, and what it is expected to be of a row of which nothing is known.

        Parameters
        ----------
        bins : numpy.ndarray of uint32, shape (rows, columns)
            The rows, encoded.
        place : int
            With classes, whose probability it is.

        Returns
        -------
        tuple of numpy.ndarray
            Shapes (all draws, rows, columns) and (all draws,).
        """
        sums = self.sums(place)
        core = _core.SumPredictor(native_columns(self.schema), sums.forest.arrays(), widest_registers())
        draws = _core.SumDraws(sums.tree_index.reshape(-1, 1), sums.values, None, 1)
        values, expected = core.shapley(np.ascontiguousarray(bins), draws)
        return values.reshape(-1, *bins.shape), expected.ravel()

    def explained_together(self, rows: int) -> Iterator[slice]:
        """The rows in blocks whose Shapley values fill bounded memory."""
        return row_blocks(rows, self.tree_index.size * len(self.schema.columns))

    def leaf_means(self, leaves: slice | np.ndarray = slice(None)) -> np.ndarray:
        """What these leaves predict, shape (leaves, width)."""
        return self.leaf.means(self.statistics[leaves], None if self.values is None else self.values[leaves])

    @cached_property
    def weight(self) -> np.ndarray:
        """The share of the draws that each tree accounts for."""
        return np.bincount(self.tree_index.ravel(), minlength=len(self.forest)) / self.tree_index.size

    def blocks(self, rows: np.ndarray) -> Callable[[slice, Sequence[str]], TreeBlock]:
        """What tells what the draws say of some of the rows."""
        drawn = LeafDraws(self)

        def block(some: slice, kinds: Sequence[str]) -> TreeBlock:
            averages = set(kinds) <= set(self.averages)
            return TreeBlock(self, np.ascontiguousarray(rows[some]), None if averages else drawn)

        return block

    def expected(self, rows: np.ndarray, **given: Any) -> np.ndarray:
        """E(y | x, tree) of each draw and row, the parameters of the leaf integrated out, or class probabilities."""
        means = np.concatenate(list(self._means_at(rows)), axis=2)
        return means[..., 0] if self.classes is None else means

    def predictions(self, bins: np.ndarray) -> Iterator[np.ndarray]:
        """What chains are compared by: `expected`, in blocks of rows, of classes all but the last."""
        for means in self._means_at(bins):
            yield means[..., : max(1, means.shape[-1] - 1)]

    def _means_at(self, bins: np.ndarray) -> Iterator[np.ndarray]:
        """The means of the leaves that rows fall into, in blocks of rows, shape (chains, draws, rows, width)."""
        means = self.leaf_means()
        for rows in row_blocks(len(bins), self.tree_index.size * means.shape[1]):
            yield means[self.leaves_of(np.ascontiguousarray(bins[rows]))][self.tree_index]


class LeafDraws:
    """Leaf parameters of every draw: those that the chain integrated out are drawn, in each draw anew."""

    def __init__(self, prediction: TreePrediction) -> None:
        self._prediction = prediction
        self.tree = prediction.tree_index.ravel()
        self._leaves = prediction.forest.leaves[self.tree]
        self._offset = np.cumsum(self._leaves) - self._leaves
        key = np.array([prediction.seed, PREDICTION_KEY], dtype=np.uint64)
        self.generator = np.random.Generator(np.random.Philox(key=key))

    @cached_property
    def parameters(self) -> np.ndarray:
        """Those of the leaves of every draw's tree, one draw after the other."""
        given, leaves = self._prediction, self._leaves
        width = given.leaf.n_parameters(given.schema.response)
        parameters = np.empty((int(leaves.sum()), width))
        for begin, end in blocks_of_numbers(leaves * width):
            here, count = self._offset[begin], leaves[begin:end]
            within = np.arange(count.sum()) - np.repeat(self._offset[begin:end] - here, count)
            leaf = np.repeat(given.forest.first_leaf[self.tree[begin:end]], count) + within
            values = None if given.values is None else given.values[leaf]
            drawn = given.leaf.draw(given.statistics[leaf], self.generator, values)
            parameters[here : here + len(drawn)] = drawn
        return parameters

    def at(self, leaf: np.ndarray) -> np.ndarray:
        """The parameters of each draw at rows in these leaves, shape (all draws, rows, parameters)."""
        within = leaf - self._prediction.forest.first_leaf[:, None]
        return self.parameters[self._offset[:, None] + within[self.tree]]


class TreeBlock(Block):
    """What every tree says of a block of rows.

    Parameters
    ----------
    prediction : TreePrediction
        The trees.
    bins : numpy.ndarray
        The rows.
    drawn : LeafDraws or None
        The leaf parameters of every draw, where any kind needs them.
    """

    def __init__(self, prediction: TreePrediction, bins: np.ndarray, drawn: LeafDraws | None) -> None:
        self._prediction, self._bins, self._drawn = prediction, bins, drawn

    @cached_property
    def _leaf(self) -> np.ndarray:
        return self._prediction.leaves_of(self._bins)

    @cached_property
    def _parameters(self) -> np.ndarray:
        assert self._drawn is not None
        return self._drawn.at(self._leaf)

    @property
    def draws(self) -> np.ndarray:
        """E(y | x) of each draw and row, or the class probabilities."""
        return self._prediction.leaf.expected(self._parameters)

    @cached_property
    def predictive(self) -> np.ndarray:
        """A new y for each draw and row."""
        assert self._drawn is not None
        return self._prediction.leaf.new_response(self._parameters, self._drawn.generator)

    def log_density(self, y: np.ndarray, weight: np.ndarray | float) -> np.ndarray:
        """log P(y | x, tree, leaf parameters) of each draw and row; a row of weight w counts as w equal rows.

        The leaf parameters are those of ``kind="draws"``.
        """
        return weight * self._prediction.leaf.log_density(y, self._parameters)

    @property
    def mean(self) -> np.ndarray:
        """The leaves' means, averaged over the draws."""
        return self._average(votes=False)

    @property
    def vote(self) -> np.ndarray:
        """The share of the draws whose leaf has its majority in each class."""
        return self._average(votes=True)

    def _average(self, votes: bool) -> np.ndarray:
        """What the leaves say, averaged over the draws: tree by tree, as the core adds up, so that the bits are its."""
        given = self._prediction
        width = given.classes or 1
        average = np.zeros((len(self._bins), width))
        for begin, end in blocks_of_numbers(given.forest.leaves * width):
            first = given.forest.first_leaf[begin]
            said = given.leaf_means(slice(first, first + given.forest.leaves[begin:end].sum()))
            said = np.ascontiguousarray(np.eye(width)[said.argmax(axis=1)] if votes else said)
            weight = given.weight[begin:end]
            if self._drawn is None:
                average += given.core.accumulate(self._bins, begin, weight, said).reshape(average.shape)
            else:
                part = np.zeros_like(average)
                for share, leaf in zip(weight, self._leaf[begin:end], strict=True):
                    part += share * said[leaf - first]
                average += part
        return average[:, 0] if given.classes is None else average
