"""Trees whose columns have weights drawn from a Dirichlet distribution, with the weights integrated out.

Given weights s, a split asks about column c with probability s_c / Σ s over the columns that have an admissible rule
there. A column without one is blocked, so the product over splits is no monomial of s. Breaking a stick of length 1,
first the columns that a split may not have and then the others, makes it a polynomial of the pieces' shares, whose
integral a quadrature gives exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from reference.trees.constraints import Path, Step
from reference.trees.enumeration import Rows, Tree, choices
from reference.trees.spaces import Space

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Asked = tuple[int, frozenset[int]]

# Nodes of each piece of the stick, exact for trees of up to as many splits, and steps of the concentration.
NODES = 24
STEPS = 400


@dataclass(frozen=True)
class DirichletWeights:
    """s ~ Dirichlet(a/p, …, a/p) over p columns; without a concentration, a/(a + p) ~ Beta(1/2, 1).

    A saboteur does not see what is blocked: there every split seems to have had the choice among all columns, as in the
    plain Dirichlet update of the weights by how often columns are used.
    """

    concentration: float | None = None
    sees_blocked: bool = True

    def log_prior(self, space: Space, parts: Ints) -> Floats:
        """log P(trees) for tuples of trees of a space, given by their positions, (states, trees)."""
        kept = asking(space).kept
        return kept[parts].sum(axis=1) + np.log(self._integrals(space, parts).mean(axis=1))

    def means(self, space: Space, parts: Ints) -> Floats:
        """The means of the columns' weights and of a/(a + p) given the trees, (states, columns + 1).

        The mean of a weight is the probability that one more question, where all columns are available, is about it.
        """
        alone = self._integrals(space, parts)
        columns = range(len(space.table.columns))
        more = [self._integrals(space, parts, one_more=column).sum(axis=1) for column in columns]
        each = self._parameters(len(columns))
        return np.stack([*more, alone @ (each / (1 + each))], axis=1) / alone.sum(axis=1, keepdims=True)

    def _integrals(self, space: Space, parts: Ints, one_more: int | None = None) -> Floats:
        """The mean of the product of shares, for each state and each concentration."""
        asked = asking(space)
        exponents = asked.counts[parts].sum(axis=1)
        # Columns that are never available leave the proportions among the others as they are.
        used = frozenset().union(*(among for _, among in asked.kinds))
        kinds = asked.kinds if self.sees_blocked else [(column, used) for column, _ in asked.kinds]
        if one_more is not None:
            assert len(used) == len(space.table.columns)
            exponents[:, kinds.index((one_more, used))] += 1
        integrals = np.empty((len(parts), STEPS if self.concentration is None else 1))
        for last, states in by_available(kinds, exponents, used).items():
            for step, each in enumerate(self._parameters(len(space.table.columns))):
                nodes, shares = dirichlet_rule(len(used), each)
                log_share = log_shares(kinds, [*(used - last), *last], nodes)
                integrals[states, step] = np.exp(exponents[states] @ log_share) @ shares
        return integrals

    def _parameters(self, columns: int) -> Floats:
        """Equally probable values of a/p."""
        if self.concentration is not None:
            return np.array([self.concentration]) / columns
        root = (np.arange(STEPS) + 0.5) / STEPS  # uniform, as the square root of a Beta(1/2, 1) variable is
        return root**2 / (1 - root**2)


class Asking(NamedTuple):
    """The questions in the trees of a space.

    ``counts`` says how often each tree asks questions of each kind, (trees, kinds). ``kept`` is what remains of the log
    prior when the choice among columns, uniform in the space, is taken out of it.
    """

    kinds: list[Asked]
    counts: Floats
    kept: Floats

    def log_prior(self, log_weights: Floats) -> Floats:
        """log P(tree | weights) for each tree of the space."""
        log_share = [log_weights[c] - np.logaddexp.reduce(log_weights[sorted(among)]) for c, among in self.kinds]
        return self.kept + self.counts @ np.array(log_share)


@cache
def asking(space: Space) -> Asking:
    asked = [Counter(questions(space, tree)) for tree in space.trees]
    kinds = list({kind: None for counts in asked for kind in counts})
    counts = np.array([[counts[kind] for kind in kinds] for counts in asked], dtype=float)
    return Asking(kinds, counts, space.log_prior + counts @ np.log([len(among) for _, among in kinds]))


def by_available(kinds: list[Asked], exponents: Floats, used: frozenset[int]) -> dict[frozenset[int], list[int]]:
    """States by the columns that are available where some, but not one or all, are."""
    found: dict[frozenset[int], list[int]] = {}
    for state, asked in enumerate(exponents > 0):
        some = {
            among for (_, among), is_asked in zip(kinds, asked, strict=True) if is_asked and 1 < len(among) < len(used)
        }
        assert len(some) <= 1, "no order of the columns makes this a polynomial"
        found.setdefault(next(iter(some), used), []).append(state)
    return found


def dirichlet_rule(columns: int, each: float) -> tuple[Floats, Floats]:
    """Nodes (nodes, columns) and weights for expectations under Dirichlet(each, …, each), by breaking a stick."""
    nodes, shares = np.ones((1, 1)), np.ones(1)
    for left in range(columns - 1, 0, -1):
        # The next piece's share of the rest is Beta(each, left · each); Jacobi's weight lives on [-1, 1].
        at, weight = special.roots_jacobi(NODES, left * each - 1, each - 1)
        piece = (1 + at) / 2
        before, rest = np.repeat(nodes[:, :-1], NODES, axis=0), nodes[:, -1:]
        broken = [(rest * share).reshape(-1, 1) for share in (piece, 1 - piece)]
        nodes = np.concatenate([before, *broken], axis=1)
        shares = (shares[:, None] * weight / weight.sum()).ravel()
    return nodes, shares


def log_shares(kinds: list[Asked], order: list[int], nodes: Floats) -> Floats:
    """The log of s_c / Σ s over the available columns, for each kind of question and each node."""
    weight = dict(zip(order, nodes.T, strict=True))
    return np.log(np.stack([weight[c] / np.sum([weight[other] for other in among], axis=0) for c, among in kinds]))


def questions(space: Space, tree: Tree) -> Iterator[Asked]:
    """The column that each split asks about, and the columns that it could have asked about."""
    rules = iter(tree)

    def walk(rows: Rows, path: Path) -> Iterator[Asked]:
        rule = next(rules)
        if rule is not None:
            yield rule.feature, frozenset(way.rule.feature for way in choices(space.table, space.prior, rows, path))
            for side, inside in zip((True, False), space.table.divide(rows, rule), strict=True):
                yield from walk(inside, (*path, Step(rule, side)))

    return walk(space.table.all_rows, ())
