"""Soft trees that a method without chains found, as a chain would have recorded them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ...errors import InputError
from ...posterior.base import Part
from ...validation import require_field_types
from ..tree.layout import PARAMETERS, Layout
from ..tree.soft_tree import SoftTree
from .em import penalty
from .methods import Fitted

if TYPE_CHECKING:
    from ..model import HME, TrainingRows

# What recursions carry besides the tree.
RECURSION = "recursion"
# The streams of draws from a mean field and around a mode, beside the seed.
OF_FIELD, OF_MODE = 1, 2


@dataclass(frozen=True)
class Went:
    """How a fit without chains went, as the state of its posterior keeps it.

    Attributes
    ----------
    objective, held_out, epochs, converged
        As `Fitted` has them.
    centre : dict of str to list of float, optional
        The tree that draws are around.
    live : list of bool, optional
        Which leaves a mean field has not shut.
    """

    objective: list[float]
    held_out: list[float]
    epochs: int
    converged: bool
    centre: Mapping[str, list[float]] | None = None
    live: list[bool] | None = None

    @classmethod
    def of(cls, found: Fitted) -> Self:
        """How a method went."""
        return cls(list(found.objective), list(found.held_out), found.epochs, found.converged)

    def to_state(self) -> dict[str, Any]:
        """The state that keeps it."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def check(self, layout: Layout) -> None:
        """Raise InputError where a model file has what no fit of such a tree keeps."""
        require_field_types(self)
        if not self.objective or self.epochs < 0:
            raise InputError("the state does not say how the fit went")
        if self.live is not None and (len(self.live) != layout.leaves or not any(self.live)):
            raise InputError("the state does not say which leaves there are")
        if self.centre is not None:
            layout.check(dict.fromkeys(PARAMETERS) | {name: np.array(self.centre[name]) for name in self.centre}, ())


def recorded(model: HME, found: Fitted, rows: TrainingRows) -> tuple[Part, Went]:
    """What a method found, as a chain of one draw would have recorded it, and how it went."""
    tree = found.tree.to_numpy()
    part = part_of(model, [tree], [-penalty(tree, float(model.ridge))], rows)
    if found.state is not None:
        part[RECURSION] = found.state.packed()[None]
    return part, Went.of(found)


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
