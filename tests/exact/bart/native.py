"""Random sums of trees as the core takes them."""

from collections.abc import Sequence

import numpy as np

from baytree import _core
from baytree.trees.forest import Forest, forest_from_lists
from reference.bart.random_sums import Column, RandomSums
from reference.trees.enumeration import Rule


def design_of(columns: Sequence[Column]) -> _core.Design:
    """A table of these columns that has no row."""
    design = _core.Design(0)
    for column in columns:
        design.add_column(None, *column)
    return design


def forest_of(sums: RandomSums) -> Forest:
    """The stored trees."""
    rules = [rule or Rule(-1, 0, 0, False) for tree in sums.stored for rule in tree]
    sizes = [len(tree) for tree in sums.stored]
    lists = {name: [int(getattr(rule, name)) for rule in rules] for name in Rule._fields}
    rows = [number for tree in sums.rows for number in tree]
    return forest_from_lists({**lists, "rows": rows, "begin": [0, *np.cumsum(sizes[:-1]).tolist()]})


def draws_of(sums: RandomSums) -> _core.SumDraws:
    """The draws."""
    return _core.SumDraws(sums.tree_index, sums.values, sums.bandwidths, sums.outputs)


def predictor_of(sums: RandomSums, widest: _core.Simd = _core.Simd.avx512) -> _core.SumPredictor:
    """A predictor of the stored trees."""
    return _core.SumPredictor(design_of(sums.columns), forest_of(sums).arrays(), widest)
