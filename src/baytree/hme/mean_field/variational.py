"""Soft trees by mean field: q(decisions) q(gates) q(experts), a bound of the evidence that never falls, and pruning.

The evidence P(y | X) is at least the bound

``Σ w log Σ over leaves exp(E log P(leaf | x) + E log P(y | x, leaf)) − Σ KL(q(parameters) | prior)``,

the expectations being over q(parameters), and for logit models bounded from below themselves. The first sum is what the
best q(decisions) gives: the E step with expected logarithms in place of logarithms. Each step below sets a factor to
its best given the others, so the bound never falls.

Trees with fewer branches are other models, whose evidence has a bound too. A branch is shut for good when the bound
without it is higher.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import InputError
from ..numeric.arrays import Array, namespace, to_kind_of, to_numpy
from ..tree.experts import Classes, Gaussian
from ..tree.soft_tree import Responsibilities, SoftTree, decide, responsibilities
from .factors import Lines, Prior
from .logit_factors import Classifiers, Logits

PRIOR = Prior()
# Epochs that a tree gets to settle without a branch, before the bounds are compared.
TRIAL = 10


@dataclass(frozen=True)
class Settings:
    """How the mean field is sought.

    Attributes
    ----------
    prior : Prior
        What is believed before the rows.
    epochs : int
        The most passes over the data between two tries to prune.
    tolerance : float
        A pass that gains less than this a row is the last.
    prune : bool
        Whether branches are shut where that raises the bound.
    """

    prior: Prior = PRIOR
    epochs: int = 100
    tolerance: float = 1e-5
    prune: bool = True


@dataclass(frozen=True)
class MeanField:
    """A distribution over soft trees, of independent gates and experts.

    Attributes
    ----------
    gates : tuple of Logits
        Level by level.
    experts : Lines or Classifiers
        Of the leaves.
    live : numpy.ndarray of bool
        Which leaves there are.
    """

    gates: tuple[Logits, ...]
    experts: Lines | Classifiers
    live: np.ndarray

    @property
    def mean(self) -> SoftTree:
        """The soft tree of the parameters' means; no row reaches a leaf that is no more."""
        return SoftTree(tuple(gate.mean for gate in self.gates), self.experts.mean)

    def draws(self, count: int, generator: np.random.Generator) -> list[SoftTree]:
        """Soft trees from the distribution.

        Parameters
        ----------
        count : int
            How many.
        generator : numpy.random.Generator
            Where they come from.
        """
        return [
            SoftTree(tuple(gate.draw(generator) for gate in self.gates), self.experts.draw(generator))
            for _ in range(count)
        ]

    def decisions(self, X: Array, Y: Array) -> Responsibilities:
        """q(decisions) at its best; its `log_likelihood` is the rows' part of the bound."""
        return decide([gate.log_shares(X) for gate in self.gates], self.experts.log_density(X, Y))

    def divergence(self, prior: Prior) -> float:
        """KL(q(parameters) | prior) of what is live."""
        of_leaves = self.experts.divergence(prior)
        xp = namespace(of_leaves)
        live = to_kind_of(of_leaves, self.live.astype(float))
        return float(xp.sum(live * of_leaves)) + sum(float(xp.sum(gate.divergence(prior))) for gate in self.gates)

    def log_prior(self, tree: SoftTree, prior: Prior) -> float:
        """The log of the prior density of a draw, of what is live."""
        of_leaves = self.experts.log_prior(tree.experts, prior)  # type: ignore[arg-type]
        xp = namespace(of_leaves)
        live = to_kind_of(of_leaves, self.live.astype(float))
        of_gates = (gate.log_prior(drawn, prior) for gate, drawn in zip(self.gates, tree.gates, strict=True))
        return float(xp.sum(live * of_leaves)) + sum(float(xp.sum(each)) for each in of_gates)

    def without(self, level: int, node: int) -> MeanField:
        """The same with a node, and all below it, shut."""
        above = self.gates[level - 1].live
        live = self.live.copy()
        live.reshape(above.shape[0] * above.shape[1], -1)[node] = False
        gates = []
        for gate in self.gates:
            nodes, classes = gate.live.shape
            there = np.any(live.reshape(nodes, classes, -1), axis=2)
            gates.append(gate.among(there))
        return MeanField(tuple(gates), self.experts, live)


