"""Chains over subsets: the same seed gives the same bits, for any threads and block sizes, put back in the middle or
not."""

from itertools import pairwise

import numpy as np
import pytest

from baytree import _core
from baytree.mcmc.tempering import POSITION
from exact.subset.chains import ONE_RUNG, problem, shares
from reference.subset.linear_models import Table
from reference.subset.spaces import COLLINEAR, INTERACTIONS, models

MOVES = [
    "gibbs",
    "random",
    "metropolis",
    "informed",
    "replace",
    {"random": 0.5, "metropolis": 0.5, "informed": 1.5, "replace": 0.5},
]
LADDERS = {
    "plain": ONE_RUNG,
    "adaptive": _core.Tempering([1.0, 0.5, 0.2, 0.0], 7, False, True),
    "mrbayes": _core.Tempering([1.0, 0.8, 0.7], 1, True, False),
}
EVERY = pytest.mark.parametrize("ladder", LADDERS)
WARMUP, DRAWS, THIN = 150, 120, 3


def many() -> Table:
    """So many columns that models, and what is kept of them, grow and shrink by dozens; half of them come twice."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((60, 20))
    matrix = np.column_stack([x, x[:, :10] + 0.01 * rng.standard_normal((60, 10)), x[:, 10:]])
    y = x[:, :12].sum(axis=1) / 3 + rng.standard_normal(60)
    unit = tuple(int(column) * 2 // 3 for column in range(40))
    return Table("many", matrix, y, unit)


def nearly_dependent() -> Table:
    """Of the squares of the first three columns the other two leave 1.3, 1.1 and 0.6 times what counts as dependent.

    So it depends on the order of their coming whether they may all be in a model.
    """
    basis = np.random.default_rng(2).standard_normal((30, 6))
    basis = np.linalg.qr(basis - basis.mean(axis=0))[0]
    left = 0.6e-8
    mixed = 0.68 * basis[:, 0] + np.sqrt(1 - 0.68**2) * basis[:, 1]
    third = np.sqrt(1 - left) * mixed + np.sqrt(left) * basis[:, 2]
    matrix = np.column_stack([basis[:, 0], basis[:, 1], third, basis[:, 3:5]])
    return Table("nearly dependent", matrix, 3 * basis[:, 2] + basis[:, 3], (0, 1, 2, 3, 4))


PROBLEMS = {
    "many": problem(models(many(), "hyper-g", "half")),
    "collinear": problem(models(COLLINEAR, "eb", "beta-binomial")),
    "nearly dependent": problem(models(nearly_dependent(), "c", "half")),
    "interactions": problem(models(INTERACTIONS, "ridge", "half", "weak")),
}


def chain(data: str, moves: object, ladder: str, number: int = 0, seed: int = 5) -> _core.SubsetChain:
    return _core.SubsetChain(PROBLEMS[data], shares(moves), 1.0, LADDERS[ladder], seed, number)


def joined(parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """What was taken in several goes, as if in one."""
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    lengths = np.concatenate([np.diff(part["begin"]) for part in parts])
    return whole | {"begin": np.concatenate([[0], np.cumsum(lengths)])}


def state(one: _core.SubsetChain) -> list[object]:
    """All that a chain goes on from."""
    rungs = [one.rung_position(rung) for rung in range(one.rungs)]
    kept = [(rung.stream, rung.base, rung.flips, rung.turns, rung.accepted) for rung in rungs]
    return [*kept, [getattr(one.position(), name) for name in POSITION]]


def run(data: str, moves: object, ladder: str, blocks: list[int], threads: int = 1) -> tuple[dict, list[object]]:
    """Draws taken in blocks, and the chain's state after them."""
    one = chain(data, moves, ladder)
    one.warm_up(WARMUP, threads)
    one.end_warm_up()
    parts = []
    for begin, end in pairwise([0, *blocks, DRAWS]):
        one.draw(end - begin, THIN, threads)
        parts.append(one.take())
    return joined(parts), state(one)


