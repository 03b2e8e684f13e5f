"""Columns along which a prediction never falls, or never rises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..validation import is_number, number_or_word
from .base import ByColumn, Constraint, Feature, atom, called, listed
from .options import Option, assigned
from .resolved import Resolved


@dataclass(frozen=True, init=False, repr=False)
class Monotone(ByColumn):
    """What is predicted never falls, or never rises, as a column (covariate) grows and all others stay as they are.

    It needs a numeric response, or two classes: then the probability of the second class is meant.

    Parameters
    ----------
    by_column : mapping from column to sign, optional
        +1 where the prediction never falls as the column grows, −1 where it never rises; by name or position, or by
        keyword.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.Monotone(age=+1, income=-1))
    monotone: the prediction never falls as age grows, and never rises as income grows
    """

    kind = "monotone"
    entries = ("monotone",)
    options = (
        Option("monotone", "The prediction never falls (+1) or never rises (-1) as the column grows.", "COL=SIGN"),
    )
    _example = "Monotone(age=+1)"

    @classmethod
    def _value(cls, feature: Feature, value: Any) -> int:
        if not is_number(value) or value not in (-1, 1):
            raise InputError(f"Monotone: {called(feature)}={value!r}: choose +1, growing, or -1, falling")
        return int(value)

    def describe(self) -> str:
        says = (
            f"never {word} as {listed(features)} {'grows' if len(features) == 1 else 'grow'}"
            for word, sign in (("falls", 1), ("rises", -1))
            if (features := [feature for feature, given in self.by_column if given == sign])
        )
        return f"monotone: the prediction {', and '.join(says)}"

    def facts(self) -> list[str]:
        return [f"monotone({atom(feature)}, {sign})." for feature, sign in self.by_column]

    def add_to(self, resolved: Resolved) -> None:
        for feature, sign in self.by_column:
            at = resolved.numeric_position("Monotone", feature, "neither grows nor falls")
            if resolved.assign("monotone", at, sign, others=0) not in (None, sign):
                name = resolved.name(at)
                raise InputError(f"Monotone: {name} is given both as growing, +1, and as falling, -1; keep one")
        response = resolved.schema.response
        if response.classes is not None and len(response.classes) != 2:
            raise InputError(
                f"Monotone: the response {response.name!r} has {len(response.classes)} classes; a prediction grows or "
                "falls only where there are two, or numbers. Leave Monotone out"
            )

    @classmethod
    def from_option(cls, name: str, value: Any) -> Constraint:
        column, sign = assigned(value, "age=+1")
        return cls({column: number_or_word(sign)})
