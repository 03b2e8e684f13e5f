"""Sums over all trees against the enumeration: every number that they give, and their draws."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from baytree import _core
from baytree.data.to_core import native_design
from baytree.trees.forest import Forest, rules_of
from exact.cart.chains import model
from exact.cart.test_proposals import name
from exact.trees.native import native_prior, read_space
from faults import injected
from reference.agreement import Disagreement, assert_agrees
from reference.trees.constraints import Constraints, leaf_of
from reference.trees.enumeration import Dirichlet, GrowTree, NormalInverseGamma
from reference.trees.spaces import (
    CONSTRAINED,
    GAP,
    LEVELS,
    MISSING,
    MIXED,
    SPACES,
    TIES,
    Space,
    categorical,
    knowing,
    numeric,
)

TOLERANCE = 1e-10
# Columns of two codes of each kind, two of which divide alike as a whole, and others below; rows that are the same.
TWO_CODES = Space(
    "two codes",
    (
        numeric((1, 2, 1, 2, 1, 2, 1, 2, 1, 1), (0, 1, 0, 1, 0, 1, 0, 1, 0, 0), 2),
        categorical(tuple("baabbaabbb"), (1, 0, 0, 1, 1, 0, 0, 1, 1, 1), 2),
        numeric((3, None, None, None, 3, None, 3, 3, 3, 3), (0, 1, 1, 1, 0, 1, 0, 0, 0, 0), 1),
        numeric((5, 4, 5, 4, 5, 4, 5, 4, 5, 5), (1, 0, 1, 0, 1, 0, 1, 0, 1, 1), 2),
    ),
    ("no", "no", "yes", "yes", "yes", "no", "no", "yes", "no", "no"),
    GrowTree(0.9, 0.8, 1, "variable", Constraints(max_depth=2)),
    Dirichlet(0.7, 2),
)
# Pairs of columns tell what lies at the last two depths.
PAIRED = [
    TWO_CODES,
    knowing(TWO_CODES, "three levels", Constraints(max_depth=3), 1),
    knowing(TWO_CODES, "two rows a leaf", Constraints(max_depth=3), 2, "uniform"),
    knowing(TWO_CODES, "one deep", Constraints(max_depth=1), 1),
    knowing(
        TWO_CODES,
        "by depth",
        Constraints(max_depth=3, below_depth=((0, 2), (1, 1)), only=((2, (2, 3)),), weights=(1.0, 2.0, 3.0, 0.5)),
        1,
    ),
]
SUMMED = [space for space in (*SPACES, *CONSTRAINED, *PAIRED) if space.prior.constraints.max_leaves is None]
POWERS = pytest.mark.parametrize("power", [0.0, 0.3, 1.0])


def sums(space: Space, power: float = 1.0, threads: int = 1, sets: int = 10**6) -> _core.ExactSums:
    """All trees of a space, added up."""
    design = read_space(space)
    leaf = model(space, "auto").resolve(design).leaf
    assert leaf is not None
    prior = native_prior(space).native(design.schema)
    return _core.ExactSums(native_design(design), leaf.native(design), prior, power, sets, 10**9, threads)


def states(space: Space, record: dict[str, Any]) -> NDArray[np.int64]:
    """Trees as positions in the enumeration, with the prior and the likelihood that it gives them."""
    forest = Forest(**record["forest"])
    found = np.array([space.index[rules_of(forest, tree)] for tree in range(len(forest))], dtype=np.int64)
    np.testing.assert_allclose(record["log_prior"], space.log_prior[found], rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(record["log_likelihood"], space.log_likelihood[found], rtol=0, atol=TOLERANCE)
    return found


def points(space: Space) -> Iterator[tuple[int, ...]]:
    """Rows of all codes, as far as there are not too many of them."""
    columns = space.table.columns
    everything = list(product(*(range(column.observed + column.has_missing) for column in columns)))
    yield from everything[:: -(-len(everything) // 60)]


def expected_moments(space: Space, power: float) -> NDArray[np.float64]:
    """Of each point the means of what its leaf predicts, and the mean squares, averaged over all trees."""
    target, table = space.target(power), space.table
    rows = []
    for point in points(space):
        total: NDArray[np.float64] | float = 0.0
        for share, tree in zip(target, space.trees, strict=True):
            inside = sorted(table.leaf_rows(tree)[leaf_of(table.columns, tree, point)])
            total = total + share * moments_of(space, inside)
        rows.append(total)
    return np.array(rows)


def moments_of(space: Space, rows: list[int]) -> NDArray[np.float64]:
    """Means and mean squares of a leaf's parameters given its rows."""
    table, leaf = space.table, space.leaf
    weight = [1.0 if table.weight is None else table.weight[row] for row in rows]
    response = [table.response[row] for row in rows]
    if isinstance(leaf, Dirichlet):
        count = np.array([sum(w for y, w in zip(response, weight, strict=True) if y == k) for k in range(leaf.classes)])
        pseudo = count + leaf.concentration
        mean = pseudo / pseudo.sum()
        return np.concatenate([mean, mean * (pseudo + 1) / (pseudo.sum() + 1)])
    assert isinstance(leaf, NormalInverseGamma)
    after = leaf.posterior(response, weight)
    spread = after.scale / after.kappa * after.nu / (after.nu - 2)
    return np.array([after.mean, after.mean**2 + spread])


