"""Certain intervals of the evidence and the mode, where not every set of rows is looked at, and the enumeration."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

import baytree as bt
from baytree import _core
from baytree.data.to_core import native_design
from exact.cart.chains import model
from exact.cart.test_exact import POWERS, SUMMED, TOLERANCE, states
from exact.cart.test_proposals import name
from exact.trees.native import native_prior, read_space
from faults import injected
from reference.trees.spaces import GAP, LEVELS, MIXED, Space

# Budgets in sets of rows; the last is more than any of the spaces has.
BUDGETS = (*range(1, 24), 30, 40, 60, 100, 10_000)
NARROW = 1e-9


def bounds(space: Space, goal: _core.Goal, power: float, sets: int, threads: int = 1) -> _core.ExactBounds:
    """What is certain after so many sets of rows."""
    design = read_space(space)
    leaf = model(space, "auto").resolve(design).leaf
    assert leaf is not None
    prior = native_prior(space).native(design.schema)
    return _core.ExactBounds(native_design(design), leaf.native(design), prior, power, goal, sets, 10**9, threads)


def check(space: Space, goal: _core.Goal, power: float) -> None:
    """That each interval has the truth and lies in that of a smaller budget, and that the last one closed."""
    log_target = space.log_prior + power * space.log_likelihood
    truth = np.logaddexp.reduce(log_target) if goal == _core.Goal.evidence else log_target.max()
    found = [bounds(space, goal, power, sets) for sets in BUDGETS]
    for sets, at in zip(BUDGETS, found, strict=True):
        assert at.sets <= sets
        assert at.log_low <= truth + TOLERANCE
        assert at.log_high >= truth - TOLERANCE
        if at.complete:
            assert at.log_high - at.log_low <= NARROW
    for before, after in pairwise(found):
        assert after.log_low >= before.log_low - TOLERANCE
        assert after.log_high <= before.log_high + TOLERANCE
    assert found[-1].complete
    assert found[-1].log_low == pytest.approx(truth, abs=NARROW)


@POWERS
@pytest.mark.parametrize("goal", list(_core.Goal), ids=lambda goal: goal.name)
@pytest.mark.parametrize("space", SUMMED, ids=name)
def test_the_truth_lies_between(space: Space, goal: _core.Goal, power: float) -> None:
    check(space, goal, power)


@pytest.mark.parametrize("sets", [1, 8, 10_000])
@pytest.mark.parametrize("space", SUMMED, ids=name)
def test_the_lower_end_of_the_mode_is_a_tree(space: Space, sets: int) -> None:
    found = bounds(space, _core.Goal.mode, 1.0, sets)
    log_target = space.log_prior + space.log_likelihood
    if found.log_low == -np.inf:
        assert sets == 1
        assert states(space, found.best()).size == 0
        return
    [tree] = states(space, found.best())
    assert log_target[tree] == pytest.approx(found.log_low, abs=TOLERANCE)
    if found.complete:
        assert log_target[tree] == pytest.approx(log_target.max(), abs=NARROW)


@pytest.mark.parametrize("sets", [1, 10, 10_000])
@pytest.mark.parametrize("space", [LEVELS, MIXED, GAP], ids=name)
def test_bits_do_not_depend_on_threads(space: Space, sets: int) -> None:
    for goal in _core.Goal:
        one, three = (bounds(space, goal, 1.0, sets, threads) for threads in (1, 3))
        assert (one.log_low, one.log_high, one.sets) == (three.log_low, three.log_high, three.sets)


def check_parity(goal: _core.Goal) -> None:
    """A table that no two rules tell anything about, against the sum over all its trees."""
    X = np.array(list(product([0.0, 1.0], repeat=3)) * 6)
    design = bt.make_design(X, X.sum(axis=1) % 2, task="classification")
    leaf = bt.Categorical(1.0).native(design)
    native, prior = native_design(design), bt.GrowTree(min_leaf=1).native(design.schema)
    sums = _core.ExactSums(native, leaf, prior, 1.0, 10**6, 10**9, 1)
    best = sums.best(1)
    truth = sums.log_evidence if goal == _core.Goal.evidence else (best["log_prior"] + best["log_likelihood"]).item()
    for sets in (1, 2, 5, 10, 100):
        found = _core.ExactBounds(native, leaf, prior, 1.0, goal, sets, 10**9, 1)
        assert found.log_low <= truth + TOLERANCE
        assert found.log_high >= truth - TOLERANCE


@pytest.mark.parametrize("goal", list(_core.Goal), ids=lambda goal: goal.name)
def test_parity(goal: _core.Goal) -> None:
    check_parity(goal)


# ---- saboteurs -------------------------------------------------------------------------------------------------------


def test_an_upper_end_of_the_evidence_that_is_too_low_is_caught() -> None:
    with injected("exact_bound"), pytest.raises(AssertionError):
        check(GAP, _core.Goal.evidence, 1.0)


@pytest.mark.parametrize("goal", list(_core.Goal), ids=lambda goal: goal.name)
def test_an_upper_end_that_is_too_low_is_caught_by_parity(goal: _core.Goal) -> None:
    with injected("exact_bound"), pytest.raises(AssertionError):
        check_parity(goal)
