"""Predictions from many trees: leaf look-ups in the core, and what the leaves know."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..data.to_core import native_columns
from ..validation import require_prob, unknown_choice

if TYPE_CHECKING:
    from .posterior import Posterior

KINDS = ("mean", "interval", "draws", "predictive")
CLASS_KINDS = (*KINDS, "vote")
NUMBER_KINDS = (*KINDS, "predictive_interval")
# Rows, draws and trees are taken in blocks that fill about this many numbers.
BLOCK_NUMBERS = 4_000_000
# Separates the generator of predictions from the chains'.
PREDICTION_KEY = 1


def predict(posterior: Posterior, predictor: _core.Predictor, bins: np.ndarray, kind: str, prob: float) -> np.ndarray:
    """What `Posterior.predict` promises, from bins."""
    kinds = NUMBER_KINDS if posterior.schema.response.classes is None else CLASS_KINDS
    if kind not in kinds:
        raise unknown_choice("kind of prediction", kind, kinds)
    require_prob(prob)
    if kind in ("mean", "vote"):
        return _average(posterior, predictor, bins, kind)
    draws = _LeafDraws(posterior, predictor)
    take = draws.values if kind in ("draws", "interval") else draws.new_responses
    if kind in ("interval", "predictive_interval"):
        tails = [(1 - prob) / 2, (1 + prob) / 2]
        quantiles = [np.quantile(take(block), tails, axis=0) for block in draws.row_blocks(bins)]
        return np.moveaxis(np.concatenate(quantiles, axis=1), 0, -1)
    blocks = np.concatenate([take(block) for block in draws.row_blocks(bins)], axis=1)
    return blocks.reshape(posterior.chains, posterior.draws, *blocks.shape[1:])


def _average(posterior: Posterior, predictor: _core.Predictor, bins: np.ndarray, kind: str) -> np.ndarray:
    """The leaves' means, or their votes, averaged over the draws."""
    forest, classes = posterior.forest, posterior.schema.response.classes
    width = 1 if classes is None else len(classes)
    weight = posterior.visits.sum(axis=0) / posterior.tree_index.size
    mean = np.zeros(len(bins) * width)
    for begin, end in _blocks(forest.leaves * width):
        first = forest.first_leaf[begin]
        values = posterior.leaf_means(slice(first, first + forest.leaves[begin:end].sum()))
        if kind == "vote":
            values = np.eye(width)[values.argmax(axis=1)]
        mean += predictor.accumulate(bins, begin, weight[begin:end], np.ascontiguousarray(values))
    return mean if classes is None else mean.reshape(len(bins), width)


class LeafMeans:
    """The means of the leaves that rows fall into, draw by draw.

    Only the trees of the draws that are asked about are looked at, each distinct stored tree once.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    tree_index : numpy.ndarray
        The stored trees of the draws asked about, shape (chains, draws).
    """

    def __init__(self, posterior: Posterior, tree_index: np.ndarray) -> None:
        assert posterior.model.leaf is not None
        stored, place = np.unique(tree_index, return_inverse=True)
        self.forest = posterior.forest.take(stored)
        self.chains, self.draws = tree_index.shape
        self.place = place.reshape(self.chains, self.draws)
        self.values = posterior.leaf_means(posterior.forest.leaves_of(stored))
        self._predictor = _core.Predictor(native_columns(posterior.schema), self.forest.arrays())

    def leaf(self, bins: np.ndarray) -> np.ndarray:
        """The leaf of each tree that each row falls into, among all leaves of `forest`, shape (trees, rows)."""
        return self._predictor.apply(bins).reshape(len(self.forest), len(bins))

    def of_leaves(self, leaf: np.ndarray) -> np.ndarray:
        """The means of leaves that `leaf` gave, shape (chains, draws, rows, width)."""
        return self.values[leaf][self.place]

    def predictions(self, bins: np.ndarray) -> Iterator[np.ndarray]:
        """The means in blocks of rows, shape (chains, draws, rows, width); the last class follows from the others."""
        width = max(1, self.values.shape[1] - 1)
        for block in self.row_blocks(bins):
            yield self.of_leaves(self.leaf(block))[..., :width]

    def row_blocks(self, bins: np.ndarray) -> Iterator[np.ndarray]:
        """The rows in blocks of bounded size."""
        step = max(1, BLOCK_NUMBERS // (self.place.size * self.values.shape[1]))
        for begin in range(0, len(bins), step):
            yield np.ascontiguousarray(bins[begin : begin + step])


def _blocks(numbers: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges of items that together hold about BLOCK_NUMBERS numbers, one item at least."""
    place = np.cumsum(numbers) // BLOCK_NUMBERS
    edges = [0, *(np.flatnonzero(np.diff(place)) + 1).tolist(), len(numbers)]
    yield from pairwise(edges)


class _LeafDraws:
    """Leaf parameters of every draw: those that the chain integrated out are drawn, in each draw anew."""

    def __init__(self, posterior: Posterior, predictor: _core.Predictor) -> None:
        forest = posterior.forest
        self._posterior, self._predictor = posterior, predictor
        self._tree = posterior.tree_index.ravel()
        leaves = forest.leaves[self._tree]
        self._offset = np.cumsum(leaves) - leaves
        key = np.array([posterior.settings.seed, PREDICTION_KEY], dtype=np.uint64)
        self._generator = np.random.Generator(np.random.Philox(key=key))
        assert posterior.model.leaf is not None
        width = 2 if posterior.schema.response.classes is None else len(posterior.schema.response.classes)
        self._parameters = np.empty((int(leaves.sum()), width))
        for begin, end in _blocks(leaves * width):
            here, count = self._offset[begin], leaves[begin:end]
            within = np.arange(count.sum()) - np.repeat(self._offset[begin:end] - here, count)
            leaf = np.repeat(forest.first_leaf[self._tree[begin:end]], count) + within
            values = None if posterior.values is None else posterior.values[leaf]
            drawn = posterior.model.leaf.draw(posterior.statistics[leaf], self._generator, values)
            self._parameters[here : here + len(drawn)] = drawn

    def row_blocks(self, bins: np.ndarray) -> Iterator[np.ndarray]:
        """The rows in blocks of bounded size, at least one."""
        numbers = max(len(self._tree) * self._parameters.shape[1], 1)
        step = max(1, BLOCK_NUMBERS // numbers)
        for begin in range(0, max(len(bins), 1), step):
            yield np.ascontiguousarray(bins[begin : begin + step])

    def _rows(self, bins: np.ndarray) -> np.ndarray:
        """The leaf parameters of each draw and row, shape (all draws, rows, parameters)."""
        leaf = self._predictor.apply(bins).reshape(len(self._posterior.forest), len(bins))
        within = leaf - self._posterior.forest.first_leaf[:, None]
        return self._parameters[self._offset[:, None] + within[self._tree]]

    def values(self, bins: np.ndarray) -> np.ndarray:
        """E(y | x) of each draw and row, or the class probabilities."""
        parameters = self._rows(bins)
        return parameters[..., 0] if self._posterior.schema.response.classes is None else parameters

    def new_responses(self, bins: np.ndarray) -> np.ndarray:
        """A new y for each draw and row."""
        parameters = self._rows(bins)
        if self._posterior.schema.response.classes is None:
            mean, sigma = parameters[..., 0], parameters[..., 1]
            return mean + sigma * self._generator.standard_normal(mean.shape)
        edges = np.cumsum(parameters, axis=-1)[..., :-1]
        return (self._generator.random(edges.shape[:-1])[..., None] >= edges).sum(axis=-1)
