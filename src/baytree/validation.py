"""Checks of what a person gave, each with an error that says the remedy."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from math import inf
from numbers import Integral, Real
from secrets import randbits
from sys import float_info
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import LISTED_CHOICES, InputError

# The core counts in 32 bits.
MOST = 2**31 - 1
# More threads than any machine has processors; so many that do not fit would bring the machine down.
MOST_THREADS = 4096
# How many times more or less than the response a guess at its noise may be.
FARTHEST = 1e24

Record = TypeVar("Record")


def is_number(value: object) -> bool:
    """Whether a value is a real number; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Whether a value is a whole number, of Python or NumPy; True and False are none, nor is 3.0."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def require_whole(name: str, value: Any, least: int, most: int = MOST) -> None:
    """Raise InputError unless a value is a whole number of at least so much, and not too much."""
    if not is_whole(value) or value < least:
        raise InputError(f"{name}={value!r}: choose a whole number, {least} or more")
    if value > most:
        raise InputError(f"{name}={value!r}: choose a whole number from {least} to {most:,}")


def require_place(name: str, value: Any, size: int) -> None:
    """Raise InputError unless a value says which of so many, counted from 0."""
    require_whole(name, value, 0)
    if value >= size:
        raise InputError(f"{name}={value}: there are {size:,}, counted from 0")


def require_positive(name: str, value: Any, most: float = inf) -> None:
    """Raise InputError unless a value is a positive number, and finite; neither it nor its inverse over the most."""
    if not is_number(value) or not 0 < value < inf:
        raise InputError(f"{name}={value!r}: choose a positive number")
    if not 1 / most <= value <= most:
        raise InputError(f"{name}={value!r}: choose a number from {1 / most:g} to {most:g}")


def require_not_negative(name: str, value: Any) -> None:
    """Raise InputError unless a value is a number of 0 or more, and finite."""
    if not is_number(value) or not 0 <= value < inf:
        raise InputError(f"{name}={value!r}: choose 0 or more")


def require_guess(name: str, value: float, usual: float) -> None:
    """Raise InputError where a guess at the noise is so far from what the response says that digits are lost."""
    if not 1 / FARTHEST < value / usual < FARTHEST:
        raise InputError(
            f"{name}={value!r}: the response itself varies by about {usual:.3g}; choose a guess at its noise"
        )


def require_power(power: Any) -> None:
    """Raise InputError for what cannot be the power of a likelihood."""
    if not is_number(power) or not 0 <= power < inf:
        raise InputError(f"power={power!r}: choose 0 or more; 1 is the posterior, 0 the prior")


def require_prob(prob: float) -> None:
    """Raise InputError unless an interval can have this probability."""
    if not is_number(prob) or not 0 < prob < 1:
        raise InputError(f"prob={prob!r}: choose a probability between 0 and 1")


def seed_of(seed: object) -> int:
    """The seed that was asked for, or a random one for None."""
    if seed is None:
        return randbits(63)
    if not isinstance(seed, Integral) or not is_whole(seed) or not 0 <= int(seed) < 2**64:
        raise InputError(f"seed={seed!r}: choose a whole number from 0 to 2**64 - 1")
    return int(seed)


def texts(name: str, values: Any) -> list[str]:
    """The texts of a list of them, such as names of columns."""
    found = None if isinstance(values, str) or not isinstance(values, Iterable) else list(values)
    if found is None or not all(isinstance(text, str) for text in found):
        raise InputError(f"{name}={values!r}: give a list of text, such as ['age', 'sex']")
    return found


def threads_of(asked: int | None) -> int:
    """The threads that were asked for, or for None one for each processor that this process may use."""
    if asked is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    require_whole("threads", asked, 1, MOST_THREADS)
    return int(asked)


def position_of(who: str, column: Any, names: Sequence[str]) -> int:
    """Where a column is that was given by name or position, for the option that is named in an error."""
    if is_whole(column):
        if not 0 <= column < len(names):
            raise InputError(f"{who}: no column {column}; positions go from 0 to {len(names) - 1}")
        return int(column)
    if column not in names:
        raise unknown_choice("column", column, names)
    return names.index(column)


def require_field_types(record: Any) -> None:
    """Raise InputError where a field of a dataclass, or of one within it, is of another type than it is annotated with.

    Whole numbers are within 64 bits, others within what a double holds, and none is NaN.
    """
    types = _types_of(type(record))  # type: ignore[arg-type]  # classes are hashable
    for field in fields(record):
        value = getattr(record, field.name)
        if not _is_of_type(value, types[field.name]):
            raise InputError(
                f"{field.name}={value!r:.60} of a {type(record).__name__} is of another type than it must be"
            )
        for inner in value if isinstance(value, tuple | list) else (value,):
            if is_dataclass(inner):
                require_field_types(inner)


_types_of = cache(get_type_hints)


def _is_of_type(value: Any, expected: Any) -> bool:
    kind, inner = get_origin(expected), get_args(expected)
    if kind in (Union, UnionType):
        return any(_is_of_type(value, one) for one in inner)
    if kind is Literal:
        return isinstance(value, str) and value in inner
    if kind is tuple and isinstance(value, tuple):
        of_each = inner[:1] * len(value) if inner[1:] == (...,) else inner
        return len(value) == len(of_each) and all(map(_is_of_type, value, of_each))
    if kind is list and isinstance(value, list):
        return all(_is_of_type(one, inner[0]) for one in value)
    if kind is Mapping and isinstance(value, Mapping):
        return all(_is_of_type(key, inner[0]) and _is_of_type(value[key], inner[1]) for key in value)
    if expected is float:
        # NumPy makes doubles of whole numbers up to 64 bits only.
        most = 2**63 if is_whole(value) else float_info.max
        return is_number(value) and (-most <= value <= most or value in (inf, -inf))
    if expected is int:
        return is_whole(value) and -(2**63) <= value < 2**64
    return expected is Any or isinstance(value, kind or expected)


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
    written = name.lower()
    near = min(by_lower_case, key=lambda one: (not _is_begun(written, one), _slips(written, one)), default="")
    return f" Did you mean {by_lower_case[near]!r}?" if near and is_near(written, near) else ""


def is_near(written: str, meant: str) -> bool:
    """Whether a word is another but for its end, or slips of the pen: one, of long words a third of the letters."""
    if _is_begun(written, meant):
        return True
    shorter, longer = sorted((len(written), len(meant)))
    return _slips(written, meant) <= (0 if shorter < 2 else max(1, longer // 3))


def _is_begun(written: str, meant: str) -> bool:
    return len(written) >= 4 and meant.startswith(written)


def _slips(written: str, meant: str) -> int:
    """How many letters were left out, added, exchanged or turned around, at the least (Damerau and Levenshtein).

    Two digits that differ count twice: x2 is not meant where there is no x1.
    """
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for i, one in enumerate(written):
        above, before, row = before, row, [i + 1]
        for j, other in enumerate(meant):
            turned = i and j and one == meant[j - 1] and written[i - 1] == other
            exchanged = (1 + (one.isdigit() and other.isdigit())) * (one != other)
            steps = [before[j + 1] + 1, row[j] + 1, before[j] + exchanged]
            row.append(min([*steps, above[j - 1] + 1] if turned else steps))
    return row[-1]


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
