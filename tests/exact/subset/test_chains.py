"""Every move over subsets against the enumerated prior (likelihood off) and posterior (likelihood on).

Each has its saboteur, that the same check must reject.
"""

import numpy as np
import pytest

from baytree import _core
from baytree.mcmc.mixtures import MixtureSpec
from exact.subset.chains import check, check_by_size, run
from faults import injected
from reference.agreement import Disagreement, assert_agrees
from reference.subset.linear_models import LinearModels
from reference.subset.spaces import (
    ALWAYS,
    COLLINEAR,
    FACTORS,
    INSISTED,
    INTERACTIONS,
    NO_INTERCEPT,
    ONE_SIDED,
    PLAIN,
    WEIGHTED,
    WIDE,
    models,
)

POWERS = pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])

# Every table, every prior of coefficients and every prior of models.
SPACES = [
    models(PLAIN, "c", "independent"),
    models(NO_INTERCEPT, "hyper-g 4", "half"),
    models(WEIGHTED, "eb", "not empty"),
    models(FACTORS, "hyper-g", "beta-binomial"),
    models(COLLINEAR, "unit", "sizes"),
    models(COLLINEAR, "ridge", "independent"),
    models(WIDE, "eb", "beta-binomial"),
    models(ALWAYS, "hyper-g/n", "independent"),
    models(INTERACTIONS, "unit", "half", "weak"),
    models(INTERACTIONS, "hyper-g", "independent", "strong"),
    models(ONE_SIDED, "ridge", "beta-binomial", "weak"),
    models(INSISTED, "c", "half", "strong"),
    models(INSISTED, "unit", "beta-binomial", "weak"),
]

# Reaching every model from every model.
PROPOSALS: list[MixtureSpec] = [
    "gibbs",
    "random",
    "metropolis",
    "informed",
    {"gibbs": 1, "replace": 2},
    {"random": 0.5, "metropolis": 0.5, "informed": 1.5, "replace": 0.5},
]

# A prior under which units, and so models of a size, differ: else some faults cancel where the likelihood is off.
UNEVEN = models(PLAIN, "c", "independent")
SABOTEURS: list[tuple[str, MixtureSpec]] = [
    ("subset_gibbs", "gibbs"),
    ("subset_random", "random"),
    ("subset_metropolis", "metropolis"),
    ("subset_informed", "informed"),
    ("subset_replace", {"gibbs": 0.2, "replace": 3}),
    ("subset_gibbs", {"gibbs": 1, "informed": 1}),
    ("subset_metropolis", {"informed": 1, "metropolis": 1}),
]


def name(value: object) -> str:
    if isinstance(value, LinearModels):
        return " ".join(filter(None, (value.table.name, value.heredity, str(value.slab))))
    return "+".join(value) if isinstance(value, dict) else str(value)


@POWERS
@pytest.mark.parametrize("proposal", PROPOSALS, ids=name)
@pytest.mark.parametrize("space", SPACES, ids=name)
def test_draws_have_the_enumerated_distribution(space: LinearModels, proposal: MixtureSpec, power: float) -> None:
    check(space, proposal, power)


@POWERS
@pytest.mark.parametrize("space", [SPACES[0], SPACES[3], SPACES[4], SPACES[7]], ids=name)
def test_replacing_alone_keeps_the_size(space: LinearModels, power: float) -> None:
    check_by_size(space, "replace", power)


@pytest.mark.parametrize("power", [0.5, 2.0])
@pytest.mark.parametrize("proposal", PROPOSALS, ids=name)
def test_other_powers_of_the_likelihood(proposal: MixtureSpec, power: float) -> None:
    check(SPACES[3], proposal, power)


@POWERS
@pytest.mark.parametrize(("fault", "proposal"), SABOTEURS, ids=name)
def test_saboteur_is_caught(fault: str, proposal: MixtureSpec, power: float) -> None:
    with injected(fault), pytest.raises(Disagreement):
        check(UNEVEN, proposal, power)


@POWERS
def test_wrong_replacements_alone_are_caught(power: float) -> None:
    with injected("subset_replace"), pytest.raises(Disagreement):
        check_by_size(UNEVEN, "replace", power)


def test_another_model_is_caught() -> None:
    """The draws of one model against the reference of another."""
    states, _, _ = run(SPACES[8], "gibbs")
    with pytest.raises(Disagreement):
        assert_agrees(states, models(INTERACTIONS, "c", "half", "weak").target(1.0))


# ---- tempering -------------------------------------------------------------------------------------------------------

ADAPTIVE = [1.0, 0.4, 0.15, 0.0]
HEATED = [1.0, 1 / 1.2, 1 / 1.4]


def ladder(powers: list[float]) -> _core.Tempering:
    adapts = powers[-1] == 0
    return _core.Tempering(powers, 10 if adapts else 1, not adapts, adapts)


def tempered(space: LinearModels, proposal: MixtureSpec, tempering: _core.Tempering) -> None:
    """The cold rung, and each of the others at its own power over the values that the log-likelihood takes."""
    states, chains, parts = run(space, proposal, chains=2, draws=2500, thin=11, tempering=tempering)
    assert_agrees(states, space.target(1.0), space.groupings)
    possible = np.where(space.exists, space.log_likelihood, np.nan)
    values, label = np.unique(possible[space.exists].round(7), return_inverse=True)
    for chain, part in zip(chains, parts, strict=True):
        rungs = part["rung_log_likelihood"].reshape(-1, chain.rungs)
        for draws, power in zip(rungs.T, chain.position().ladder, strict=True):
            place = np.searchsorted(values, draws - 1e-6)
            np.testing.assert_allclose(values[place], draws, rtol=0, atol=1e-6)
            assert_agrees(place[None], np.bincount(label, weights=space.target(power)[space.exists]))


TEMPERED = [SPACES[3], SPACES[5], SPACES[8]]


@pytest.mark.parametrize("powers", [ADAPTIVE, HEATED], ids=["adaptive", "mrbayes"])
@pytest.mark.parametrize("space", TEMPERED, ids=name)
def test_every_rung_has_its_distribution(space: LinearModels, powers: list[float]) -> None:
    tempered(space, {"gibbs": 1, "replace": 1}, ladder(powers))


@pytest.mark.parametrize("powers", [ADAPTIVE, HEATED], ids=["adaptive", "mrbayes"])
def test_a_swap_that_ignores_the_likelihood_is_caught(powers: list[float]) -> None:
    with injected("rung_swap"), pytest.raises(Disagreement):
        tempered(SPACES[0], {"informed": 1, "gibbs": 0.2}, ladder(powers))
