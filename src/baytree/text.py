"""Small pieces of English."""

from __future__ import annotations

from collections.abc import Sequence

# For `str.translate`: control characters but tabs and the end of a line, and what turns the direction of a text around.
# A terminal obeys them, so in what it shows each is a sign of its own.
_OBEYED = [
    range(0x09),
    range(0x0B, 0x20),
    range(0x7F, 0xA0),
    range(0x200E, 0x2010),
    range(0x2028, 0x202F),
    range(0x2066, 0x206A),
]
HARMLESS = dict.fromkeys((code for codes in _OBEYED for code in codes), "\N{REPLACEMENT CHARACTER}")


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


def duration(seconds: float) -> str:
    """A time in words: ``1 second``, ``20 seconds``, ``5 minutes``."""
    minutes, hours = round(seconds / 60), round(seconds / 3600)
    if hours > 1:
        return counted(hours, "hour") if hours < 48 else counted(round(hours / 24), "day")
    return counted(minutes, "minute") if minutes > 1 else counted(max(1, round(seconds)), "second")
