"""How much work a run may take until its chains agree: counted, never timed, for the same bits on all machines."""

from __future__ import annotations

import math
import os
from typing import Any, Literal

from ..errors import InputError
from ..validation import is_number, unknown_choice

# Seconds of a processor that a run may take, and how many processors a laptop is taken to have.
UNLIMITED = "unlimited"
EFFORTS = {"quick": 2.0, "default": 40.0, "thorough": 600.0, UNLIMITED: math.inf}
USUAL_EFFORT = "default"
PROCESSORS = 2
# What the environment may say in place of `USUAL_EFFORT`.
VARIABLE = "BAYTREE_EFFORT"
# What stands for a number that the run finds by itself.
AUTO: Literal["auto"] = "auto"


def usual_effort() -> str | float:
    """The effort of runs that name none."""
    said = os.environ.get(VARIABLE, USUAL_EFFORT)
    try:
        return require_effort(float(said) if said.replace(".", "", 1).isdecimal() else said)
    except InputError as error:
        raise InputError(f"the environment says {VARIABLE}={said!r}, which is no effort: {error}") from None


def require_effort(effort: Any) -> str | float:
    """An effort that was asked for, by name or as a number; raises InputError for what is none."""
    if isinstance(effort, str):
        if effort not in EFFORTS:
            raise unknown_choice("effort", effort, EFFORTS)
        return effort
    if not is_number(effort) or not 0 <= effort < math.inf:
        names = ", ".join(map(repr, EFFORTS))
        raise InputError(f"effort={effort!r}: choose {names}, or a number of seconds of a processor, 0 or more")
    return float(effort)


def budget_of(effort: str | float) -> float:
    """The work that an effort stands for, in seconds of a processor, about."""
    return EFFORTS[effort] if isinstance(effort, str) else effort


def more_than(effort: str | float | None) -> str:
    """The next larger effort that has a name; of none the usual one."""
    if effort is None:
        return USUAL_EFFORT
    return next((name for name in EFFORTS if budget_of(name) > budget_of(effort)), UNLIMITED)


def is_auto(name: str, value: Any) -> bool:
    """Whether a number is left to the run; raises InputError for other text."""
    if isinstance(value, str) and value != AUTO:
        raise InputError(f"{name}={value!r}: choose a whole number, or {AUTO!r}")
    return isinstance(value, str)
