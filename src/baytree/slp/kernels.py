"""Kernels by name: how a chain over proofs moves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from .. import _core
from ..mcmc.mixtures import parse_weights
from ..validation import unknown_choice

NAMES = ("subtree", "sequence", "address", "independent", "cycle(n)")
# What the same moves are called for native priors.
SYNONYMS = {"uc": "auto", "q0": "independent"}

KernelSpec = str | Mapping[str, float]
Semantics = Literal["backtrack", "reject"]
SEMANTICS = get_args(Semantics)


@dataclass(frozen=True)
class Component:
    """One kernel of a mixture.

    Attributes
    ----------
    name : str
        ``auto``, ``subtree``, ``sequence``, ``address``, ``independent`` or ``cycle``.
    weight : float
        How often it is used, relative to the others.
    last : int
        Of ``cycle``: it redraws at choice points 0 … last in turn.
    """

    name: str
    weight: float = 1.0
    last: int = 0

    def __str__(self) -> str:
        return f"cycle({self.last})" if self.name == "cycle" else self.name

    def resolve(self, program: _core.Program, semantics: Semantics) -> tuple[Component, ...]:
        """The component with ``auto`` replaced by what suits the program best.

        By itself ``address`` may not reach every model: a choice that all others leave no room for cannot change. So
        one step in five is ``sequence``, which can change anything.
        """
        if self.name != "auto":
            return (self,)
        best = program.best_kernel(getattr(_core.Semantics, semantics)).name
        shares = {"address": 0.8, "sequence": 0.2} if best == "address" else {best: 1.0}
        return tuple(Component(name, self.weight * share) for name, share in shares.items())

    def native(self) -> _core.KernelComponent:
        """The component as the core takes it."""
        return _core.KernelComponent(getattr(_core.Kernel, self.name), self.weight, self.last)


def parse_kernel(spec: KernelSpec) -> tuple[Component, ...]:
    """The mixture of kernels that a person asked for.

    Parameters
    ----------
    spec : str or mapping of str to float
        A name; names with weights, as ``{"subtree": 2, "independent": 1}`` or ``"subtree=2,independent=1"``; or
        ``"auto"``, the fastest kernel that is exact for the program. The names:

        ``subtree``
            redraw, at a choice point chosen uniformly, the smallest part of the proof that nothing else depends on
        ``sequence``
            redraw everything from a choice point on
        ``address``
            redraw what lies under a choice point, and keep all other choices where they still apply
        ``independent``
            redraw everything
        ``cycle(n)``
            redraw at choice points 0, 1, …, n in turn

        ``uc`` and ``q0``, the names for native priors, mean ``auto`` and ``independent``.

    Returns
    -------
    tuple of Component
    """
    weights = parse_weights("kernel", spec, "{'subtree': 2, 'independent': 1}")
    return tuple(_component(name, weight) for name, weight in weights.items())


def _component(text: str, weight: float) -> Component:
    match = re.fullmatch(r"(?:(cycle)\((\d{1,9})\)|(\w+))", str(text))
    name = (match[1] or match[3]) if match else ""
    name = SYNONYMS.get(name, name)
    known = name == "auto" or name in _core.Kernel.__members__
    if not match or not known or (name == "cycle" and not match[1]):
        raise unknown_choice("kernel", text, ("auto", *NAMES))
    return Component(name, weight, int(match[2] or 0))
