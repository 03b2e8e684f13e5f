"""Monotone trees: the joint distribution of trees and leaf values against enumeration and integration."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.integrate import quad

import baytree as bt
from baytree.knowledge import Monotone
from baytree.mcmc.mixtures import MixtureSpec
from baytree.slp.proposals import Semantics
from exact.cart.chains import model, positions
from exact.trees.native import growtree, read_space
from faults import injected
from reference.agreement import Disagreement, assert_agrees
from reference.trees.enumeration import Rule
from reference.trees.monotone import (
    ASIDE,
    CHAIN,
    FALLING,
    SPACES,
    SQUARE,
    MonotoneSpace,
    comparable,
    edges_for,
    in_order,
    leaf_order,
)

PROPOSALS: list[MixtureSpec] = [
    "uc",
    "q0",
    "cycle(3)",
    "birth_death",
    "auto",
    {"change": 1, "birth_death": 1},
    {"swap": 1, "birth_death": 1},
    {"gbirth": 1, "gchange": 1, "insert_delete": 1},
]
KERNELS: list[MixtureSpec] = ["auto", "sequence", "independent", "cycle(3)"]
SABOTEURS: list[tuple[str, MixtureSpec]] = [
    ("uc", "uc"),
    ("stale_values", "uc"),
    ("unordered_values", "uc"),
    ("birth_death", "birth_death"),
    ("stale_values", "birth_death"),
    ("unordered_values", "birth_death"),
    ("stale_values", {"uc": 1, "change": 2}),
    ("unordered_values", {"uc": 1, "change": 2}),
]


def name(value: object) -> str:
    if isinstance(value, MonotoneSpace):
        return value.name
    return "+".join(value) if isinstance(value, dict) else str(value)


def states_of(monotone: MonotoneSpace, post: bt.Posterior) -> NDArray[np.int64]:
    """Two states for each tree: the value of its first leaf is low or high."""
    assert post.values is not None
    is_high = post.values[post.forest.first_leaf][post.tree_index] > monotone.middle
    return 2 * positions(monotone.space, post) + is_high


def free(monotone: MonotoneSpace) -> bt.GrowTree:
    prior = monotone.space.prior
    return bt.GrowTree(prior.alpha, prior.beta, prior.min_leaf, prior.rule)


def ordered(monotone: MonotoneSpace) -> bt.GrowTree:
    return free(monotone) & Monotone(**monotone.by_name)


def draw(
    monotone: MonotoneSpace,
    prior: bt.GrowTree | bt.slp.Program,
    proposal: MixtureSpec,
    power: float,
    thin: int,
    temperatures: int = 1,
) -> bt.Posterior:
    cart = model(monotone.space, proposal, power, prior)
    options: dict[str, Any] = {"warmup": 1000, "draws": 6000, "thin": thin, "chains": 4, "seed": 1, "progress": False}
    return bt.sample(cart, read_space(monotone.space), temperatures=temperatures, **options)


def agrees(monotone: MonotoneSpace, proposal: MixtureSpec, power: float) -> None:
    names = [proposal] if isinstance(proposal, str) else list(proposal)
    thin = 41 if {"birth_death", "gbirth"} & set(names) else 21
    post = draw(monotone, ordered(monotone), proposal, power, thin)
    assert_agrees(states_of(monotone, post), monotone.target(power), monotone.groupings)


@pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
@pytest.mark.parametrize("proposal", PROPOSALS, ids=name)
@pytest.mark.parametrize("monotone", SPACES, ids=name)
def test_draws_have_the_enumerated_distribution(monotone: MonotoneSpace, proposal: MixtureSpec, power: float) -> None:
    agrees(monotone, proposal, power)


@pytest.mark.parametrize("power", [0.3, 2.0])
@pytest.mark.parametrize("monotone", [CHAIN, SQUARE], ids=name)
def test_other_powers_of_the_likelihood(monotone: MonotoneSpace, power: float) -> None:
    """The values come from their posterior, whatever the power."""
    agrees(monotone, "auto", power)


@pytest.mark.parametrize("kind", ["native", "program"])
@pytest.mark.parametrize("monotone", [CHAIN, SQUARE], ids=name)
def test_values_go_with_their_trees_when_rungs_are_swapped(monotone: MonotoneSpace, kind: str) -> None:
    prior = ordered(monotone) if kind == "native" else program(monotone, "backtrack")
    post = draw(monotone, prior, "auto", 1.0, 21, temperatures=3)
    assert_agrees(states_of(monotone, post), monotone.target(1.0), monotone.groupings)
    with pytest.raises(bt.InputError, match="evidence of monotone trees"):
        post.log_evidence()


@pytest.mark.parametrize("monotone", SPACES, ids=name)
def test_trees_from_the_prior_alone(monotone: MonotoneSpace) -> None:
    drawn = ordered(monotone).sample(read_space(monotone.space), 24_000, seed=1)
    index = [monotone.space.index[tree.rules] for tree in drawn.trees]
    trees = monotone.target(0.0).reshape(-1, 2).sum(axis=1)
    assert_agrees(np.array(index).reshape(4, -1), trees, monotone.space.groupings)
    without = free(monotone).sample(read_space(monotone.space), 24_000, seed=1)
    index = [monotone.space.index[tree.rules] for tree in without.trees]
    with pytest.raises(Disagreement):
        assert_agrees(np.array(index).reshape(4, -1), trees, monotone.space.groupings)


@pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
@pytest.mark.parametrize(("fault", "proposal"), SABOTEURS, ids=name)
def test_saboteur_is_caught(fault: str, proposal: MixtureSpec, power: float) -> None:
    with injected(fault), pytest.raises(Disagreement):
        agrees(CHAIN, proposal, power)


@pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
@pytest.mark.parametrize("monotone", SPACES, ids=name)
def test_trees_that_need_not_be_monotone_are_caught(monotone: MonotoneSpace, power: float) -> None:
    """The trees of a chain without the order, against the reference with it."""
    post = draw(monotone, free(monotone), "uc", power, 21)
    trees = monotone.target(power).reshape(-1, 2).sum(axis=1)
    with pytest.raises(Disagreement):
        assert_agrees(positions(monotone.space, post), trees, monotone.space.groupings)


# ---- programs -------------------------------------------------------------------------------------------------------


def program(monotone: MonotoneSpace, semantics: Semantics) -> bt.slp.Program:
    facts = "".join(f"monotone({feature}, {sign}).\n" for feature, sign in monotone.by_name.items())
    return bt.slp.Program(growtree(monotone.space, semantics).text + facts, semantics=semantics)


@pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
@pytest.mark.parametrize("kernel", KERNELS, ids=name)
@pytest.mark.parametrize("monotone", [CHAIN, SQUARE, ASIDE], ids=name)
def test_programs(monotone: MonotoneSpace, kernel: MixtureSpec, power: float) -> None:
    post = draw(monotone, program(monotone, "backtrack"), kernel, power, 21)
    assert_agrees(states_of(monotone, post), monotone.target(power), monotone.groupings)


@pytest.mark.parametrize("kernel", ["address", "subtree"])
def test_programs_by_rejection(kernel: str) -> None:
    post = draw(FALLING, program(FALLING, "reject"), kernel, 1.0, 21)
    assert_agrees(states_of(FALLING, post), FALLING.target(1.0), FALLING.groupings)


@pytest.mark.parametrize("kernel", ["subtree", "sequence", "address"])
def test_saboteur_of_programs_is_caught(kernel: str) -> None:
    with injected("proof_one"):
        post = draw(CHAIN, program(CHAIN, "reject"), kernel, 1.0, 21)
    with pytest.raises(Disagreement):
        assert_agrees(states_of(CHAIN, post), CHAIN.target(1.0), CHAIN.groupings)


# ---- the reference --------------------------------------------------------------------------------------------------


def column_values(*values: Any) -> list[NDArray[np.float64]]:
    edges = edges_for(values, 0.0)
    return [np.diff(value.cdf(edges)) for value in values]


def test_two_and_three_values_by_quadrature() -> None:
    a, b, c = stats.beta(2.0, 3.5), stats.beta(0.6, 0.9), stats.beta(4.0, 4.0)
    two = quad(lambda t: a.cdf(t) * b.pdf(t), 0, 1)[0]
    assert in_order(column_values(a, b), frozenset({(0, 1)})) == pytest.approx(two, abs=1e-6)
    chain = quad(lambda t: a.cdf(t) * b.pdf(t) * c.sf(t), 0, 1)[0]
    assert in_order(column_values(a, b, c), frozenset({(0, 1), (1, 2)})) == pytest.approx(chain, abs=1e-6)
    fork = quad(lambda t: a.pdf(t) * b.sf(t) * c.sf(t), 0, 1)[0]
    assert in_order(column_values(a, b, c), frozenset({(0, 1), (0, 2)})) == pytest.approx(fork, abs=1e-6)


def test_a_square_by_quadrature() -> None:
    """The value of the lowest region lies below two others, which both lie below the highest."""
    a, b, c, d = stats.beta(2, 3), stats.beta(1, 2), stats.beta(3, 2), stats.beta(4, 3)
    node, weight = np.polynomial.legendre.leggauss(40)  # exact for these polynomials
    low, share = (node[:, None] + 1) / 2, (node[None, :] + 1) / 2
    high = low + (1 - low) * share
    density = a.pdf(low) * d.pdf(high) * (b.cdf(high) - b.cdf(low)) * (c.cdf(high) - c.cdf(low))
    exact = (weight[:, None] * weight[None, :] / 4 * (1 - low) * density).sum()
    pairs = frozenset({(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)})
    assert in_order(column_values(a, b, c, d), pairs) == pytest.approx(exact, abs=1e-5)


def test_alike_values_come_in_any_order() -> None:
    value = stats.t(2.5)
    chain = frozenset((i, j) for i in range(4) for j in range(i + 1, 4))
    assert in_order(column_values(*[value] * 4), chain) == pytest.approx(1 / math.factorial(4), abs=1e-5)
    assert in_order(column_values(*[value] * 4), frozenset()) == pytest.approx(1, abs=1e-5)


def test_order_by_hand() -> None:
    """Split by the rising column, then by the falling one left and right at different cuts."""
    tree = (Rule(0, 0, 0, False), Rule(1, 0, 0, False), None, None, Rule(1, 1, 0, False), None, None)
    pairs = leaf_order(SQUARE.space.table, tree, comparable(SQUARE.space.table, SQUARE.signs))
    # (low, small), (low, large), (high, at most middle), (high, large); up means right or smaller.
    assert pairs == {(1, 0), (3, 2), (0, 2), (1, 2), (1, 3)}


def test_missing_values_are_in_order_with_each_other_only() -> None:
    asks = (Rule(0, 3, 0, False), Rule(0, 1, 0, False), None, None, None)
    assert leaf_order(CHAIN.space.table, asks, comparable(CHAIN.space.table, (1,))) == {(0, 1)}
    with_missing = (Rule(0, 1, 0, True), None, None)
    assert leaf_order(CHAIN.space.table, with_missing, comparable(CHAIN.space.table, (1,))) == {(0, 1)}


# ---- what is refused ------------------------------------------------------------------------------------------------


def test_more_than_two_classes() -> None:
    design = bt.make_design([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "c", "a"], task="classification")
    with pytest.raises(bt.InputError, match="3 classes"):
        bt.sample(bt.CART(bt.GrowTree(min_leaf=1) & Monotone(x0=1)), design, progress=False)
    text = growtree(CHAIN.space, "reject").text + "monotone(x0, 1).\n"
    with pytest.raises(bt.InputError, match="3 classes"):
        bt.sample(bt.CART(bt.slp.Program(text, semantics="reject")), design, progress=False)


def test_a_categorical_column() -> None:
    with pytest.raises(bt.InputError, match="is categorical"):
        draw(ASIDE, free(ASIDE) & Monotone(x1=1), "auto", 1.0, 1)


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        ("monotone(x1, 1).", "x1 is categorical"),
        ("monotone(x0, 2).", "2 must be 1"),
        ("monotone(x9, 1).", "no column x9"),
        ("monotone(x0, 1). monotone(x0, -1).", "stated twice of x0"),
        ("monotone(x0, 1) :- true.", "must be a plain fact"),
    ],
)
def test_wrong_facts(fact: str, message: str) -> None:
    with pytest.raises(bt.InputError, match=message):
        draw(ASIDE, bt.slp.Program(growtree(ASIDE.space, "reject").text + fact, semantics="reject"), "auto", 1.0, 1)


def test_trees_of_programs_from_the_prior_alone() -> None:
    drawn = program(CHAIN, "backtrack").sample(read_space(CHAIN.space), 24_000, seed=1)
    index = [CHAIN.space.index[tree.rules] for tree in drawn.trees]
    trees = CHAIN.target(0.0).reshape(-1, 2).sum(axis=1)
    assert_agrees(np.array(index).reshape(4, -1), trees, CHAIN.space.groupings)
