"""Small pieces of English."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number of things in words: ``1 row``, ``2,000 rows``, ``3 leaves``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(words: Sequence[str]) -> str:
    """Words in a sentence: ``a``, ``a and b``, ``a, b and c``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def ordinal(number: int) -> str:
    """A place in a row: ``1st``, ``2nd``, ``11th``."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def percent(share: float) -> str:
    """A share as a person writes it: what is possible is never rounded to 0%, nor what is uncertain to 100%."""
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 0.0005:
        return "<0.1%"
    if share >= 0.9995:
        return ">99.9%"
    places = 0 if 0.0995 <= share < 0.995 else 1
    return f"{share:.{places}%}"
