"""Soft trees learned one row at a time, by recursive least squares at every node [1]_.

References
----------
.. [1] Jordan and Jacobs (1994), Hierarchical mixtures of experts and the EM algorithm, Neural Computation 6, 181–214.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .experts import Gaussian
from .soft_tree import SoftTree, responsibilities

# ln h has no bound; decisions less likely than this count as this.
LEAST = 1e-6
# How far from zero coefficients may begin: R and S before any row, in units of 1 / x².
START = 1.0


@dataclass(frozen=True)
class OnlineState:
    """What the recursions carry from row to row, besides the tree.

    Attributes
    ----------
    scores : tuple of numpy.ndarray, each of shape (nodes of the level, branching, columns)
        v, the gates' coefficients of every branch.
    gate_spread : tuple of numpy.ndarray, each of shape (nodes of the level, branching, columns, columns)
        S.
    expert_spread : numpy.ndarray of shape (leaves, columns, columns)
        R.
    squares, reach : numpy.ndarray
        Decayed sums of the experts' squared errors, shape (leaves, outputs), and of their weights, shape (leaves,).
    """

    scores: tuple[np.ndarray, ...]
    gate_spread: tuple[np.ndarray, ...]
    expert_spread: np.ndarray
    squares: np.ndarray
    reach: np.ndarray


def first_state(tree: SoftTree) -> OnlineState:
    """The state before any row, at a tree whose experts are linear."""
    assert isinstance(tree.experts, Gaussian)
    leaves, columns, _ = tree.experts.coefficients.shape
    scores, spread = [], []
    for gates in tree.gates:
        zero = np.zeros_like(gates[:, :1, :])
        scores.append(np.concatenate([np.asarray(gates), zero], axis=1))
        shape = (*scores[-1].shape, columns)
        spread.append(np.broadcast_to(START * np.eye(columns), shape).copy())
    # As if each expert had seen a row that was off by its standard deviation.
    return OnlineState(
        tuple(scores),
        tuple(spread),
        np.broadcast_to(START * np.eye(columns), (leaves, columns, columns)).copy(),
        np.array(tree.experts.variance),
        np.ones(leaves),
    )


def learn_row(
    tree: SoftTree, state: OnlineState, x: np.ndarray, y: np.ndarray, decay: float
) -> tuple[SoftTree, OnlineState]:
    """One step of the recursions.

    With h the posterior probabilities of the row's decisions, for each expert

    ``R ← R − λ⁻¹ R x x'R / (λ/h + x'R x)``, ``U ← U + h (y − μ) x'R``,

    and for each branch of a gate, h being that of the node and h' of the branch given the node,

    ``S ← S − λ⁻¹ S x x'S / (λ/h + x'S x)``, ``v ← v + S h (ln h' − ξ) x``.

    Parameters
    ----------
    tree, state
        Where the recursions are.
    x, y : numpy.ndarray
        A row's inputs, with a one at the end, and outputs.
    decay : float
        λ, at most 1: how much of what was learned a row leaves.
    """
    experts = tree.experts
    assert isinstance(experts, Gaussian)
    found = responsibilities(tree, x[None], y[None])
    h = found.node[-1][:, 0]
    spread = _recursed(state.expert_spread, x, h, decay)
    off = y - x @ experts.coefficients
    step = h[:, None, None] * np.einsum("kpq,q,ko->kpo", spread, x, off)
    coefficients = experts.coefficients + step
    squares = decay * state.squares + h[:, None] * off**2
    reach = decay * state.reach + h
    variance = np.maximum(squares / reach[:, None], experts.least)
    scores, gate_spread, gates = [], [], []
    for level, (of_level, before) in enumerate(zip(state.scores, state.gate_spread, strict=True)):
        node = found.node[level][:, 0]
        branch = np.log(np.maximum(found.branch[level][:, 0, :], LEAST))
        after = _recursed(before, x, np.broadcast_to(node[:, None], of_level.shape[:2]), decay)
        error = node[:, None] * (branch - of_level @ x)
        moved = of_level + error[..., None] * (after @ x)
        scores.append(moved)
        gate_spread.append(after)
        gates.append(moved[:, :-1] - moved[:, -1:])
    learned = SoftTree(tuple(gates), replace(experts, coefficients=coefficients, variance=variance))
    return learned, OnlineState(tuple(scores), tuple(gate_spread), spread, squares, reach)


def _recursed(spread: np.ndarray, x: np.ndarray, h: np.ndarray, decay: float) -> np.ndarray:
    """R − λ⁻¹ R x x'R / (λ/h + x'R x), multiplied out by h so that h = 0 leaves R as it is."""
    along = spread @ x
    below = decay + h * (along @ x)
    outer = along[..., :, None] * along[..., None, :]
    return spread - (h / (decay * below))[..., None, None] * outer
