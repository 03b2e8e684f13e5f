"""Values of options, and how they are written."""

from __future__ import annotations

from collections.abc import Mapping


def number_or_word(text: str) -> float | str:
    """The number; what is none is a word, and refused by who gets it where it is not known there."""
    try:
        return float(text)
    except ValueError:
        return text


def weights_text(weights: Mapping[str, float]) -> str:
    """Names with their weights, as ``change=1,uc=2``."""
    return ",".join(sorted(f"{name}={weight:g}" for name, weight in weights.items()))
