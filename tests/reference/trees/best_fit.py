"""Every tree of at most so many leaves, listed, and what it leaves of a surface by least squares."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reference.trees.enumeration import Rows, Table


def squares(values: NDArray[np.float64], weight: NDArray[np.float64], rows: Rows) -> float:
    """Σ w (value − mean)² of some rows."""
    some = sorted(rows)
    mean = np.average(values[some], axis=0, weights=weight[some])
    return float((weight[some, None] * (values[some] - mean) ** 2).sum())


def every_tree(
    table: Table, values: NDArray[np.float64], weight: NDArray[np.float64], rows: Rows, leaves: int
) -> Iterator[tuple[int, float]]:
    """Of every tree of at most so many leaves for some rows, how many it has and what it leaves."""
    yield 1, squares(values, weight, rows)
    if leaves < 2:
        return
    for rule in table.left_rows:
        left, right = table.divide(rows, rule)
        if not left or not right:
            continue
        for in_left, of_left in every_tree(table, values, weight, left, leaves - 1):
            for in_right, of_right in every_tree(table, values, weight, right, leaves - in_left):
                yield in_left + in_right, of_left + of_right


def least(table: Table, values: NDArray[np.float64], weight: NDArray[np.float64], leaves: int) -> NDArray[np.float64]:
    """What the best tree of at most 1, 2, … leaves does not explain."""
    best = np.full(leaves, np.inf)
    for number, left in every_tree(table, values, weight, table.all_rows, leaves):
        best[number - 1] = min(best[number - 1], left)
    return np.minimum.accumulate(best)
