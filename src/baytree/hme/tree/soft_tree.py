"""A soft tree: gates at the nodes, experts at the leaves, and the passes up and down it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import reduce

import numpy as np

from ..numeric.arrays import Array, log_sum_exp, namespace, normalised, to_kind_of, to_numpy
from ..numeric.logit import log_probabilities
from .experts import Experts


@dataclass(frozen=True)
class SoftTree:
    """A complete tree whose decisions are probabilities.

    Node i of level l has the children i·b … i·b + b − 1 of level l + 1; the leaves are the last level.

    Attributes
    ----------
    gates : tuple of array, each of shape (nodes of the level, branching − 1, columns)
        The coefficients of the multinomial logit models that decide, level by level; the last branch has 0.
    experts : Experts
        The models at the leaves, from left to right.
    """

    gates: tuple[Array, ...]
    experts: Experts

    @property
    def depth(self) -> int:
        """Number of levels of gates."""
        return len(self.gates)

    @property
    def branching(self) -> int:
        """Number of children of a node."""
        return int(self.gates[0].shape[1]) + 1 if self.gates else 1

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return self.experts.leaves

    def to_numpy(self) -> SoftTree:
        """The same tree on NumPy arrays."""
        return self._on(to_numpy)

    def to_kind_of(self, array: Array) -> SoftTree:
        """The same tree on arrays of another one's kind, precision and device."""
        return self._on(lambda values: to_kind_of(array, values))

    def _on(self, convert: Callable[[Array], Array]) -> SoftTree:
        arrays = {field.name: getattr(self.experts, field.name) for field in fields(self.experts)}
        experts = replace(
            self.experts, **{name: convert(value) for name, value in arrays.items() if hasattr(value, "shape")}
        )
        return SoftTree(tuple(convert(gates) for gates in self.gates), experts)

    def log_gates(self, X: Array) -> list[Array]:
        """log P(branch | x, node) level by level, each of shape (nodes, rows, branching)."""
        return [log_probabilities(X, gates) for gates in self.gates]

    def log_paths(self, X: Array) -> Array:
        """log P(leaf | x), shape (leaves, rows)."""
        xp = namespace(X)
        path = xp.zeros_like(X[:, 0])[None, :]
        for log_gate in self.log_gates(X):
            joint = path[:, None, :] + xp.permute_dims(log_gate, (0, 2, 1))
            path = xp.reshape(joint, (joint.shape[0] * joint.shape[1], joint.shape[2]))
        return path

    def log_likelihood(self, X: Array, Y: Array) -> Array:
        """log P(y | x) of each row."""
        xp = namespace(X)
        return log_sum_exp(xp.permute_dims(self.log_paths(X) + self.experts.log_density(X, Y), (1, 0)))

    def at(self, X: Array) -> Mixture:
        """What the tree says at some rows."""
        return Mixture.of(self.experts, X, self.log_paths(X))

    def means(self, X: Array) -> Array:
        """E(y | x), shape (rows, outputs)."""
        return self.at(X).mean

    def variances(self, X: Array) -> Array:
        """Var(y | x), the spread of the experts and their own, shape (rows, outputs)."""
        return self.at(X).variance


@dataclass(frozen=True)
class Mixture:
    """What a soft tree says at some rows, or experts that are mixed by other probabilities of the leaves.

    Attributes
    ----------
    experts : Experts
        The models at the leaves.
    X : array
        The rows.
    share : array of shape (leaves, rows)
        P(leaf | x).
    means : array of shape (leaves, rows, outputs)
        E(y | x, leaf).
    """

    experts: Experts
    X: Array
    share: Array
    means: Array

    @classmethod
    def of(cls, experts: Experts, X: Array, log_share: Array) -> Mixture:
        """Of experts at some rows, by the logarithms of the leaves' probabilities."""
        return cls(experts, X, namespace(X).exp(log_share), experts.means(X))

    def at(self, rows: slice) -> Mixture:
        """At some of the rows."""
        return Mixture(self.experts, self.X[rows], self.share[:, rows], self.means[:, rows])

    @property
    def mean(self) -> Array:
        """E(y | x), shape (rows, outputs)."""
        return namespace(self.X).sum(self.share[..., None] * self.means, axis=0)

    @property
    def variance(self) -> Array:
        """Var(y | x), shape (rows, outputs)."""
        within = self.experts.variances(self.X) + (self.means - self.mean) ** 2
        return namespace(self.X).sum(self.share[..., None] * within, axis=0)


