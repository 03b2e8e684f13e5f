"""Hidden Markov decision trees: soft trees whose nodes remember their last decision, and exact sums over decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._core import hmm_best_path, hmm_filter, hmm_smooth
from ...hme.numeric.arrays import log_softmax
from ...hme.tree.experts import Experts
from ..data.sequences import Sequences

# What the core takes: where sequences begin, transitions, evidence, and the outcome of each joint state.
Chains = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class MarkovTree:
    """A soft tree whose nodes remember.

    Every node decides at every time, also where it is not asked: node n is at its branch k with

        P(ω_t = k | x_t, ω_{t−1} = j) ∝ exp(v_k · x_t + a_{jk}),

    and with a term of its own in place of a_{jk} at the first row of a sequence. The last branch has scores 0. The
    leaf that the decisions lead to from the root gives y_t (Jordan, Ghahramani & Saul 1997). Nodes are numbered level
    by level, from left to right; node n has the children n·b + 1 … n·b + b.

    Attributes
    ----------
    gates : numpy.ndarray of shape (nodes, branching − 1, inputs + branching + 1)
        v, a of each decision before, and the term of a first row.
    experts : Experts
        The models at the leaves, from left to right.
    """

    gates: np.ndarray
    experts: Experts

    @property
    def branching(self) -> int:
        """Number of children of a node."""
        return int(self.gates.shape[1]) + 1

    @property
    def nodes(self) -> int:
        """Number of nodes that decide."""
        return int(self.gates.shape[0])

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return self.experts.leaves

    @property
    def states(self) -> int:
        """Number of joint states: of decisions of all nodes."""
        return int(self.branching**self.nodes)

    @property
    def levels(self) -> list[slice]:
        """The nodes of each level."""
        found, begin, width = [], 0, 1
        while begin < self.nodes:
            found.append(slice(begin, begin + width))
            begin, width = begin + width, width * self.branching
        return found

    def log_transitions(self, X: np.ndarray, first: np.ndarray) -> np.ndarray:
        """log P(decision | x, the one before), shape (rows, nodes, branching before, branching).

        Parameters
        ----------
        X : numpy.ndarray
            Inputs, with ones in the last column.
        first : numpy.ndarray
            Whether each row is the first of its sequence; there the decision before does not matter.
        """
        inputs = X.shape[1] - 1
        of_inputs = np.einsum("ti,nki->tnk", X[:, :-1], self.gates[:, :, :inputs], optimize=True)
        of_before = self.gates[:, :, inputs:].transpose(0, 2, 1)  # (nodes, before or none, branches)
        terms = np.where(first[:, None, None, None], of_before[None, :, -1:, :], of_before[None, :, :-1, :])
        scores = np.zeros((*terms.shape[:-1], self.branching))
        scores[..., :-1] = of_inputs[:, :, None, :] + terms
        return np.asarray(log_softmax(scores))

    def at_average(self) -> tuple[np.ndarray, np.ndarray]:
        """P(decision) of each node where all inputs are average: at a first row, and given the decision before.

        Of shapes (nodes, branching) and (nodes, branching before, branching).
        """
        average = np.zeros((2, self.gates.shape[2] - self.branching))
        first, later = np.exp(self.log_transitions(average, np.array([True, False])))
        return first[:, 0], later

    def log_evidence(self, sequences: Sequences) -> np.ndarray:
        """log P(y | x, leaf), and 0 where y was not seen, shape (rows, leaves)."""
        density = np.asarray(self.experts.log_density(sequences.X, sequences.Y)).T
        return np.where(sequences.seen[:, None], density, 0.0)


@dataclass(frozen=True)
class Expected:
    """What an E step knows of the decisions, given all rows.

    Attributes
    ----------
    pair : numpy.ndarray of shape (rows, nodes, branching, branching)
        P(decision before, decision); on the first row of a sequence all is under 0 before.
    leaf : numpy.ndarray of shape (rows, leaves)
        P(leaf).
    log_likelihood : numpy.ndarray of shape (sequences,)
        log P(y | x), or a lower bound of it.
    """

    pair: np.ndarray
    leaf: np.ndarray
    log_likelihood: np.ndarray

    @property
    def decision(self) -> np.ndarray:
        """P(decision) of each node, shape (rows, nodes, branching)."""
        return self.pair.sum(axis=2)


@dataclass(frozen=True)
class Ahead:
    """What is known of the decisions from the rows before, and with the row itself.

    Attributes
    ----------
    leaf_ahead, leaf : numpy.ndarray of shape (rows, leaves)
        P(leaf) before y is seen and after.
    decision_ahead, decision : numpy.ndarray of shape (rows, nodes, branching)
        P(decision) of each node, likewise.
    log_likelihood : numpy.ndarray of shape (rows,)
        log P(y | x, the rows before).
    """

    leaf_ahead: np.ndarray
    leaf: np.ndarray
    decision_ahead: np.ndarray
    decision: np.ndarray
    log_likelihood: np.ndarray

    @classmethod
    def of(cls, found: dict[str, np.ndarray], tree: MarkovTree) -> Ahead:
        """What the core found for the rows of a tree."""
        leaves, decisions = (-1, tree.leaves), (-1, tree.nodes, tree.branching)
        return cls(
            found["outcome_ahead"].reshape(leaves),
            found["outcome"].reshape(leaves),
            found["decision_ahead"].reshape(decisions),
            found["decision"].reshape(decisions),
            found["log_likelihood"],
        )


def leaves_of_states(nodes: int, branching: int) -> np.ndarray:
    """The leaf that each joint state leads to; the root's decision is its most significant digit."""
    states = np.arange(branching**nodes)
    at = np.zeros_like(states)
    while at[0] < nodes:
        decision = states // branching ** (nodes - 1 - at) % branching
        at = at * branching + 1 + decision
    return (at - nodes).astype(np.uint32)


def smoothed(tree: MarkovTree, sequences: Sequences, threads: int = 1) -> Expected:
    """The exact E step: forward and backward in time over the joint states of all nodes."""
    found = hmm_smooth(*_chains(tree, sequences), threads=threads)
    b = tree.branching
    return Expected(
        found["pair"].reshape(sequences.rows, tree.nodes, b, b),
        found["outcome"].reshape(sequences.rows, tree.leaves),
        sequences.totals(found["log_likelihood"]),
    )


def filtered(tree: MarkovTree, sequences: Sequences, threads: int = 1) -> Ahead:
    """The exact forward pass."""
    return Ahead.of(hmm_filter(*_chains(tree, sequences), threads=threads), tree)


def best_path(tree: MarkovTree, sequences: Sequences, threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """The most probable decisions of all nodes at all times, and log P(these, y | x) of each sequence."""
    found = hmm_best_path(*_chains(tree, sequences), threads=threads)
    return found["decision"].reshape(sequences.rows, tree.nodes), found["log_probability"]


def _chains(tree: MarkovTree, sequences: Sequences) -> Chains:
    return (
        sequences.begin.astype(np.uint64),
        np.ascontiguousarray(tree.log_transitions(sequences.X, sequences.first)),
        np.ascontiguousarray(tree.log_evidence(sequences)),
        leaves_of_states(tree.nodes, tree.branching),
    )
