"""Chains over the trees of growtree.slp against the enumerated prior and posterior of the native prior."""

import pytest

from baytree.mcmc.mixtures import MixtureSpec
from baytree.slp.proposals import Semantics
from exact.cart.chains import run
from exact.trees.native import growtree
from faults import injected
from reference.agreement import Disagreement, assert_agrees
from reference.trees.spaces import LONE, MISSING, SPACES, TIES, WEIGHTED, Space

pytestmark = pytest.mark.filterwarnings("ignore:.*every tree is one leaf")

KERNELS: list[MixtureSpec] = ["sequence", "independent", "cycle(3)", {"subtree": 1, "independent": 1}]


def name(value: object) -> str:
    if isinstance(value, Space):
        return value.name
    return "+".join(value) if isinstance(value, dict) else str(value)


def agrees(space: Space, kernel: MixtureSpec, power: float, semantics: Semantics) -> None:
    states = run(space, kernel, power, chains=4, draws=4000, thin=15, seed=1, prior=growtree(space, semantics))
    assert_agrees(states, space.target(power), space.groupings)


@pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
@pytest.mark.parametrize("space", [space for space in SPACES if space is not LONE], ids=name)
def test_draws_have_the_enumerated_distribution(space: Space, power: float) -> None:
    agrees(space, "auto", power, "backtrack")


@pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_other_kernels(kernel: MixtureSpec, power: float) -> None:
    agrees(MISSING, kernel, power, "backtrack")


@pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
@pytest.mark.parametrize("kernel", ["address", "subtree"])
@pytest.mark.parametrize("space", [TIES, MISSING, WEIGHTED], ids=name)
def test_the_same_by_rejection(space: Space, kernel: MixtureSpec, power: float) -> None:
    agrees(space, kernel, power, "reject")


@pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
@pytest.mark.parametrize("kernel", ["subtree", "sequence", "address"])
def test_saboteur_is_caught(kernel: str, power: float) -> None:
    with injected("proof_one"), pytest.raises(Disagreement):
        agrees(TIES, kernel, power, "reject")
