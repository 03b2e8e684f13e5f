"""Trees drawn from a prior alone, against the enumeration and against edits by brute force."""

from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import baytree as bt
from baytree.trees.prior_samples import PriorDraws
from exact.cart.chains import model
from exact.trees.native import read_space
from reference.agreement import Disagreement, assert_agrees
from reference.trees.edit_process import KINDS, EditProcess, Kinds, Shape, preorder
from reference.trees.enumeration import GrowTree, Tree
from reference.trees.spaces import LEVELS, MISSING, MISSING_LEVELS, MIXED, SIZES, SPACES, TIES, Space

# The judge compares batches of chains; independent draws are cut into some.
CHAINS, DRAWS = 4, 10_000


def states(drawn: PriorDraws, index: Mapping[Tree, int]) -> NDArray[np.int64]:
    """The draws as positions in an enumeration, cut into chains."""
    for rules in {tree.rules for tree in drawn.trees}:
        if rules not in index:
            raise Disagreement(f"a tree of prior probability zero was drawn: {rules}")
    return np.array([index[tree.rules] for tree in drawn.trees]).reshape(CHAINS, DRAWS)


# ---- GrowTree --------------------------------------------------------------------------------------------------------


def grow_tree(prior: GrowTree) -> bt.GrowTree:
    return bt.GrowTree(prior.alpha, prior.beta, prior.min_leaf, prior.rule)


def check_grown(space: Space, drawn: PriorDraws) -> None:
    assert_agrees(states(drawn, space.index), space.target(0.0), space.groupings)


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_grown_trees_have_their_prior_probabilities(space: Space) -> None:
    check_grown(space, grow_tree(space.prior).sample(read_space(space), CHAINS * DRAWS, seed=1))


@pytest.mark.parametrize("space", [TIES, MISSING_LEVELS], ids=lambda space: space.name)
def test_a_program_draws_the_same_trees(space: Space) -> None:
    prior = space.prior
    text = bt.slp.load("growtree.slp").text.replace("min_leaf(5).", f"min_leaf({prior.min_leaf}).")
    text = text.replace("0.95 * exp(1 + Depth, -1.0)", f"{prior.alpha} * exp(1 + Depth, {-prior.beta})")
    check_grown(space, bt.slp.Program(text).sample(read_space(space), CHAINS * DRAWS, seed=1))


@pytest.mark.parametrize(
    "wrong",
    [
        bt.GrowTree(0.9, 0.9, 1, "variable"),
        bt.GrowTree(0.88, 0.8, 1, "variable"),
        bt.GrowTree(0.9, 0.8, 2, "variable"),
        bt.GrowTree(0.9, 0.8, 1, "uniform"),
    ],
    ids=["beta", "alpha", "min_leaf", "rule"],
)
def test_another_prior_is_found_out(wrong: bt.GrowTree) -> None:
    with pytest.raises(Disagreement):
        check_grown(TIES, wrong.sample(read_space(TIES), CHAINS * DRAWS, seed=1))


@pytest.mark.parametrize("space", [MISSING, SIZES, MIXED], ids=lambda space: space.name)
def test_drawn_trees_know_their_rows(space: Space) -> None:
    for tree in grow_tree(space.prior).sample(read_space(space), 200, seed=2).trees:
        rows = [tree.rows[node] for node, rule in enumerate(tree.rules) if rule is None]
        assert rows == [len(rows) for rows in space.table.leaf_rows(tree.rules)]
        assert tree.rows[0] == len(space.table.response)


# ---- EditTree --------------------------------------------------------------------------------------------------------

EDITED = (TIES, LEVELS, SIZES, MISSING_LEVELS, MIXED)
OTHER_KINDS = (Kinds(1.0, 0.0, 0.0), Kinds(0.0, 2.0, 1.0), Kinds(0.2, 0.0, 0.4), Kinds(0.0, 0.0, 1.0))


@cache
def initial(space: Space) -> Shape:
    """A tree of the space with three leaves, if it has one, that asks about two columns, if it can."""
    trees = [tree for tree in space.trees if len(tree) <= 5]
    tree = max(trees, key=lambda tree: (len(tree), len({rule.feature for rule in tree if rule}), str(tree)))
    rules = iter(tree)

    def nest() -> Shape:
        rule = next(rules)
        return None if rule is None else (rule, nest(), nest())

    return nest()


@cache
def exact_prior(space: Space, edits: float, kinds: Kinds = KINDS) -> dict[Tree, float]:
    cuts = tuple(tuple(column.cuts.tolist()) for column in read_space(space).columns)
    return EditProcess(space.table, cuts, space.prior.min_leaf, kinds).prior(initial(space), edits)


def edit_tree(space: Space, edits: float, kinds: Kinds = KINDS) -> bt.EditTree:
    given = bt.Tree(read_space(space).schema, preorder(initial(space)))
    return bt.EditTree(given, edits, space.prior.min_leaf, *kinds)


def check_edited(
    exact: dict[Tree, float], drawn: NDArray[np.int64], power_of: NDArray[np.float64] | None = None
) -> None:
    target = np.array(list(exact.values())) * (1.0 if power_of is None else power_of)
    leaves = np.array([sum(rule is None for rule in tree) for tree in exact])
    assert_agrees(drawn, target / target.sum(), {"leaves": leaves})


def places(exact: dict[Tree, float]) -> dict[Tree, int]:
    return {tree: place for place, tree in enumerate(exact)}


@pytest.mark.parametrize("space", EDITED, ids=lambda space: space.name)
def test_edited_trees_have_their_prior_probabilities(space: Space) -> None:
    exact = exact_prior(space, 1.5)
    drawn = edit_tree(space, 1.5).sample(read_space(space), CHAINS * DRAWS, seed=1)
    check_edited(exact, states(drawn, places(exact)))


@pytest.mark.parametrize("kinds", OTHER_KINDS, ids=str)
def test_kinds_of_edits_may_be_left_out(kinds: Kinds) -> None:
    exact = exact_prior(TIES, 2.0, kinds)
    drawn = edit_tree(TIES, 2.0, kinds).sample(read_space(TIES), CHAINS * DRAWS, seed=1)
    check_edited(exact, states(drawn, places(exact)))


@pytest.mark.parametrize("wrong", [(1.4, KINDS), (1.5, Kinds(0.5, 0.3, 0.2))], ids=["edits", "kinds"])
def test_other_edits_are_found_out(wrong: tuple[float, Kinds]) -> None:
    exact = exact_prior(TIES, 1.5)
    drawn = edit_tree(TIES, *wrong).sample(read_space(TIES), CHAINS * DRAWS, seed=1)
    with pytest.raises(Disagreement):
        check_edited(exact, states(drawn, places(exact)))


@pytest.mark.parametrize(("space", "power"), [(TIES, 1.0), (MIXED, 0.0), (MIXED, 1.0)], ids=["ties", "off", "mixed"])
def test_the_posterior_of_edited_trees(space: Space, power: float) -> None:
    exact = exact_prior(space, 1.5)
    likelihood = {tree: scored.log_likelihood for tree, scored in space.trees.items()}
    edited = model(space, "auto", power, edit_tree(space, 1.5))
    post = bt.sample(
        edited, read_space(space), warmup=1000, draws=DRAWS // 2, thin=10, chains=CHAINS, seed=1, progress=False
    )
    index = places(exact)
    stored = np.array([index[tree.rules] for tree in post.trees])
    check_edited(exact, stored[post.tree_index], np.exp([power * likelihood[tree] for tree in exact]))
