"""Scikit-learn's words for knowledge: ``monotonic_cst`` and ``interaction_cst``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ..errors import InputError
from ..validation import is_number, unknown_choice
from .base import Constraint
from .groups import Interact
from .joined import Knowledge
from .monotone import Monotone

SHORTHANDS = ("pairwise", "no_interactions")


def from_scikit_learn(monotonic_cst: Any, interaction_cst: Any, names: Sequence[str]) -> Knowledge:
    """The constraints that scikit-learn's parameters stand for.

    Parameters
    ----------
    monotonic_cst : array-like of int, mapping from str to int, or None
        −1, 0 or 1 for each column by position, or for some by name.
    interaction_cst : {"pairwise", "no_interactions"}, sequence of sequences of int or str, or None
        Which columns may meet on a path.
    names : sequence of str
        The columns.

    Returns
    -------
    Knowledge
    """
    constraints = (_monotone(monotonic_cst, names), _interact(interaction_cst, names))
    return Knowledge(tuple(constraint for constraint in constraints if constraint is not None))


def _monotone(given: Any, names: Sequence[str]) -> Constraint | None:
    if given is None:
        return None
    signs: Mapping[Any, Any]
    if isinstance(given, Mapping):
        signs = given
    else:
        values = np.asarray(given)
        if values.shape != (len(names),):
            raise InputError(
                f"monotonic_cst has shape {values.shape}; give one of -1, 0 and 1 for each of {len(names)} columns"
            )
        signs = dict(enumerate(values.tolist()))
    for column, sign in signs.items():
        if not is_number(sign) or sign not in (-1, 0, 1):
            raise InputError(
                f"monotonic_cst: {sign!r} for column {column!r}; choose -1, falling, 0, free, or 1, growing"
            )
    chosen = {column: sign for column, sign in signs.items() if sign}
    return Monotone(chosen) if chosen else None


def _interact(given: Any, names: Sequence[str]) -> Constraint | None:
    if given is None:
        return None
    groups: Any = given
    if isinstance(given, str):
        if given not in SHORTHANDS:
            raise unknown_choice("interaction_cst", given, SHORTHANDS)
        groups = combinations(range(len(names)), 2) if given == "pairwise" else ([at] for at in range(len(names)))
    elif isinstance(given, Mapping) or not isinstance(given, Iterable):
        raise InputError(
            f"interaction_cst={given!r}: give a list of groups of columns, 'pairwise' or 'no_interactions'"
        )
    listed = tuple(groups)
    return Interact(listed) if listed else None
