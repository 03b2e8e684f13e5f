"""What counts as large: shares that trees give to columns which have nothing to do with the response."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..validation import unknown_choice

LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Null:
    """The use of columns, and of pairs of them, by fits to data in which there is nothing to be found.

    Attributes
    ----------
    columns : tuple of str
        The names of the columns.
    use : numpy.ndarray of shape (repeats, columns), or None
        The mean of `VariableUse`; None where the null says nothing of columns.
    interactions : numpy.ndarray of shape (repeats, pairs), or None
        The mean of `Interactions`; None where it says nothing of pairs.
    """

    columns: tuple[str, ...]
    use: np.ndarray | None
    interactions: np.ndarray | None

    def __repr__(self) -> str:
        known = [name for name, drawn in (("columns", self.use), ("pairs", self.interactions)) if drawn is not None]
        return f"<Null: of {' and '.join(known)}, {len(self.columns)} columns>"


def local(drawn: np.ndarray, level: float) -> np.ndarray:
    """What each item exceeds by chance with probability 1 − level, looked at alone."""
    return _upper(drawn, level)


def global_max(drawn: np.ndarray, level: float) -> np.ndarray:
    """What the largest of all items exceeds by chance with probability 1 − level."""
    return np.full(drawn.shape[1], _upper(drawn.max(axis=1, keepdims=True, initial=0), level)[0])


def global_se(drawn: np.ndarray, level: float) -> np.ndarray:
    """Mean plus C standard deviations, with one C for all items: the smallest that covers each with that level."""
    mean, sd = drawn.mean(axis=0), drawn.std(axis=0, ddof=1)
    needed = np.divide(_upper(drawn, level) - mean, sd, out=np.zeros_like(mean), where=sd > 0)
    return mean + needed.max(initial=0) * sd


THRESHOLDS = {"local": local, "global_max": global_max, "global_se": global_se}


def thresholds(drawn: np.ndarray, kind: str, level: float) -> np.ndarray:
    """What counts as large for each item.

    Parameters
    ----------
    drawn : numpy.ndarray of shape (repeats, items)
        Shares where there is nothing to be found.
    kind : {"local", "global_max", "global_se"}
        The three thresholds of Bleich et al. [1]_.
    level : float
        With what probability a share stays below.

    References
    ----------
    .. [1] Bleich, Kapelner, George and Jensen (2014), Variable selection for BART: an application to gene regulation,
       Annals of Applied Statistics 8, 1750–1781.
    """
    if kind not in THRESHOLDS:
        raise unknown_choice("threshold", kind, THRESHOLDS)
    if not 0 < level < 1:
        raise InputError(f"level={level!r}: choose a probability between 0 and 1")
    if _rank(level, len(drawn)) > len(drawn):
        raise InputError(
            f"level={level:g} cannot be told from {len(drawn)} permutations; take {math.ceil(level / (1 - level))} or "
            "more, or a lower level"
        )
    return THRESHOLDS[kind](drawn, level)


def _upper(drawn: np.ndarray, level: float) -> np.ndarray:
    """The order statistic that one more draw of the same distribution exceeds with probability 1 − level at most."""
    rank = _rank(level, len(drawn)) - 1
    return np.partition(drawn, rank, axis=0)[rank]


def _rank(level: float, drawn: int) -> int:
    # 19 permutations are enough for 0.95, whatever the rounding of 0.95 · 20.
    return math.ceil(level * (drawn + 1) - 1e-9)
