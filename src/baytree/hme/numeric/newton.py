"""Newton's method with a line search, for many problems at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .arrays import Array, namespace, solve_positive

MOST_HALVINGS = 30
# A problem is solved when its next step promises no more of its objective than this many units of rounding.
ROUNDING = 1000


def maximised(
    start: Array,
    value: Callable[[Array], tuple[Array, Any]],
    derivatives: Callable[[Array, Any], tuple[Array, Array]],
    steps: int,
) -> Array:
    """Parameters that are better than those to begin with, of every problem; no step lowers an objective.

    Parameters
    ----------
    start : array of shape (…, a, b)
        Where to begin; the first axes, if any, are those of the problems.
    value : callable
        Gives the objectives of parameters, shape (…), and whatever their derivatives can be computed from.
    derivatives : callable
        From both gives the slopes, of the shape of the parameters, and minus the second derivatives of the parameters
        row by row, shape (…, a·b, a·b).
    steps : int
        The most steps.
    """
    xp = namespace(start)
    enough = ROUNDING * xp.finfo(start.dtype).eps
    best = start
    reached, known = value(best)
    for _ in range(steps):
        slope, curvature = derivatives(best, known)
        flat = xp.reshape(slope, (*reached.shape, -1, 1))
        step = xp.reshape(solve_positive(curvature, flat), best.shape)
        promised = 0.5 * xp.sum(slope * step, axis=(-2, -1))
        unsolved = promised > enough * (xp.abs(reached) + enough)
        if not bool(xp.any(unsolved)):
            break
        length = xp.where(unsolved, xp.ones_like(reached), xp.zeros_like(reached))
        # Where weights are all but hard the quadratic model reaches too far.
        for halving in range(MOST_HALVINGS + 1):
            candidate = best + length[..., None, None] * step
            found, known = value(candidate)
            better = found >= reached
            if bool(xp.all(better)):
                break
            shorter = length / 2 if halving < MOST_HALVINGS - 1 else xp.zeros_like(length)
            length = xp.where(better, length, shorter)
        best, reached = candidate, found
    return best
