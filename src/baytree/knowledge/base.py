"""What every constraint can do, and how columns are named in one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..errors import InputError
from ..validation import MOST, is_whole
from .entries import telling
from .options import Option

if TYPE_CHECKING:
    from .joined import Knowledge
    from .resolved import Resolved

# A column's name, or its position counted from 0 as scikit-learn does.
Feature = str | int

_PLAIN_ATOM = re.compile(r"[a-z]\w*", re.ASCII)


@dataclass(frozen=True)
class Constraint:
    """Something known about a tree before any data are seen; joined to others, or to a prior, by ``&``."""

    # Every constraint by the name that a model file calls it by, in the order in which they are imported.
    kinds: ClassVar[dict[str, type[Constraint]]] = {}
    kind: ClassVar[str]

    # What it answers to in a TOML file and on the command line.
    entries: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[tuple[Option, ...]] = ()

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        if "kind" in vars(cls):
            cls.kinds[cls.kind] = cls

    def __and__(self, other: Constraint | Knowledge) -> Knowledge:
        from .joined import Knowledge

        return Knowledge((self,)) & other

    def __str__(self) -> str:
        return self.describe()

    def describe(self) -> str:
        """The constraint in words."""
        raise NotImplementedError

    def facts(self) -> list[str]:
        """The constraint as facts of a program."""
        raise NotImplementedError

    def renamed(self, rename: Callable[[Feature], Feature]) -> Self:
        """The constraint over columns that are called otherwise."""
        raise NotImplementedError

    def add_to(self, resolved: Resolved) -> None:
        """State the constraint by the positions of its columns."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The constraint as JSON-safe values."""
        return {"kind": self.kind} | {field.name: _lists(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The constraint that `to_dict` described."""
        return cls(**{name: value for name, value in record.items() if name != "kind"})

    @classmethod
    def from_toml(cls, entry: str, value: Any) -> Iterable[Constraint]:
        """The constraints that one of its entries in a TOML file states."""
        raise NotImplementedError

    @classmethod
    def from_option(cls, name: str, value: Any) -> Constraint:
        """The constraint that a value of one of its options states."""
        raise NotImplementedError


@dataclass(frozen=True, init=False, repr=False)
class ByColumn(Constraint):
    """A constraint that says something of each of its columns.

    Names that are no Python identifiers, and positions, are given by a mapping, all others also by keyword.
    """

    by_column: tuple[tuple[Feature, Any], ...]

    _example: ClassVar[str]

    def __init__(self, by_column: Mapping[Any, Any] | None = None, /, **named: Any) -> None:
        if by_column is not None and not isinstance(by_column, Mapping):
            raise InputError(f"{self._name}({by_column!r}): give a mapping from columns, or name them: {self._example}")
        items = [*(by_column or {}).items(), *named.items()]
        if not items:
            raise InputError(f"{self._name}() names no column; write {self._example}")
        said: dict[Feature, Any] = {}
        for given, value in items:
            feature = feature_of(self._name, given)
            if feature in said:
                raise InputError(f"{self._name} names {called(feature)} twice; name it once")
            said[feature] = self._value(feature, value)
        object.__setattr__(self, "by_column", tuple(said.items()))

    @property
    def _name(self) -> str:
        return type(self).__name__

    @classmethod
    def _value(cls, feature: Feature, value: Any) -> Any:
        raise NotImplementedError

    @staticmethod
    def _plain(value: Any) -> Any:
        """What is said of a column, as a person would write it in Python."""
        return value

    def __repr__(self) -> str:
        items = [(feature, self._plain(value)) for feature, value in self.by_column]
        if all(isinstance(feature, str) and feature.isidentifier() and not iskeyword(feature) for feature, _ in items):
            return f"{self._name}({', '.join(f'{feature}={value!r}' for feature, value in items)})"
        return f"{self._name}({dict(items)!r})"

    def renamed(self, rename: Callable[[Feature], Feature]) -> Self:
        return type(self)({rename(feature): self._plain(value) for feature, value in self.by_column})

    def to_dict(self) -> dict[str, Any]:
        # Pairs, because the keys of a JSON object are never numbers.
        return {"kind": self.kind, "by_column": [[feature, self._plain(value)] for feature, value in self.by_column]}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        return cls(dict(record["by_column"]))

    @classmethod
    def from_toml(cls, entry: str, value: Any) -> Iterable[Constraint]:
        if not isinstance(value, dict):
            raise InputError(f"{entry} = {value!r}: give a table, [{entry}], with a line for each column")
        with telling(f"[{entry}]: "):
            return [cls(value)]


def _lists(value: Any) -> Any:
    return [_lists(item) for item in value] if isinstance(value, tuple) else value


def feature_of(who: str, given: Any) -> Feature:
    """A column's name or position, checked."""
    if isinstance(given, str):
        return str(given)
    if is_whole(given):
        if not 0 <= given <= MOST:
            raise InputError(f"{who}: column {given}: positions go from 0 up")
        return int(given)
    raise InputError(f"{who}: {given!r} is no column; give a name, or a position from 0 up")


def features_of(who: str, given: Any, example: str) -> tuple[Feature, ...]:
    """Several columns, each once."""
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        raise InputError(f"{who}: {given!r} is no list of columns; write {example}")
    # A set has no order of its own, and the record of a model should not change from run to run.
    ordered = sorted(given, key=str) if isinstance(given, (set, frozenset)) else given
    features = tuple(dict.fromkeys(feature_of(who, feature) for feature in ordered))
    if not features:
        raise InputError(f"{who} names no column; write {example}")
    return features


def called(feature: Feature) -> str:
    """What a column is called in a sentence."""
    return feature if isinstance(feature, str) else f"column {feature}"


def listed(features: Iterable[Feature], word: str = "and") -> str:
    """Columns in a sentence: ``a, b and c``."""
    *before, last = map(called, features)
    return f"{', '.join(before)} {word} {last}" if before else last


def atom(feature: Feature) -> str:
    """A column as a program names it."""
    if not isinstance(feature, str):
        raise InputError(f"column {feature}: a program calls columns by their names; give the name")
    if _PLAIN_ATOM.fullmatch(feature):
        return feature
    return "'" + feature.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
