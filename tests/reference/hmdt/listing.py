"""Hidden Markov decision trees by listing: every sequence of decisions of every node, one by one.

Shares no code with what it checks: a tree is plain arrays here, and probabilities are multiplied, not propagated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np


@dataclass(frozen=True)
class Listed:
    """All sequences of decisions of one sequence of rows.

    Attributes
    ----------
    paths : numpy.ndarray of shape (paths, rows, nodes)
        The decisions.
    joint : numpy.ndarray of shape (paths, rows)
        P(decisions up to the row, what is seen before the row).
    seen : numpy.ndarray of shape (paths, rows)
        The same with what is seen at the row.
    leaf : numpy.ndarray of shape (paths, rows)
        Where the decisions lead.
    """

    paths: np.ndarray
    joint: np.ndarray
    seen: np.ndarray
    leaf: np.ndarray

    @property
    def likelihood(self) -> float:
        """P(y | x)."""
        return float(self.seen[:, -1].sum())

    def shares(self, weight: np.ndarray, leaves: int) -> np.ndarray:
        """P(leaf) at each row, by weights of the paths at each row."""
        found = np.array([[weight[self.leaf[:, t] == k, t].sum() for k in range(leaves)] for t in self._rows])
        return found / found.sum(axis=1, keepdims=True)

    def decisions(self, weight: np.ndarray, branching: int) -> np.ndarray:
        """P(decision) of each node at each row, shape (rows, nodes, branching)."""
        found = np.array(
            [
                [[weight[self.paths[:, t, n] == k, t].sum() for k in range(branching)] for n in self._nodes]
                for t in self._rows
            ]
        )
        return found / found.sum(axis=2, keepdims=True)

    def pairs(self, t: int, node: int, branching: int) -> np.ndarray:
        """P(decision at t − 1, decision at t) of a node given all rows."""
        weight = self.seen[:, -1] / self.likelihood
        now, before = self.paths[:, t, node], self.paths[:, t - 1, node]
        each = product(range(branching), repeat=2)
        return np.array([weight[(before == j) & (now == k)].sum() for j, k in each]).reshape(branching, branching)

    @property
    def at_the_end(self) -> np.ndarray:
        """P(decisions, y) of the whole sequence, at every row."""
        return np.repeat(self.seen[:, -1:], self.seen.shape[1], axis=1)

    @property
    def _rows(self) -> range:
        return range(self.paths.shape[1])

    @property
    def _nodes(self) -> range:
        return range(self.paths.shape[2])


def chance(x: np.ndarray, gate: np.ndarray, before: int | None) -> np.ndarray:
    """P(decision | x, the one before) of a node with coefficients of inputs, of decisions before, and of none."""
    inputs = len(x) - 1
    place = inputs + (gate.shape[1] - inputs - 1 if before is None else before)
    scores = np.append([row[:inputs] @ x[:inputs] + row[place] for row in gate], 0.0)
    shares = np.exp(scores - scores.max())
    return shares / shares.sum()


def leaf_of(decisions: tuple[int, ...], branching: int) -> int:
    """Where the decisions of all nodes lead from the root."""
    at = 0
    while at < len(decisions):
        at = at * branching + 1 + decisions[at]
    return at - len(decisions)


def listed(X: np.ndarray, gates: np.ndarray, likelihood: np.ndarray) -> Listed:
    """List all decisions.

    Parameters
    ----------
    X : numpy.ndarray
        The inputs of one sequence, ones last.
    gates : numpy.ndarray of shape (nodes, branching − 1, inputs + branching + 1)
        The nodes' coefficients.
    likelihood : numpy.ndarray of shape (rows, leaves)
        P(y | x, leaf), and 1 where y was not seen.
    """
    branching = gates.shape[1] + 1
    joint_states = list(product(range(branching), repeat=len(gates)))
    steps = {
        (t, before, now): _step(X[t], gates, before, now)
        for t in range(len(X))
        for before in (joint_states if t else [None])
        for now in joint_states
    }
    paths, joint, seen, leaf = [], [], [], []
    for path in product(joint_states, repeat=len(X)):
        ahead, after, where = zip(*_along(path, steps, likelihood, branching), strict=True)
        paths.append(path)
        joint.append(ahead)
        seen.append(after)
        leaf.append(where)
    # A path is listed once for every way that it can go on; those are as many at each row.
    repeats = len(joint_states) ** np.arange(len(X))[::-1]
    return Listed(np.array(paths), np.array(joint) / repeats, np.array(seen) / repeats, np.array(leaf))


def _step(x: np.ndarray, gates: np.ndarray, before: tuple[int, ...] | None, now: tuple[int, ...]) -> float:
    each = [chance(x, gate, None if before is None else before[n])[now[n]] for n, gate in enumerate(gates)]
    return float(np.prod(each))


def _along(path: Sequence[tuple[int, ...]], steps, likelihood, branching) -> Iterator[tuple[float, float, int]]:
    value, before = 1.0, None
    for t, now in enumerate(path):
        leaf = leaf_of(now, branching)
        ahead = value * steps[t, before, now]
        value = ahead * likelihood[t, leaf]
        before = now
        yield ahead, value, leaf
