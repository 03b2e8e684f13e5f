"""What the gates of a soft tree ask: along which direction of the inputs, how sharply, and where."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ...notebook import Shown
from ...plots import soft_trees as plots
from ..numeric.arrays import log_softmax
from ..tree.soft_tree import SoftTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The inputs of a direction that are named: the largest ones.
NAMED = 3
# An input with less than this share of the largest is not worth naming.
WORTH = 0.1
# How far from the mean a gate is drawn, in standard deviations.
REACH = 3.0


@dataclass(frozen=True, eq=False, repr=False)
class GateDirections(Shown):
    """The gates of a soft tree as directions; ``print`` them.

    Between two branches a gate's log odds are ``sharpness · (direction'x − cut)``, the direction having length 1 and x
    being inputs in standard units: positive values favour the first of the two. Of more than two branches the pair is
    taken that the gate tells apart most sharply.

    Attributes
    ----------
    tree : SoftTree
        The tree.
    names : tuple of str
        The inputs.
    leaves : tuple of str
        What each leaf says about an average row.
    pair : tuple of numpy.ndarray, each of shape (nodes of the level, 2)
        The branches told apart, level by level.
    direction : tuple of numpy.ndarray, each of shape (nodes of the level, inputs)
        Directions of length 1, towards the first branch; of a gate that asks nothing, zeros.
    sharpness : tuple of numpy.ndarray, each of shape (nodes of the level,)
        How much the log odds change over one standard deviation along the direction.
    cut : tuple of numpy.ndarray, each of shape (nodes of the level,)
        Where both branches are equally likely, in standard deviations from the mean along the direction.
    """

    tree: SoftTree
    names: tuple[str, ...]
    leaves: tuple[str, ...]
    pair: tuple[np.ndarray, ...]
    direction: tuple[np.ndarray, ...]
    sharpness: tuple[np.ndarray, ...]
    cut: tuple[np.ndarray, ...]

    def terms(self, level: int, node: int) -> list[tuple[str, float]]:
        """The largest components of a direction with their names, the largest first."""
        direction = self.direction[level][node]
        largest = np.argsort(-np.abs(direction), kind="stable")[:NAMED]
        least = WORTH * np.abs(direction).max(initial=0)
        return [(self.names[at], float(direction[at])) for at in largest if abs(direction[at]) > least]

    def curve(self, level: int, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Places along a direction through the mean, and P(branch), shape (places, branches)."""
        places = np.linspace(-REACH, REACH, 61)
        branches = _branches(self.tree.gates[level][node])
        scores = places[:, None] * (branches[:, :-1] @ self.direction[level][node]) + branches[:, -1]
        return places, np.exp(log_softmax(scores))

    def to_dict(self) -> list[dict[str, Any]]:
        """The gates as JSON-safe values, level by level and node by node."""
        return [
            {
                "level": level,
                "node": node,
                "branches": pair.tolist(),
                "direction": dict(zip(self.names, direction.tolist(), strict=True)),
                "sharpness": float(sharpness),
                "cut": None if np.isnan(cut) else float(cut),
            }
            for level, of_level in enumerate(zip(self.pair, self.direction, self.sharpness, self.cut, strict=True))
            for node, (pair, direction, sharpness, cut) in enumerate(zip(*of_level, strict=True))
        ]

    def __str__(self) -> str:
        title = "Gates: direction of length 1 in standard units, towards the first branch; sharpness; cut"
        return f"{title}\n{plots.text_tree(self.tree.depth, self.tree.branching, self._line)}"

    def _line(self, level: int, node: int) -> str:
        if level == self.tree.depth:
            return f"leaf {node + 1}: {self.leaves[node]}"
        asked = " ".join(f"{plots.signed(value)} {name}" for name, value in self.terms(level, node)) or "nothing"
        return f"{asked}; {self.sharpness[level][node]:.3g}; {self.cut[level][node]:.3g}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree: at each gate the probability of its branches along its direction, and what that is.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure as wide as the tree.
        """
        layout = plots.Layout.of(self.tree.depth, self.tree.branching, lines=NAMED + 1)
        ax = plots.tree_axes(ax, layout)
        for level in range(layout.levels):
            for node in range(layout.nodes(level)):
                inset = plots.inset(ax, layout, level, node)
                places, share = self.curve(level, node)
                lines = share.T[:-1] if self.tree.branching == 2 else share.T
                for branch, colour in zip(lines, plots.several(len(lines)), strict=True):
                    inset.plot(places, branch, linewidth=1.5, color=colour)
                inset.set(xlim=(-REACH, REACH), ylim=(-0.05, 1.05), yticks=[0, 1], xticks=[])
                terms = [f"{plots.signed(value)} {plots.shortened(name)}" for name, value in self.terms(level, node)]
                sharpness = f"sharpness {self.sharpness[level][node]:.2g}"
                plots.below(ax, layout, level, node, [sharpness, *(terms or ["nothing is asked"])])
        if layout.levels == self.tree.depth:
            for leaf, said in enumerate(self.leaves):
                # There is room for what an expert says of an average row, but not for how it got there.
                plots.end(ax, layout, leaf, [f"leaf {leaf + 1}", plots.shortened(said.split(" (")[0])])
        of = "the first branch" if self.tree.branching == 2 else "each branch"
        below = "leaves: what the expert says of an average row"
        return plots.titled(ax, f"Probability of {of} along each gate's direction", below)


def gate_directions(tree: SoftTree, names: tuple[str, ...], leaves: tuple[str, ...]) -> GateDirections:
    """The directions of a tree's gates.

    Parameters
    ----------
    tree : SoftTree
        The tree.
    names : tuple of str
        Its inputs, without the ones.
    leaves : tuple of str
        What each leaf says about an average row.
    """
    levels = [[_sharpest(gate) for gate in gates] for gates in tree.gates]
    parts = (tuple(np.array([gate[part] for gate in level]) for level in levels) for part in range(4))
    return GateDirections(tree, names, leaves, *parts)


def _branches(gate: np.ndarray) -> np.ndarray:
    """The coefficients of all branches, the last having 0."""
    return np.concatenate([gate, np.zeros_like(gate[:1])])


def _sharpest(gate: np.ndarray) -> tuple[tuple[int, int], np.ndarray, float, float]:
    """The pair of branches that a gate tells apart most sharply: which, direction, sharpness, cut."""
    branches = _branches(gate)
    apart = {(i, j): branches[i] - branches[j] for i, j in combinations(range(len(branches)), 2)}
    pair = max(apart, key=lambda both: float(np.linalg.norm(apart[both][:-1])))
    slope, offset = apart[pair][:-1], float(apart[pair][-1])
    sharpness = float(np.linalg.norm(slope))
    if sharpness == 0:
        return pair, np.zeros_like(slope), 0.0, np.nan
    return pair, slope / sharpness, sharpness, -offset / sharpness
