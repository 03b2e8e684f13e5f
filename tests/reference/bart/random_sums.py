"""Random sums of trees, and what they predict by walking every row down every tree."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from reference.trees.enumeration import Rule, Tree


class Column(NamedTuple):
    """What prediction needs to know about a column."""

    categorical: bool
    observed: int
    has_missing: bool


# Of every kind: bytes with and without missing values, with bins that just fit and just do not, two bytes, levels.
COLUMNS = (
    Column(False, 5, False),
    Column(False, 255, True),
    Column(False, 256, True),
    Column(False, 65536, False),
    Column(False, 2, True),
    Column(True, 4, False),
    Column(True, 7, True),
    Column(True, 63, True),
    Column(True, 63, False),
)


def random_codes(columns: Sequence[Column], rows: int, generator: np.random.Generator) -> NDArray[np.uint32]:
    """Codes of all values, of missing ones too, also where training saw none."""
    bins = [generator.integers(0, column.observed + 1, rows) for column in columns]
    missing = generator.random((rows, len(columns))) < 0.2
    return np.where(missing, [column.observed for column in columns], np.transpose(bins)).astype(np.uint32)


def random_rule(columns: Sequence[Column], generator: np.random.Generator) -> Rule:
    """A rule that the core takes, of any kind."""
    feature = int(generator.integers(len(columns)))
    column = columns[feature]
    if column.categorical:
        levels = column.observed + column.has_missing
        inside = [True, *(generator.random(levels - 1) < 0.5)]
        inside[int(generator.integers(1, levels))] = False
        return Rule(feature, 0, sum(1 << level for level in range(levels) if inside[level]), False)
    cut = int(generator.integers(column.observed - (not column.has_missing)))
    asks_missing = cut == column.observed - 1
    return Rule(feature, cut, 0, column.has_missing and not asks_missing and bool(generator.random() < 0.5))


def random_tree(columns: Sequence[Column], leaves: int, generator: np.random.Generator) -> Tree:
    """A tree of so many leaves."""
    if leaves == 1:
        return (None,)
    left = int(generator.integers(1, leaves))
    rule = random_rule(columns, generator)
    children = [random_tree(columns, size, generator) for size in (left, leaves - left)]
    return (rule, *children[0], *children[1])


@dataclass(frozen=True)
class RandomSums:
    """Draws of sums of random trees, some of which stay from draw to draw.

    `stored` holds each tree once, `rows` how many training rows each of its nodes had; `tree_index` says which trees a
    draw is made of.
    """

    columns: Sequence[Column]
    stored: Sequence[Tree]
    rows: Sequence[Sequence[int]]
    tree_index: NDArray[np.int32]
    values: NDArray[np.float32]
    bandwidths: NDArray[np.float32] | None = None
    outputs: int = 1

    def trees(self) -> Iterator[tuple[int, int, int, slice, slice]]:
        """Of every tree of every draw: draw, output, stored tree, and where its values and bandwidths lie."""
        leaf, split = 0, 0
        draws, trees = self.tree_index.shape
        for draw in range(draws):
            for place in range(trees):
                tree = int(self.tree_index[draw, place])
                leaves = self.stored[tree].count(None)
                values, bandwidths = slice(leaf, leaf + leaves), slice(split, split + leaves - 1)
                yield draw, place * self.outputs // trees, tree, values, bandwidths
                leaf, split = values.stop, bandwidths.stop


def random_sums(
    leaves: Sequence[int],
    draws: int,
    generator: np.random.Generator,
    columns: Sequence[Column] = COLUMNS,
    outputs: int = 1,
    soft: bool = False,
) -> RandomSums:
    """Draws of trees of these sizes; each tree but the first draw's stays with probability two thirds."""
    trees: list[Tree] = []
    index = np.empty((draws, len(leaves)), dtype=np.int32)
    for draw in range(draws):
        for place, size in enumerate(leaves):
            if draw > 0 and generator.random() < 2 / 3:
                index[draw, place] = index[draw - 1, place]
                continue
            index[draw, place] = len(trees)
            trees.append(random_tree(columns, size, generator))
    # On a grid, as the sampler's are, so that their sums are exact in single precision.
    values = generator.integers(-1000, 1000, draws * sum(leaves)).astype(np.float32) / np.float32(1024)
    bandwidths = generator.exponential(0.1, draws * (sum(leaves) - len(leaves))).astype(np.float32) + 0.001
    rows = [generator.integers(1, 100, len(tree)).tolist() for tree in trees]
    return RandomSums(columns, trees, rows, index, values, bandwidths if soft else None, outputs)


def goes_right(column: Column, rule: Rule, code: int, left_rows: int, right_rows: int) -> bool:
    """Which way one code goes at a split, as docs/design/trees.md says."""
    if code >= column.observed:
        if not column.has_missing:
            return left_rows < right_rows
        return not (rule.subset >> column.observed & 1 if column.categorical else rule.missing_left)
    return not rule.subset >> code & 1 if column.categorical else code > rule.cut


