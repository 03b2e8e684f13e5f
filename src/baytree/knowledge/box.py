"""Boxes: regions of the columns that no tree divides."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from .base import ByColumn, Constraint, Feature, atom, called
from .entries import tables_of
from .intervals import Side, join_sides, number_text, side_of
from .options import Option
from .resolved import Resolved

_CONDITION = re.compile(r"\s*([^<>=]+?)\s*(<=|>=|==|<|>)\s*([^<>=]+?)\s*")


@dataclass(frozen=True, init=False, repr=False)
class Box(ByColumn):
    """A part of the predictors' space in which all rows are known to be alike, so that no split divides it.

    At a node that holds the box only rules that leave all of it on one side are admissible [1]_. A column without a
    side does not bound the box, so any rule on it would cut the box.

    Parameters
    ----------
    by_column : mapping from column to side, optional
        The sides, by name or position; names that are Python identifiers can be given by keyword. A side is a text,
        such as ``"<=127"``, ``">=128"``, ``"<5"``, ``">5"``, ``"==3"`` or ``"128..200"``, or two numbers, both inside
        the box, with None for no bound.

    References
    ----------
    .. [1] Angelopoulos and Cussens (2005), Exploiting informative priors for Bayesian classification and regression
       trees, IJCAI, 641–646, section 5.4.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.Box({"body mass": "18..25"}, age="<=28"))
    box: no split inside 18 <= body mass <= 25 and age <= 28
    """

    kind = "box"
    entries = ("box",)
    options = (Option("box", "No split inside, as 'glucose<=127, age<=28'.", "SIDES"),)
    _example = 'Box(age="<=28")'

    @classmethod
    def _value(cls, feature: Feature, value: Any) -> Side:
        try:
            return side_of(called(feature), value)
        except InputError as error:
            raise InputError(f"Box: {error}") from None

    @staticmethod
    def _plain(value: Side) -> str:
        return str(value)

    def describe(self) -> str:
        return f"box: no split inside {self._conditions()}"

    def _conditions(self) -> str:
        return " and ".join(side.of(called(feature)) for feature, side in self.by_column)

    def facts(self) -> list[str]:
        # Named by what it is, so that boxes that are added to a program one after the other stay apart.
        name = atom(self._conditions())
        return [
            f"const_class_probs({name}, {atom(feature)}, {number_text(side.low)}, {number_text(side.high)})."
            for feature, side in self.by_column
        ]

    def add_to(self, resolved: Resolved) -> None:
        box = [
            (resolved.numeric_position("Box", feature, "has no sides"), side.low, side.high)
            for feature, side in self.by_column
        ]
        for place, (at, _, _) in enumerate(box):
            if at in (before for before, _, _ in box[:place]):
                raise InputError(f"Box: {resolved.name(at)} has two sides; make one of them, such as '28..35'")
        resolved.add("boxes", box)

    @classmethod
    def from_toml(cls, entry: str, value: Any) -> Iterable[Constraint]:
        return tables_of(entry, value, cls)

    @classmethod
    def from_option(cls, name: str, value: Any) -> Constraint:
        sides: dict[str, list[str]] = {}
        for text in value.split(","):
            match = _CONDITION.fullmatch(text)
            if match is None:
                raise InputError(f"{text.strip()!r} is no condition; write conditions such as 'glucose<=127, age<=28'")
            sides.setdefault(match[1], []).append(match[2] + match[3])
        return cls({column: join_sides(column, given) for column, given in sides.items()})
