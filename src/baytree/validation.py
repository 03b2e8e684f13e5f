"""Checks of what a person gave, each with an error that says the remedy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from difflib import get_close_matches
from math import inf
from numbers import Integral, Real
from secrets import randbits
from typing import Any, TypeVar

from .errors import LISTED_CHOICES, InputError

# The core counts in 32 bits.
MOST = 2**31 - 1

Record = TypeVar("Record")


def is_number(value: object) -> bool:
    """Whether a value is a real number; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Whether a value is a whole number, of Python or NumPy; True and False are none, nor is 3.0."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def require_whole(name: str, value: Any, least: int) -> None:
    """Raise InputError unless a value is a whole number of at least so much."""
    if not is_whole(value) or not least <= value <= MOST:
        raise InputError(f"{name}={value!r}: choose a whole number, {least} or more")


def require_positive(name: str, value: Any) -> None:
    """Raise InputError unless a value is a positive number, and finite."""
    if not is_number(value) or not 0 < value < inf:
        raise InputError(f"{name}={value!r}: choose a positive number")


def require_not_negative(name: str, value: Any) -> None:
    """Raise InputError unless a value is a number of 0 or more, and finite."""
    if not is_number(value) or not 0 <= value < inf:
        raise InputError(f"{name}={value!r}: choose 0 or more")


def require_power(power: Any) -> None:
    """Raise InputError for what cannot be the power of a likelihood."""
    if not is_number(power) or not 0 <= power < inf:
        raise InputError(f"power={power!r}: choose 0 or more; 1 is the posterior, 0 the prior")


def require_prob(prob: float) -> None:
    """Raise InputError unless an interval can have this probability."""
    if not 0 < prob < 1:
        raise InputError(f"prob={prob!r}: choose a probability between 0 and 1")


def seed_of(seed: object) -> int:
    """The seed that was asked for, or a random one for None."""
    if seed is None:
        return randbits(63)
    if not isinstance(seed, Integral) or not is_whole(seed) or not 0 <= int(seed) < 2**64:
        raise InputError(f"seed={seed!r}: choose a whole number from 0 to 2**64 - 1")
    return int(seed)


def position_of(who: str, column: Any, names: Sequence[str]) -> int:
    """Where a column is that was given by name or position, for the option that is named in an error."""
    if is_whole(column):
        if not 0 <= column < len(names):
            raise InputError(f"{who}: no column {column}; positions go from 0 to {len(names) - 1}")
        return int(column)
    if column not in names:
        raise unknown_choice("column", column, names)
    return names.index(column)


def replaced(record: Record, **values: Any) -> Record:
    """A copy of a frozen dataclass with other values, which the caller vouches for: nothing is checked again."""
    copy = object.__new__(type(record))
    copy.__dict__.update({field.name: getattr(record, field.name) for field in fields(record)} | values)  # type: ignore[arg-type]
    return copy


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


def number_or_word(text: str) -> float | str:
    """The number; what is none is a word, and refused by who gets it where it is not known there."""
    try:
        return float(text)
    except ValueError:
        return text