def ends(rules: Sequence[Rule | None]) -> list[int]:
    """One past the last node below each node."""
    end = list(range(1, len(rules) + 1))
    for node in range(len(rules) - 1, -1, -1):
        if rules[node] is not None:
            end[node] = end[end[node + 1]]
    return end


def leaves_of(sums: RandomSums, tree: int, bins: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The leaf of each row, found by walking."""
    rules, rows = sums.stored[tree], sums.rows[tree]
    end = ends(rules)
    leaf = np.empty(len(bins), dtype=np.int64)
    for i, row in enumerate(bins.tolist()):
        node = 0
        while (rule := rules[node]) is not None:
            left, right = node + 1, end[node + 1]
            column = sums.columns[rule.feature]
            node = right if goes_right(column, rule, row[rule.feature], rows[left], rows[right]) else left
        leaf[i] = sum(rule is None for rule in rules[:node])
    return leaf


def sums_by_walking(sums: RandomSums, bins: NDArray[np.uint32]) -> NDArray[np.float32]:
    """The sums of every draw and output, shape (draws, outputs, rows)."""
    leaf = [leaves_of(sums, tree, bins) for tree in range(len(sums.stored))]
    out = np.zeros((len(sums.tree_index), sums.outputs, len(bins)), dtype=np.float32)
    for draw, output, tree, values, _ in sums.trees():
        out[draw, output] += sums.values[values][leaf[tree]]
    return out


def right_shares(
    sums: RandomSums, tree: int, bins: Sequence[int], bandwidths: NDArray[np.float32] | None
) -> list[float]:
    """Which share of a row goes right at each node of a tree: by the rule, or by its gate given bandwidths."""
    rules, rows = sums.stored[tree], sums.rows[tree]
    end = ends(rules)
    shares = []
    for node, rule in enumerate(rules):
        if rule is None:
            shares.append(0.0)
            continue
        column, code = sums.columns[rule.feature], bins[rule.feature]
        share = float(goes_right(column, rule, code, rows[node + 1], rows[end[node + 1]]))
        asks_missing = rule.cut == column.observed - 1
        if bandwidths is not None and code < column.observed and not column.categorical and not asks_missing:
            bandwidth = float(bandwidths[sum(other is not None for other in rules[:node])])
            distance = (code + 0.5) / column.observed - (rule.cut + 1) / column.observed
            share = float(expit(distance / bandwidth))
        shares.append(share)
    return shares


def known_value(
    sums: RandomSums, tree: int, values: NDArray[np.float32], shares: Sequence[float], known: Container[int]
) -> float:
    """What one tree expects where only some columns are known; `shares` says which share of the row goes right."""
    rules, rows = sums.stored[tree], sums.rows[tree]
    end = ends(rules)

    def value(node: int) -> float:
        rule = rules[node]
        if rule is None:
            return float(values[sum(other is None for other in rules[:node])])
        left, right = node + 1, end[node + 1]
        share = shares[node] if rule.feature in known else rows[right] / (rows[left] + rows[right])
        return (1 - share) * value(left) + share * value(right)

    return value(0)


def soft_sums_by_walking(sums: RandomSums, bins: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The sums of every draw and output where rules are soft, shape (draws, outputs, rows)."""
    assert sums.bandwidths is not None
    out = np.zeros((len(sums.tree_index), sums.outputs, len(bins)))
    every = range(len(sums.columns))
    for draw, output, tree, values, bandwidths in sums.trees():
        for i, row in enumerate(bins.tolist()):
            shares = right_shares(sums, tree, row, sums.bandwidths[bandwidths])
            out[draw, output, i] += known_value(sums, tree, sums.values[values], shares, every)
    return out


def shapley_by_subsets(sums: RandomSums, bins: NDArray[np.uint32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shapley values from their definition, over all subsets of all columns, and what is expected of an unknown row.

    Shapes (draws, outputs, rows, columns) and (draws, outputs).
    """
    columns = range(len(sums.columns))
    subsets = [frozenset(subset) for size in range(len(columns) + 1) for subset in combinations(columns, size)]
    out = np.zeros((len(sums.tree_index), sums.outputs, len(bins), len(columns)))
    expected = np.zeros(out.shape[:2])
    for draw, output, tree, at, widths in sums.trees():
        values = sums.values[at]
        bandwidths = None if sums.bandwidths is None else sums.bandwidths[widths]
        expected[draw, output] += known_value(sums, tree, values, [], ())
        for i, row in enumerate(bins.tolist()):
            shares = right_shares(sums, tree, row, bandwidths)
            worth = {known: known_value(sums, tree, values, shares, known) for known in subsets}
            for column in columns:
                for known in subsets:
                    if column not in known:
                        weight = 1 / (len(columns) * comb(len(columns) - 1, len(known)))
                        out[draw, output, i, column] += weight * (worth[known | {column}] - worth[known])
    return out, expected
