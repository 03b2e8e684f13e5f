"""How a chain over single trees moves: proposals by name."""

from __future__ import annotations

from .. import _core
from ..mcmc.mixtures import Component, MixtureSpec, parse_mixture

NAMES = ("uc", "q0", "cycle(n)", "birth_death", "change", "swap", "gbirth", "gchange", "insert_delete")
# They only change rules, so that a chain of such proposals alone cannot reach every tree.
KEEPING_SHAPE = ("change", "swap", "gchange")
# Chosen by how near chains end at equal processor time: see docs/benchmarks.md.
AUTO = {
    "uc": 1.0,
    "birth_death": 3.0,
    "change": 3.0,
    "swap": 3.0,
    "gbirth": 1.0,
    "gchange": 1.0,
    "insert_delete": 1.0,
}


def parse_proposal(spec: MixtureSpec) -> tuple[Component, ...]:
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
        ``gbirth``
            the same as ``birth_death``, with the new rule drawn by prior and likelihood
        ``gchange``
            the same as ``change``, with the new rule drawn by prior and likelihood
        ``insert_delete``
            put a split above a node, whose subtree goes to one side and a new leaf to the other, or undo it

    Returns
    -------
    tuple of Component
    """
    return parse_mixture("proposal", AUTO if spec == "auto" else spec, NAMES, "{'uc': 2, 'change': 1}")


def native_proposal(component: Component) -> _core.Component:
    """A proposal as the core takes it."""
    return _core.Component(getattr(_core.Proposal, component.name), component.weight, component.last)
