"""Chains over mixtures of experts: the same seed gives the same bits, for any threads and block sizes, put back in the
middle or not."""

from itertools import pairwise

import numpy as np
import pytest

from baytree import _core
from baytree.mcmc.tempering import POSITION
from exact.hme.chains import ONE_RUNG, problem
from reference.hme.mixtures import DEEP, PAIRS, THREE_CLASSES, TWO_CLASSES

LADDERS = {
    "plain": ONE_RUNG,
    "adaptive": _core.Tempering([1.0, 0.5, 0.2, 0.0], 7, False, True),
    "mrbayes": _core.Tempering([1.0, 0.8, 0.7], 1, True, False),
}
PROBLEMS = {mixture.name: problem(mixture) for mixture in (DEEP, PAIRS, TWO_CLASSES, THREE_CLASSES)}
EVERY = pytest.mark.parametrize("ladder", LADDERS)
DATA = pytest.mark.parametrize("data", PROBLEMS)
RUNG = ("stream", "steps", "leaf", "gates", "coefficients", "variance")
WARMUP, DRAWS, THIN = 150, 120, 3


def chain(data: str, ladder: str, number: int = 0, seed: int = 5) -> _core.HMEChain:
    return _core.HMEChain(PROBLEMS[data], 1.0, LADDERS[ladder], seed, number)


def joined(parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """What was taken in several goes, as if in one."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def state(one: _core.HMEChain) -> list[object]:
    """All that a chain goes on from."""
    rungs = [one.rung_position(rung) for rung in range(one.rungs)]
    kept = [[getattr(rung, name) for name in RUNG] for rung in rungs]
    return [*kept, [getattr(one.position(), name) for name in POSITION]]


def run(data: str, ladder: str, blocks: list[int], threads: int = 1) -> tuple[dict[str, np.ndarray], list[object]]:
    """Draws taken in blocks, and the chain's state after them."""
    one = chain(data, ladder)
    for begin, end in pairwise([0, *blocks, WARMUP]):
        one.warm_up(end - begin, threads)
    one.end_warm_up()
    parts = []
    for begin, end in pairwise([0, *blocks, DRAWS]):
        one.draw(end - begin, THIN, threads)
        parts.append(one.take())
    return joined(parts), state(one)


def assert_same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> None:
    assert a.keys() == b.keys()
    for name, array in a.items():
        np.testing.assert_array_equal(array, b[name], err_msg=name)


@EVERY
@DATA
def test_threads_and_block_sizes(data: str, ladder: str) -> None:
    whole, end = run(data, ladder, [])
    for blocks, threads in [([1, 2, 7, 64, 119], 1), (list(range(1, DRAWS)), 3)]:
        parts, other_end = run(data, ladder, blocks, threads)
        assert_same(whole, parts)
        assert end == other_end


@EVERY
@DATA
def test_saved_and_restored(data: str, ladder: str) -> None:
    """After every few iterations, in the warm-up and between draws, another chain takes over, by numbers alone."""
    whole, parts = chain(data, ladder), [chain(data, ladder)]

    def hand_over() -> None:
        before, fresh = parts[-1], chain(data, ladder)
        fresh.advance(11)
        for rung in range(before.rungs):
            copied = _core.HMEPosition()
            for name in RUNG:
                setattr(copied, name, getattr(before.rung_position(rung), name))
            fresh.restore_rung(rung, copied)
        position = _core.TemperingPosition()
        for name in POSITION:
            setattr(position, name, getattr(before.position(), name))
        fresh.restore_position(position)
        assert state(before) == state(fresh)
        parts.append(fresh)

    whole.warm_up(60, 1)
    for _ in range(20):
        parts[-1].warm_up(3, 1)
        hand_over()
    for one in (whole, parts[-1]):
        one.end_warm_up()
    whole.draw(90, 2)
    for _ in range(30):
        parts[-1].draw(3, 2)
        hand_over()
    assert state(whole) == state(parts[-1])
    assert whole.log_likelihood == parts[-1].log_likelihood and whole.log_prior == parts[-1].log_prior
    assert_same(whole.take(), joined([part.take() for part in parts]))


def test_seeds_and_chains_differ() -> None:
    found = []
    for number, seed in [(0, 5), (1, 5), (0, 6)]:
        one = chain("deep", "plain", number, seed)
        one.draw(20, 1)
        found.append(one.take()["log_likelihood"])
    assert (found[0] != found[1]).any() and (found[0] != found[2]).any()
