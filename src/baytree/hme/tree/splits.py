"""Where EM begins: gates at random or from a hard tree, and trees that grow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import InputError
from ...text import counted, listed
from ...trees.tree import Tree
from ..data.inputs import Inputs
from ..numeric.arrays import Array, namespace, to_kind_of
from .experts import Experts, first_experts
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
    names : tuple of str
        The names of these columns, where the tree knows them.
    """

    columns: int
    levels: tuple[tuple[tuple[int, float] | None, ...], ...]
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Any, depth: int) -> Splits:
        """Of a decision tree: one that scikit-learn fitted, a `Tree`, or the best of a posterior or an estimator.

        Parameters
        ----------
        given : Any
            That tree.
        depth : int
            Levels of rules to take.
        """
        if hasattr(given, "tree_") and hasattr(given.tree_, "children_left"):
            return cls(int(given.n_features_in_), tuple(tuple(level) for level in splits_of(given, depth)))
        given = getattr(given, "posterior_", given)
        tree = given.best_tree() if hasattr(given, "best_tree") else given
        if not isinstance(tree, Tree):
            raise InputError(
                f"init={given!r} is no decision tree; name an initialisation, or give a decision tree of scikit-learn, "
                "or a tree, a posterior or a fitted estimator of single trees"
            )
        levels = tuple(tuple(level) for level in _splits_of_rules(tree, depth))
        return cls(len(tree.schema.columns), levels, tuple(tree.schema.names))

    def to_dict(self) -> dict[str, Any]:
        """The rules as JSON-safe values."""
        return {"columns": self.columns, "levels": [list(level) for level in self.levels], "names": list(self.names)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Splits:
        """The rules that `to_dict` described."""
        levels = [tuple(None if rule is None else (rule[0], rule[1]) for rule in level) for level in record["levels"]]
        return cls(record["columns"], tuple(levels), tuple(record.get("names", ())))

    def standard(self, inputs: Inputs) -> list[list[Any]]:
        """The rules in standard units."""
        columns = len(inputs.kept)
        if self.columns != columns or len(inputs.schema.columns) != columns:
            raise InputError(
                f"init: the tree was fitted to {counted(self.columns, 'column')}, and there are "
                f"{counted(columns, 'input')}; give one for the same numeric columns"
            )
        if self.names and self.names != inputs.names:
            raise InputError(
                f"init: the tree is for the columns {listed(self.names)}, and the inputs are {listed(inputs.names)}; "
                "give one for the same numeric columns"
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


def _splits_of_rules(tree: Tree, depth: int) -> list[list[tuple[int, float] | None]]:
    """The rules of a tree as `tree_from_splits` takes them; below a leaf there are none."""
    levels: list[list[tuple[int, float] | None]] = [[None] * 2**level for level in range(depth)]
    # Preorder: the right child is what is left on the stack when the left subtree has been read.
    places = [(0, 0)]
    for rule in tree.rules:
        level, place = places.pop()
        if rule is None:
            continue
        column = tree.schema.columns[rule.feature]
        if level < depth:
            if column.kind == "categorical" or rule.cut >= len(column.cuts):
                raise InputError(f"init: the tree asks {tree.question(rule)!r}; give one with cuts of numbers alone")
            levels[level][place] = (int(rule.feature), float(column.cuts[rule.cut]))
        places += [(level + 1, 2 * place + 1), (level + 1, 2 * place)]
    return levels


def columns_of(tree: SoftTree) -> tuple[Array, ...]:
    """The columns that each gate of a tree uses, as 1 beside 0, and the ones: what its gates may keep to."""
    found = []
    for gates in tree.gates:
        xp = namespace(gates)
        used = xp.astype(xp.any(gates != 0, axis=1), gates.dtype)
        found.append(xp.concat([used[:, :-1], xp.ones_like(used[:, -1:])], axis=1))
    return tuple(found)


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
