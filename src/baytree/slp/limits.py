"""What one proof may cost, and how many are looked at."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _core
from ..errors import InputError
from ..validation import is_number

# So many are enumerated, and a draw whose proof fails is tried so often.
MOST_PROOFS = 200_000
MOST_ATTEMPTS = 100_000


@dataclass(frozen=True)
class Limits:
    """What one proof may cost; a program that needs more ends with an error that names its goals.

    Attributes
    ----------
    steps : int
        Calls and visits to parts of terms.
    depth : int
        Goals that wait for one another.
    memory : int
        Bytes, of terms, choices, points to return to, and whatever else a proof makes.
    """

    steps: int = 10_000_000
    depth: int = 1_000_000
    memory: int = 256 * 2**20

    def __post_init__(self) -> None:
        for name in ("steps", "depth", "memory"):
            value = getattr(self, name)
            if not is_number(value) or value % 1 or not 1 <= value < 2**31 * (1 if name == "depth" else 2**20):
                raise InputError(f"{name}={value!r}: choose a positive whole number")

    def native(self) -> _core.Limits:
        """The limits as the core takes them."""
        return _core.Limits(int(self.steps), int(self.depth), int(self.memory))
