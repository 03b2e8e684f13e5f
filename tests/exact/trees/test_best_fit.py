"""Trees that fit best against the listing of all trees: what they leave, and that they do leave it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from baytree import _core
from baytree.data.to_core import native_design
from baytree.trees.forest import Forest, rules_of
from exact.trees.native import read_space
from faults import injected
from reference.trees.best_fit import least, squares
from reference.trees.spaces import GAP, LEVELS, MISSING, MISSING_LEVELS, MIXED, SIZES, TIES, Raw, Space, categorical

SMALL = [TIES, GAP, LEVELS, SIZES, MISSING, MISSING_LEVELS, MIXED]
PLENTY = 10**6


def surface(space: Space, width: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values and weights of the rows, at random."""
    rng = np.random.default_rng(seed)
    rows = read_space(space).rows
    return rng.uniform(0.5, 2.0, rows), rng.normal(size=(rows, width))


def fits(
    space: Space, weight: NDArray[np.float64], values: NDArray[np.float64], leaves: int, budget: int = PLENTY
) -> dict[str, Any]:
    return _core.best_fits(native_design(read_space(space)), weight, values, leaves, budget)


def most_leaves(space: Space) -> int:
    """So many that the trees can be listed."""
    return 4 if len(space.table.left_rows) <= 12 else 3


def check(space: Space, width: int = 1, seed: int = 0) -> None:
    leaves = most_leaves(space)
    weight, values = surface(space, width, seed)
    found = fits(space, weight, values, leaves)
    expected = least(space.table, values, weight, leaves)
    np.testing.assert_allclose(found["high"], expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found["low"], expected, rtol=0, atol=1e-10)


def left_by_trees(space: Space, weight: NDArray[np.float64], values: NDArray[np.float64], record: Any) -> list[float]:
    """What the trees leave, by the rows that their own rules put into their leaves; there are not too many of these."""
    forest, left = Forest(**record["forest"]), []
    for tree in range(len(forest)):
        assert forest.leaves[tree] <= tree + 1
        parts = space.table.leaf_rows(rules_of(forest, tree))
        assert all(parts)
        left.append(sum(squares(values, weight, rows) for rows in parts))
    return left


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("space", SMALL, ids=lambda space: space.name)
def test_no_tree_leaves_less(space: Space, width: int) -> None:
    for seed in range(3):
        check(space, width, seed)


@pytest.mark.parametrize("space", SMALL, ids=lambda space: space.name)
def test_the_trees_leave_what_is_said(space: Space) -> None:
    weight, values = surface(space, 2, 5)
    found = fits(space, weight, values, 6)
    assert left_by_trees(space, weight, values, found) == pytest.approx(found["high"].tolist(), abs=1e-10)


# ---- larger tables ---------------------------------------------------------------------------------------------------


def codes_of(seed: int) -> NDArray[np.int64]:
    """Three columns of twelve codes; of the last the largest means that a value is missing."""
    return np.random.default_rng(seed).integers(0, 12, (60, 3))


def many(seed: int) -> tuple[_core.Design, NDArray[np.float64], NDArray[np.float64]]:
    """A table of numbers with a surface that is flat nowhere, and equal weights."""
    codes = codes_of(seed)
    design = _core.Design(len(codes))
    for place, column in enumerate(codes.T.astype(np.uint16)):
        design.add_column(np.ascontiguousarray(column), False, 12 - (place == 2), place == 2)
    noise = np.random.default_rng(seed).normal(size=len(codes))
    values = np.sin(codes[:, 0] * codes[:, 1] / 20) + codes[:, 2] / 10 + 0.1 * noise
    return design, np.ones(len(codes)), values[:, None]


def plain(seed: int, leaves: int) -> NDArray[np.float64]:
    """What the best trees leave on that table, without any bound: by sets of rows, all rules and shares."""
    codes = codes_of(seed)
    _, weight, values = many(seed)
    sides = [codes[:, j] <= cut for j in range(3) for cut in range(11)]
    sides += [(codes[:, 2] <= cut) | (codes[:, 2] == 11) for cut in range(10)]
    known: dict[tuple[bytes, int], float] = {}

    def best(inside: NDArray[np.bool_], most: int) -> float:
        key = (inside.tobytes(), most)
        if key not in known:
            left = squares(values, weight, frozenset(np.flatnonzero(inside).tolist()))
            for side in sides:
                yes, no = inside & side, inside & ~side
                if most > 1 and yes.any() and no.any():
                    left = min(left, *(best(yes, share) + best(no, most - share) for share in range(1, most)))
            known[key] = left
        return known[key]

    return np.array([best(np.ones(len(codes), dtype=bool), most) for most in range(1, leaves + 1)])


def check_many(seed: int) -> None:
    found = _core.best_fits(*many(seed), 4, PLENTY)
    expected = plain(seed, 4)
    np.testing.assert_allclose(found["high"], expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found["low"], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", [2, 11])
def test_bounds_leave_nothing_out(seed: int) -> None:
    check_many(seed)


def test_a_budget_leaves_an_interval_that_holds_and_shrinks() -> None:
    design, weight, values = many(2)
    whole = _core.best_fits(design, weight, values, 5, PLENTY)
    assert whole["high"] == pytest.approx(whole["low"], abs=1e-9)
    widths = []
    for budget in (1, 30, 300, int(whole["looks"]) + 1):
        found = _core.best_fits(design, weight, values, 5, budget)
        assert np.all(found["low"] <= whole["high"] + 1e-9)
        assert np.all(found["high"] >= whole["high"] - 1e-9)
        assert np.all(np.diff(found["high"]) <= 0)
        assert found["looks"] <= budget + 5**2
        widths.append(found["high"][-1] - found["low"][-1])
    assert widths[0] > 0.0
    assert widths[-1] == pytest.approx(0.0, abs=1e-9)


def test_of_very_many_levels_nothing_false_is_certified() -> None:
    """A dozen levels: what was not looked at is not bounded, and what is found is a tree."""
    levels = categorical(tuple("abcdefghijklabcdefghijkl"), tuple(range(12)) * 2, 12)
    space = replace(TIES, name="many_levels", raw=(levels,), response=("no", "yes") * 12)
    weight, values = surface(space, 1, 1)
    found = fits(space, weight, values, 4)
    assert np.all(found["low"][1:] == 0)
    assert left_by_trees(space, weight, values, found) == pytest.approx(found["high"].tolist(), abs=1e-10)


def test_rows_of_one_kind_make_a_leaf() -> None:
    space = replace(
        TIES,
        name="alike",
        raw=tuple(Raw(raw.values[:1] * 8, raw.column) for raw in TIES.raw),
        response=("no", "yes") * 4,
    )
    space = replace(
        space, raw=tuple(replace(raw, column=replace(raw.column, bins=(0,) * 8, observed=1)) for raw in space.raw)
    )
    weight, values = surface(space, 1, 1)
    found = fits(space, weight, values, 3)
    assert found["low"].tolist() == found["high"].tolist()
    assert Forest(**found["forest"]).leaves.tolist() == [1, 1, 1]


# ---- saboteurs -------------------------------------------------------------------------------------------------------


def test_leaves_that_are_shared_out_wrongly_are_caught() -> None:
    with injected("fit_shares"), pytest.raises(AssertionError):
        check(MIXED)


def test_a_wrong_bound_is_caught() -> None:
    with injected("fit_bound"), pytest.raises(AssertionError):
        check_many(11)
