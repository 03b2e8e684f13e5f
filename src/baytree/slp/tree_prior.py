"""Programs as priors over trees: a single one drawn from it, and the many of an ensemble."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .. import _core
from ..data.design import Design
from ..data.to_core import vocabulary
from ..errors import InputError
from ..mcmc.mixtures import Component, MixtureSpec
from ..trees.forest import Forest
from ..trees.prior_samples import PriorDraws
from ..validation import require_whole, seed_of
from .limits import MOST_ATTEMPTS
from .proposals import native_proposal, parse_proposal

if TYPE_CHECKING:
    from .program import Program


def sample_trees(program: Program, goal: str, design: Design, n: int, seed: int | None) -> PriorDraws:
    """Draw independent trees, which a goal gives to its first variable."""
    require_whole("n", n, 1)
    program.for_trees(design)
    seed = seed_of(seed)
    prover = program.prover(goal, design)
    forest = prover.sample_trees(n, seed, MOST_ATTEMPTS, goal == program.tree_goal)
    program.show(prover)
    return PriorDraws(design.schema, Forest(**forest), seed)


def ensemble_proposal(program: Program, proposal: MixtureSpec) -> Component:
    """How parts of a tree of a sum are drawn again; the component's weight is how many at a visit of the tree."""
    component, *others = parse_proposal("subtree" if proposal == "auto" else proposal)
    if others or component.name != "subtree":
        raise InputError(
            f"proposal={proposal!r}: the trees of a program are drawn again by subtree; say how often, as in "
            "{'subtree': 2}"
        )
    objection = program.for_trees().objection(_core.ProofProposal.subtree, getattr(_core.Semantics, program.semantics))
    if objection:
        raise InputError(f"{program.file}: not for sums of trees: {objection}; a single tree, CART, takes any program")
    return component


def ensemble_prior(program: Program, proposal: MixtureSpec, design: Design) -> _core.TreeProgram:
    """What derives the trees of a sum, as the core takes it."""
    return _core.TreeProgram(
        vocabulary(design.schema),
        program.for_trees(design),
        getattr(_core.Semantics, program.semantics),
        program.limits.native(),
        [native_proposal(replace(ensemble_proposal(program, proposal), weight=1.0))],
    )
