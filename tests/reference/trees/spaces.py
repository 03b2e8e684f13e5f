"""Small named spaces of trees: raw values, the bins they must become, a prior and a leaf model.

The bins are written out by hand next to the raw values, so that a space also checks how a table is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.trees.constraints import Constraints
from reference.trees.enumeration import (
    Column,
    Dirichlet,
    GrowTree,
    Normal,
    NormalInverseGamma,
    Scored,
    Table,
    Tree,
    enumerate_trees,
    leaves,
)


@dataclass(frozen=True)
class Raw:
    """A column as a person would hand it in, None where missing, and the bins it must become."""

    values: tuple[Any, ...]
    column: Column


@dataclass(frozen=True)
class Space:
    """A table, a prior and a leaf model small enough to list every tree.

    ``container`` is what the raw columns are handed over in: a polars frame, which knows each column's type, or an
    object array, where ``categorical_features`` has to say which numbers are labels.
    """

    name: str
    raw: tuple[Raw, ...]
    response: tuple[Any, ...]
    prior: GrowTree
    leaf: Dirichlet | NormalInverseGamma | Normal
    weight: tuple[float, ...] | None = None
    container: str = "frame"

    @cached_property
    def table(self) -> Table:
        """The coded table: class bins follow the sorted class names; rows of weight zero are gone."""
        response = self.response
        if isinstance(self.leaf, Dirichlet):
            names = sorted(set(response))
            assert len(names) == self.leaf.classes
            response = tuple(float(names.index(y)) for y in response)
        columns = tuple(raw.column for raw in self.raw)
        if self.weight is None:
            return Table(columns, response)
        kept = [row for row, weight in enumerate(self.weight) if weight > 0]
        columns = tuple(replace(column, bins=tuple(column.bins[row] for row in kept)) for column in columns)
        return Table(columns, tuple(response[row] for row in kept), tuple(self.weight[row] for row in kept))

    @cached_property
    def trees(self) -> dict[Tree, Scored]:
        return enumerate_trees(self.table, self.prior, self.leaf)

    @cached_property
    def index(self) -> dict[Tree, int]:
        """The position of each tree in the arrays below."""
        return {tree: position for position, tree in enumerate(self.trees)}

    @cached_property
    def log_prior(self) -> NDArray[np.float64]:
        return np.array([scored.log_prior for scored in self.trees.values()])

    @cached_property
    def log_likelihood(self) -> NDArray[np.float64]:
        return np.array([scored.log_likelihood for scored in self.trees.values()])

    @cached_property
    def leaves(self) -> NDArray[np.int64]:
        return np.array([leaves(tree) for tree in self.trees])

    def target(self, power: float) -> NDArray[np.float64]:
        """P(T) P(y | T)^power, normalised."""
        log_target = self.log_prior + power * self.log_likelihood
        unnormalised = np.exp(log_target - log_target.max())
        return unnormalised / unnormalised.sum()

    @cached_property
    def groupings(self) -> dict[str, NDArray[np.int64]]:
        """What trees have in common, for states that are too rare to be judged alone."""
        roots = {rule: number for number, rule in enumerate(dict.fromkeys(tree[0] for tree in self.trees))}
        return {"leaves": self.leaves, "root": np.array([roots[tree[0]] for tree in self.trees])}


def numeric(values: tuple[Any, ...], bins: tuple[int, ...], observed: int, cuts: tuple[float, ...] = ()) -> Raw:
    return Raw(values, Column("numeric", observed, None in values, bins, cuts))


def categorical(values: tuple[Any, ...], bins: tuple[int, ...], observed: int) -> Raw:
    return Raw(values, Column("categorical", observed, None in values, bins))


REAL = NormalInverseGamma(mean=0.5, kappa=0.5, nu=3.0, scale=0.3)

# Equal values, a column of two values and one that cannot split at all.
TIES = Space(
    "ties",
    (
        numeric((1.0, 1.0, 2.0, 2.0, 2.0, 3.5, 7.0, 7.0), (0, 0, 1, 1, 1, 2, 3, 3), 4),
        numeric((5, -1, 5, 5, -1, -1, 5, 5), (1, 0, 1, 1, 0, 0, 1, 1), 2),
        numeric((4, 4, 4, 4, 4, 4, 4, 4), (0, 0, 0, 0, 0, 0, 0, 0), 1),
    ),
    ("no", "no", "no", "yes", "no", "yes", "yes", "yes"),
    GrowTree(0.9, 0.8, 1, "variable"),
    Dirichlet(1.0, 2),
)

# Below a split on one column the other has a gap: neighbouring cuts divide the node alike and stay different rules.
GAP = Space(
    "gap",
    (
        numeric((1, 1, 4, 4, 2, 2, 3, 3), (0, 0, 3, 3, 1, 1, 2, 2), 4),
        numeric((0.1, 0.2, 0.2, 0.1, 0.3, 0.4, 0.3, 0.4), (0, 1, 1, 0, 2, 3, 2, 3), 4),
    ),
    (0.2, 0.6, 1.6, 1.3, -0.1, 0.9, 1.1, 0.4),
    GrowTree(0.8, 0.5, 2, "variable"),
    REAL,
)

# Four levels, three classes: below the root the absent levels double the rules of a division.
LEVELS = Space(
    "levels",
    (categorical(("red", "blue", "green", "amber", "red", "blue", "green", "amber"), (3, 1, 2, 0, 3, 1, 2, 0), 4),),
    (0, 1, 2, 0, 0, 1, 1, 2),
    GrowTree(0.8, 0.5, 1, "variable"),
    Dirichlet(0.7, 3),
)

# Six levels of unequal sizes under min_leaf: how many level sets are admissible is a counting problem of its own.
SIZES = Space(
    "level_sizes",
    (
        categorical(tuple("fcacbdeaacd"), (5, 2, 0, 2, 1, 3, 4, 0, 0, 2, 3), 6),
        numeric((1, 2, 2, 1, 2, 2, 1, 2, 2, 2, 1), (0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0), 2),
    ),
    (0.9, 0.2, 1.4, -0.1, 0.3, 1.0, 0.5, 1.1, 1.3, 0.0, 0.6),
    GrowTree(0.8, 0.6, 3, "variable"),
    REAL,
)

# Missing values go either way or are asked for; the boolean column is numeric with one cut.
MISSING = Space(
    "missing",
    (
        numeric((1.5, None, 2.5, 0.5, None, 2.5, 1.5), (1, 3, 2, 0, 3, 2, 1), 3, (1.0, 2.0)),
        numeric((False, True, True, False, False, True, True), (0, 1, 1, 0, 0, 1, 1), 2, (0.5,)),
    ),
    (0.3, 1.9, 0.8, -0.4, 1.2, 0.1, 0.7),
    GrowTree(0.85, 1.0, 1, "variable"),
    REAL,
)

# More columns than proposals that weigh rules look at: of 40 all but three have no rule.
MANY_COLUMNS = Space(
    "many_columns",
    (
        *(numeric((4,) * 8, (0,) * 8, 1) for _ in range(20)),
        *TIES.raw,
        *(numeric((4,) * 8, (0,) * 8, 1) for _ in range(16)),
        numeric((0, 1, 1, 1, 0, 1, 0, 1), (0, 1, 1, 1, 0, 1, 0, 1), 2),
    ),
    TIES.response,
    GrowTree(0.8, 0.8, 2, "variable"),
    TIES.leaf,
)

# More levels at the root than proposals that weigh every level set look at; below the other column there are fewer.
MANY_LEVELS = Space(
    "many_levels",
    (
        categorical(tuple("hgfedcbaabch"), (7, 6, 5, 4, 3, 2, 1, 0, 0, 1, 2, 7), 8),
        numeric((1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2), (0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1), 2),
    ),
    (0.3, 1.1, 0.4, 0.9, 1.6, 0.2, -0.2, 0.5, 0.8, 1.2, 0.1, 0.7),
    GrowTree(0.7, 0.5, 4, "variable"),
    REAL,
)

# Numbers as labels, with a missing level; a numeric column constant where observed, of one rule: is it missing?.
MISSING_LEVELS = Space(
    "missing_levels",
    (
        categorical((10, 20, None, 30, 20, None, 30, 10, 20), (0, 1, 3, 2, 1, 3, 2, 0, 1), 3),
        numeric((2.0, 2.0, 2.0, None, None, 2.0, 2.0, None, 2.0), (0, 0, 0, 1, 1, 0, 0, 1, 0), 1),
    ),
    ("u", "v", "v", "u", "v", "u", "u", "u", "v"),
    GrowTree(0.9, 1.0, 2, "variable"),
    Dirichlet(1.0, 2),
    container="array",
)

MIXED = Space(
    "mixed",
    (
        numeric((1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4), (0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3), 4, (1.5, 2.5, 3.5)),
        categorical(tuple("pqrpqrpqrppq"), (0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 0, 1), 3),
        numeric(
            (0.5, 0.5, None, 1.5, 1.5, None, 0.5, None, 1.5, 1.5, 0.5, 1.5),
            (0, 0, 2, 1, 1, 2, 0, 2, 1, 1, 0, 1),
            2,
            (1.0,),
        ),
    ),
    (0.1, 1.4, 0.6, 1.2, -0.3, 0.9, 1.0, 1.7, 0.2, 0.5, 0.2, 1.4),
    GrowTree(0.75, 0.5, 3, "uniform"),
    REAL,
)

# Weights that are no whole numbers; the row of weight zero would bring a value and a cut of its own.
WEIGHTED = Space(
    "weighted",
    (
        numeric((1.0, 2.0, 2.0, 3.0, 9.0, 1.0, 3.0), (0, 1, 1, 2, 0, 0, 2), 3),
        numeric((None, 1.0, 2.0, 1.0, 9.0, 2.0, None), (2, 0, 1, 0, 0, 1, 2), 2),
    ),
    ("no", "yes", "no", "yes", "no", "no", "yes"),
    GrowTree(0.8, 1.0, 1, "uniform"),
    Dirichlet(1.0, 2),
    weight=(0.5, 2.0, 1.0, 1.25, 0.0, 3.0, 0.75),
)

WEIGHTED_REAL = Space(
    "weighted_real",
    (
        numeric((1.0, 2.0, 2.0, 3.0, 9.0, 1.0, 3.0, 4.0, 4.0), (0, 1, 1, 2, 0, 0, 2, 3, 3), 4),
        categorical(tuple("baccbabbc"), (1, 0, 2, 2, 1, 0, 1, 1, 2), 3),
    ),
    (0.4, 1.1, -0.2, 1.5, 50.0, 0.3, 0.9, 2.0, 1.2),
    GrowTree(0.9, 1.0, 2, "variable"),
    REAL,
    weight=(0.5, 2.0, 1.0, 1.25, 0.0, 3.0, 0.75, 1.0, 1.5),
)

# More bins than a byte holds.
WIDE = Space(
    "wide",
    (numeric((*range(290), *[None] * 30), (*range(290), *[290] * 30), 290),),
    tuple("yes" if row % 3 == 0 or (row > 200 and row % 10 == 0) else "no" for row in range(320)),
    GrowTree(0.9, 0.5, 102, "variable"),
    Dirichlet(1.0, 2),
)

# The root splits with probability one, so that this is no choice and a tree without a split does not exist.
FORCED = replace(TIES, name="forced_root", prior=GrowTree(1.0, 0.7, 2, "variable"))

# A space of one tree, where there is nothing to choose.
LONE = replace(TIES, name="lone_leaf", prior=GrowTree(0.95, 1.0, 5, "variable"))

UNIFORM = tuple(
    replace(space, name=f"{space.name}_uniform", prior=replace(space.prior, rule="uniform"))
    for space in (TIES, MISSING, MISSING_LEVELS)
)

SPACES = (
    *(TIES, GAP, LEVELS, SIZES, MISSING, MISSING_LEVELS, MIXED, WEIGHTED, WEIGHTED_REAL, WIDE, FORCED, LONE),
    *UNIFORM,
)

# ---- knowledge -------------------------------------------------------------------------------------------------------


def knowing(space: Space, name: str, constraints: Constraints, min_leaf: int, rule: Any = "variable") -> Space:
    prior = replace(space.prior, min_leaf=min_leaf, rule=rule, constraints=constraints)
    return replace(space, name=f"{space.name}: {name}", prior=prior)


INF = float("inf")

# Features 0 and 2 of the mixed table are numeric, with cuts 1.5, 2.5, 3.5 and 1.0, and 2 has missing values; 1 has
# levels. The first box holds the cut 1.5 itself; the second lies in the same node as the first for a while.
BOXES = (((0, 1.5, 2.5), (2, -INF, 0.5)), ((0, 3.0, INF), (2, -INF, 2.0)))

ALONE = {
    name: knowing(MIXED, name, constraints, 2)
    for name, constraints in {
        "max_depth": Constraints(max_depth=2),
        "max_leaves": Constraints(max_leaves=3),
        "forbidden": Constraints(forbidden=(1,)),
        "below_depth": Constraints(below_depth=((0, 1), (1, 2))),
        "below_feature": Constraints(below_feature=((0, 1), (2, 2))),
        "only": Constraints(only=((0, (1, 2)), (1, (0, 2)), (1, (0, 1)))),
        "interacting": Constraints(interacting=((0, 1), (1, 2))),
        "interacting_rest": Constraints(interacting=((0,),)),
        "box": Constraints(boxes=BOXES[:1]),
        "boxes": Constraints(boxes=BOXES),
        "weights": Constraints(max_depth=2, weights=(3.0, 0.5, 1.0)),  # of less depth, for a space of fewer trees
    }.items()
}

TOGETHER = (
    knowing(
        MIXED,
        "boxes under weights",
        Constraints(max_depth=3, below_feature=((1, 0),), boxes=BOXES[:1], weights=(3.0, 0.5, 1.0)),
        2,
    ),
    knowing(
        MIXED,
        "groups of few leaves",
        Constraints(max_leaves=4, only=((0, (0, 1)), (2, (1, 2))), interacting=((0, 1), (1, 2)), weights=(1, 2, 4)),
        2,
        "uniform",
    ),
    knowing(
        MISSING,
        "missing values",
        Constraints(max_leaves=5, below_depth=((1, 2),), boxes=(((0, 1.0, 1.5), (1, 0.5, 1.0)),), weights=(1.0, 2.5)),
        1,
        "uniform",
    ),
)

CONSTRAINED = (*ALONE.values(), *TOGETHER)