def check_numbers(space: Space, power: float) -> None:
    """Everything but draws."""
    found = sums(space, power)
    log_target = space.log_prior + power * space.log_likelihood
    assert found.complete
    assert found.log_evidence == pytest.approx(np.logaddexp.reduce(log_target), abs=TOLERANCE)
    target = space.target(power)
    rules = list(space.trees)
    asks = np.array([[any(rule is not None and rule.feature == j for rule in tree) for tree in rules]
                     for j in range(len(space.table.columns))])  # fmt: skip
    np.testing.assert_allclose(found.inclusion(), asks @ target, rtol=0, atol=TOLERANCE)
    sizes = np.bincount(space.leaves, weights=target)
    leaves = found.leaves()
    assert len(leaves) <= len(sizes)
    np.testing.assert_allclose(leaves, sizes[: len(leaves)], rtol=0, atol=TOLERANCE)
    root = found.root()
    forest = Forest(**root["forest"])
    probability = {rules_of(forest, tree)[0]: share for tree, share in enumerate(root["probability"].tolist())}
    assert len(probability) == len(forest)
    for rule in {tree[0] for tree in rules} - {None}:
        share = target[[tree[0] == rule for tree in rules]].sum()
        assert probability.pop(rule) == pytest.approx(share, abs=TOLERANCE)
    assert not probability


@POWERS
@pytest.mark.parametrize("space", SUMMED, ids=name)
def test_numbers(space: Space, power: float) -> None:
    check_numbers(space, power)


@pytest.mark.parametrize("power", [0.0, 1.0])
@pytest.mark.parametrize("space", SUMMED, ids=name)
def test_the_best_trees_come_in_order(space: Space, power: float) -> None:
    log_target = space.log_prior + power * space.log_likelihood
    listed = states(space, sums(space, power).best(len(space.trees) + 1))
    assert sorted(listed.tolist()) == list(range(len(space.trees)))
    np.testing.assert_allclose(log_target[listed], np.sort(log_target)[::-1], rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("power", [0.3, 1.0])
@pytest.mark.parametrize("space", SUMMED, ids=name)
def test_the_highest_likelihood(space: Space, power: float) -> None:
    made = space.log_likelihood[space.log_prior > -np.inf]
    assert sums(space, power).highest_log_likelihood() == pytest.approx(power * made.max(), abs=TOLERANCE)


@pytest.mark.parametrize("space", [space for space in SUMMED if len(space.trees) < 1000], ids=name)
def test_rows(space: Space) -> None:
    codes = np.array(list(points(space)), dtype=np.uint32)
    expected = expected_moments(space, 1.0)
    found = sums(space).moments(codes).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=TOLERANCE)


def draw(space: Space, power: float, draws: int = 20_000) -> None:
    found = sums(space, power)
    assert_agrees(
        np.stack([states(space, found.draw(draws // 4, 1, chain)) for chain in range(4)]),
        space.target(power),
        space.groupings,
    )


@POWERS
@pytest.mark.parametrize("space", [LEVELS, MISSING, MIXED, GAP], ids=name)
def test_draws(space: Space, power: float) -> None:
    draw(space, power)


@pytest.mark.parametrize("space", [LEVELS, MIXED, GAP], ids=name)
def test_bits_do_not_depend_on_threads(space: Space) -> None:
    one, three = sums(space, threads=1), sums(space, threads=3)
    assert one.log_evidence == three.log_evidence
    assert one.inclusion().tolist() == three.inclusion().tolist()
    assert one.draw(50, 1, 0)["log_prior"].tolist() == three.draw(50, 1, 0)["log_prior"].tolist()


def test_what_the_budget_does_not_hold_is_not_summed() -> None:
    needed = sums(MIXED).sets
    assert sums(MIXED, sets=needed).complete
    assert not sums(MIXED, sets=needed - 1).complete


def test_what_pairs_tell_is_not_stored() -> None:
    assert [sums(space).sets for space in PAIRED[:2]] == [1, 7]


def test_what_is_asked_first_makes_no_difference() -> None:
    space = PAIRED[1]
    one, other = sums(space), sums(space)
    best, drawn = one.best(20), other.draw(100, 1, 0)
    assert other.best(20)["log_prior"].tolist() == best["log_prior"].tolist()
    assert one.draw(100, 1, 0)["log_prior"].tolist() == drawn["log_prior"].tolist()
    codes = np.array(list(points(space)), dtype=np.uint32)
    assert one.moments(codes).tolist() == sums(space).moments(codes).tolist()
    assert one.inclusion().tolist() == sums(space).inclusion().tolist()
    assert one.highest_log_likelihood() == sums(space).highest_log_likelihood()


# ---- saboteurs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "space"),
    [
        *(("exact_alike", space) for space in (GAP, LEVELS, TWO_CODES)),
        *(("exact_depth", space) for space in (TIES, TWO_CODES)),
        *(("exact_key", space) for space in (TIES, MIXED, PAIRED[1])),
    ],
)
def test_a_wrong_sum_is_caught(wrong: str, space: Space) -> None:
    with injected(wrong), pytest.raises(AssertionError):
        check_numbers(space, 1.0)


@pytest.mark.parametrize("wrong", ["exact_alike", "exact_depth"])
def test_wrong_draws_are_caught(wrong: str) -> None:
    with injected(wrong), pytest.raises((AssertionError, Disagreement)):
        draw(GAP, 1.0)
