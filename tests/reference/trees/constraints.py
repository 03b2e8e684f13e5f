"""What is known about a tree before any data, as ``docs/programs.md`` defines it.

``Constraints.allows`` judges one rule from the way that leads to it, as the enumerator needs it. ``broken`` judges a
finished tree, and shares nothing with that: it looks at whole paths, and sends the corners of a box down the tree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from reference.trees.enumeration import Column, Rule, Tree

Side = tuple[int, float, float]
"""A feature, and the smallest and the largest value in a box."""


class Step(NamedTuple):
    """One rule on the way from the root, and the side that the way takes."""

    rule: Rule
    left: bool


Path = tuple[Step, ...]


@dataclass(frozen=True)
class Constraints:
    """Features by number; the fields are named as those of ``_core.Knowledge``."""

    max_depth: int | None = None
    max_leaves: int | None = None
    forbidden: tuple[int, ...] = ()
    below_depth: tuple[tuple[int, int], ...] = ()
    below_feature: tuple[tuple[int, int], ...] = ()
    only: tuple[tuple[int, tuple[int, ...]], ...] = ()
    interacting: tuple[tuple[int, ...], ...] = ()
    boxes: tuple[tuple[Side, ...], ...] = ()
    weights: tuple[float, ...] = ()

    def weight(self, feature: int) -> float:
        return self.weights[feature] if self.weights else 1.0

    def groups(self, features: int) -> list[set[int]]:
        """The groups of features that may share a path; those in none of them are one more."""
        if not self.interacting:
            return [set(range(features))]
        groups = [set(group) for group in self.interacting]
        return [*groups, set(range(features)).difference(*groups)]

    def allows(self, columns: Sequence[Column], path: Path, rule: Rule) -> bool:
        """Whether a node at the end of this way may have this rule, rows apart."""
        depth, feature = len(path), rule.feature
        above = [step.rule.feature for step in path]
        return not (
            (self.max_depth is not None and depth >= self.max_depth)
            or feature in self.forbidden
            or any(feature == which and depth >= limit for which, limit in self.below_depth)
            or any(feature == which and other in above for which, other in self.below_feature)
            or any(depth == where and feature not in features for where, features in self.only)
            or not any({feature, *above} <= group for group in self.groups(len(columns)))
            or any(_side(columns, box, rule) == "both" for box in self.boxes if _leads_to(columns, path, box))
        )

    def facts(self, names: Sequence[str]) -> str:
        """The same as facts of a program."""

        def listed(features: Sequence[int]) -> str:
            return "[" + ", ".join(names[feature] for feature in features) + "]"

        def bound(value: float) -> str:
            return repr(value) if math.isfinite(value) else "inf" if value > 0 else "-inf"

        lines = [f"{name}({value})." for name, value in self._numbers().items() if value is not None]
        lines += [f"forbid({names[feature]})." for feature in self.forbidden]
        lines += [f"forbid_below({names[feature]}, {depth})." for feature, depth in self.below_depth]
        lines += [f"forbid_below({names[feature]}, {names[above]})." for feature, above in self.below_feature]
        lines += [f"only({depth}, {listed(features)})." for depth, features in self.only]
        lines += [f"interaction({listed(group)})." for group in self.interacting]
        lines += [f"weight({names[feature]}, {weight!r})." for feature, weight in enumerate(self.weights)]
        lines += [
            f"const_class_probs(box{number}, {names[feature]}, {bound(low)}, {bound(high)})."
            for number, box in enumerate(self.boxes)
            for feature, low, high in box
        ]
        return "".join(f"{line}\n" for line in lines)

    def _numbers(self) -> dict[str, int | None]:
        return {"max_depth": self.max_depth, "max_leaves": self.max_leaves}

    def native(self) -> dict[str, Any]:
        """The arguments of ``_core.Knowledge``."""
        return dict(vars(self))


NOTHING = Constraints()


def _side(columns: Sequence[Column], box: Sequence[Side], rule: Rule) -> str:
    """Where a rule sends a box, whose points are observed on its sides and anything else where it has none."""
    for feature, low, high in box:
        if feature == rule.feature:
            cuts = columns[feature].cuts
            if rule.cut == len(cuts):  # is it missing?
                return "left"
            return "left" if high <= cuts[rule.cut] else "right" if low > cuts[rule.cut] else "both"
    return "both"


def _leads_to(columns: Sequence[Column], path: Path, box: Sequence[Side]) -> bool:
    return all(_side(columns, box, step.rule) == ("left" if step.left else "right") for step in path)


# ---- finished trees ------------------------------------------------------------------------------------------------


def leaf_paths(tree: Tree) -> Iterator[list[int]]:
    """The features on the way to each leaf, from the root down."""
    rules = iter(tree)

    def walk(above: list[int]) -> Iterator[list[int]]:
        rule = next(rules)
        if rule is None:
            yield above
        else:
            yield from walk([*above, rule.feature])
            yield from walk([*above, rule.feature])

    return walk([])


def corners(columns: Sequence[Column], box: Sequence[Side]) -> Iterator[tuple[int, ...]]:
    """The corners of a box as bins.

    A feature without a side has all of its levels, or its smallest and largest value and a missing one.
    """
    sides = {feature: (low, high) for feature, low, high in box}

    def bins(feature: int) -> list[int]:
        column = columns[feature]
        everything = list(range(column.observed + column.has_missing))
        if column.kind == "categorical":
            return everything
        low, high = sides.get(feature, (-math.inf, math.inf))
        edges = [-math.inf, *column.cuts, math.inf]
        inside = [code for code in range(column.observed) if high > edges[code] and low <= edges[code + 1]]
        return sorted({inside[0], inside[-1]} | ({everything[-1]} if feature not in sides else set()))

    return product(*map(bins, range(len(columns))))


def leaf_of(columns: Sequence[Column], tree: Tree, point: Sequence[int]) -> int:
    """Which leaf, counted from the left, a row of these bins lies in."""
    rules = iter(tree)
    place = 0

    def skip() -> int:
        return 1 if next(rules) is None else skip() + skip()

    while (rule := next(rules)) is not None:
        column, code = columns[rule.feature], point[rule.feature]
        if not column.goes_left(rule, code):
            place += skip()
    return place


def broken(constraints: Constraints, columns: Sequence[Column], tree: Tree) -> list[str]:
    """The names of the constraints that a finished tree does not keep to."""
    paths = list(leaf_paths(tree))
    used = {(depth, feature) for path in paths for depth, feature in enumerate(path)}
    pairs = {(path[j], path[i]) for path in paths for j in range(len(path)) for i in range(j)}
    groups = constraints.groups(len(columns))
    most_leaves, most_depth = constraints.max_leaves, constraints.max_depth
    holds = {
        "max_depth": most_depth is None or max(map(len, paths)) <= most_depth,
        "max_leaves": most_leaves is None or len(paths) <= most_leaves,
        "forbidden": not {feature for _, feature in used} & set(constraints.forbidden),
        "below_depth": all(
            not (f == which and d >= limit) for d, f in used for which, limit in constraints.below_depth
        ),
        "below_feature": not pairs & set(constraints.below_feature),
        "only": all(f in features for where, features in constraints.only for d, f in used if d == where),
        "interacting": all(any(set(path) <= group for group in groups) for path in paths),
        "boxes": all(
            len({leaf_of(columns, tree, point) for point in corners(columns, box)}) == 1 for box in constraints.boxes
        ),
    }
    return [name for name, kept in holds.items() if not kept]
