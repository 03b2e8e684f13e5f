"""What a hidden Markov decision tree says of sequences, exactly or by a mean field."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...hme.tree.soft_tree import Mixture
from ...validation import unknown_choice
from ..data.sequences import Sequences
from .markov_tree import Ahead, MarkovTree, best_path, filtered, smoothed
from .mean_field import MeanField, projected_filter

METHODS = ("auto", "exact", "mean_field")
# The most joint states over which sums are exact.
MOST_STATES = 4096
# Sweeps of a mean field that nobody waits for.
SWEEPS = 200


def is_exact(method: str, depth: int, branching: int) -> bool:
    """Whether a method takes exact sums over the decisions of a tree of this shape.

    Parameters
    ----------
    method : {"auto", "exact", "mean_field"}
        What was asked for.
    depth, branching : int
        The tree's.
    """
    if method not in METHODS:
        raise unknown_choice("method", method, METHODS)
    nodes = (branching**depth - 1) // (branching - 1)
    possible = branching**nodes <= MOST_STATES
    if method == "exact" and not possible:
        raise InputError(
            f"method='exact': {nodes} nodes of {branching} branches have {branching}^{nodes} joint states, more than "
            f"{MOST_STATES:,}; choose 'mean_field', or a smaller depth"
        )
    return possible and method != "mean_field"


@dataclass(frozen=True)
class Decisions:
    """Probabilities of decisions.

    Attributes
    ----------
    leaf : numpy.ndarray of shape (rows, leaves)
        That each leaf is reached.
    decision : numpy.ndarray of shape (rows, nodes, branching)
        Of each node's branches, whether it is asked or not. Nodes are numbered level by level from the root.
    """

    leaf: np.ndarray
    decision: np.ndarray


@dataclass(frozen=True)
class DecisionPath:
    """The most probable decisions of all nodes at all times together.

    Attributes
    ----------
    leaf : numpy.ndarray of shape (rows,)
        The leaf that is reached.
    decision : numpy.ndarray of shape (rows, nodes)
        The branch of each node.
    """

    leaf: np.ndarray
    decision: np.ndarray


@dataclass(frozen=True)
class Inference:
    """A tree, and how sums over its decisions are taken.

    Attributes
    ----------
    tree : MarkovTree
        The parameters.
    exact : bool
        Over the joint states of all nodes, or by chains of single nodes.
    threads : int
        Of the core.
    """

    tree: MarkovTree
    exact: bool
    threads: int = 1

    def ahead(self, sequences: Sequences) -> Ahead:
        """What is known from the rows before, and with the row."""
        forward = filtered if self.exact else projected_filter
        return forward(self.tree, sequences, self.threads)

    def one_step(self, sequences: Sequences) -> Mixture:
        """The distribution of each row's y given the rows before."""
        with np.errstate(divide="ignore"):
            log_share = np.log(self.ahead(sequences).leaf_ahead.T)
        return Mixture.of(self.tree.experts, sequences.X, log_share)

    def smooth(self, sequences: Sequences) -> Decisions:
        """What is known from all rows."""
        found = smoothed(self.tree, sequences, self.threads) if self.exact else self._field(sequences).expected
        return Decisions(found.leaf, found.decision)

    def best_path(self, sequences: Sequences) -> DecisionPath:
        """The most probable decisions; by a mean field the most probable ones under it."""
        if self.exact:
            decision = best_path(self.tree, sequences, self.threads)[0]
        else:
            decision = self._field(sequences).best_path()
        at = np.zeros(sequences.rows, dtype=int)
        for _ in self.tree.levels:
            at = at * self.tree.branching + 1 + decision[np.arange(sequences.rows), at]
        return DecisionPath(at - self.tree.nodes, decision)

    def log_likelihood(self, sequences: Sequences) -> np.ndarray:
        """log P(y | x) of each sequence, by a mean field a lower bound."""
        if self.exact:
            return sequences.totals(filtered(self.tree, sequences, self.threads).log_likelihood)
        return self._field(sequences).bound

    def _field(self, sequences: Sequences) -> MeanField:
        return MeanField(self.tree, sequences, threads=self.threads).run(SWEEPS)


def asked(leaf: np.ndarray, nodes: int, branching: int) -> np.ndarray:
    """Which nodes lie on the way to each of some leaves, shape (leaves, nodes)."""
    found = np.zeros((len(leaf), nodes), dtype=bool)
    at = leaf + nodes
    while (at > 0).all():
        at = (at - 1) // branching
        found[np.arange(len(leaf)), at] = True
    return found
