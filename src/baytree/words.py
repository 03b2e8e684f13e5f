"""Small pieces of English."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number of things in words: ``1 row``, ``2,000 rows``, ``3 leaves``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
