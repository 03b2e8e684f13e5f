"""Hidden Markov decision trees as rows of numbers: where each parameter lies."""

from __future__ import annotations

import numpy as np

from ...hme.tree.layout import Layout
from ...hme.tree.soft_tree import SoftTree
from .markov_tree import MarkovTree


class MarkovLayout(Layout):
    """The shapes of the parameters of a tree whose nodes remember."""

    @property
    def nodes(self) -> int:
        """Number of nodes that decide."""
        return (self.leaves - 1) // (self.branching - 1)

    @property
    def gates(self) -> list[tuple[int, int, int]]:
        """The shape of the gates, of all levels together; see `MarkovTree`."""
        return [(self.nodes, self.branching - 1, self.columns + self.branching)]

    def flat(self, tree: MarkovTree) -> dict[str, np.ndarray]:
        """A tree as flat arrays: gates node by node, then experts leaf by leaf."""
        return self.packed(SoftTree((tree.gates,), tree.experts))

    def markov_tree(self, parameters: dict[str, np.ndarray]) -> MarkovTree:
        """The tree that `flat` made flat."""
        soft = self.tree(parameters)
        return MarkovTree(soft.gates[0], soft.experts)
