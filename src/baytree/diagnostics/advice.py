"""Whether the chains agree, in a sentence, and what to try where they do not."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..text import listed
from .convergence import NEAR_RHAT, RHAT_LIMIT, Diagnostics

# Chains far from each other that share fewer draws than this sit in different modes.
SHARED = 0.5
# What is advised where nothing says how much is needed.
CHAINS = 4
TEMPERATURES = 12
MORE = 10
SHORTEST_WARMUP = 100


class Remedy(NamedTuple):
    """Something to try.

    Attributes
    ----------
    what : str
        In words, to go on after "the chains do not agree yet:".
    options : dict of str to int
        The options of `sample`, and of ``baytree fit``, with the values to give them.
    """

    what: str
    options: dict[str, int]


def verdict(found: Diagnostics, remedies: tuple[Remedy, ...]) -> str:
    """Whether the chains agree, on what they do not, worst first, and what to try.

    Parameters
    ----------
    found : Diagnostics
        What was found.
    remedies : tuple of Remedy
        What `advice` gave.
    """
    what = " or ".join(remedy.what for remedy in remedies)
    if found.chains == 1:
        return f"One chain has none to agree with: {what}."
    if not found.judged:
        return "Too few draws, or trees that never change: agreement of the chains cannot be judged."
    unseen = "" if found.predictions else " Predictions were not compared: posterior.diagnostics(design) does."
    if found.apart:
        apart = listed([f"{one.quantity} (R-hat {one.rhat_text})" for one in found.apart])
        return f"The chains do not agree yet on {apart}: {what}.{unseen}"
    names = listed([one.quantity for one in found.judged])
    if found.scarce:
        few = listed([f"{one.quantity} ({size:.0f})" for one, size in found.scarce])
        return (
            f"The chains agree so far on {names}, but to be sure takes an effective sample size of {found.wanted_ess}, "
            f"which is not reached for {few}: {what}.{unseen}"
        )
    return f"The chains agree: R-hat is below {RHAT_LIMIT} for {names}.{unseen}"


def advice(found: Diagnostics, *, warmup: int, draws: int, temperatures: int | None) -> tuple[Remedy, ...]:
    """What to try, the most promising first; nothing where the chains agree.

    Parameters
    ----------
    found : Diagnostics
        What was found.
    warmup, draws : int
        How long the chains were.
    temperatures : int or None
        How many temperatures each chain had; None where it can have no more.
    """
    if found.chains == 1:
        return (Remedy("take two or more", {"chains": CHAINS}),)
    if found.agree or not found.judged:
        return ()
    if not found.apart:
        _, smallest = found.scarce[0]
        times = min(MORE, math.ceil(found.wanted_ess / max(smallest, 1)))
        return (Remedy(f"take {times} times as many draws", {"draws": draws * times}),)
    longer = Remedy(
        "take more warmup and draws", {"warmup": max(warmup, SHORTEST_WARMUP) * MORE, "draws": draws * MORE}
    )
    in_modes = (found.apart[0].rhat or 0) > NEAR_RHAT and (found.shared_trees or 0) < SHARED
    if in_modes and temperatures == 1:
        return (Remedy(f"try temperatures={TEMPERATURES}", {"temperatures": TEMPERATURES}), longer)
    return (longer,)
