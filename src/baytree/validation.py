"""Checks of what a person gave, each with an error that says the remedy."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral, Real
from secrets import randbits

from .errors import LISTED_CHOICES, InputError


def is_number(value: object) -> bool:
    """Whether a value is a real number; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def require_whole(name: str, value: object, least: int) -> None:
    """Raise InputError unless a value is a whole number of at least so much."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        raise InputError(f"{name}={value!r}: choose a whole number, {least} or more")


def require_prob(prob: float) -> None:
    """Raise InputError unless an interval can have this probability."""
    if not 0 < prob < 1:
        raise InputError(f"prob={prob!r}: choose a probability between 0 and 1")


def seed_of(seed: object) -> int:
    """The seed that was asked for, or a random one for None."""
    if seed is None:
        return randbits(63)
    if not isinstance(seed, Integral) or isinstance(seed, bool) or not 0 <= int(seed) < 2**64:
        raise InputError(f"seed={seed!r}: choose a whole number from 0 to 2**64 - 1")
    return int(seed)


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Text naming the nearest valid choice, to be appended to a sentence.

    Parameters
    ----------
    name : str
        What was asked for.
    choices : iterable of str
        What there is.

    Returns
    -------
    str
        Such as ``" Did you mean 'glucose'?"``; empty when nothing is near.
    """
    by_lower_case = {choice.lower(): choice for choice in choices}
    near = get_close_matches(name.lower(), by_lower_case, n=1)
    return f" Did you mean {by_lower_case[near[0]]!r}?" if near else ""


def unknown_choice(what: str, name: object, choices: Iterable[str]) -> InputError:
    """Build the error for a name that is not among the valid ones.

    Parameters
    ----------
    what : str
        The kind of thing that was named, such as ``"column"``.
    name : object
        What was asked for.
    choices : iterable of str
        The valid names, listed in the message.

    Returns
    -------
    InputError
        To be raised by the caller.
    """
    choices = list(choices)
    listed = ", ".join(choices[:LISTED_CHOICES]) + (", …" if len(choices) > LISTED_CHOICES else "")
    return InputError(f"no {what} {name!r}.{did_you_mean(str(name), choices)} Choose from: {listed or '(none)'}")
