"""Where EM begins: gates at random or from a hard tree, and trees that grow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..words import counted
from .experts import Experts, first_experts
from .inputs import Inputs
from .numeric import Array, namespace, to_kind_of
from .soft_tree import SoftTree

# How far apart random gates set the rows, in standard deviations of the inputs.
SPREAD = 1.0
# How sharp a gate from a hard split begins: its log odds change by one over this many standard deviations.
SOFTNESS = 0.5


def random_tree(
    family: str, X: Array, Y: Array, weight: Array, depth: int, branching: int, generator: np.random.Generator
) -> SoftTree:
    """Gates of random directions, and experts fitted to the rows that these send them.

    Parameters
    ----------
    family : str
        Of the experts.
    X, Y, weight : array
        Inputs in standard units, with ones in the last column, outputs and weights.
    depth, branching : int
        The tree's.
    generator : numpy.random.Generator
        Where the directions come from.
    """
    columns = X.shape[1]
    gates = []
    for level in range(depth):
        shape = (branching**level, branching - 1, columns)
        directions = generator.normal(size=shape) * SPREAD
        gates.append(to_kind_of(X, directions))
    return SoftTree(tuple(gates), _experts(family, X, Y, weight, tuple(gates), branching**depth))


@dataclass(frozen=True)
class Splits:
    """The rules of a decision tree that was given, in the units of the table.

    Attributes
    ----------
    columns : int
        How many columns it was fitted to.
    levels : tuple of tuple
        Its rules, as `tree_from_splits` takes them.
    """

    columns: int
    levels: tuple[tuple[tuple[int, float] | None, ...], ...]

    @classmethod
    def of(cls, tree: Any, depth: int) -> Splits:
        """Of a fitted decision tree of scikit-learn."""
        return cls(int(tree.n_features_in_), tuple(tuple(level) for level in splits_of(tree, depth)))

    def to_dict(self) -> dict[str, Any]:
        """The rules as JSON-safe values."""
        return {"columns": self.columns, "levels": [list(level) for level in self.levels]}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Splits:
        """The rules that `to_dict` described."""
        levels = [tuple(None if rule is None else (rule[0], rule[1]) for rule in level) for level in record["levels"]]
        return cls(record["columns"], tuple(levels))

    def standard(self, inputs: Inputs) -> list[list[Any]]:
        """The rules in standard units."""
        columns = len(inputs.kept)
        if self.columns != columns or len(inputs.schema.columns) != columns:
            raise InputError(
                f"init: the tree was fitted to {counted(self.columns, 'column')}, and there are "
                f"{counted(columns, 'input')}; give one for the same numeric columns"
            )
        centre, scale = inputs.centre, inputs.scale
        return [
            [None if rule is None else (rule[0], (rule[1] - centre[rule[0]]) / scale[rule[0]]) for rule in level]
            for level in self.levels
        ]


def tree_from_splits(family: str, X: Array, Y: Array, weight: Array, splits: list[list[Any]]) -> SoftTree:
    """Binary gates from the rules of a hard tree, each along one column.

    Parameters
    ----------
    family : str
        Of the experts.
    X, Y, weight : array
        Inputs in standard units, with ones in the last column, outputs and weights.
    splits : list of list
        Level by level and node by node ``(column, cut)`` in standard units, values up to the cut going to the first
        branch; None where the hard tree has no rule, which gives a gate that lets rows go both ways alike.
    """
    columns = X.shape[1]
    gates = []
    for level in splits:
        coefficients = np.zeros((len(level), 1, columns))
        for node, rule in enumerate(level):
            if rule is not None:
                column, cut = rule
                coefficients[node, 0, column] = -1 / SOFTNESS
                coefficients[node, 0, -1] = cut / SOFTNESS
        gates.append(to_kind_of(X, coefficients))
    return SoftTree(tuple(gates), _experts(family, X, Y, weight, tuple(gates), 2 ** len(splits)))


def splits_of(tree: Any, depth: int) -> list[list[Any]]:
    """The rules of a fitted decision tree of scikit-learn, as `tree_from_splits` takes them."""
    structure = tree.tree_
    level: list[int] = [0]
    splits: list[list[Any]] = []
    for _ in range(depth):
        rules: list[Any] = []
        below: list[int] = []
        for node in level:
            if node < 0 or structure.children_left[node] < 0:
                rules.append(None)
                below += [-1, -1]
            else:
                rules.append((int(structure.feature[node]), float(structure.threshold[node])))
                below += [int(structure.children_left[node]), int(structure.children_right[node])]
        splits.append(rules)
        level = below
    return splits


def grown(tree: SoftTree, generator: np.random.Generator) -> SoftTree:
    """One level more: every leaf becomes a gate, nearly undecided, over copies of its expert.

    Parameters
    ----------
    tree : SoftTree
        A fitted tree.
    generator : numpy.random.Generator
        Of the new gates' directions.
    """
    some = tree.gates[0]
    xp = namespace(some)
    shape = (tree.leaves, tree.branching - 1, some.shape[2])
    gates = (*tree.gates, to_kind_of(some, generator.normal(size=shape) * 0.1))
    copies = {
        name: xp.repeat(value, tree.branching, axis=0)
        for name, value in vars(tree.experts).items()
        if name in ("coefficients", "variance")
    }
    return SoftTree(gates, replace(tree.experts, **copies))


def _experts(family: str, X: Array, Y: Array, weight: Array, gates: tuple[Array, ...], leaves: int) -> Experts:
    xp = namespace(X)
    alike = first_experts(family, X, Y, weight, leaves)
    reach = xp.exp(SoftTree(gates, alike).log_paths(X)) * weight
    # A ridge keeps experts that few rows reach near the average.
    return alike.fitted(X, Y, reach, 1.0, 3)
