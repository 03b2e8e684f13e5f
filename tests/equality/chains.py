"""What chains of the core are asked: the same bits for any threads and blocks, put back in the middle or not."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from baytree import _core
from baytree.mcmc.tempering import POSITION
from exact.hme.chains import ONE_RUNG

LADDERS = {
    "plain": ONE_RUNG,
    "adaptive": _core.Tempering([1.0, 0.5, 0.2, 0.0], 7, False, True),
    "mrbayes": _core.Tempering([1.0, 0.8, 0.7], 1, True, False),
}
EVERY = pytest.mark.parametrize("ladder", LADDERS)
WARMUP, DRAWS, THIN = 150, 120, 3

Taken = dict[str, np.ndarray]


def concatenated(parts: list[Taken]) -> Taken:
    """What was taken in several goes, as if in one."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def assert_same(a: Taken, b: Taken) -> None:
    assert a.keys() == b.keys()
    for name, array in a.items():
        np.testing.assert_array_equal(array, b[name], err_msg=name)


@dataclass(frozen=True)
class Handed:
    """How chains of a family are handed over: where a rung is, as a class with names, and how parts are joined."""

    position: Callable[[], Any]
    names: tuple[str, ...]
    joined: Callable[[list[Taken]], Taken] = concatenated

    def state(self, one: Any) -> list[object]:
        """All that a chain goes on from."""
        rungs = [one.rung_position(rung) for rung in range(one.rungs)]
        kept = [[getattr(rung, name) for name in self.names] for rung in rungs]
        return [*kept, [getattr(one.position(), name) for name in POSITION]]

    def move(self, one: Any, other: Any) -> None:
        """Put the other chain where this one is, as a file would: by numbers alone."""
        for rung in range(one.rungs):
            kept, copied = one.rung_position(rung), self.position()
            for name in self.names:
                setattr(copied, name, getattr(kept, name))
            other.restore_rung(rung, copied)
        position = _core.TemperingPosition()
        for name in POSITION:
            setattr(position, name, getattr(one.position(), name))
        other.restore_position(position)

    def run(self, one: Any, blocks: list[int], threads: int = 1) -> tuple[Taken, list[object]]:
        """Warm-up and draws in blocks, and the chain's state after them."""
        for begin, end in pairwise([0, *blocks, WARMUP]):
            one.warm_up(end - begin, threads)
        one.end_warm_up()
        parts = []
        for begin, end in pairwise([0, *blocks, DRAWS]):
            one.draw(end - begin, THIN, threads)
            parts.append(one.take())
        return self.joined(parts), self.state(one)

    def assert_same_in_blocks(self, chain: Callable[[], Any]) -> None:
        """Threads and block sizes do not matter."""
        whole, end = self.run(chain(), [])
        for blocks, threads in [([1, 2, 7, 64, 119], 1), (list(range(1, DRAWS)), 3)]:
            parts, other_end = self.run(chain(), blocks, threads)
            assert_same(whole, parts)
            assert end == other_end

    def assert_same_when_restored(self, chain: Callable[[], Any]) -> None:
        """After every few iterations, in the warm-up and between draws, another chain takes over."""
        whole, parts = chain(), [chain()]

        def hand_over() -> None:
            fresh = chain()
            fresh.advance(11)
            fresh.take()
            self.move(parts[-1], fresh)
            assert self.state(parts[-1]) == self.state(fresh)
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
        assert self.state(whole) == self.state(parts[-1])
        assert whole.log_likelihood == parts[-1].log_likelihood and whole.log_prior == parts[-1].log_prior
        assert_same(whole.take(), self.joined([part.take() for part in parts]))