def assert_same(a: tuple[dict, list[object]], b: tuple[dict, list[object]]) -> None:
    for name, array in a[0].items():
        np.testing.assert_array_equal(array, b[0][name], err_msg=name)
    assert a[1] == b[1]


@EVERY
@pytest.mark.parametrize("moves", MOVES, ids=str)
@pytest.mark.parametrize("data", PROBLEMS)
def test_threads_and_block_sizes(data: str, moves: object, ladder: str) -> None:
    whole = run(data, moves, ladder, [])
    assert_same(whole, run(data, moves, ladder, [1, 2, 7, 64, 119]))
    assert_same(whole, run(data, moves, ladder, list(range(1, DRAWS)), threads=3))


@EVERY
@pytest.mark.parametrize("moves", MOVES, ids=str)
@pytest.mark.parametrize("data", PROBLEMS)
def test_warm_up_in_blocks(data: str, moves: object, ladder: str) -> None:
    whole, parts = chain(data, moves, ladder), chain(data, moves, ladder)
    whole.warm_up(WARMUP, 1)
    for begin, end in pairwise([0, 1, 6, 7, 50, WARMUP]):
        parts.warm_up(end - begin, 2)
    assert state(whole) == state(parts)


def moved(one: _core.SubsetChain, other: _core.SubsetChain) -> None:
    """Puts the other chain where this one is, as a file would: by numbers alone."""
    for rung in range(one.rungs):
        kept, copied = one.rung_position(rung), _core.SubsetPosition()
        for name in ("stream", "base", "flips", "turns", "accepted"):
            setattr(copied, name, getattr(kept, name))
        other.restore_rung(rung, copied)
    position = _core.TemperingPosition()
    for name in POSITION:
        setattr(position, name, getattr(one.position(), name))
    other.restore_position(position)


@EVERY
@pytest.mark.parametrize("moves", MOVES, ids=str)
@pytest.mark.parametrize("data", PROBLEMS)
def test_saved_and_restored(data: str, moves: object, ladder: str) -> None:
    """After every few iterations, in the warm-up and between draws, another chain takes over."""
    whole, parts = chain(data, moves, ladder), [chain(data, moves, ladder)]

    def hand_over() -> None:
        fresh = chain(data, moves, ladder)
        fresh.advance(11)
        fresh.take()
        moved(parts[-1], fresh)
        assert state(parts[-1]) == state(fresh)
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
    assert_same((whole.take(), []), (joined([part.take() for part in parts]), []))


def test_one_rung_is_a_plain_chain() -> None:
    moves = MOVES[-1]
    plain, tempered = (chain("many", moves, ladder) for ladder in ("plain", "mrbayes"))
    for one in (plain, tempered):
        one.draw(50, 1)
    first, other = plain.take(), tempered.take()
    assert "rung_log_likelihood" not in first and other["rung_log_likelihood"].shape == (50 * 3,)
    assert not np.array_equal(first["log_likelihood"], other["log_likelihood"])


def test_seeds_and_chains_differ() -> None:
    found = []
    for number, seed in [(0, 5), (1, 5), (0, 6)]:
        one = chain("many", "gibbs", "plain", number, seed)
        one.draw(20, 1)
        found.append(one.take()["log_likelihood"])
    assert (found[0] != found[1]).any() and (found[0] != found[2]).any()


def test_enumerations_are_the_same_for_any_number_of_top_models_and_draws() -> None:
    quantiles = np.sort(np.random.default_rng(1).random(100))
    some = _core.enumerate_subsets(PROBLEMS["collinear"], 5, quantiles)
    more = _core.enumerate_subsets(PROBLEMS["collinear"], 50, quantiles[:1])
    assert some["log_total"] == more["log_total"]
    for name in ("inclusion", "sizes"):
        np.testing.assert_array_equal(some[name], more[name])
    np.testing.assert_array_equal(some["log_likelihood"], more["log_likelihood"][:5])
    np.testing.assert_array_equal(some["drawn_unit"][: some["drawn_begin"][1]], more["drawn_unit"])
