"""The sides of a box: from one number to another, as people write them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..errors import InputError
from ..validation import is_number

REMEDY = "write '<=127', '>=128', '<5', '>5', '==3' or '128..200', or give (low, high) with None for no bound"

_SIGN = re.compile(r"\s*(<=|>=|==|<|>)(.*)", re.DOTALL)


class Side(NamedTuple):
    """The values of a column that lie in a box, both ends inside; infinite where there is no bound."""

    low: float
    high: float

    def __str__(self) -> str:
        """The side as `side_of` reads it, to the same bits."""
        if self.low == self.high:
            return f"=={number_text(self.low)}"
        if math.isinf(self.low):
            return _nearest("<=", self.high, "<", math.nextafter(self.high, math.inf))
        if math.isinf(self.high):
            return _nearest(">=", self.low, ">", math.nextafter(self.low, -math.inf))
        return f"{number_text(self.low)}..{number_text(self.high)}"

    def of(self, name: str) -> str:
        """The side as a condition on a named column."""
        if self.low == self.high or math.isinf(self.low) or math.isinf(self.high):
            sign, number = _SIGN.fullmatch(str(self)).groups()  # type: ignore[union-attr]
            return f"{name} {sign} {number}"
        return f"{number_text(self.low)} <= {name} <= {number_text(self.high)}"


def side_of(name: str, given: Any) -> Side:
    """Read a side.

    A strict sign leaves its number out: ``"<5"`` ends at the next number below 5.

    Parameters
    ----------
    name : str
        What the column is called, for messages.
    given : str or (float or None, float or None)
        As `REMEDY` says.

    Returns
    -------
    Side
    """
    if isinstance(given, str):
        low, high = _from_text(name, given)
    elif isinstance(given, (tuple, list)) and len(given) == 2:
        low = -math.inf if given[0] is None else _number(name, given, given[0])
        high = math.inf if given[1] is None else _number(name, given, given[1])
    else:
        raise _unreadable(name, given)
    if math.isinf(low) and math.isinf(high):
        raise InputError(f"{name}={given!r} has no bound; leave {name} out, or {REMEDY}")
    if low > high:
        raise InputError(f"{name}={given!r}: the box is empty, as no number lies in it; exchange the two ends")
    return Side(low, high)


def join_sides(name: str, given: Iterable[Any]) -> Side:
    """The values that lie in every one of several sides."""
    sides = [side_of(name, side) for side in given]
    low, high = max(side.low for side in sides), min(side.high for side in sides)
    if low > high:
        raise InputError(f"{name}: the box is empty, as no number is {' and '.join(map(str, sides))}; correct one")
    return Side(low, high)


def number_text(number: float) -> str:
    """The shortest decimal number that is this one to the bit."""
    return repr(float(number)).removesuffix(".0")


def _from_text(name: str, text: str) -> tuple[float, float]:
    ends = text.split("..")
    if len(ends) == 2:
        return _number(name, text, ends[0]), _number(name, text, ends[1])
    match = _SIGN.fullmatch(text)
    if match is None:
        raise _unreadable(name, text)
    sign, number = match[1], _number(name, text, match[2])
    low = {"==": number, ">=": number, ">": math.nextafter(number, math.inf)}.get(sign, -math.inf)
    high = {"==": number, "<=": number, "<": math.nextafter(number, -math.inf)}.get(sign, math.inf)
    return low, high


def _number(name: str, given: Any, end: Any) -> float:
    try:
        number = float(end) if isinstance(end, str) or is_number(end) else math.nan
    except ValueError:
        number = math.nan
    if math.isnan(number) or (isinstance(end, str) and math.isinf(number)):
        raise _unreadable(name, given)
    return number


def _unreadable(name: str, given: Any) -> InputError:
    return InputError(f"{name}={given!r} is no side of a box; {REMEDY}")


def _nearest(sign: str, end: float, strict: str, beyond: float) -> str:
    """The end with its sign, strictly where the number beyond it is the shorter one to write."""
    written, outside = number_text(end), number_text(beyond)
    return f"{strict}{outside}" if len(outside) < len(written) else f"{sign}{written}"
