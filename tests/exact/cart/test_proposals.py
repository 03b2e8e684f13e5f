"""Every proposal against the enumerated prior (likelihood off) and posterior (likelihood on).

Each has its saboteur, the same kernel with a wrong acceptance ratio, that the same check must reject.
"""

import numpy as np
import pytest

from baytree import _core
from baytree.cart.proposals import NAMES, parse_proposal
from baytree.mcmc.mixtures import MixtureSpec
from exact.cart.chains import check, moves_of, run
from faults import injected
from reference.agreement import Disagreement
from reference.trees.moves import classes
from reference.trees.spaces import (
    FORCED,
    LONE,
    MANY_COLUMNS,
    MANY_LEVELS,
    MISSING,
    MISSING_LEVELS,
    SPACES,
    TIES,
    WEIGHTED,
    WIDE,
    Space,
)

# Proposals that keep the shape, and a table with one tree, are tested on purpose.
pytestmark = [
    pytest.mark.filterwarnings("ignore:these proposals never change the shape"),
    pytest.mark.filterwarnings("ignore:.*every tree is one leaf"),
]

# Reaching every tree from every tree, except birth and death where the root must split.
WHOLE: list[MixtureSpec] = [
    "uc",
    "q0",
    "cycle(3)",
    "birth_death",
    "auto",
    {"cycle(3)": 1, "uc": 1},
    {"change": 1, "birth_death": 1},
    {"swap": 1, "birth_death": 1},
    "gbirth",
    "insert_delete",
    {"gchange": 1, "birth_death": 1},
]

# Keeping the shape of the tree: each chain is held against the trees it can reach from where it started.
PARTIAL: list[MixtureSpec] = ["change", "swap", {"gchange": 1, "change": 1}]

# Those that draw rules by the likelihood.
INFORMED = {"gbirth": 1, "gchange": 1, "insert_delete": 1}

SABOTEURS: list[tuple[str, MixtureSpec, Space]] = [
    ("uc", "uc", TIES),
    ("q0", "q0", TIES),
    ("cycle", "cycle(3)", TIES),
    ("birth_death", "birth_death", TIES),
    ("uc", {"uc": 1, "birth_death": 1, "change": 1, "swap": 1}, MISSING),
    ("uc", {"cycle(3)": 1, "uc": 1}, MISSING),
    ("cycle", {"cycle(3)": 1, "uc": 1}, MISSING),
    ("change", {"change": 1, "birth_death": 1}, MISSING_LEVELS),
    ("birth_death", {"change": 1, "birth_death": 1}, MISSING_LEVELS),
    ("swap", {"swap": 1, "birth_death": 1}, WEIGHTED),
    ("birth_death", {"swap": 1, "birth_death": 1}, WEIGHTED),
    ("gbirth", "gbirth", TIES),
    ("insert_delete", "insert_delete", TIES),
    ("gchange", {"gchange": 1, "birth_death": 1}, MISSING_LEVELS),
]


def name(value: object) -> str:
    if isinstance(value, Space):
        return value.name
    return "+".join(value) if isinstance(value, dict) else str(value)


def thinning(proposal: MixtureSpec) -> int:
    """Iterations between draws, by how far a proposal goes in one of them.

    Regrowing moves fast; birth and death must go through the root to change its rule; a change of one rule is often
    refused by those below it. Odd numbers, so that the draws of cycle(3) come from each of its four steps.
    """
    names = moves_of(proposal)
    local = {"birth_death", "gbirth", "insert_delete"}
    return 51 if "change" in names and set(names) <= {"change", "gchange"} else 35 if local & set(names) else 15


def whole(space: Space, proposal: MixtureSpec, power: float) -> None:
    states = run(space, proposal, power, chains=4, draws=6000, thin=thinning(proposal), seed=1)
    check(space, proposal, power, states)


