"""Probabilities of events: enumerated where that can be done, else by Monte Carlo."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import _core
from ..data.design import Design
from ..errors import InputError
from .limits import MOST_ATTEMPTS, MOST_PROOFS

if TYPE_CHECKING:
    from .program import Program


@dataclass(frozen=True)
class Estimate:
    """A probability.

    Attributes
    ----------
    value : float
        The probability.
    error : float
        Its Monte Carlo standard error; 0 where it is exact.
    exact : bool
        Whether it was found by enumeration.
    """

    value: float
    error: float
    exact: bool

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.6g}" if self.exact else f"{self.value:.6g} ± {self.error:.2g}"


def probability(program: Program, event: str, given: str | None, n: int, seed: int, data: Design | None) -> Estimate:
    """The probability of an event, as `Program.probability` describes it."""
    if given is None:
        given, event = _generalised(event)
    goal = f"({given}), (({event}) -> Holds_ = yes ; Holds_ = no)"
    place = program.native(goal).goal_variables.index("Holds_")
    try:
        answers, probabilities, complete = program.prover(goal, data).enumerate(MOST_PROOFS)
    except InputError:  # one proof without end, or outcomes without number
        complete = False
    if complete:
        if not probabilities:
            raise InputError(f"{given}: the goal fails, so nothing can be said given it")
        held = (p for (values, _, _), p in zip(answers, probabilities, strict=True) if values[place] == "yes")
        return Estimate(math.fsum(held), 0.0, True)
    drawn = program.prover(goal, data).sample(n, seed, MOST_ATTEMPTS)
    share = sum(values[place] == "yes" for values, _ in drawn) / n
    return Estimate(share, math.sqrt(share * (1 - share) / n), False)


def _generalised(event: str) -> tuple[str, str]:
    """The goal of an event with its arguments left open, and the event about them."""
    parts = _core.head_arguments(event)
    if parts is None:
        raise InputError(f"{event}: give an instance of a goal, such as s(a, Y), or say given which goal")
    label, name, arguments = parts
    opened = [f"Open{number}_" for number in range(len(arguments))]
    goal = f"{label}{name}({', '.join(opened)})" if opened else f"{label}{name}"
    equal = [f"{variable} = {argument}" for variable, argument in zip(opened, arguments, strict=True)]
    return goal, ", ".join(equal) or "true"
