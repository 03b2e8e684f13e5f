"""Trees drawn from a prior, before any data: how large they are and what they ask about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..data.design import Schema
from ..text import counted, percent
from .forest import Forest, rules_of
from .tree import Tree, Trees

QUANTILES = (0.05, 0.5, 0.95)
EXAMPLES = 2


@dataclass(frozen=True, eq=False)
class PriorDraws:
    """Independent trees from a prior, given the columns of a table; its response is never looked at.

    Attributes
    ----------
    schema : Schema
        The table's names, cut points and levels.
    forest : Forest
        The trees.
    seed : int
        What the draws can be repeated with.
    """

    schema: Schema
    forest: Forest
    seed: int

    def __len__(self) -> int:
        return len(self.forest)

    def __repr__(self) -> str:
        return f"<PriorDraws: {counted(len(self), 'tree')}, seed {self.seed}>"

    @property
    def trees(self) -> Trees:
        """The trees, in the order in which they were drawn; their leaves know their rows and predict nothing."""
        return Trees(len(self), self._tree)

    def _tree(self, index: int) -> Tree:
        rows = self.forest.rows[self.forest.nodes(index)].tolist()
        return Tree(self.schema, rules_of(self.forest, index), tuple(rows))

    @property
    def n_leaves(self) -> np.ndarray:
        """The number of leaves of each tree."""
        return self.forest.leaves

    @property
    def depth(self) -> np.ndarray:
        """The depth of the deepest leaf of each tree; a single leaf has 0."""
        return self.forest.depths

    @property
    def single_leaf(self) -> float:
        """The share of trees that ask nothing."""
        return float(np.mean(self.n_leaves == 1))

    @cached_property
    def asks(self) -> np.ndarray:
        """Which columns each tree asks about, bool of shape (trees, columns)."""
        return self.forest.asks(len(self.schema.columns))

    def inclusion(self) -> dict[str, float]:
        """Of each column, the share of trees that ask about it."""
        return dict(zip(self.schema.names, self.asks.mean(axis=0).tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """The sizes, depths and variables as JSON-safe values."""
        return {
            "draws": len(self),
            "seed": self.seed,
            "leaves": _spread(self.n_leaves),
            "depth": _spread(self.depth),
            "single_leaf": self.single_leaf,
            "inclusion": dict(sorted(self.inclusion().items(), key=lambda item: -item[1])),
        }

    def __str__(self) -> str:
        record = self.to_dict()
        lines = [f"{counted(len(self), 'tree')} from the prior (seed {self.seed})", ""]
        for name in ("leaves", "depth"):
            low, middle, high = (record[name]["quantiles"][str(q)] for q in QUANTILES)
            mean = record[name]["mean"]
            lines.append(f"{name:<8} mean {mean:.2f}, median {middle}, nine in ten from {low} to {high}")
        lines += [
            f"a single leaf in {percent(self.single_leaf)} of the trees",
            "",
            "share of trees that ask about a column",
        ]
        width = max(map(len, record["inclusion"]))
        lines += [f"  {name:<{width}}  {share:>6.1%}" for name, share in record["inclusion"].items()]
        for number, tree in enumerate(self.trees[:EXAMPLES]):
            lines += ["", f"tree {number + 1}", str(tree)]
        return "\n".join(lines)


def _spread(numbers: np.ndarray) -> dict[str, Any]:
    """Mean, quantiles and counts of whole numbers."""
    values, counts = np.unique(numbers, return_counts=True)
    quantiles = np.quantile(numbers, QUANTILES, method="inverted_cdf")
    return {
        "mean": float(numbers.mean()),
        "quantiles": dict(zip(map(str, QUANTILES), quantiles.tolist(), strict=True)),
        "counts": dict(zip(map(str, values.tolist()), counts.tolist(), strict=True)),
    }