def partial(space: Space, proposal: MixtureSpec, power: float) -> None:
    """Many chains, because each sees only the class that its start, a draw from the prior, lies in.

    Most of them may start at trees that such moves cannot leave, so some more start in the likeliest class of several.
    """
    thin = 15 if space is WIDE else thinning(proposal)
    states = run(space, proposal, power, chains=16, draws=1200, thin=thin, seed=5)
    check(space, proposal, power, states)
    label = classes(list(space.trees), moves_of(proposal))
    mass = np.where(np.bincount(label) > 1, np.bincount(label, weights=space.target(power)), 0)
    if mass.any():
        start = list(space.trees)[np.flatnonzero(label == mass.argmax())[0]]
        states = run(space, proposal, power, chains=4, draws=1200, thin=thin, seed=2, start=start)
        assert check(space, proposal, power, states) > 1


def test_every_proposal_is_here() -> None:
    """Those of the core have names that can be asked for, and each of them a test and a saboteur."""
    of_core = {proposal.name for proposal in _core.Proposal}
    assert {text.removesuffix("(n)") for text in NAMES} == of_core
    tested = {part.name for proposal in [*WHOLE, *PARTIAL] for part in parse_proposal(proposal)}
    assert tested == {fault for fault, _, _ in SABOTEURS} == of_core


@pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
@pytest.mark.parametrize("proposal", WHOLE, ids=name)
@pytest.mark.parametrize("space", SPACES, ids=name)
def test_draws_have_the_enumerated_distribution(space: Space, proposal: MixtureSpec, power: float) -> None:
    whole(space, proposal, power)


@pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
@pytest.mark.parametrize("proposal", PARTIAL, ids=name)
@pytest.mark.parametrize("space", SPACES, ids=name)
def test_draws_have_the_enumerated_distribution_on_their_class(
    space: Space, proposal: MixtureSpec, power: float
) -> None:
    partial(space, proposal, power)


@pytest.mark.parametrize("power", [0.5, 2.0])
@pytest.mark.parametrize("space", [TIES, MISSING], ids=name)
def test_other_powers_of_the_likelihood(space: Space, power: float) -> None:
    whole(space, "auto", power)


@pytest.mark.parametrize("space", SPACES, ids=name)
def test_rules_are_drawn_by_the_power_of_the_likelihood(space: Space) -> None:
    whole(space, INFORMED, 0.3)


@pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
@pytest.mark.parametrize("proposal", ["gbirth", "insert_delete", {"gchange": 1, "birth_death": 1}], ids=name)
def test_some_of_many_columns_are_looked_at(proposal: MixtureSpec, power: float) -> None:
    whole(MANY_COLUMNS, proposal, power)


@pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
@pytest.mark.parametrize("informed", INFORMED)
def test_columns_of_too_many_levels_are_left_to_other_proposals(informed: str, power: float) -> None:
    whole(MANY_LEVELS, {informed: 1, "uc": 1}, power)


@pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
@pytest.mark.parametrize(("fault", "proposal", "space"), SABOTEURS, ids=name)
def test_saboteur_is_caught(fault: str, proposal: MixtureSpec, space: Space, power: float) -> None:
    with injected(fault), pytest.raises(Disagreement):
        whole(space, proposal, power)


@pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
@pytest.mark.parametrize("proposal", PARTIAL, ids=name)
def test_saboteur_is_caught_on_its_class(proposal: MixtureSpec, power: float) -> None:
    with injected(moves_of(proposal)[0]), pytest.raises(Disagreement):
        partial(WEIGHTED, proposal, power)


def test_a_chain_starts_where_it_is_told() -> None:
    """Birth and death cannot leave the root's rule where the root must split: each start keeps its own class."""
    label = classes(list(FORCED.trees), moves_of("birth_death"))
    for one in np.unique(label):
        members = np.flatnonzero(label == one)
        start = list(FORCED.trees)[members[0]]
        states = run(FORCED, "birth_death", 1.0, chains=2, draws=2000, thin=15, seed=1, start=start)
        assert set(label[states].ravel()) == {one}
        assert check(FORCED, "birth_death", 1.0, states) == len(members)


@pytest.mark.parametrize("proposal", [*WHOLE, *PARTIAL], ids=name)
def test_a_space_of_one_tree(proposal: MixtureSpec) -> None:
    """Nothing to choose, nothing to propose: the chain stays and does not fail."""
    states = run(LONE, proposal, 1.0, chains=2, draws=100, thin=1, seed=1)
    assert not states.any()
