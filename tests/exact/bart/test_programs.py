"""Sums of trees that a program derives against the enumeration: trees, leaf values and noise together."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree import InputError
from baytree.slp import Program, Term
from baytree.slp.proposals import Semantics
from exact.bart.chains import check, design_of, model, positions_of, read
from exact.trees.native import growtree, read_space
from faults import injected
from reference.agreement import Disagreement, assert_agrees
from reference.bart.normal_sums import SumSpace
from reference.bart.spaces import BLOCKED, FIXED, MONOTONE, ONE, ONE_DRAWN, PROBIT, SEVERAL, THREE, TWO
from reference.bart.utilities import UtilitySpace
from reference.trees.enumeration import Normal, Rule, Tree
from reference.trees.monotone import MonotoneSpace
from reference.trees.spaces import Space

POWERS = pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
RUN: dict[str, Any] = {"warmup": 500, "draws": 6000, "thin": 15, "chains": 4, "seed": 1, "progress": False}

# Dead ends: a node without a rule, and a split whose left side is the larger one.
DEAD_ENDS = """
min_leaf(1).
cart(T) :- root(N), grow(N, T).
0.3 : grow(N, leaf(N)).
0.7 : grow(N, split(F, V, L, R)) :-
    choose_feature(N, F), split(N, F, V, A, B),
    node_size(A, K), node_size(B, M), K =< M,
    grow(A, L), grow(B, R).
"""

# A tree whose leaves are counted at the end cannot be drawn again in parts.
COUNTED = """
cart(T) :- root(N), grow(N, T), leaves(T, K), K =< 3.
0.5 : grow(N, leaf(N)).
0.5 : grow(N, split(F, V, L, R)) | splittable(N) :-
    choose_feature(N, F), split(N, F, V, A, B), grow(A, L), grow(B, R).
leaves(leaf(_), 1).
leaves(split(_, _, L, R), K) :- leaves(L, A), leaves(R, B), K is A + B.
"""


def name(value: object) -> str:
    return str(getattr(value, "name", value))


def agrees(
    tuples: SumSpace | UtilitySpace,
    power: float,
    *,
    proposal: str = "auto",
    semantics: Semantics = "backtrack",
    text: str = "",
) -> None:
    """Whether draws of the sum, each tree derived by a program, have their exact distribution."""
    program = Program(text, semantics=semantics) if text else growtree(tuples.space, semantics)
    bart = replace(model(tuples, "auto", power), prior=program, proposal=proposal)
    post = bt.sample(bart, design_of(tuples), **RUN)
    check(tuples, read(tuples, post.ensemble, post.sigma), power)


@POWERS
@pytest.mark.parametrize("sums", [ONE[2], ONE[3], ONE_DRAWN[0], ONE_DRAWN[2], *TWO], ids=name)
def test_numbers(sums: SumSpace, power: float) -> None:
    agrees(sums, power)


@pytest.mark.parametrize("utilities", [*PROBIT[2:], SEVERAL[0]], ids=name)
def test_classes(utilities: UtilitySpace) -> None:
    agrees(utilities, 1.0)


@pytest.mark.parametrize("proposal", ["subtree=3", "subtree=0.4"])
def test_moves_a_visit(proposal: str) -> None:
    agrees(TWO[1], 1.0, proposal=proposal)


@POWERS
def test_the_same_by_rejection(power: float) -> None:
    agrees(TWO[0], power, semantics="reject")


# ---- a program that is no native prior -------------------------------------------------------------------------------


def derived(space: Space, text: str, semantics: Semantics) -> Space:
    """The space with the prior of a program, as the program's own enumeration has it."""
    names, cuts = read_space(space).schema.names, read_space(space).schema.cuts

    def rules(tree: Term) -> Tree:
        if tree.name == "leaf":
            return (None,)
        feature, value, left, right = tree.args
        column = names.index(feature)
        return (Rule(column, cuts[column].index(value), 0, False), *rules(left), *rules(right))

    prior = np.zeros(len(space.trees))
    for tree, probability in Program(text, semantics=semantics).enumerate("cart(T)", data=read_space(space)):
        prior[space.index[rules(tree)]] += probability
    own = replace(space)
    with np.errstate(divide="ignore"):
        vars(own)["log_prior"] = np.log(prior)
    return own


@POWERS
@pytest.mark.parametrize("semantics", ["backtrack", "reject"])
@pytest.mark.parametrize(("space", "trees"), [(BLOCKED, 1), (THREE, 2)], ids=name)
def test_dead_ends(space: Space, trees: int, semantics: Semantics, power: float) -> None:
    own = derived(space, DEAD_ENDS, semantics)
    sums = SumSpace(name="dead ends", space=own, trees=trees, noise=FIXED)
    agrees(sums, power, semantics=semantics, text=DEAD_ENDS)


def test_other_semantics_are_caught() -> None:
    sums = SumSpace(name="dead ends", space=derived(THREE, DEAD_ENDS, "reject"), trees=2, noise=FIXED)
    with pytest.raises(Disagreement):
        agrees(sums, 0.0, semantics="backtrack", text=DEAD_ENDS)


@pytest.mark.parametrize("semantics", ["backtrack", "reject"])
def test_a_program_without_parts_is_refused(semantics: Semantics) -> None:
    with pytest.raises(
        InputError, match=r"not for sums of trees: subtree .* of grow/2, T is read by leaves/2 \(line 2\)"
    ):
        bt.BART(prior=Program(COUNTED, semantics=semantics))


# ---- monotone trees --------------------------------------------------------------------------------------------------


def monotone_agrees(monotone: MonotoneSpace, proposal: str, power: float) -> None:
    """Two states for each tree: the value of its first leaf is low or high."""
    space, leaf = monotone.space, monotone.space.leaf
    assert isinstance(leaf, Normal)
    sums = SumSpace(name=space.name, space=space, noise=replace(FIXED, guess=leaf.sigma))
    program = growtree(space, "backtrack") & bt.Monotone(**monotone.by_name)
    bart = replace(model(sums, "auto", power), prior=program, proposal=proposal)
    post = bt.sample(bart, read_space(space), **(RUN | {"thin": 31}))
    first = post.ensemble.values[post.ensemble.first[..., 0]] + sums.centre
    states = 2 * positions_of(space, post.ensemble.forest)[post.ensemble.tree_index[..., 0]] + (first > monotone.middle)
    assert_agrees(states, monotone.target(power), monotone.groupings)


@POWERS
def test_monotone_trees(power: float) -> None:
    monotone_agrees(MONOTONE[0], "auto", power)


# ---- saboteurs -------------------------------------------------------------------------------------------------------


@POWERS
@pytest.mark.parametrize("sums", [ONE[0], TWO[0], TWO[1], PROBIT[2]], ids=name)
def test_a_wrong_ratio_is_caught(sums: SumSpace | UtilitySpace, power: float) -> None:
    with injected("proof_one"), pytest.raises(Disagreement):
        agrees(sums, power)


def test_a_clipped_likelihood_is_caught() -> None:
    with injected("proof_clipped"), pytest.raises(Disagreement):
        agrees(SumSpace(name="two of blocked", space=BLOCKED, trees=2, noise=FIXED), 1.0)


@POWERS
def test_a_wrong_ratio_of_monotone_trees_is_caught(power: float) -> None:
    with injected("proof_one"), pytest.raises(Disagreement):
        monotone_agrees(MONOTONE[0], "auto", power)
