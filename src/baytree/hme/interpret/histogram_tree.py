"""How rows spread down a soft tree: at each gate a histogram of the decisions, at each node the rows that reach it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...plots import soft_trees as plots
from ..tree.soft_tree import SoftTree, decisions, responsibilities

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 20


@dataclass(frozen=True, eq=False)
class HistogramTree:
    """The decisions of a soft tree over some rows [1]_.

    Where gates are undecided the histograms stand near 1/branching; where they are sure, at 0 and 1. A node that hardly
    any rows reach is not used by the fit.

    Attributes
    ----------
    mass : tuple of numpy.ndarray, each of shape (nodes of the level,)
        Σ w P(node | row), level by level and the leaves last: rows, counted by weight. Each level sums to all of them.
    histogram : tuple of numpy.ndarray, each of shape (nodes of the level, branching, bins)
        Of each gate and branch, the rows that reach the gate by their probability of that branch, from 0 to 1. The bins
        of a branch sum to the gate's mass.
    given_response : bool
        Whether probabilities are those given the response too, as in an E step, or the gates' own.

    References
    ----------
    .. [1] Jordan and Jacobs (1994), Hierarchical mixtures of experts and the EM algorithm, Neural Computation 6,
       181–214.
    """

    mass: tuple[np.ndarray, ...]
    histogram: tuple[np.ndarray, ...]
    given_response: bool

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the histograms at their gates; lines down the tree are as thick as the share of the rows that take them.

        Of two branches the histogram is that of the first; of more each has its line.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure as wide as the tree.
        """
        branching = self.histogram[0].shape[1] if self.histogram else 1
        layout = plots.Layout.of(len(self.histogram), branching, lines=1, ticks=True)
        rows = float(self.mass[0][0])
        ax = plots.tree_axes(ax, layout, [mass / rows for mass in self.mass])
        for level in range(layout.levels):
            for node in range(layout.nodes(level)):
                inset = plots.inset(ax, layout, level, node)
                counts = self.histogram[level][node]
                edges = np.linspace(0, 1, counts.shape[1] + 1)
                if branching == 2:
                    inset.stairs(counts[0], edges, fill=True, color=plots.COLOUR)
                else:
                    for branch, colour in zip(counts, plots.several(len(counts)), strict=True):
                        inset.stairs(branch, edges, color=colour)
                inset.set(xlim=(0, 1), xticks=[0, 1], yticks=[])
                plots.below(ax, layout, level, node, [_share(self.mass[level][node] / rows)])
        for node, mass in enumerate(self.mass[layout.levels]):
            plots.end(ax, layout, node, [_share(mass / rows)])
        what = "given the response" if self.given_response else "as the gates say"
        of = "the first branch" if branching == 2 else "each branch"
        return plots.titled(ax, f"Probabilities of {of}, {what}, and shares of the rows")


def histogram_tree(
    tree: SoftTree, X: np.ndarray, Y: np.ndarray | None, weight: np.ndarray, bins: int = BINS
) -> HistogramTree:
    """The decisions of a soft tree over some rows.

    Parameters
    ----------
    tree : SoftTree
        The tree.
    X : numpy.ndarray
        Inputs.
    Y : numpy.ndarray or None
        Outputs; where there are none, probabilities are those of the gates.
    weight : numpy.ndarray
        How often each row counts.
    bins : int
        Of each histogram.
    """
    found = decisions(tree, X) if Y is None else responsibilities(tree, X, Y)
    reach = [node * weight for node in found.node]
    histograms = []
    for branch, of_level in zip(found.branch, reach, strict=False):
        place = np.minimum((branch * bins).astype(int), bins - 1)
        nodes, _, branching = branch.shape
        level = np.zeros((nodes, branching, bins))
        for node in range(nodes):
            for way in range(branching):
                level[node, way] = np.bincount(place[node, :, way], of_level[node], bins)
        histograms.append(level)
    return HistogramTree(tuple(node.sum(axis=1) for node in reach), tuple(histograms), Y is not None)


def _share(share: float) -> str:
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"
