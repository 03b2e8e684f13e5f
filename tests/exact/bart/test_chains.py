"""Sums of trees against the enumeration: trees, leaf values, noise and weights of columns together.

Each move has its saboteur, the same move with a wrong acceptance ratio, that the same check must reject; and each part
of the model has one, a reference in which that part is another one.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree.mcmc.mixtures import MixtureSpec
from exact.bart.chains import check, model, positions_of, run, run_from
from exact.trees.native import native_prior, read_space
from faults import injected
from reference.agreement import Disagreement, assert_agrees
from reference.bart.normal_sums import Noise, SumSpace
from reference.bart.spaces import BINARY, BLOCKED, MONOTONE, ONE, ONE_DRAWN, PROBIT, SEVERAL, SPARSE, TWO
from reference.bart.tuples import Tuples
from reference.bart.utilities import UtilitySpace
from reference.trees.dirichlet_weights import DirichletWeights
from reference.trees.enumeration import Normal
from reference.trees.monotone import MonotoneSpace
from reference.trees.moves import classes
from reference.trees.spaces import GAP, WEIGHTED_REAL

BOTH: MixtureSpec = {"birth_death": 1, "change": 1}
# Steps of cuts decide, and births seldom come between.
PERTURBED: MixtureSpec = {"birth_death": 0.5, "perturb": 3}
# Besides both equally: births alone, several changes a visit and fractions of proposals, and what is chosen by default.
OTHERS: list[MixtureSpec] = ["birth_death", {"birth_death": 0.4, "change": 2.3}, "auto"]

POWERS = pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])


def name(value: object) -> str:
    return "+".join(value) if isinstance(value, dict) else str(getattr(value, "name", value))


def thinning(tuples: Tuples, proposal: MixtureSpec) -> int:
    """Sweeps between draws: births alone must go through the root, and columns that seem of no use wait long."""
    sweeps = 45 if proposal == "birth_death" else 8 if tuples.slots > 2 else 15
    return (3 if tuples.weights is not None else 1) * sweeps


def agrees(tuples: SumSpace | UtilitySpace, proposal: MixtureSpec, power: float) -> None:
    check(tuples, run(tuples, proposal, power, thin=thinning(tuples, proposal)), power)


@POWERS
@pytest.mark.parametrize("proposal", OTHERS, ids=name)
@pytest.mark.parametrize("sums", [ONE[0], ONE[3], TWO[0], TWO[1]], ids=name)
def test_other_mixtures(sums: SumSpace, proposal: MixtureSpec, power: float) -> None:
    agrees(sums, proposal, power)


@POWERS
@pytest.mark.parametrize("sums", [*ONE, *ONE_DRAWN, *TWO], ids=name)
def test_numbers(sums: SumSpace, power: float) -> None:
    agrees(sums, BOTH, power)


@POWERS
@pytest.mark.parametrize("tuples", [ONE[0], ONE[2], ONE[3], ONE[5], TWO[0], TWO[1], PROBIT[0]], ids=name)
def test_perturbed_cuts(tuples: SumSpace | UtilitySpace, power: float) -> None:
    agrees(tuples, PERTURBED, power)


@pytest.mark.parametrize("sums", [ONE_DRAWN[1], TWO[1]], ids=name)
def test_other_powers_of_the_likelihood(sums: SumSpace) -> None:
    agrees(sums, BOTH, 0.5)


@POWERS
@pytest.mark.parametrize("sums", SPARSE, ids=name)
def test_sparse_weights(sums: SumSpace, power: float) -> None:
    agrees(sums, BOTH, power)


@POWERS
@pytest.mark.parametrize("utilities", [*PROBIT, *SEVERAL], ids=name)
def test_classes(utilities: UtilitySpace, power: float) -> None:
    agrees(utilities, BOTH, power)


def test_sparse_weights_of_classes() -> None:
    agrees(
        UtilitySpace(
            name="sparse",
            space=replace(BLOCKED, response=("no", "yes", "no", "yes", "yes", "no", "yes", "no"), leaf=BINARY.leaf),
            weights=SPARSE[0].weights,
        ),
        BOTH,
        1.0,
    )


def test_a_single_tree_is_a_classification_and_regression_tree() -> None:
    """The trees of a sum of one with known noise, and those of a CART whose leaves have all but that noise."""
    sums = ONE[0]
    draws = run(sums, BOTH, 1.0, thin=15)
    leaf = bt.Gaussian(
        mean=sums.centre,
        kappa=(sums.noise.guess / sums.sigma_mu) ** 2,
        nu=1e7,
        scale=sums.noise.guess**2,
    )
    cart = bt.CART(prior=native_prior(GAP), leaf=leaf)
    post = bt.sample(cart, read_space(GAP), warmup=1000, draws=6000, thin=15, chains=4, seed=2, progress=False)
    frequency = np.bincount(positions_of(GAP, post.forest)[post.tree_index].ravel(), minlength=len(GAP.trees))
    assert_agrees(draws.states, sums.target(1.0), sums.groupings)
    np.testing.assert_allclose(frequency / frequency.sum(), sums.target(1.0), atol=0.015)


# ---- a move that keeps the shape of trees ----------------------------------------------------------------------------


def change_alone(sums: SumSpace, proposal: MixtureSpec, power: float) -> None:
    """Each chain starts in the likeliest class of several trees, which such moves cannot leave."""
    space = sums.space
    label = classes(list(space.trees), ["change_nogs"])
    target = sums.target(power)
    mass = np.where(np.bincount(label) > 1, np.bincount(label, weights=target), 0)
    inside = np.where(label == mass.argmax(), target, 0.0)
    start = list(space.trees)[int(np.flatnonzero(inside)[0])]
    draws = run_from(sums, proposal, power, start, thin=15)
    assert_agrees(draws.states, inside / inside.sum(), sums.groupings)


@POWERS
@pytest.mark.parametrize("sums", [ONE[0], ONE[2], ONE[3], ONE[5]], ids=name)
@pytest.mark.filterwarnings("ignore:these proposals never change the shape")
def test_changes_alone(sums: SumSpace, power: float) -> None:
    change_alone(sums, "change", power)


# ---- monotone trees --------------------------------------------------------------------------------------------------


@POWERS
@pytest.mark.parametrize("proposal", ["birth_death", BOTH, PERTURBED], ids=name)
@pytest.mark.parametrize("monotone", MONOTONE, ids=name)
def test_monotone_trees(monotone: MonotoneSpace, proposal: MixtureSpec, power: float) -> None:
    monotone_agrees(monotone, proposal, power)


def monotone_agrees(monotone: MonotoneSpace, proposal: MixtureSpec, power: float, monotone_known: bool = True) -> None:
    """Two states for each tree: the value of its first leaf is low or high."""
    space, leaf = monotone.space, monotone.space.leaf
    assert isinstance(leaf, Normal)
    sums = SumSpace(name=space.name, space=space, noise=Noise(leaf.sigma))
    bart = model(sums, proposal, power)
    if monotone_known:
        bart = replace(bart, prior=bart.prior & bt.knowledge.Monotone(**monotone.by_name))
    post = bt.sample(bart, read_space(space), warmup=500, draws=6000, thin=45, chains=4, seed=1, progress=False)
    first = post.ensemble.values[post.ensemble.first[..., 0]] + sums.centre
    states = 2 * positions_of(space, post.ensemble.forest)[post.ensemble.tree_index[..., 0]] + (first > monotone.middle)
    assert_agrees(states, monotone.target(power), monotone.groupings)


# ---- saboteurs -------------------------------------------------------------------------------------------------------


@POWERS
@pytest.mark.parametrize("proposal", ["birth_death", {"birth_death": 1, "change": 1}], ids=name)
@pytest.mark.parametrize("sums", [ONE[0], TWO[0], TWO[1], PROBIT[0], SEVERAL[0]], ids=name)
def test_wrong_births_are_caught(sums: SumSpace | UtilitySpace, proposal: MixtureSpec, power: float) -> None:
    with injected("sum_birth_death"), pytest.raises(Disagreement):
        agrees(sums, proposal, power)


@POWERS
@pytest.mark.parametrize("sums", [ONE[3], TWO[2], PROBIT[1]], ids=name)
def test_wrong_changes_are_caught(sums: SumSpace | UtilitySpace, power: float) -> None:
    with injected("sum_change"), pytest.raises(Disagreement):
        agrees(sums, {"birth_death": 1, "change": 2}, power)


@POWERS
@pytest.mark.parametrize("sums", [ONE[0], TWO[2]], ids=name)
def test_wrong_steps_of_cuts_are_caught(sums: SumSpace, power: float) -> None:
    with injected("sum_perturb"), pytest.raises(Disagreement):
        agrees(sums, PERTURBED, power)


@POWERS
@pytest.mark.filterwarnings("ignore:these proposals never change the shape")
def test_wrong_changes_alone_are_caught(power: float) -> None:
    with injected("sum_change"), pytest.raises(Disagreement):
        change_alone(ONE[3], "change", power)


@POWERS
def test_wrong_births_of_monotone_trees_are_caught(power: float) -> None:
    with injected("sum_birth_death"), pytest.raises(Disagreement):
        monotone_agrees(MONOTONE[0], {"birth_death": 1, "change": 1}, power)


@POWERS
def test_trees_that_need_not_be_monotone_are_caught(power: float) -> None:
    with pytest.raises(Disagreement):
        monotone_agrees(MONOTONE[0], BOTH, power, monotone_known=False)


ANOTHER: dict[str, tuple[SumSpace | UtilitySpace, dict[str, Any]]] = {
    "nu": (ONE_DRAWN[0], {"noise": Noise(0.5, nu=4.0)}),
    "sigma": (ONE_DRAWN[0], {"noise": Noise(0.55, nu=3.0)}),
    "q": (TWO[1], {"noise": Noise(0.5, nu=3.0, q=0.85)}),
    "k": (TWO[0], {"k": 1.05}),
    "weights of rows": (ONE[3], {"space": replace(WEIGHTED_REAL, weight=(1.0,) * 4 + (0.0,) + (1.0,) * 4)}),
    "concentration": (SPARSE[1], {"weights": DirichletWeights(4.0)}),
    "even weights": (SPARSE[1], {"weights": None}),
    "blocked columns": (SPARSE[1], {"weights": DirichletWeights(sees_blocked=False)}),
    "utilities": (PROBIT[0], {"k": 2.2}),
    "two utilities": (PROBIT[2], {"k": 1.1}),
    "classes": (SEVERAL[0], {"k": 2.2}),
}


@pytest.mark.parametrize("part", ANOTHER)
def test_another_model_is_caught(part: str) -> None:
    """The draws of one model against the reference of another that differs in one part."""
    tuples, other = ANOTHER[part]
    draws = run(tuples, BOTH, 1.0, thin=thinning(tuples, BOTH))
    with pytest.raises(Disagreement):
        check(replace(tuples, **other), draws, 1.0)
