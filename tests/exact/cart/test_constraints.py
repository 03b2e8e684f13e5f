"""The native prior under constraints: proposals against the enumeration, and every draw against the definitions."""

from dataclasses import replace

import numpy as np
import pytest

import baytree as bt
from baytree import _core
from baytree.data.to_core import native_design
from baytree.mcmc.mixtures import MixtureSpec
from exact.cart.chains import check, run
from exact.cart.test_proposals import INFORMED, PARTIAL, WHOLE, name, partial, whole
from exact.trees.native import native_prior, read_space
from faults import injected
from reference.agreement import Disagreement
from reference.trees.constraints import NOTHING, Constraints, broken
from reference.trees.spaces import ALONE, CONSTRAINED, MIXED, TOGETHER, Space, knowing

pytestmark = pytest.mark.filterwarnings("ignore:these proposals never change the shape")

# Birth and death, changes and swaps without regrowing, which could hide what they get wrong.
LOCAL = {"birth_death": 2, "change": 1, "swap": 1}

POWERS = pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])


def free(space: Space) -> Space:
    """The same space without its constraints."""
    return replace(space, prior=replace(space.prior, constraints=NOTHING))


@pytest.mark.parametrize("space", CONSTRAINED, ids=name)
def test_the_enumerated_trees_are_those_that_break_nothing(space: Space) -> None:
    kept = {tree for tree in free(space).trees if not broken(space.prior.constraints, space.table.columns, tree)}
    assert kept == set(space.trees)
    assert 0 < len(kept) < len(free(space).trees)


@POWERS
@pytest.mark.parametrize("proposal", ["uc", LOCAL, INFORMED], ids=name)
@pytest.mark.parametrize("space", ALONE.values(), ids=name)
def test_one_constraint(space: Space, proposal: MixtureSpec, power: float) -> None:
    whole(space, proposal, power)


@POWERS
@pytest.mark.parametrize("proposal", WHOLE, ids=name)
@pytest.mark.parametrize("space", TOGETHER, ids=name)
def test_constraints_together(space: Space, proposal: MixtureSpec, power: float) -> None:
    whole(space, proposal, power)


@POWERS
@pytest.mark.parametrize("proposal", PARTIAL, ids=name)
@pytest.mark.parametrize("space", TOGETHER, ids=name)
def test_constraints_together_on_a_class(space: Space, proposal: MixtureSpec, power: float) -> None:
    partial(space, proposal, power)


# ---- saboteurs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", ALONE.values(), ids=name)
def test_a_constraint_that_the_enumeration_forgets_is_missed(space: Space) -> None:
    forgetful = free(space)
    place = np.array([forgetful.index[tree] for tree in space.trees])
    states = run(space, "uc", 0.0, chains=4, draws=6000, thin=15, seed=1)
    with pytest.raises(Disagreement):
        check(forgetful, "uc", 0.0, place[states])


@pytest.mark.parametrize("space", CONSTRAINED, ids=name)
def test_a_constraint_that_the_chain_forgets_is_missed(space: Space) -> None:
    with pytest.raises(AssertionError):
        run(space, "uc", 0.0, chains=1, draws=200, thin=5, seed=1, prior=native_prior(free(space)))


@POWERS
@pytest.mark.parametrize("wrong", ["uc", "birth_death", "change", "swap", *INFORMED])
def test_a_wrong_ratio_is_caught(wrong: str, power: float) -> None:
    with injected(wrong), pytest.raises(Disagreement):
        whole(TOGETHER[1], dict.fromkeys(("birth_death", wrong), 1), power)


# ---- what cannot be --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("constraint", [space for key, space in ALONE.items() if key != "weights"], ids=name)
def test_a_chain_cannot_start_at_a_tree_that_breaks_a_constraint(constraint: Space) -> None:
    trees = [tree for tree in free(constraint).trees if tree not in constraint.index]
    for tree in trees[:: len(trees) // 5]:
        with pytest.raises(bt.InputError, match=r"forbids a rule|more leaves than max_leaves"):
            run(constraint, "uc", 0.0, chains=1, draws=100, thin=1, seed=1, start=tree)


@pytest.mark.filterwarnings("ignore:MaxLeaves")
def test_no_tree_small_enough_is_explained() -> None:
    """The root and its children must split, so there are three leaves at least."""
    grown = replace(MIXED, prior=replace(MIXED.prior, alpha=1.0, beta=0.0))
    with pytest.raises(bt.InputError, match="max_leaves"):
        run(knowing(grown, "too few", Constraints(max_leaves=1), 3), "uc", 0.0, chains=1, draws=1, thin=1, seed=1)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (Constraints(forbidden=(3,)), "feature 3 but only 3 columns"),
        (Constraints(only=((0, (7,)),)), "feature 7"),
        (Constraints(boxes=(((1, 0.0, 1.0),),)), "numeric features"),
        (Constraints(boxes=(((0, 2.0, 1.0),),)), "smallest value"),
        (Constraints(weights=(1.0, 2.0)), "2 weights for 3 columns"),
        (Constraints(weights=(1.0, 2.0, 0.0)), "positive"),
        (Constraints(max_leaves=0), "max_leaves must be 1 or more"),
    ],
)
def test_knowledge_that_does_not_fit_the_table(constraints: Constraints, message: str) -> None:
    """The words that people use are checked before; the core checks again."""
    known = _core.Knowledge(**constraints.native())
    prior = _core.GrowTree(0.95, 1.0, 2, True, known, read_space(MIXED).schema.cuts)
    with pytest.raises(bt.InputError, match=message):
        _core.grow_trees(native_design(read_space(MIXED)), prior, 1, 1)
