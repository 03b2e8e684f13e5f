"""How a chain over proofs moves: proposals (MCMC kernels) by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from .. import _core
from ..mcmc.mixtures import Component, MixtureSpec, parse_mixture

NAMES = ("auto", "subtree", "sequence", "address", "independent", "cycle(n)")
# What the same proposals are called for native priors.
SYNONYMS = {"uc": "auto", "q0": "independent"}

Semantics = Literal["backtrack", "reject"]
SEMANTICS = get_args(Semantics)


def parse_proposal(spec: MixtureSpec) -> tuple[Component, ...]:
    """The mixture that a person asked for.

    Parameters
    ----------
    spec : str or mapping of str to float
        A name; names with weights, as ``{"subtree": 2, "independent": 1}`` or ``"subtree=2,independent=1"``; or
        ``"auto"``, the fastest that is exact for the program. The names:

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
    return parse_mixture("proposal", spec, NAMES, "{'subtree': 2, 'independent': 1}", SYNONYMS)


def resolve_proposals(
    components: Iterable[Component], program: _core.Program, semantics: Semantics
) -> tuple[Component, ...]:
    """The proposals with ``auto`` replaced by what suits the program best.

    By itself ``address`` may not reach every model: a choice that all others leave no room for cannot change. So one
    step in five is ``sequence``, which can change anything.
    """
    best = program.best_proposal(getattr(_core.Semantics, semantics)).name
    auto = {"address": 0.8, "sequence": 0.2} if best == "address" else {best: 1.0}
    resolved: list[Component] = []
    for component in components:
        if component.name == "auto":
            resolved += (Component(name, component.weight * weight) for name, weight in auto.items())
        else:
            resolved.append(component)
    return tuple(resolved)


def native_proposal(component: Component) -> _core.ProofComponent:
    """A proposal as the core takes it."""
    return _core.ProofComponent(getattr(_core.ProofProposal, component.name), component.weight, component.last)