@dataclass(frozen=True)
class Found:
    """A mean field and how it was reached.

    Attributes
    ----------
    field : MeanField
        The distribution.
    bound : tuple of float
        The bound of the log evidence after each epoch.
    converged : bool
        Whether it ended by itself.
    """

    field: MeanField
    bound: tuple[float, ...]
    converged: bool


def first_field(tree: SoftTree) -> MeanField:
    """A mean field around a soft tree."""
    if isinstance(tree.experts, Gaussian):
        experts: Lines | Classifiers = Lines.first(tree.experts)
    elif isinstance(tree.experts, Classes):
        experts = Classifiers(Logits.first(tree.experts.coefficients))
    else:
        raise InputError(
            f"a mean field is for linear, constant, logistic and multinomial experts, not {tree.experts.family}; "
            "choose EM"
        )
    gates = tuple(Logits.first(gate) for gate in tree.gates)
    return MeanField(gates, experts, np.ones(tree.leaves, dtype=bool))


def improved(field: MeanField, found: Responsibilities, X: Array, Y: Array, weight: Array, prior: Prior) -> MeanField:
    """Experts and gates at their best given the decisions."""
    experts = field.experts.updated(X, Y, found.node[-1] * weight, prior)
    gates = tuple(
        gate.updated(X, share, reach * weight, prior)
        for gate, share, reach in zip(field.gates, found.branch, found.node, strict=False)
    )
    return replace(field, gates=gates, experts=experts)


def fit(tree: SoftTree, X: Array, Y: Array, weight: Array, settings: Settings) -> Found:
    """Find a mean field.

    Parameters
    ----------
    tree : SoftTree
        Where to begin: its decisions are the first.
    X, Y, weight : array
        Inputs, of which the last column is ones, outputs and weights.
    settings : Settings
        How.
    """
    search = _Search(X, Y, weight, settings)
    field = improved(first_field(tree), responsibilities(tree, X, Y), X, Y, weight, settings.prior)
    field, converged = search.run(field)
    while settings.prune and (smaller := search.pruned(field)) is not field:
        field, converged = search.run(smaller)
    return Found(field, tuple(search.bound), converged)


class _Search:
    """The rows, and the bound so far."""

    def __init__(self, X: Array, Y: Array, weight: Array, settings: Settings) -> None:
        self.X, self.Y, self.weight, self.settings = X, Y, weight, settings
        self.total = float(namespace(X).sum(weight))
        self.bound: list[float] = []

    def assess(self, field: MeanField) -> tuple[Responsibilities, float]:
        """The best decisions, and the bound with them."""
        found = field.decisions(self.X, self.Y)
        rows = float(namespace(self.X).sum(self.weight * found.log_likelihood))
        value = rows - field.divergence(self.settings.prior)
        if not np.isfinite(value):
            raise InputError("the bound is no longer a number; rescale the columns")
        return found, value

    def improved(self, field: MeanField, found: Responsibilities) -> MeanField:
        return improved(field, found, self.X, self.Y, self.weight, self.settings.prior)

    def run(self, field: MeanField) -> tuple[MeanField, bool]:
        """Epochs until one gains too little."""
        before = -np.inf
        for epoch in range(self.settings.epochs + 1):
            found, value = self.assess(field)
            self.bound.append(value)
            converged = value - before < self.settings.tolerance * self.total
            if converged or epoch == self.settings.epochs:
                break
            before, field = value, self.improved(field, found)
        return field, converged

    def pruned(self, field: MeanField) -> MeanField:
        """The field without the lightest branch that the bound is better without; the same where there is none.

        One at a time: what the bound says of the next branch is worth little before the field has settled.
        """
        found, value = self.assess(field)
        for _, level, node in sorted(self.branches(field, found)):
            smaller = field.without(level, node)
            for _ in range(TRIAL):
                found, reached = self.assess(smaller)
                if reached > value:
                    return smaller
                smaller = self.improved(smaller, found)
        return field

    def branches(self, field: MeanField, found: Responsibilities) -> list[tuple[float, int, int]]:
        """The rows, level and node of each branch that is live and has siblings that are."""
        xp = namespace(self.X)
        listed = []
        for level, gate in enumerate(field.gates, 1):
            mass = xp.sum(found.node[level] * self.weight, axis=1)
            choices = to_numpy(gate.live) & to_numpy(gate.undecided)[:, None]
            listed += [(float(mass[int(node)]), level, int(node)) for node in np.flatnonzero(choices)]
        return listed
