"""Constraints joined: all of them hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import _core
from ..data.design import Schema
from ..errors import InputError
from ..text import counted
from ..validation import replaced
from .base import Constraint, Feature
from .box import Box
from .groups import Interact
from .resolved import Resolved
from .size import MaxDepth, MaxLeaves
from .weights import SparseWeights, Weights

MOST_BOXES = 64


@dataclass(frozen=True)
class Knowledge:
    """What is known about a tree before any data are seen: constraints that all hold.

    Constraints are joined to each other and to a prior by ``&``.

    Parameters
    ----------
    constraints : sequence of constraints
        Such as `Box`, `Monotone` and `MaxDepth`.

    Examples
    --------
    >>> import baytree as bt
    >>> known = bt.Box(glucose="<=127", age="<=28") & bt.MaxDepth(4)
    >>> print(known)
    box: no split inside glucose <= 127 and age <= 28
    at most 4 questions on a path
    >>> (bt.GrowTree(beta=0.5) & known).knowledge == known
    True
    """

    constraints: Sequence[Constraint] = ()

    def __post_init__(self) -> None:
        given: Any = self.constraints
        if isinstance(given, Constraint) or not isinstance(given, Sequence):
            raise InputError(f"Knowledge({given!r}): give a list of constraints, or join them with &")
        kinds = tuple(Constraint.kinds.values())
        for constraint in given:
            if not isinstance(constraint, kinds):
                names = ", ".join(kind.__name__ for kind in kinds)
                raise InputError(f"Knowledge: {constraint!r} is no constraint; choose from {names}")
        object.__setattr__(self, "constraints", tuple(given))
        if self._count(Interact) > 1:
            raise InputError("Interact is given twice; a path lies in one of all groups, so name them in one Interact")
        if self.sparse and self._count(Weights):
            raise InputError('Weights are given and Weights("sparse") learns them: keep one')
        if self._count(Box) > MOST_BOXES:
            count = counted(self._count(Box), "box", "boxes")
            raise InputError(f"{count}; at most {MOST_BOXES} are possible: leave the smallest out")

    def __and__(self, other: Constraint | Knowledge) -> Knowledge:
        if isinstance(other, Constraint):
            return Knowledge((*self.constraints, other))
        if isinstance(other, Knowledge):
            return Knowledge((*self.constraints, *other.constraints))
        return NotImplemented

    def __str__(self) -> str:
        return self.describe()

    @property
    def sparse(self) -> bool:
        """Whether the weights of the columns are learned."""
        return self._count(SparseWeights) > 0

    def describe(self) -> str:
        """The constraints in words, one a line."""
        return "\n".join(constraint.describe() for constraint in self.constraints)

    def check(self, schema: Schema) -> None:
        """Refuse what does not fit a table or contradicts itself, and warn of what leaves nothing to learn.

        Parameters
        ----------
        schema : Schema
            The table.
        """
        self._resolve(schema).warn()

    def resolve(self, schema: Schema) -> Knowledge:
        """The same knowledge, checked as `check` does, with columns that were given by position called by their names.

        Parameters
        ----------
        schema : Schema
            The table.
        """
        resolved = self._resolve(schema)
        resolved.warn()
        return self._named(resolved)

    def named(self, schema: Schema) -> Knowledge:
        """The same without a warning.

        Parameters
        ----------
        schema : Schema
            The table.
        """
        return self._named(self._resolve(schema))

    def _named(self, resolved: Resolved) -> Knowledge:
        def renamed(constraint: Constraint) -> Constraint:
            def name(feature: Feature) -> str:
                return resolved.schema.names[resolved.position(type(constraint).__name__, feature)]

            return constraint.renamed(name)

        return replaced(self, constraints=tuple(map(renamed, self.constraints)))

    def native(self, schema: Schema) -> _core.Knowledge:
        """The knowledge as the core takes it.

        Parameters
        ----------
        schema : Schema
            The table.
        """
        return self._resolve(schema).native()

    def facts(self) -> str:
        """The knowledge as facts of a program, one a line."""
        smallest = {
            kind: min(constraint.most for constraint in self.constraints if isinstance(constraint, kind))
            for kind in (MaxDepth, MaxLeaves)
            if self._count(kind)
        }
        others = (constraint for constraint in self.constraints if not isinstance(constraint, (MaxDepth, MaxLeaves)))
        stated = [*others, *(kind(most) for kind, most in smallest.items())]
        return "".join(f"{fact}\n" for constraint in stated for fact in constraint.facts())

    def to_dict(self) -> dict[str, Any]:
        """The knowledge as JSON-safe values."""
        return {"constraints": [constraint.to_dict() for constraint in self.constraints]}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Knowledge:
        """The knowledge that `to_dict` described."""
        stated = record["constraints"]
        return cls(tuple(Constraint.kinds[constraint["kind"]].from_dict(constraint) for constraint in stated))

    def _resolve(self, schema: Schema) -> Resolved:
        resolved = Resolved(schema)
        for constraint in self.constraints:
            constraint.add_to(resolved)
        resolved.require_possible()
        return resolved

    def _count(self, kind: type[Constraint]) -> int:
        return sum(isinstance(constraint, kind) for constraint in self.constraints)


NO_KNOWLEDGE = Knowledge()
