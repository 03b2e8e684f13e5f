"""The most probable tree that a chain was at, whether or not it was drawn there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .. import _core
from ..data.design import Schema
from ..data.to_core import native_columns
from ..errors import InputError
from ..trees.forest import Forest, forest_from_lists
from .leaves import Leaf, ProgramChain, TreeChain

# Its name in the state of a chain; states of earlier versions have none.
BEST = "best"


@dataclass(frozen=True, eq=False)
class Visited:
    """A tree that a chain was at.

    Attributes
    ----------
    forest : Forest
        The tree alone.
    statistics : numpy.ndarray
        The sufficient statistics of its leaves, one after the other.
    log_likelihood, log_prior : float
        log P(y | T, x) and log P(T | x).
    """

    forest: Forest
    statistics: np.ndarray
    log_likelihood: float
    log_prior: float

    @classmethod
    def state_of(cls, chain: TreeChain | ProgramChain) -> dict[str, Any]:
        """The most probable one that a chain was at since it began, as a part of its state; nothing where it has none.

        Of a tree that must be monotone the values of the leaves count as well, and only draws have these.
        """
        if chain.best is None or chain.values():
            return {}
        forest, statistics, log_likelihood, log_prior = chain.best
        return {BEST: cls(Forest(**forest), statistics, log_likelihood, log_prior).to_dict()}

    @classmethod
    def best(cls, states: Iterable[Mapping[str, Any]], power: float) -> Self | None:
        """The most probable one of several chains, from their states; None where none says."""
        found = [cls.from_dict(state[BEST]) for state in states if BEST in state]
        return max(found, key=lambda tree: tree.log_target(power), default=None)

    def log_target(self, power: float) -> float:
        """The logarithm of its prior times its likelihood to a power."""
        return self.log_prior + power * self.log_likelihood

    def put(self, chain: TreeChain | ProgramChain) -> None:
        """Tell a chain, that was put where it was, that this was its best tree."""
        chain.restore_best(self.forest.arrays(), self.statistics, self.log_likelihood, self.log_prior)

    def to_dict(self) -> dict[str, Any]:
        """The tree as JSON-safe values."""
        return {
            "tree": {name: array.tolist() for name, array in self.forest.arrays().items()},
            "statistics": self.statistics.tolist(),
            "log_likelihood": self.log_likelihood,
            "log_prior": self.log_prior,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The tree that `to_dict` described."""
        statistics = np.array(record["statistics"], dtype=float)
        return cls(
            forest_from_lists(record["tree"]), statistics, float(record["log_likelihood"]), float(record["log_prior"])
        )

    def check(self, leaf: Leaf, schema: Schema) -> None:
        """Raise InputError where this is no tree of the schema, or its numbers cannot be."""
        trees = _core.Predictor(native_columns(schema), self.forest.arrays())
        whole = trees.trees == 1 and self.statistics.shape == (trees.leaves * leaf.n_statistics(schema.response),)
        whole = whole and bool(np.isfinite([self.log_likelihood, self.log_prior]).all())
        if not whole or not leaf.can_have(self.statistics.reshape(trees.leaves, -1)):
            raise InputError("the best tree that a chain was at is none")
