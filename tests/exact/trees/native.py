"""The spaces of the enumeration as baytree has them: tables, priors, constraints, programs."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import polars as pl

import baytree as bt
from baytree.slp.proposals import Semantics
from reference.trees.constraints import Constraints
from reference.trees.enumeration import Dirichlet
from reference.trees.spaces import Space


@cache
def read_space(space: Space) -> bt.Design:
    """The raw values read by baytree, with the bins that the space gives them."""
    is_categorical = [raw.column.kind == "categorical" for raw in space.raw]
    if space.container == "frame":
        X: Any = pl.DataFrame({f"x{j}": list(raw.values) for j, raw in enumerate(space.raw)})
    else:
        X = np.array([raw.values for raw in space.raw], dtype=object).T
    design = bt.make_design(
        X,
        list(space.response),
        task="classification" if isinstance(space.leaf, Dirichlet) else "regression",
        sample_weight=space.weight,
        categorical_features=is_categorical if space.container == "array" else None,
        max_cuts=None,
    )
    check(space, design)
    return design


def check(space: Space, design: bt.Design) -> None:
    """The bins, levels, cuts, responses and weights are those of the space."""
    for mine, bins, column in zip(space.table.columns, design.bins, design.columns, strict=True):
        assert bins.tolist() == list(mine.bins)
        assert (column.kind == "categorical") == (mine.kind == "categorical")
        assert (column.observed, column.has_missing) == (mine.observed, mine.has_missing)
        assert not mine.cuts or column.cuts.tolist() == list(mine.cuts)
    assert design.y.tolist() == list(space.table.response)
    weight = design.weight
    assert (None if weight is None else tuple(weight.tolist())) == space.table.weight


def native_prior(space: Space) -> bt.GrowTree:
    """The space's prior as baytree has it."""
    prior = space.prior
    return bt.GrowTree(prior.alpha, prior.beta, prior.min_leaf, prior.rule) & known(
        prior.constraints, read_space(space).schema.names
    )


def growtree(space: Space, semantics: Semantics) -> bt.slp.Program:
    """The shipped program with the space's parameters."""
    prior, text = space.prior, bt.slp.load("growtree.slp").text
    text = re.sub(r"min_leaf\(5\)", f"min_leaf({prior.min_leaf})", text)
    text = re.sub(
        r"S is 0\.95 \* exp\(1 \+ Depth, -1\.0\)", f"S is {prior.alpha} * exp(1 + Depth, -{prior.beta})", text
    )
    if prior.rule == "uniform":
        text = text.replace("    choose_feature(Node, Feature),\n", "")
    return bt.slp.Program(text, semantics=semantics)


def known(constraints: Constraints, names: Sequence[str]) -> bt.Knowledge:
    """The constraints in a person's words."""

    def bound(value: float) -> float | None:
        return value if math.isfinite(value) else None

    def called(features: Sequence[int]) -> list[str]:
        return [names[feature] for feature in features]

    stated: list[Any] = [bt.Forbid(names[feature]) for feature in constraints.forbidden]
    stated += [bt.Forbid(names[feature], below=depth) for feature, depth in constraints.below_depth]
    stated += [bt.Forbid(names[feature], below=names[above]) for feature, above in constraints.below_feature]
    stated += [bt.Only(depth, called(features)) for depth, features in constraints.only]
    stated += [
        bt.Box({names[feature]: (bound(low), bound(high)) for feature, low, high in box}) for box in constraints.boxes
    ]
    if constraints.interacting:
        stated.append(bt.Interact([called(group) for group in constraints.interacting]))
    if constraints.weights:
        stated.append(bt.Weights(dict(zip(names, constraints.weights, strict=True))))
    if constraints.max_depth is not None:
        stated.append(bt.MaxDepth(constraints.max_depth))
    if constraints.max_leaves is not None:
        stated.append(bt.MaxLeaves(constraints.max_leaves))
    return bt.Knowledge(tuple(stated))
