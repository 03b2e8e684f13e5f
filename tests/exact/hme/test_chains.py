"""Chains over mixtures of experts against posteriors that were summed and integrated, likelihood off, partly and on.

Each fault that can be injected must be rejected by the same check.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from baytree import _core
from baytree.diagnostics.evidence import stepping_stone
from exact.hme.chains import problem, run
from faults import injected
from reference.agreement import Disagreement, assert_agrees, assert_means_agree
from reference.hme.mixtures import DEEP, LINES, MIXTURES, PAIRS, THREE_CLASSES, TWO_CLASSES, Mixture

POWERS = pytest.mark.parametrize("power", [0.0, 0.6, 1.0], ids=["prior", "partly", "posterior"])


def name(mixture: Mixture) -> str:
    return mixture.name


def check(mixture: Mixture, power: float, drawn_from: Mixture | None = None) -> None:
    """Decisions have their probabilities, and parameters their means."""
    drawn = run(drawn_from or mixture, power)
    probability, means = mixture.solved(power)
    assert_agrees(drawn.states[..., 0], probability)
    assert_means_agree(drawn.quantities, means)


@pytest.mark.parametrize("mixture", MIXTURES, ids=name)
def test_the_quadrature_is_fine_enough(mixture: Mixture) -> None:
    coarse, fine = replace(mixture, points=45).solved(1.0), mixture.solved(1.0)
    np.testing.assert_allclose(coarse[0], fine[0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(coarse[1], fine[1], rtol=1e-5, atol=1e-6)


@POWERS
@pytest.mark.parametrize("mixture", MIXTURES, ids=name)
def test_draws_have_the_exact_distribution(mixture: Mixture, power: float) -> None:
    check(mixture, power)


@pytest.mark.parametrize(
    ("mixture", "power", "fault"),
    [
        (LINES, 1.0, "hme_tilt"),
        (LINES, 0.0, "hme_tilt"),
        (TWO_CLASSES, 1.0, "hme_tilt"),
        (PAIRS, 0.0, "hme_offset"),
        (THREE_CLASSES, 1.0, "hme_offset"),
        (DEEP, 1.0, "hme_freedom"),
        (PAIRS, 0.6, "hme_freedom"),
        (LINES, 1.0, "hme_decisions"),
        (TWO_CLASSES, 1.0, "hme_decisions"),
        (TWO_CLASSES, 0.6, "hme_slice"),
        (THREE_CLASSES, 0.6, "hme_slice"),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_faults_are_caught(mixture: Mixture, power: float, fault: str) -> None:
    with injected(fault), pytest.raises(Disagreement):
        check(mixture, power)


@pytest.mark.parametrize("other", [{"gate_sd": 1.8}, {"sd": 1.4}, {"nu": 5.0}, {"scale": (0.6,)}], ids=str)
def test_another_prior_is_caught(other: dict[str, Any]) -> None:
    """The draws of one model against the reference of another."""
    with pytest.raises(Disagreement):
        check(replace(LINES, **other), 1.0, drawn_from=LINES)


# ---- tempering -------------------------------------------------------------------------------------------------------

LADDER = [1.0, 0.5, 0.2, 0.0]


def tempered(mixture: Mixture) -> None:
    """Every rung has the decisions of its power, and the rungs together the evidence."""
    ladder = _core.Tempering(LADDER, 4, False, False)
    drawn = run(mixture, chains=2, draws=2500, thin=8, tempering=ladder)
    for rung, power in enumerate(LADDER):
        assert_agrees(drawn.states[..., rung], mixture.solved(power)[0])
    assert_means_agree(drawn.quantities, mixture.solved(1.0)[1])
    log_likelihood = np.stack([part["rung_log_likelihood"].reshape(-1, len(LADDER)) for part in drawn.parts])
    found = stepping_stone(log_likelihood, np.tile(LADDER, (2, 1)))
    assert abs(found.value - mixture.log_evidence(1.0)) < 4 * found.error


@pytest.mark.parametrize("mixture", [LINES, TWO_CLASSES], ids=name)
def test_every_rung_has_its_distribution(mixture: Mixture) -> None:
    tempered(mixture)


def test_a_swap_that_ignores_the_likelihood_is_caught() -> None:
    with injected("rung_swap"), pytest.raises(Disagreement):
        tempered(LINES)


# ---- where it starts -------------------------------------------------------------------------------------------------


def test_a_chain_begins_where_it_is_put() -> None:
    chain = _core.HMEChain(problem(LINES), 1.0, _core.Tempering(LADDER, 4, False, False), 1, 0)
    gates, coefficients, variance = np.arange(2.0), np.arange(4.0), np.array([1.0, 2.0])
    chain.begin(gates, coefficients, variance)
    for rung in range(len(LADDER)):
        position = chain.rung_position(rung)
        assert (position.gates, position.coefficients) == (gates.tolist(), coefficients.tolist())
        assert position.variance == variance.tolist()
    assert chain.log_prior == pytest.approx(LINES.log_prior(gates, coefficients, variance))
