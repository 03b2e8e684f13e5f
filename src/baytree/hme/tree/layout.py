"""Soft trees as rows of numbers: where each parameter lies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from ...errors import InputError
from .experts import LEAST_VARIANCE, Classes, Constant, Experts, Gamma, Gaussian, Poisson
from .soft_tree import SoftTree

EXPERTS: dict[str, type[Experts]] = {
    "linear": Gaussian,
    "constant": Constant,
    "poisson": Poisson,
    "gamma": Gamma,
    "logistic": Classes,
    "multinomial": Classes,
}
# Of one draw; the variance only of linear and constant experts.
PARAMETERS = ("gates", "coefficients", "variance")


@dataclass(frozen=True)
class Layout:
    """The shapes of a soft tree's parameters.

    Attributes
    ----------
    depth, branching : int
        Levels of gates, and children of each.
    columns : int
        Number of inputs, the ones included.
    outputs : int
        Number of outputs, or of classes.
    expert : str
        The models at the leaves.
    """

    depth: int
    branching: int
    columns: int
    outputs: int
    expert: str

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return self.branching**self.depth

    @property
    def gates(self) -> list[tuple[int, int, int]]:
        """The shape of the gates of each level."""
        return [(self.branching**level, self.branching - 1, self.columns) for level in range(self.depth)]

    @property
    def coefficients(self) -> tuple[int, int, int]:
        """The shape of the experts' coefficients."""
        if self.expert in ("logistic", "multinomial"):
            return self.leaves, self.outputs - 1, self.columns
        return self.leaves, 1 if self.expert == "constant" else self.columns, self.outputs

    @property
    def variance(self) -> tuple[int, int] | None:
        """The shape of their variances, where they have any."""
        return (self.leaves, self.outputs) if self.expert in ("linear", "constant") else None

    def sizes(self) -> dict[str, int]:
        """How many numbers of each name a tree has."""
        found = {"gates": sum(map(prod, self.gates)), "coefficients": prod(self.coefficients)}
        return found if self.variance is None else found | {"variance": prod(self.variance)}

    def check(self, drawn: Mapping[str, np.ndarray | None], draws: tuple[int, ...]) -> None:
        """Raise InputError where flat arrays are not the parameters of so many draws, by chain."""
        for name, size in self.sizes().items():
            values = drawn[name]
            if values is None or values.shape != (*draws, size) or not np.isfinite(values).all():
                raise InputError(f"the {name} of the draws are damaged")
        variance = drawn["variance"]
        if (variance is None) != (self.variance is None):
            raise InputError("the variances do not belong to these experts")
        if variance is not None and not (variance > 0).all():
            raise InputError("a variance is not positive")

    def packed(self, tree: SoftTree) -> dict[str, np.ndarray]:
        """A tree as flat arrays: gates level by level and node by node, then experts leaf by leaf."""
        gates = [np.asarray(level, dtype=np.float64).ravel() for level in tree.gates]
        found = {
            "gates": np.concatenate(gates) if gates else np.zeros(0),
            "coefficients": np.asarray(tree.experts.coefficients, dtype=np.float64).ravel(),
        }
        if self.variance is not None:
            found["variance"] = np.asarray(tree.experts.variance, dtype=np.float64).ravel()  # type: ignore[attr-defined]
        return found

    def tree(self, parameters: dict[str, np.ndarray]) -> SoftTree:
        """The tree that `packed` made flat."""
        gates, begin = [], 0
        for shape in self.gates:
            end = begin + prod(shape)
            gates.append(parameters["gates"][begin:end].reshape(shape))
            begin = end
        given: dict[str, np.ndarray] = {"coefficients": parameters["coefficients"].reshape(self.coefficients)}
        if self.variance is not None:
            given["variance"] = parameters["variance"].reshape(self.variance)
            given["least"] = np.full(self.outputs, LEAST_VARIANCE)
        return SoftTree(tuple(gates), EXPERTS[self.expert](**given))
