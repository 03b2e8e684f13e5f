"""Which proposal is exact for a program, and why, in words."""

from __future__ import annotations

from .. import _core
from .proposals import Semantics

_WHAT = {
    "subtree": "redraws the smallest part of the proof around a choice that nothing else depends on",
    "sequence": "redraws everything from a choice on",
    "address": "redraws what lies under a choice and keeps all other choices",
    "independent": "redraws everything",
}


def explain(program: _core.Program, semantics: Semantics) -> str:
    """Say which proposals are exact for a program, which one a chain uses, and why."""
    native = getattr(_core.Semantics, semantics)
    best = program.best_proposal(native)
    every = "; one step in five is sequence, which reaches every model" if best.name == "address" else ""
    lines = [
        f"proposal: {best.name}, which {_WHAT[best.name]}{every}",
        f"semantics: {_meaning(program, semantics)}",
        "",
        "choices are made by:",
    ]
    for line, name, is_pure, reason in program.random_goals:
        where = f"line {line}" if line else "the goal"
        how = "can be drawn again by itself" if is_pure else f"is drawn again with what follows it: {reason}"
        lines.append(f"  {name} ({where}) {how}")
    lines += ["", "proposals:"]
    for proposal in _core.ProofProposal:
        if proposal.name in _WHAT:
            objection = program.objection(proposal, native)
            lines.append(f"  {proposal.name}: {'exact' if objection is None else 'refused: ' + objection}")
    return "\n".join(lines)


def _meaning(program: _core.Program, semantics: Semantics) -> str:
    if not program.may_fail:
        return f"{semantics}; nothing can fail, so backtrack and reject agree"
    return f"{semantics}; backtrack and reject may differ, as something may fail: {program.failure}"
