"""Groups of columns that may meet on a path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..text import counted
from .base import Constraint, Feature, atom, called, features_of, listed
from .entries import names_of
from .options import Option, names_in
from .resolved import Resolved

# Groups that are named in words; the others are counted.
LISTED_GROUPS = 4


@dataclass(frozen=True)
class Interact(Constraint):
    """Interaction constraints: which columns may meet on a path from the root to a leaf, those of one group.

    Columns that are in no group form one more group together, as in scikit-learn. A column may be in several groups.

    Parameters
    ----------
    groups : sequence of sequences of columns
        The groups, by name or position.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.Interact([["age", "sex"], ["dose"]]))
    interactions: only among age and sex; of dose with none; among all other columns
    """

    groups: Sequence[Sequence[Feature]]

    kind = "interact"
    entries = ("interact",)
    options = (
        Option(
            "interact",
            "A group of columns that may meet on a path; those in no group are one more.",
            "COL,COL",
            together=True,
        ),
    )

    def __post_init__(self) -> None:
        example = 'Interact([["a", "b"], ["c"]])'
        given: Any = self.groups
        if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
            raise InputError(f"Interact: {given!r} is no list of groups; write {example}")
        groups = tuple(features_of("Interact", group, example) for group in given)
        if not groups:
            raise InputError(f"Interact names no group; write {example}")
        object.__setattr__(self, "groups", groups)

    def describe(self) -> str:
        said = [
            f"among {listed(group)}" if len(group) > 1 else f"of {called(group[0])} with none"
            for group in self.groups[:LISTED_GROUPS]
        ]
        if len(self.groups) > LISTED_GROUPS:
            said.append(f"within {counted(len(self.groups) - LISTED_GROUPS, 'more group')}")
        return f"interactions: only {'; '.join(said)}; among all other columns"

    def facts(self) -> list[str]:
        return [f"interaction([{', '.join(map(atom, group))}])." for group in self.groups]

    def renamed(self, rename: Callable[[Feature], Feature]) -> Interact:
        return Interact(tuple(tuple(map(rename, group)) for group in self.groups))

    def add_to(self, resolved: Resolved) -> None:
        for group in self.groups:
            resolved.add("interacting", [resolved.position("Interact", feature) for feature in group])

    @classmethod
    def from_toml(cls, entry: str, value: Any) -> Iterable[Constraint]:
        if not isinstance(value, list) or not all(isinstance(group, list) for group in value):
            raise InputError(f"{entry} = {value!r}: give a list of groups, such as [['a', 'b'], ['c']]")
        return [cls(tuple(names_of(entry, group) for group in value))]

    @classmethod
    def from_option(cls, name: str, value: Any) -> Constraint:
        return cls(tuple(map(names_in, value)))
