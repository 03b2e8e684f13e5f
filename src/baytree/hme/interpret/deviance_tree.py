"""How much deviance each split of a soft tree removes, so that all of them add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...notebook import Shown
from ...plots import soft_trees as plots
from ..tree.experts import first_experts
from ..tree.soft_tree import SoftTree, responsibilities

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Enough Newton steps for an expert that begins at the average.
STEPS = 25


@dataclass(frozen=True, eq=False, repr=False)
class DevianceTree(Shown):
    """The deviance −2 log P(y | x) of some rows, divided among the nodes of a soft tree; ``print`` it.

    With h the posterior probabilities of decisions given the response, w the weights and g the gates, a node ν has

    ``alone(ν) = −2 Σ w h_ν log P(y | x, expert of ν)``,

    the expert of a leaf being the tree's and that of any other node the best one in its place: the one fitted to the
    rows by their weights w h_ν. A gate has the price of its decisions, which the response has to correct,

    ``price(ν) = 2 Σ w h_ν Σ_c h_{c|ν} log(h_{c|ν} / g_{c|ν}) ≥ 0``,

    and so each split removes

    ``removed(ν) = alone(ν) − price(ν) − Σ_c alone(c)``.

    Because log P(y | x) = Σ_ν h_ν Σ_c h_{c|ν} log(g_{c|ν} / h_{c|ν}) + Σ_leaf h_leaf log P(y | x, leaf) at the h of
    Bayes' rule, all that is removed adds up: ``alone(root) − Σ removed`` is the deviance of the tree. A split that is
    worth less than its price has a negative number.

    Attributes
    ----------
    alone : tuple of numpy.ndarray, each of shape (nodes of the level,)
        Of every node, level by level and the leaves last.
    price, removed : tuple of numpy.ndarray, each of shape (nodes of the level,)
        Of every gate.
    mass : tuple of numpy.ndarray, each of shape (nodes of the level,)
        Σ w h of every node.
    """

    alone: tuple[np.ndarray, ...]
    price: tuple[np.ndarray, ...]
    removed: tuple[np.ndarray, ...]
    mass: tuple[np.ndarray, ...]

    @property
    def total(self) -> float:
        """The deviance of the tree."""
        return float(self.alone[-1].sum() + sum(price.sum() for price in self.price))

    def __str__(self) -> str:
        title = f"Deviance {self.alone[0][0]:,.1f} of one expert, {self.total:,.1f} of the tree; removed at each gate"
        return f"{title}\n{plots.text_tree(len(self.removed), self._branching, self._line)}"

    @property
    def _branching(self) -> int:
        return len(self.alone[1]) if self.removed else 1

    def _line(self, level: int, node: int) -> str:
        rows = f"{self.mass[level][node]:,.1f} rows"
        if level == len(self.removed):
            return f"leaf {node + 1}: {self.alone[level][node]:,.1f} left; {rows}"
        return f"{self.removed[level][node]:,.1f}; {rows}, price {self.price[level][node]:,.1f}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what each gate removes as a bar, and what is left at the leaves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure as wide as the tree.
        """
        layout = plots.Layout.of(len(self.removed), self._branching, lines=2, height=0.15)
        rows = float(self.mass[0][0])
        ax = plots.tree_axes(ax, layout, [mass / rows for mass in self.mass])
        largest = max((float(np.abs(removed).max()) for removed in self.removed), default=0.0) or 1.0
        for level in range(layout.levels):
            for node in range(layout.nodes(level)):
                removed = float(self.removed[level][node])
                inset = plots.inset(ax, layout, level, node)
                inset.barh([0], [abs(removed)], color=plots.COLOUR if removed >= 0 else plots.LOSS, height=0.9)
                inset.set(xlim=(0, largest), ylim=(-0.5, 0.5), xticks=[], yticks=[])
                price = f"price {self.price[level][node]:,.0f}"
                plots.below(ax, layout, level, node, [plots.signed(-removed, 0), price])
        for node, left in enumerate(self.alone[layout.levels]):
            plots.end(ax, layout, node, [f"{left:,.0f}", "left"])
        title = f"Deviance: {self.alone[0][0]:,.0f} of one expert, {self.total:,.0f} of the tree"
        return plots.titled(ax, title)


def deviance_tree(
    tree: SoftTree, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, ridge: float, log_scale: float
) -> DevianceTree:
    """Divide the deviance of some rows among the nodes of a tree.

    Parameters
    ----------
    tree : SoftTree
        The tree.
    X, Y : numpy.ndarray
        Inputs and outputs.
    weight : numpy.ndarray
        How often each row counts.
    ridge : float
        The penalty of the experts that are fitted in the place of gates.
    log_scale : float
        The logarithm of what the response was divided by to give the outputs, so that densities are those of the
        response; of several outputs the sum.
    """
    found = responsibilities(tree, X, Y)
    reach = [node * weight for node in found.node]
    mass = tuple(of_level.sum(axis=1) for of_level in reach)
    alone, price = [], []
    for of_level, log_gate, branch in zip(reach, tree.log_gates(X), found.branch, strict=False):
        experts = first_experts(tree.experts.family, X, Y, weight, len(of_level))
        experts = experts.fitted(X, Y, of_level, ridge, STEPS)
        alone.append(-2 * np.sum(of_level * experts.log_density(X, Y), axis=1))
        # 0 log 0 is 0.
        log_branch = np.log(np.where(branch > 0, branch, 1.0))
        paid = 2 * np.sum(of_level * np.sum(branch * (log_branch - log_gate), axis=-1), axis=1)
        price.append(np.maximum(paid, 0))  # but for rounding it is never less
    alone.append(-2 * np.sum(reach[-1] * tree.experts.log_density(X, Y), axis=1))
    alone = [of_level + 2 * log_scale * rows for of_level, rows in zip(alone, mass, strict=True)]
    removed = [
        single - paid - children.reshape(len(single), -1).sum(axis=1)
        for single, paid, children in zip(alone, price, alone[1:], strict=False)
    ]
    return DevianceTree(tuple(alone), tuple(price), tuple(removed), mass)
