"""The judge itself: it passes independent exact draws, as often as it promises, and fails perturbed ones."""

import numpy as np
import pytest
from numpy.typing import NDArray

from reference.agreement import Disagreement, assert_agrees, assert_means_agree, lump_evenly, lump_rare
from reference.trees.spaces import MISSING, SPACES, TIES, Space

CHAINS, DRAWS = 4, 10_000


def independent(probabilities: NDArray[np.float64], seed: int, draws: int = DRAWS) -> NDArray[np.int64]:
    return np.random.default_rng(seed).choice(len(probabilities), size=(CHAINS, draws), p=probabilities)


def sticky(states: NDArray[np.int64], stay: float, seed: int) -> NDArray[np.int64]:
    """The same distribution with autocorrelation: each draw repeats the one before with probability ``stay``."""
    moves = np.random.default_rng(seed + 10_000).random(states.shape) >= stay
    moves[:, 0] = True
    last = np.maximum.accumulate(np.where(moves, np.arange(states.shape[1]), 0), axis=1)
    return np.take_along_axis(states, last, axis=1)


def rejected(states: NDArray[np.int64], exact: NDArray[np.float64], space: Space) -> bool:
    try:
        assert_agrees(states, exact, {"leaves": space.leaves})
    except Disagreement:
        return True
    return False


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_exact_draws_pass(space: Space) -> None:
    for power in (0.0, 1.0):
        exact = space.target(power)
        assert_agrees(independent(exact, 1), exact, {"leaves": space.leaves})


def test_false_alarms_are_rare() -> None:
    """A few ten-thousandths by design; two of 300 is what a hundred times that would give."""
    exact = TIES.target(1)
    alarms = sum(rejected(sticky(independent(exact, seed), 0.6, seed), exact, TIES) for seed in range(300))
    assert alarms <= 1


@pytest.mark.parametrize("space", [TIES, MISSING], ids=lambda space: space.name)
def test_prior_draws_are_no_posterior_draws(space: Space) -> None:
    assert rejected(independent(space.target(0), 1), space.target(1), space)


def test_one_tree_a_tenth_too_frequent_fails() -> None:
    exact = TIES.target(0)
    wrong = exact.copy()
    wrong[np.argmax(exact)] *= 1.1
    assert rejected(independent(wrong / wrong.sum(), 1), exact, TIES)


def test_small_deviations_of_all_rare_trees_fail() -> None:
    """What a lost factor N/N′ does: each large tree a little too rare, none of them wrong enough alone."""
    exact = MISSING.target(0)
    wrong = exact * 0.96**MISSING.leaves
    assert rejected(independent(wrong / wrong.sum(), 1), exact, MISSING)


def test_a_missing_tree_fails() -> None:
    """Never visiting a state leaves no spread between batches; the error must not become zero, nor the test pass."""
    exact = TIES.target(0)
    wrong = exact.copy()
    wrong[np.argsort(-exact)[20]] = 0
    assert rejected(independent(wrong / wrong.sum(), 1), exact, TIES)


def test_a_stuck_chain_fails() -> None:
    exact = TIES.target(0)
    stuck = np.repeat(independent(exact, 1, draws=1), DRAWS, axis=1)
    with pytest.raises(AssertionError, match="too slowly"):
        assert_agrees(stuck, exact)


def test_a_chain_that_alternates_passes() -> None:
    """Always accepted, a swap of two rules has period two: frequencies without any spread, and exact ones."""
    states = np.tile(np.arange(DRAWS) % 2, (CHAINS, 1))
    assert_agrees(states, np.array([0.5, 0.5]), {"all": np.zeros(2, dtype=np.int64)})
    with pytest.raises(Disagreement):
        assert_agrees(states, np.array([0.52, 0.48]))


def test_an_impossible_state_fails() -> None:
    exact = np.array([0.5, 0.5, 0.0])
    states = independent(np.array([0.5, 0.5]), 1)
    assert_agrees(states, exact)
    states[0, 0] = 2
    with pytest.raises(Disagreement, match="probability zero"):
        assert_agrees(states, exact)


def test_the_only_state() -> None:
    assert_agrees(np.zeros((2, 1000), dtype=np.int64), np.ones(1))


def test_rare_states_are_lumped() -> None:
    exact = np.array([0.001, 0.6, 0.001, 0.398])
    assert lump_rare(exact, 1000, 5).tolist() == [1, 0, 1, 1]
    assert lump_rare(exact, 10_000, 5).tolist() == [2, 0, 3, 1]
    assert lump_evenly(exact, 3).tolist() == [1, 0, 1, 1]
    assert len(set(lump_evenly(np.full(100, 0.01), 10))) == 10


def test_means_of_a_slow_chain() -> None:
    """The error of an autoregressive chain is several times that of independent draws."""
    generator = np.random.default_rng(1)
    values = np.zeros((4, 6000, 2))
    for draw in range(1, 6000):
        values[:, draw] = 0.9 * values[:, draw - 1] + generator.standard_normal((4, 2))
    assert_means_agree(values, np.zeros(2))
    with pytest.raises(Disagreement):
        assert_means_agree(values, np.array([0.0, 0.5]))
