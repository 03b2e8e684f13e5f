"""How values of options are written."""

from __future__ import annotations

from collections.abc import Mapping


def weights_text(weights: Mapping[str, float]) -> str:
    """Names with their weights, as ``change=1,uc=2``."""
    return ",".join(sorted(f"{name}={weight:g}" for name, weight in weights.items()))
