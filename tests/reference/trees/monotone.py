"""Monotone trees by brute force: which leaves are in order, and how probable it is that their values are.

Like the enumeration it shares no code with baytree. The order is found by walking every pair of points of the table's
grid, missing values included, and the probability by integrating over all orders in which the values can come.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from reference.trees.enumeration import Column, Dirichlet, GrowTree, Normal, NormalInverseGamma, Rows, Rule, Table, Tree
from reference.trees.spaces import REAL, Space, categorical, numeric

Pairs = frozenset[tuple[int, int]]
Signs = tuple[int, ...]

# ColumnValues of the integration.
CELLS = 4000


def grid(table: Table) -> NDArray[np.int64]:
    """Every combination of bins; each column has a missing value, also where training saw none."""
    return np.array(list(product(*(range(column.observed + 1) for column in table.columns))))


def comparable(table: Table, signs: Signs) -> NDArray[np.bool_]:
    """Of each pair of points of the grid, whether a monotone function must not be larger at the first."""
    points = grid(table)
    below = np.ones((len(points), len(points)), dtype=bool)
    for column, sign, bins in zip(table.columns, signs, points.T, strict=True):
        known = bins < column.observed
        first, second = bins[:, None], bins[None, :]
        ordered = (first <= second) if sign > 0 else (first >= second)
        below &= (first == second) | (known[:, None] & known[None, :] & ordered & (sign != 0))
    return below


def goes_left(column: Column, rule: Rule, bins: NDArray[np.int64], larger_left: bool) -> NDArray[np.bool_]:
    missing = bins == column.observed
    if column.kind == "categorical":
        left = (rule.subset >> bins & 1).astype(bool)
        return left if column.has_missing else np.where(missing, larger_left, left)
    return np.where(missing, rule.missing_left if column.has_missing else larger_left, bins <= rule.cut)


def leaf_of_points(table: Table, tree: Tree) -> NDArray[np.int64]:
    """The leaf, counted in preorder, that each point of the grid falls into."""
    points = grid(table)
    leaf = np.empty(len(points), dtype=np.int64)
    rules, found = iter(tree), iter(range(len(tree)))

    def walk(inside: NDArray[np.bool_], rows: Rows) -> None:
        rule = next(rules)
        if rule is None:
            leaf[inside] = next(found)
            return
        left_rows, right_rows = table.divide(rows, rule)
        left = goes_left(table.columns[rule.feature], rule, points[:, rule.feature], len(left_rows) >= len(right_rows))
        walk(inside & left, left_rows)
        walk(inside & ~left, right_rows)

    walk(np.ones(len(points), dtype=bool), table.all_rows)
    return leaf


def leaf_order(table: Table, tree: Tree, below: NDArray[np.bool_]) -> Pairs:
    """The pairs of different leaves whose values must not descend."""
    leaf = leaf_of_points(table, tree)
    first, second = np.nonzero(below)
    pairs = set(zip(leaf[first].tolist(), leaf[second].tolist(), strict=True))
    return frozenset((a, b) for a, b in pairs if a != b)


def value_of(space: Space, rows: Rows) -> Any:
    """The distribution of a leaf's value given these rows: that of a class probability, or of a mean."""
    table, leaf, order = space.table, space.leaf, sorted(rows)
    weight = [1.0 if table.weight is None else table.weight[row] for row in order]
    response = [table.response[row] for row in order]
    if isinstance(leaf, Dirichlet):
        second = sum(w for y, w in zip(response, weight, strict=True) if y == 1)
        return stats.beta(leaf.concentration + second, leaf.concentration + sum(weight) - second)
    if isinstance(leaf, Normal):
        return stats.norm(*leaf.posterior(response, weight))
    after = leaf.posterior(response, weight)
    return stats.t(after.nu, after.mean, np.sqrt(after.scale / after.kappa))


