"""Chains over subsets: the same seed gives the same bits, for any threads and block sizes, put back in the middle or
not."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from baytree import _core
from equality.chains import EVERY, LADDERS, Handed, Taken, concatenated
from exact.subset.chains import problem, shares
from reference.subset.linear_models import Table
from reference.subset.spaces import COLLINEAR, INTERACTIONS, models

PROPOSALS = [
    "gibbs",
    "random",
    "metropolis",
    "informed",
    "replace",
    {"random": 0.5, "metropolis": 0.5, "informed": 1.5, "replace": 0.5},
]


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


def chain(data: str, proposal: Any, ladder: str, number: int = 0, seed: int = 5) -> _core.SubsetChain:
    return _core.SubsetChain(PROBLEMS[data], shares(proposal), 1.0, LADDERS[ladder], seed, number)


def joined(parts: list[Taken]) -> Taken:
    """Of places in what was taken, those in the whole."""
    lengths = np.concatenate([np.diff(part["begin"]) for part in parts])
    return concatenated(parts) | {"begin": np.concatenate([[0], np.cumsum(lengths)])}


HANDED = Handed(_core.SubsetPosition, ("stream", "base", "flips", "turns", "accepted"), joined)


@EVERY
@pytest.mark.parametrize("proposal", PROPOSALS, ids=str)
@pytest.mark.parametrize("data", PROBLEMS)
def test_threads_and_block_sizes(data: str, proposal: Any, ladder: str) -> None:
    HANDED.assert_same_in_blocks(partial(chain, data, proposal, ladder))


@EVERY
@pytest.mark.parametrize("proposal", PROPOSALS, ids=str)
@pytest.mark.parametrize("data", PROBLEMS)
def test_saved_and_restored(data: str, proposal: Any, ladder: str) -> None:
    HANDED.assert_same_when_restored(partial(chain, data, proposal, ladder))


def test_one_rung_is_a_plain_chain() -> None:
    proposal = PROPOSALS[-1]
    plain, tempered = (chain("many", proposal, ladder) for ladder in ("plain", "mrbayes"))
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