@dataclass(frozen=True)
class Responsibilities:
    """The posterior probabilities of the decisions, given the outputs.

    Attributes
    ----------
    branch : list of array, each of shape (nodes of the level, rows, branching)
        P(branch | x, y, node), level by level.
    node : list of array, each of shape (nodes of the level, rows)
        P(node | x, y), the leaves last.
    log_likelihood : array of shape (rows,)
        log P(y | x).
    """

    branch: list[Array]
    node: list[Array]
    log_likelihood: Array


def responsibilities(tree: SoftTree, X: Array, Y: Array) -> Responsibilities:
    """The E step: up the tree with likelihoods, down with posterior probabilities, all in logarithms.

    Parameters
    ----------
    tree : SoftTree
        The parameters.
    X, Y : array
        Inputs and outputs.
    """
    return decide(tree.log_gates(X), tree.experts.log_density(X, Y))


def decide(log_gates: list[Array], log_density: Array) -> Responsibilities:
    """The E step for any logarithms of gates and densities, also such as do not sum to 1.

    Parameters
    ----------
    log_gates : list of array, each of shape (nodes of the level, rows, branching)
        log P(branch | x, node), level by level.
    log_density : array of shape (leaves, rows)
        log P(y | x, leaf).
    """
    xp = namespace(log_density)
    rows = log_density.shape[1]
    below = log_density  # log P(y | x, node) of a level
    branch: list[Array] = []
    for log_gate in reversed(log_gates):
        of_children = xp.permute_dims(xp.reshape(below, (log_gate.shape[0], -1, rows)), (0, 2, 1))
        share, below = normalised(log_gate + of_children)
        branch.insert(0, share)
    return Responsibilities(branch, _down(branch, below), below[0, :])


def decisions(tree: SoftTree, X: Array) -> Responsibilities:
    """What the gates decide where no output is known: P(branch | x, node) and P(node | x); log P is 0."""
    xp = namespace(X)
    branch = [xp.exp(log_gate) for log_gate in tree.log_gates(X)]
    nothing = xp.zeros_like(X[:, 0])
    return Responsibilities(branch, _down(branch, nothing[None, :]), nothing)


def _down(branch: list[Array], root: Array) -> list[Array]:
    """The probabilities of the nodes from those of the branches, level by level; `root` has the shape of its level."""
    xp = namespace(root)
    node = [xp.ones_like(root)]
    for share in branch:
        joint = node[-1][:, None, :] * xp.permute_dims(share, (0, 2, 1))
        node.append(xp.reshape(joint, (-1, root.shape[1])))
    return node


def path_products(tree: SoftTree, X: Array, Y: Array) -> np.ndarray:
    """P(leaf, y | x) of every leaf by multiplying the gates along its path, shape (leaves, rows).

    Slow and plain, to check `responsibilities` by.
    """
    gates = [np.exp(np.asarray(log_gate)) for log_gate in tree.log_gates(X)]
    density = np.exp(np.asarray(tree.experts.log_density(X, Y)))
    found = np.empty_like(density)
    for leaf in range(tree.leaves):
        places = [leaf // tree.branching ** (tree.depth - level) for level in range(tree.depth + 1)]
        steps = [gates[level][places[level], :, places[level + 1] % tree.branching] for level in range(tree.depth)]
        found[leaf] = reduce(np.multiply, steps, density[leaf])
    return found