def edges_for(values: Sequence[Any], middle: float) -> NDArray[np.float64]:
    """ColumnValues of which no value takes more than a small share: the edges of the integration."""
    quantiles = max(CELLS // len(values), 50)
    share = (np.arange(quantiles) + 0.5) / quantiles
    return np.unique(np.concatenate([[-np.inf, middle, np.inf], *(value.ppf(share) for value in values)]))


def in_order(cells: Sequence[NDArray[np.float64]], pairs: Pairs) -> float:
    """The probability that independent values, each given by its probabilities of the cells, are in order.

    The largest of a set of values is one that nothing in the set must exceed, and all others come below it. With
    G(S, t) the probability that the values S are in order and none exceeds t, dG(S, t) = Σ G(S − {i}, t) dF_i(t) over
    such i.
    """

    @cache
    def together(chosen: frozenset[int]) -> NDArray[np.float64]:
        total = np.zeros(len(cells[0]) + 1)
        if not chosen:
            return total + 1
        for i in chosen:
            if not any((i, j) in pairs for j in chosen):
                rest = together(chosen - {i})
                total[1:] += np.cumsum(cells[i] * (rest[1:] + rest[:-1]) / 2)
        return total

    return float(together(frozenset(range(len(cells))))[-1])


class MonotoneSpace:
    """A space, the signs of its columns, and where the value of each tree's first leaf is divided into low and high."""

    def __init__(self, space: Space, signs: Signs) -> None:
        self.space, self.signs, self.name = space, signs, space.name
        self.middle = 0.5 if isinstance(space.leaf, Dirichlet) else float(np.mean(space.table.response))

    @property
    def by_name(self) -> dict[str, int]:
        return {f"x{j}": sign for j, sign in enumerate(self.signs) if sign}

    def target(self, power: float) -> NDArray[np.float64]:
        """P(T) P(y | T)^power P(in order, first value low or high | y, T): two states for each tree.

        With power 0 the values come from the leaves' prior.
        """
        return _target(self, power)

    @property
    def groupings(self) -> dict[str, NDArray[np.int64]]:
        known = {name: np.repeat(labels, 2) for name, labels in self.space.groupings.items()}
        return known | {"first value": np.tile([0, 1], len(self.space.trees))}


@cache
def _target(monotone: MonotoneSpace, power: float) -> NDArray[np.float64]:
    space = monotone.space
    below = comparable(space.table, monotone.signs)
    leaves = {tree: space.table.leaf_rows(tree) for tree in space.trees}
    values = {rows: value_of(space, rows if power > 0 else frozenset()) for tree in leaves for rows in leaves[tree]}
    edges = edges_for(list(values.values() if power > 0 else [value_of(space, frozenset())]), monotone.middle)
    cells = {rows: np.diff(value.cdf(edges)) for rows, value in values.items()}
    is_low = edges[1:] <= monotone.middle
    shares = []
    for tree, rows in leaves.items():
        pairs = leaf_order(space.table, tree, below)
        first, *others = [cells[leaf] for leaf in rows]
        shares.append([in_order([first * part, *others], pairs) for part in (is_low, ~is_low)])
    log_target = space.log_prior + power * space.log_likelihood
    unnormalised = np.exp(log_target - log_target.max())[:, None] * shares
    return (unnormalised / unnormalised.sum()).ravel()


# One column: leaves in a chain, and one of missing values that is above and below nothing. The classes fall with it.
CHAIN = MonotoneSpace(
    Space(
        "chain",
        (numeric((1, 2, 3, 4, 1, 3, None, 2), (0, 1, 2, 3, 0, 2, 4, 1), 4),),
        ("yes", "no", "yes", "no", "no", "no", "yes", "yes"),
        GrowTree(0.9, 0.4, 1, "variable"),
        Dirichlet(0.6, 2),
    ),
    (1,),
)

# Two columns with opposite signs: two by two regions are ordered in part. Weights.
SQUARE = MonotoneSpace(
    Space(
        "square",
        (
            numeric((1, 1, 2, 2, 3, 3, 1, 3, 2, 1), (0, 0, 1, 1, 2, 2, 0, 2, 1, 0), 3),
            numeric((1, 3, 1, 3, 1, 3, 2, 2, 2, 1), (0, 2, 0, 2, 0, 2, 1, 1, 1, 0), 3),
        ),
        (0.4, 0.9, 0.7, 0.2, 1.1, 0.5, 0.1, 0.6, 1.0, 0.3),
        GrowTree(0.95, 0.3, 2, "uniform"),
        REAL,
        weight=(0.5, 2.0, 1.0, 1.25, 0.75, 3.0, 0.75, 1.0, 1.5, 1.0),
    ),
    (1, -1),
)

# A column without a sign, a categorical one and one with missing values that rises: leaves that differ in one of the
# first two are not in order, but where a missing value leads to both of them.
ASIDE = MonotoneSpace(
    Space(
        "aside",
        (
            numeric((1, 2, 1, 2, 1, 2, 2, 1, 2), (0, 1, 0, 1, 0, 1, 1, 0, 1), 2),
            categorical(tuple("pqrpqrpqp"), (0, 1, 2, 0, 1, 2, 0, 1, 0), 3),
            numeric((1, 1, 2, 2, None, None, 1, 2, 3), (0, 0, 1, 1, 3, 3, 0, 1, 2), 3),
        ),
        ("no", "yes", "no", "yes", "no", "yes", "yes", "no", "no"),
        GrowTree(0.95, 0.4, 2, "variable"),
        Dirichlet(1.0, 2),
    ),
    (0, 0, 1),
)

# Real numbers that are to fall with a column of missing values, which another column divides.
FALLING = MonotoneSpace(
    Space(
        "falling",
        (
            numeric((1.5, None, 2.5, 0.5, None, 2.5, 1.5), (1, 3, 2, 0, 3, 2, 1), 3),
            numeric((False, True, True, False, False, True, True), (0, 1, 1, 0, 0, 1, 1), 2),
        ),
        (0.3, 1.9, 0.8, -0.4, 1.2, 0.1, 0.7),
        GrowTree(0.85, 1.0, 1, "variable"),
        NormalInverseGamma(mean=0.5, kappa=0.5, nu=3.0, scale=0.3),
    ),
    (-1, 0),
)

SPACES = (CHAIN, SQUARE, ASIDE, FALLING)
