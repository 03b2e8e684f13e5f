"""Soft trees learned one row at a time, by recursive least squares at every node [1]_.

References
----------
.. [1] Jordan and Jacobs (1994), Hierarchical mixtures of experts and the EM algorithm, Neural Computation 6, 181–214.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from ..tree.soft_tree import SoftTree, responsibilities
from .online_experts import START, ExpertState, first_expert_state, learn_experts, recursed

# ln h has no bound; decisions less likely than this count as this.
LEAST = 1e-6


@dataclass(frozen=True)
class OnlineState:
    """What the recursions carry from row to row, besides the tree.

    Attributes
    ----------
    scores : tuple of numpy.ndarray, each of shape (nodes of the level, branching, columns)
        v, the gates' coefficients of every branch.
    gate_spread : tuple of numpy.ndarray, each of shape (nodes of the level, branching, columns, columns)
        S.
    experts : ExpertState
        R of the experts, and what their variances are made of.
    """

    scores: tuple[np.ndarray, ...]
    gate_spread: tuple[np.ndarray, ...]
    experts: ExpertState

    @property
    def arrays(self) -> list[np.ndarray]:
        """All there is, array by array."""
        of_experts = [array for array in vars(self.experts).values() if array is not None]
        return [*self.scores, *self.gate_spread, *of_experts]

    def packed(self) -> np.ndarray:
        """The state as a row of numbers."""
        return np.concatenate([array.ravel() for array in self.arrays])

    @classmethod
    def of(cls, numbers: np.ndarray, tree: SoftTree) -> OnlineState:
        """The state of a tree that `packed` made flat."""
        first = first_state(tree)
        shapes = [array.shape for array in first.arrays]
        parts = np.split(numbers, np.cumsum([prod(shape) for shape in shapes])[:-1])
        arrays = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        levels = len(tree.gates)
        scores, spread, of_experts = arrays[:levels], arrays[levels : 2 * levels], arrays[2 * levels :]
        return cls(tuple(scores), tuple(spread), ExpertState(*of_experts))


def first_state(tree: SoftTree) -> OnlineState:
    """The state before any row."""
    scores, spread = [], []
    for gates in tree.gates:
        scores.append(np.concatenate([np.asarray(gates), np.zeros_like(gates[:, :1, :])], axis=1))
        columns = gates.shape[2]
        spread.append(np.broadcast_to(START * np.eye(columns), (*scores[-1].shape, columns)).copy())
    return OnlineState(tuple(scores), tuple(spread), first_expert_state(tree.experts))


def learn_row(
    tree: SoftTree, state: OnlineState, x: np.ndarray, y: np.ndarray, decay: float, weight: float = 1.0
) -> tuple[SoftTree, OnlineState]:
    """One step of the recursions.

    With h the posterior probabilities of the row's decisions, for each linear expert

    ``R ← R − λ⁻¹ R x x'R / (λ/h + x'R x)``, ``U ← U + h (y − μ) x'R``,

    and for each branch of a gate, h being that of the node and h' of the branch given the node,

    ``S ← S − λ⁻¹ S x x'S / (λ/h + x'S x)``, ``v ← v + S h (ln h' − ξ) x``.

    A row of weight w has w h in the place of h. Experts of other families: see `learn_experts`.

    Parameters
    ----------
    tree, state
        Where the recursions are.
    x, y : numpy.ndarray
        A row's inputs, with a one at the end, and outputs.
    decay : float
        λ, at most 1: how much of what was learned a row leaves.
    weight : float
        How many copies of itself the row counts as.
    """
    found = responsibilities(tree, x[None], y[None])
    experts, of_experts = learn_experts(tree.experts, state.experts, x, y, weight * found.node[-1][:, 0], decay)
    scores, gate_spread, gates = [], [], []
    for level, (of_level, before) in enumerate(zip(state.scores, state.gate_spread, strict=True)):
        node = weight * found.node[level][:, 0]
        branch = np.log(np.maximum(found.branch[level][:, 0, :], LEAST))
        after = recursed(before, x, np.broadcast_to(node[:, None], of_level.shape[:2]), decay)
        error = node[:, None] * (branch - of_level @ x)
        moved = of_level + error[..., None] * (after @ x)
        scores.append(moved)
        gate_spread.append(after)
        gates.append(moved[:, :-1] - moved[:, -1:])
    return SoftTree(tuple(gates), experts), OnlineState(tuple(scores), tuple(gate_spread), of_experts)
