"""The evidence of tempered chains: what it makes of chains that say different things, and of a lone one."""

from __future__ import annotations

import numpy as np
import pytest

import baytree as bt
from baytree.diagnostics.evidence import stepping_stone
from families import TWO, bins

LADDER = np.array([1.0, 0.4, 0.0])
GENERATOR = np.random.default_rng(1)


def series(mean: float, draws: int = 1000, drift: float = 0.0) -> np.ndarray:
    """Log-likelihoods of the rungs of a chain, shape (draws, rungs)."""
    return mean + 0.1 * GENERATOR.normal(size=(draws, 3)) + drift * np.linspace(-1, 1, draws)[:, None]


def test_evidences_are_averaged_and_not_their_logarithms() -> None:
    """A chain that is stuck where the likelihood is small takes nothing but its share away."""
    found = stepping_stone(np.stack([series(-100), series(-90)]), np.tile(LADDER, (2, 1)))
    assert found.value == pytest.approx(-90 - np.log(2), abs=0.1)
    assert found.error == pytest.approx(1, abs=0.01)


def test_a_lone_chain_that_drifts_says_so() -> None:
    """Its batches differ, however many effective draws it seems to have."""
    still = stepping_stone(series(-90)[None], LADDER[None])
    drifting = stepping_stone(series(-90, drift=1.0)[None], LADDER[None])
    assert still.error < 0.02
    assert drifting.error > 0.1


@pytest.mark.parametrize("draws", [5, 19])
def test_a_lone_short_chain_does_not_know_its_error(draws: int) -> None:
    assert np.isinf(stepping_stone(series(-90, draws)[None], LADDER[None]).error)


def test_few_round_trips_are_said() -> None:
    model = bt.CART(bt.GrowTree(min_leaf=10))
    run = {"warmup": 20, "chains": 1, "temperatures": 4, "seed": 1, "progress": False}
    few = bt.sample(model, bins(TWO), draws=5, **run)  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="round trip"):
        few.log_evidence()
    assert few.summary().tempered is not None
