"""A given tree edited at random, by brute force: what each edit makes of a tree, and the prior that many edits make.

Like the enumeration it shares no code with baytree: it follows the docstring of ``EditTree`` and the comments of
``edittree.slp``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from reference.trees.enumeration import Choice, GrowTree, Rows, Rule, Table, Tree, choices

Shape = tuple[Rule, Any, Any] | None
"""A tree as (rule, left, right), None for a leaf."""

# Lists of edits longer than what has this probability are left out.
TAIL = 1e-13


class Kinds(NamedTuple):
    """How likely each kind of edit is where all three can be made."""

    grow: float
    prune: float
    change: float


KINDS = Kinds(0.4, 0.3, 0.3)


class Spot(NamedTuple):
    """A part of a tree, its rows, and what the tree is with another part in its place."""

    part: Shape
    rows: Rows
    context: Callable[[Shape], Shape]


@dataclass(frozen=True)
class EditProcess:
    """The edits of trees over a table; ``cuts`` has the cut points of each column, none for a categorical one."""

    table: Table
    cuts: tuple[tuple[float, ...], ...]
    min_leaf: int
    kinds: Kinds = KINDS

    def rules(self, rows: Rows) -> list[Choice]:
        return choices(self.table, GrowTree(1.0, 0.0, self.min_leaf, "variable"), rows)

    def lay(self, shape: Shape, rows: Rows) -> Shape:
        """A tree on other rows: its own rules, else the nearest cuts with missing values on their side, else leaves."""
        if shape is None:
            return None
        wanted, left, right = shape
        ways = {way.rule: way for way in self.rules(rows) if way.rule.feature == wanted.feature}
        cuts = self.cuts[wanted.feature]
        rule: Rule | None = wanted
        if wanted not in ways:
            is_cut = wanted.subset == 0 and wanted.cut < len(cuts)
            near = [
                rule for rule in ways if is_cut and rule.missing_left == wanted.missing_left and rule.cut < len(cuts)
            ]
            rule = min(near, key=lambda rule: (abs(cuts[rule.cut] - cuts[wanted.cut]), rule.cut), default=None)
        if rule is None:
            return None
        return rule, self.lay(left, ways[rule].left), self.lay(right, ways[rule].right)

    def spots(self, shape: Shape, rows: Rows, context: Callable[[Shape], Shape]) -> Iterator[Spot]:
        """Every part of a tree."""
        yield Spot(shape, rows, context)
        if shape is not None:
            rule, left, right = shape
            left_rows, right_rows = self.table.divide(rows, rule)
            yield from self.spots(left, left_rows, lambda part: context((rule, part, right)))
            yield from self.spots(right, right_rows, lambda part: context((rule, left, part)))

    def edit(self, shape: Shape) -> dict[Shape, float]:
        """What one edit makes of a tree; nothing where none can be made."""
        if shape not in self._edited:
            self._edited[shape] = self._edit(shape)
        return self._edited[shape]

    @cached_property
    def _edited(self) -> dict[Shape, dict[Shape, float]]:
        return {}

    def _edit(self, shape: Shape) -> dict[Shape, float]:
        found: dict[Shape, float] = defaultdict(float)
        spots = list(self.spots(shape, self.table.all_rows, lambda part: part))
        rules = {spot.rows: self.rules(spot.rows) for spot in spots}
        splits = [spot for spot in spots if spot.part is not None]
        grow = [spot for spot in spots if spot.part is None and rules[spot.rows]]
        prune = [spot for spot in splits if spot.part[1] is None and spot.part[2] is None]
        total = sum(weight for weight, where in zip(self.kinds, (grow, prune, splits), strict=True) if where)
        if total == 0:
            return {}
        for spot in grow:
            for way in rules[spot.rows]:
                share = self.kinds.grow / total / len(grow) * way.probability
                found[spot.context((way.rule, None, None))] += share
        for spot in prune:
            found[spot.context(None)] += self.kinds.prune / total / len(prune)
        for (_, left, right), rows, context in splits:
            for way in rules[rows]:
                part = way.rule, self.lay(left, way.left), self.lay(right, way.right)
                found[context(part)] += self.kinds.change / total / len(splits) * way.probability
        return {other: share for other, share in found.items() if share > 0}

    def after(self, shapes: dict[Shape, float]) -> dict[Shape, float]:
        """What one more edit makes of a distribution."""
        found: dict[Shape, float] = defaultdict(float)
        for shape, probability in shapes.items():
            for other, share in self.edit(shape).items():
                found[other] += probability * share
        return found

    def prior(self, initial: Shape, edits: float) -> dict[Tree, float]:
        """The probability of every tree, the number of edits being geometric with this mean."""
        stop = 1 / (1 + edits)
        going: dict[Shape, float] = {self.lay(initial, self.table.all_rows): 1.0}
        stopped: dict[Shape, float] = defaultdict(float)
        while sum(going.values()) > TAIL:
            for shape, probability in going.items():
                stopped[shape] += probability * (stop if self.edit(shape) else 1)
            going = self.after({shape: probability * (1 - stop) for shape, probability in going.items()})
        return {preorder(shape): probability for shape, probability in stopped.items()}


def preorder(shape: Shape) -> Tree:
    """The rules in preorder."""
    return (None,) if shape is None else (shape[0], *preorder(shape[1]), *preorder(shape[2]))
