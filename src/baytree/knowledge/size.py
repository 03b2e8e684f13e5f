"""How deep and how large a tree may be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ..errors import InputError
from ..text import counted
from ..validation import require_whole
from .base import Constraint, Feature
from .options import Option
from .resolved import Resolved


@dataclass(frozen=True)
class _Size(Constraint):
    """How large a tree may be."""

    most: int

    _least: ClassVar[int]

    def __post_init__(self) -> None:
        require_whole(f"{type(self).__name__}: most", self.most, self._least)
        object.__setattr__(self, "most", int(self.most))

    def facts(self) -> list[str]:
        return [f"{self.kind}({self.most})."]

    def renamed(self, rename: Callable[[Feature], Feature]) -> Self:
        return self

    def add_to(self, resolved: Resolved) -> None:
        resolved.limit(self.kind, self.most)

    @classmethod
    def from_toml(cls, entry: str, value: Any) -> Iterable[Constraint]:
        if not isinstance(value, int):
            raise InputError(f"{entry} = {value!r}: give a whole number, such as {entry} = 4")
        return [cls(value)]

    @classmethod
    def from_option(cls, name: str, value: Any) -> Constraint:
        return cls(value)


@dataclass(frozen=True)
class MaxDepth(_Size):
    """How many questions a path from the root to a leaf has at most.

    Parameters
    ----------
    most : int
        No node at this depth is split; the root has depth 0.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.MaxDepth(3))
    at most 3 questions on a path
    """

    kind = "max_depth"
    entries = ("max_depth",)
    options = (Option("max_depth", "The most questions on a path.", "N", takes=int),)
    _least = 0

    def describe(self) -> str:
        return f"at most {counted(self.most, 'question')} on a path"


@dataclass(frozen=True)
class MaxLeaves(_Size):
    """How many leaves a tree has at most; the prior is what it would be else, given that this holds.

    Parameters
    ----------
    most : int
        The number.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.MaxLeaves(8))
    at most 8 leaves
    """

    kind = "max_leaves"
    entries = ("max_leaves",)
    options = (Option("max_leaves", "The most leaves of a tree.", "N", takes=int),)
    _least = 1

    def describe(self) -> str:
        return f"at most {counted(self.most, 'leaf', 'leaves')}"
