"""Soft trees that a method without chains found, as a chain would have recorded them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..posterior.base import Part
from .em import penalty
from .fitting import Fitted
from .model import HME, TrainingRows
from .soft_tree import SoftTree

# What is kept of how a fit went, and what recursions carry besides the tree.
WENT = ("objective", "held_out", "epochs", "converged")
RECURSION = "recursion"
# The streams of draws from a mean field and around a mode, beside the seed.
OF_FIELD, OF_MODE = 1, 2


def recorded(model: HME, found: Fitted, rows: TrainingRows) -> tuple[Part, dict[str, Any]]:
    """What a method found, as a chain of one draw would have recorded it, and how it went."""
    tree = found.tree.to_numpy()
    part = part_of(model, [tree], [-penalty(tree, float(model.ridge))], rows)
    if found.state is not None:
        part[RECURSION] = found.state.packed()[None]
    return part, {name: getattr(found, name) for name in WENT}


def centre_of(model: HME, tree: SoftTree) -> dict[str, list[float]]:
    """The tree that draws are around, as JSON-safe values."""
    return {name: values.tolist() for name, values in model.layout.packed(tree).items()}


def part_of(model: HME, trees: Sequence[SoftTree], log_prior: Sequence[float], rows: TrainingRows) -> Part:
    """Trees as a chain would have recorded them."""
    X, Y, weight = rows
    packed = [model.layout.packed(tree) for tree in trees]
    part = {name: np.stack([each[name] for each in packed]) for name in packed[0]}
    part["log_likelihood"] = np.array([float(np.sum(weight * tree.log_likelihood(X, Y))) for tree in trees])
    part["log_prior"] = np.array(log_prior)
    return part
