"""Trees with too many joint states: a chain for each node by itself, fitted to the others (structured mean field)."""

from __future__ import annotations

import numpy as np

from ..._core import hmm_best_path, hmm_project, hmm_smooth
from ..data.sequences import Sequences
from .markov_tree import Ahead, Chains, Expected, MarkovTree

# The mean field ends when a sweep over the nodes gains less than this a row.
ENOUGH = 1e-8


class MeanField:
    """Chains of the nodes that are independent of each other and come near their posterior together.

    q(ω) = Π_n q_n(ω^n), each q_n a Markov chain with the transitions of its node and an evidence of its own,

        h_t(k) = P_q(node is reached) · E_q(log P(y_t | leaf) | node is reached, branch k),

    which is found by one pass down the tree and one up. Nodes of one level never meet on a path, so all of them are
    fitted at once; no such step lowers the bound

        log P(y | x) ≥ Σ_n (log Z_n − Σ_t E_q h_t^n) + Σ_t E_q log P(y_t | leaf),

    where Z_n is the normaliser of q_n (Ghahramani & Jordan 1997, structured variational approximation).

    Parameters
    ----------
    tree : MarkovTree
        The parameters.
    sequences : Sequences
        The rows.
    decision : numpy.ndarray of shape (rows, nodes, branching), optional
        P(decision) to begin with, as of an earlier mean field; by default as if no y had been seen.
    threads : int
        Of the core; they change nothing but the time.
    """

    def __init__(
        self, tree: MarkovTree, sequences: Sequences, decision: np.ndarray | None = None, threads: int = 1
    ) -> None:
        self._tree, self._sequences, self._threads = tree, sequences, threads
        self._log_transition = tree.log_transitions(sequences.X, sequences.first)
        self._log_evidence = tree.log_evidence(sequences)
        self._pair = np.empty((sequences.rows, tree.nodes, tree.branching, tree.branching))
        # Of each node and sequence, E_q log P(ω) less E_q log q(ω).
        self._minus_divergence = np.zeros((tree.nodes, len(sequences.begin) - 1))
        if decision is None:
            self.decision = np.empty((sequences.rows, tree.nodes, tree.branching))
            for level in tree.levels:
                self._fit(level, np.zeros((sequences.rows, level.stop - level.start, tree.branching)))
        else:
            self.decision = decision.copy()

    def sweep(self) -> None:
        """Fit the chains, level by level from the root."""
        for level in self._tree.levels:
            self._fit(level, self._evidence_of(level))

    def run(self, sweeps: int) -> MeanField:
        """Sweep until the bound gains nothing, at most so often."""
        last = -np.inf
        for _ in range(sweeps):
            self.sweep()
            now = float(self.bound.sum())
            if now - last < ENOUGH * self._sequences.rows:
                break
            last = now
        return self

    @property
    def leaf(self) -> np.ndarray:
        """P_q(leaf), shape (rows, leaves)."""
        return reach(self._tree, self.decision)[-1]

    @property
    def bound(self) -> np.ndarray:
        """The lower bound of log P(y | x) of each sequence; true after a sweep."""
        fit = self._sequences.totals(np.sum(self.leaf * self._log_evidence, axis=1))
        return self._minus_divergence.sum(axis=0) + fit

    @property
    def expected(self) -> Expected:
        """What an M step needs."""
        return Expected(self._pair, self.leaf, self.bound)

    def best_path(self) -> np.ndarray:
        """The most probable decisions under q, shape (rows, nodes)."""
        path = np.empty((self._sequences.rows, self._tree.nodes), dtype=np.int32)
        for level in self._tree.levels:
            found = hmm_best_path(*self._chains(level, self._evidence_of(level)), threads=self._threads)
            path[:, level] = found["decision"].reshape(-1, self._sequences.rows).T
        return path

    def _evidence_of(self, level: slice) -> np.ndarray:
        """h of the nodes of a level, shape (rows, nodes of the level, branching)."""
        b = self._tree.branching
        below = self._log_evidence  # E_q(log P(y | leaf) | node is reached) of the level under the one looked at
        for lower in reversed(self._tree.levels):
            children = below.reshape(len(below), -1, b)
            if lower == level:
                break
            below = np.sum(self.decision[:, lower] * children, axis=2)
        reached = reach(self._tree, self.decision)[self._tree.levels.index(level)]
        return reached[:, :, None] * children

    def _fit(self, level: slice, evidence: np.ndarray) -> None:
        tree, rows = self._tree, self._sequences.rows
        found = hmm_smooth(*self._chains(level, evidence), threads=self._threads)
        self.decision[:, level] = found["outcome"].reshape(-1, rows, tree.branching).transpose(1, 0, 2)
        self._pair[:, level] = found["pair"].reshape(-1, rows, tree.branching, tree.branching).transpose(1, 0, 2, 3)
        gained = np.sum(self.decision[:, level] * evidence, axis=2)
        minus = found["log_likelihood"].reshape(-1, rows) - gained.T
        self._minus_divergence[level] = np.add.reduceat(minus, self._sequences.begin[:-1], axis=1)

    def _chains(self, level: slice, evidence: np.ndarray) -> Chains:
        """The chains of a level's nodes as sequences one after the other, for the core."""
        rows, b = self._sequences.rows, self._tree.branching
        nodes = level.stop - level.start
        begin = (np.arange(nodes)[:, None] * rows + self._sequences.begin[:-1]).ravel()
        transition = self._log_transition[:, level].transpose(1, 0, 2, 3).reshape(-1, 1, b, b)
        return (
            np.append(begin, nodes * rows).astype(np.uint64),
            np.ascontiguousarray(transition),
            np.ascontiguousarray(evidence.transpose(1, 0, 2).reshape(-1, b)),
            np.arange(b, dtype=np.uint32),
        )


def reach(tree: MarkovTree, decision: np.ndarray) -> list[np.ndarray]:
    """The probability that each node of a level is reached, where nodes decide independently; the leaves last."""
    found = [np.ones((len(decision), 1))]
    for level in tree.levels:
        found.append((found[-1][:, :, None] * decision[:, level]).reshape(len(decision), -1))
    return found


def projected_filter(tree: MarkovTree, sequences: Sequences, threads: int = 1) -> Ahead:
    """A forward pass that keeps the probabilities of each node's decisions, and not of their combinations.

    A step in time is exact, as nodes step independently. What a row adds is found exactly by a pass up and one down
    the tree; then the nodes are taken as independent again (Boyen & Koller 1998).
    """
    found = hmm_project(
        sequences.begin.astype(np.uint64),
        np.ascontiguousarray(tree.log_transitions(sequences.X, sequences.first)),
        np.ascontiguousarray(tree.log_evidence(sequences)),
        threads,
    )
    return Ahead.of(found, tree)
