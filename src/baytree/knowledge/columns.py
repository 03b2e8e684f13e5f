"""Columns that are forbidden, or the only ones, in a part of the tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..validation import require_whole
from .base import Constraint, Feature, atom, features_of, listed
from .entries import names_of, tables_of
from .options import Option, assigned, names_in
from .resolved import Resolved


@dataclass(frozen=True, init=False, repr=False)
class Forbid(Constraint):
    """Columns that are not asked about, anywhere or below some point.

    Parameters
    ----------
    *features : str or int
        The columns, by name or position.
    below : int or str, optional
        A number: not at this depth or deeper, where the root has depth 0. A column's name: not below a split on that
        column.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.Forbid("id", "name"))
    never asks about id or name
    >>> print(bt.Forbid("dose", below="sex"))
    never asks about dose below a split on sex
    """

    features: Sequence[Feature]
    below: int | str | None = None

    kind = "forbid"
    entries = ("forbid", "forbid_below")
    options = (
        Option("forbid", "Never ask about it.", "COL"),
        Option(
            "forbid_below",
            "Do not ask about it at this depth or deeper, or below a split on another.",
            "COL=DEPTH|COL",
        ),
    )

    def __init__(self, *features: Feature, below: int | str | None = None) -> None:
        for feature in features:
            if isinstance(feature, Sequence) and not isinstance(feature, str):
                raise InputError(f"Forbid: {feature!r} is a list; name the columns one by one: Forbid('a', 'b')")
        if below is not None and not isinstance(below, str):
            require_whole("Forbid: below", below, 0)
            below = int(below)
        object.__setattr__(self, "features", features_of("Forbid", features, 'Forbid("id")'))
        object.__setattr__(self, "below", below)

    def __repr__(self) -> str:
        below = () if self.below is None else (f"below={self.below!r}",)
        return f"Forbid({', '.join([*map(repr, self.features), *below])})"

    def describe(self) -> str:
        where = ""
        if self.below is not None:
            where = (
                f" below a split on {self.below}"
                if isinstance(self.below, str)
                else f" at depth {self.below} or deeper"
            )
        return f"never asks about {listed(self.features, 'or')}{where}"

    def facts(self) -> list[str]:
        if self.below is None:
            return [f"forbid({atom(feature)})." for feature in self.features]
        below = atom(self.below) if isinstance(self.below, str) else self.below
        return [f"forbid_below({atom(feature)}, {below})." for feature in self.features]

    def renamed(self, rename: Callable[[Feature], Feature]) -> Forbid:
        below = rename(self.below) if isinstance(self.below, str) else self.below
        return Forbid(*map(rename, self.features), below=below)

    def add_to(self, resolved: Resolved) -> None:
        for feature in self.features:
            at = resolved.position("Forbid", feature)
            if self.below is None:
                resolved.add("forbidden", at)
            elif isinstance(self.below, str):
                resolved.add("below_feature", (at, resolved.position("Forbid", self.below)))
            else:
                resolved.add("below_depth", (at, self.below))

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Forbid:
        return cls(*record["features"], below=record["below"])

    @classmethod
    def from_toml(cls, entry: str, value: Any) -> Iterable[Constraint]:
        if entry == "forbid":
            return [cls(*names_of(entry, value))]

        def below(table: dict[str, Any]) -> Forbid:
            return cls(*names_of("features", table["features"]), below=table["below"])

        return tables_of(entry, value, below, ("features", "below"))

    @classmethod
    def from_option(cls, name: str, value: Any) -> Constraint:
        if name == "forbid":
            return cls(value)
        column, below = assigned(value, "dose=2 or dose=sex")
        return cls(column, below=int(below) if below.isdecimal() else below)


@dataclass(frozen=True)
class Only(Constraint):
    """The columns that are asked about at one depth; no other is.

    Parameters
    ----------
    depth : int
        The depth; the root has 0.
    features : sequence of columns
        The columns, by name or position.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.Only(depth=0, features=["age", "glucose"]))
    at depth 0 asks about age or glucose only
    """

    depth: int
    features: Sequence[Feature]

    kind = "only"
    entries = ("only",)
    options = (Option("only", "Ask about nothing else at this depth.", "DEPTH:COL,COL"),)

    def __post_init__(self) -> None:
        require_whole("Only: depth", self.depth, 0)
        object.__setattr__(self, "depth", int(self.depth))
        object.__setattr__(self, "features", features_of("Only", self.features, 'Only(depth=0, features=["age"])'))

    def describe(self) -> str:
        return f"at depth {self.depth} asks about {listed(self.features, 'or')} only"

    def facts(self) -> list[str]:
        return [f"only({self.depth}, [{', '.join(map(atom, self.features))}])."]

    def renamed(self, rename: Callable[[Feature], Feature]) -> Only:
        return Only(self.depth, tuple(map(rename, self.features)))

    def add_to(self, resolved: Resolved) -> None:
        resolved.add("only", (self.depth, [resolved.position("Only", feature) for feature in self.features]))

    @classmethod
    def from_toml(cls, entry: str, value: Any) -> Iterable[Constraint]:
        def only(table: dict[str, Any]) -> Only:
            return cls(table["depth"], names_of("features", table["features"]))

        return tables_of(entry, value, only, ("depth", "features"))

    @classmethod
    def from_option(cls, name: str, value: Any) -> Constraint:
        depth, colon, columns = value.partition(":")
        if not colon or not depth.strip().isdecimal():
            raise InputError("write a depth and columns, such as 0:age,glucose")
        return cls(int(depth), names_in(columns))
