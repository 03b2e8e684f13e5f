"""Chains over mixtures of experts: the same seed gives the same bits, for any threads and block sizes, put back in the
middle or not."""

from functools import partial

import pytest

from baytree import _core
from equality.chains import EVERY, LADDERS, Handed
from exact.hme.chains import problem
from reference.hme.mixtures import DEEP, PAIRS, THREE_CLASSES, TWO_CLASSES

PROBLEMS = {mixture.name: problem(mixture) for mixture in (DEEP, PAIRS, TWO_CLASSES, THREE_CLASSES)}
DATA = pytest.mark.parametrize("data", PROBLEMS)
HANDED = Handed(_core.HMEPosition, ("stream", "steps", "leaf", "gates", "coefficients", "variance"))


def chain(data: str, ladder: str, number: int = 0, seed: int = 5) -> _core.HMEChain:
    return _core.HMEChain(PROBLEMS[data], 1.0, LADDERS[ladder], seed, number)


@EVERY
@DATA
def test_threads_and_block_sizes(data: str, ladder: str) -> None:
    HANDED.assert_same_in_blocks(partial(chain, data, ladder))


@EVERY
@DATA
def test_saved_and_restored(data: str, ladder: str) -> None:
    HANDED.assert_same_when_restored(partial(chain, data, ladder))


def test_seeds_and_chains_differ() -> None:
    found = []
    for number, seed in [(0, 5), (1, 5), (0, 6)]:
        one = chain("deep", "plain", number, seed)
        one.draw(20, 1)
        found.append(one.take()["log_likelihood"])
    assert (found[0] != found[1]).any() and (found[0] != found[2]).any()
