"""Small named spaces of sums of trees."""

from __future__ import annotations

from dataclasses import replace

from reference.bart.normal_sums import Noise, SumSpace
from reference.bart.utilities import UtilitySpace
from reference.trees.dirichlet_weights import DirichletWeights
from reference.trees.enumeration import Dirichlet, GrowTree
from reference.trees.monotone import FALLING, SQUARE, MonotoneSpace
from reference.trees.spaces import ALONE, GAP, MISSING, MISSING_LEVELS, REAL, SIZES, TIES, WEIGHTED_REAL, Space, numeric

# Three values in one column: five trees. Where the first and the last rows lie far apart, two trees share the work.
THREE = Space(
    "three",
    (numeric((1, 1, 2, 2, 3, 3), (0, 0, 1, 1, 2, 2), 3),),
    (0.1, 0.4, 1.3, 0.8, -0.6, 0.2),
    GrowTree(0.8, 0.5, 1, "variable"),
    REAL,
)

# A column of two values is blocked below a split on it, one of three values below two.
BLOCKED = Space(
    "blocked",
    (
        numeric((1, 1, 2, 2, 1, 2, 2, 1), (0, 0, 1, 1, 0, 1, 1, 0), 2),
        numeric((3, 5, 4, 3, 5, 4, 5, 3), (0, 2, 1, 0, 2, 1, 2, 0), 3),
    ),
    (0.2, 0.9, -0.3, 0.7, 1.1, 0.1, 1.4, 0.5),
    GrowTree(0.9, 0.4, 1, "variable"),
    REAL,
)

# Three columns of two values each.
CUBE = Space(
    "cube",
    (
        numeric((0, 0, 0, 0, 1, 1, 1, 1), (0, 0, 0, 0, 1, 1, 1, 1), 2),
        numeric((0, 0, 1, 1, 0, 0, 1, 1), (0, 0, 1, 1, 0, 0, 1, 1), 2),
        numeric((0, 1, 0, 1, 0, 1, 0, 1), (0, 1, 0, 1, 0, 1, 0, 1), 2),
    ),
    (0.0, 0.2, 0.9, 0.4, 0.7, 1.6, 1.1, 0.3),
    GrowTree(0.9, 0.6, 2, "variable"),
    REAL,
)

FIXED = Noise(0.4)
DRAWN = Noise(0.5, nu=3.0)
OFFSET = (0.3, -0.2, 0.5, 0.0, -0.4, 0.1, 0.2, -0.1)

ONE = tuple(
    SumSpace(name=space.name, space=space, noise=FIXED)
    for space in (GAP, SIZES, MISSING, WEIGHTED_REAL, ALONE["interacting"], ALONE["boxes"], ALONE["weights"])
)
ONE_DRAWN = (
    SumSpace(name="gap, sigma drawn", space=GAP, noise=DRAWN),
    SumSpace(name="weighted, sigma drawn", space=WEIGHTED_REAL, noise=Noise(0.8, nu=5.0, q=0.75), k=1.5),
    SumSpace(name="gap, offset", space=GAP, noise=DRAWN, offset=OFFSET),
)
TWO = (
    SumSpace(name="two of three", space=THREE, trees=2, noise=FIXED, k=1.0),
    SumSpace(name="two of blocked", space=BLOCKED, trees=2, noise=DRAWN, k=1.0),
    SumSpace(name="two of weighted", space=WEIGHTED_REAL, trees=2, noise=DRAWN, k=1.0),
)
SPARSE = tuple(
    SumSpace(name=f"{name}, sparse", space=space, trees=trees, noise=FIXED, weights=DirichletWeights())
    for name, space, trees in (
        ("gap", GAP, 1),
        ("blocked", BLOCKED, 1),
        ("cube", CUBE, 1),
        ("two of blocked", BLOCKED, 2),
    )
)

# Two classes, and three of them on one column of three values.
BINARY = replace(THREE, name="binary", response=("no", "yes", "yes", "yes", "no", "no"), leaf=Dirichlet(1.0, 2))
CLASSES = replace(THREE, name="classes", response=("a", "b", "c", "c", "a", "a"), leaf=Dirichlet(1.0, 3))

# Whole weights.
COUNTED = replace(BINARY, name="counted", weight=(1.0, 2.0, 1.0, 3.0, 1.0, 2.0))

PROBIT = (
    UtilitySpace(name="ties", space=TIES),
    UtilitySpace(name="missing levels", space=MISSING_LEVELS),
    UtilitySpace(name="two of binary", space=BINARY, trees=2, k=1.0),
    UtilitySpace(name="counted", space=COUNTED),
    UtilitySpace(name="binary, offset", space=BINARY, offset=(0.5, -0.5, 0.2, 0.0, -1.0, 0.4)),
)
SEVERAL = (
    UtilitySpace(name="classes", space=CLASSES),
    UtilitySpace(name="counted classes", space=replace(CLASSES, weight=COUNTED.weight), k=1.5),
)


def ordered(monotone: MonotoneSpace) -> MonotoneSpace:
    """A single tree of a sum with known noise, which chooses its columns first."""
    space = replace(monotone.space, prior=replace(monotone.space.prior, rule="variable"))
    alone = SumSpace(name=space.name, space=space, noise=FIXED)
    return MonotoneSpace(replace(space, leaf=alone.leaf), monotone.signs)


MONOTONE = (ordered(SQUARE), ordered(FALLING))
