"""Which predictors of a linear model may interact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import comb
from typing import Any

from ..errors import InputError
from ..validation import position_of, unknown_choice

# The cross products of this many columns take 3.2 GB.
MOST_COLUMNS = 20_000


def pairs_of(interactions: Any, names: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """The pairs of predictors that were asked for, by position.

    Parameters
    ----------
    interactions : None, "all", or iterable of pairs
        Columns by name or position.
    names : tuple of str
        The names of the columns.

    Returns
    -------
    tuple of (int, int)
        The smaller position first.
    """
    if interactions is None:
        return ()
    if isinstance(interactions, str) or not isinstance(interactions, Iterable):
        if interactions != "all":
            raise unknown_choice("choice of interactions", interactions, ("all", "pairs of columns"))
        require_width(comb(len(names), 2))
        pairs = list(combinations(range(len(names)), 2))
    else:
        pairs = [_pair(pair, names) for pair in interactions]
    called = Counter([*names, *(interaction_name(names, pair) for pair in pairs)])
    name, times = called.most_common(1)[0]
    if times > 1:
        raise InputError(f"two columns or interactions are called {name!r}; name each pair once, or rename a column")
    return tuple(pairs)


def _pair(pair: Any, names: tuple[str, ...]) -> tuple[int, int]:
    if isinstance(pair, str) or not isinstance(pair, Iterable) or len(both := tuple(pair)) != 2:
        raise InputError(f"interactions: {pair!r} is no pair; give two columns, such as ({names[0]!r}, {names[-1]!r})")
    first, second = sorted(position_of("interactions", one, names) for one in both)
    if first == second:
        raise InputError(
            f"interactions: {names[first]!r} cannot interact with itself; for its square, add a column of squares"
        )
    return first, second


def interaction_name(names: Sequence[str], pair: tuple[int, int]) -> str:
    """What the interaction of two predictors is called."""
    return f"{names[pair[0]]}:{names[pair[1]]}"


def require_width(width: int) -> None:
    """Raise InputError if the matrix of a linear design would be too wide."""
    if width > MOST_COLUMNS:
        raise InputError(
            f"the matrix would have {width:,} columns, and {MOST_COLUMNS:,} are the most; name fewer interactions, or "
            "drop columns"
        )
