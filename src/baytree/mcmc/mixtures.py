"""Proposals by name: what a person may ask a chain to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .. import _core
from ..errors import InputError
from ..validation import is_number, unknown_choice

NAMES = ("uc", "q0", "cycle(n)", "birth_death", "change", "swap")

# Chosen by effective samples a second: see docs/benchmarks.md.
AUTO = {"uc": 1.0, "birth_death": 3.0, "change": 3.0, "swap": 3.0}

ProposalSpec = str | Mapping[str, float]


@dataclass(frozen=True)
class Component:
    """One proposal of a mixture.

    Attributes
    ----------
    name : str
        ``uc``, ``q0``, ``cycle``, ``birth_death``, ``change`` or ``swap``.
    weight : float
        How often it is used, relative to the others.
    last : int
        Of ``cycle``: it regrows at choice points 0 … last in turn.
    """

    name: str
    weight: float = 1.0
    last: int = 0

    @property
    def keeps_shape(self) -> bool:
        """Whether it only changes rules, so that a chain of such proposals alone cannot reach every tree."""
        return self.name in ("change", "swap")

    def __str__(self) -> str:
        return f"cycle({self.last})" if self.name == "cycle" else self.name

    def native(self) -> _core.Component:
        """The component as the core takes it."""
        return _core.Component(getattr(_core.Proposal, self.name), self.weight, self.last)


def parse_proposal(spec: ProposalSpec) -> tuple[Component, ...]:
    """The mixture that a person asked for.

    Parameters
    ----------
    spec : str or mapping of str to float
        A name; names with weights, as ``{"uc": 2, "change": 1}`` or ``"uc=2,change=1"``; or ``"auto"``, the mixture
        that mixes best in our measurements. The names:

        ``uc``
            prune the derivation at a choice point chosen uniformly and grow it again
        ``q0``
            the same at the root: a new tree from the prior
        ``cycle(n)``
            the same at choice points 0, 1, …, n in turn
        ``birth_death``
            split a leaf, or undo a split of two leaves
        ``change``
            give one split another rule
        ``swap``
            exchange the rules of a split and of a split below it

    Returns
    -------
    tuple of Component
    """
    weights = AUTO if spec == "auto" else parse_weights("proposal", spec, "{'uc': 2, 'change': 1}")
    return tuple(_component(name, weight) for name, weight in weights.items())


def parse_weights(what: str, spec: ProposalSpec, example: str) -> dict[str, float]:
    """Names with weights, from a name, from ``"a=2,b=1"`` or from a mapping."""
    if isinstance(spec, str):
        parts = [part.partition("=") for part in spec.split(",")]
        if len({name.strip() for name, _, _ in parts}) < len(parts):
            raise InputError(f"{what} {spec!r}: a name appears twice; add its weights up")
        spec = {name.strip(): _number(what, weight) if equals else 1.0 for name, equals, weight in parts}
    if not isinstance(spec, Mapping) or not spec:
        raise InputError(f"{what} {spec!r}: give a name, or names with weights such as {example}")
    for name, weight in spec.items():
        if not is_number(weight) or not 0 < weight < float("inf"):
            raise InputError(f"{what} {name!r} has weight {weight!r}: choose a positive number, or leave it out")
    return {name: float(weight) for name, weight in spec.items()}


def _component(text: str, weight: float) -> Component:
    match = re.fullmatch(r"(?:(cycle)\((\d{1,9})\)|(\w+))", str(text))
    name = (match[1] or match[3]) if match else ""
    if not match or name not in _core.Proposal.__members__ or (name == "cycle" and not match[1]):
        raise unknown_choice("proposal", text, ("auto", *NAMES))
    return Component(name, weight, int(match[2] or 0))


def _number(what: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{what}: {text!r} is not a weight; write NAME=NUMBER") from None
