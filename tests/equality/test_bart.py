"""Sums of trees: the same bits for any width of registers, and for any threads that share the rows of a long table."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import baytree as bt
from equality.sameness import assert_same
from families import CASES, Case


def weighted() -> bt.Design:
    """More rows than four blocks of a pass, no multiple of anything; a wide column, missing values and levels."""
    generator = np.random.default_rng(1)
    rows = 17_003
    x = generator.random((rows, 4))
    x[:, 1] = np.round(x[:, 1], 1)
    x[generator.random(rows) < 0.1, 2] = np.nan
    level = np.array(list("abcde"))[generator.integers(5, size=rows)]
    y = 3 * x[:, 0] + np.sin(6 * x[:, 1]) + (level == "c") + generator.standard_normal(rows)
    table = {f"x{j}": x[:, j] for j in range(4)} | {"level": level}
    return bt.make_design(
        pl.DataFrame(table), y, task="regression", sample_weight=generator.uniform(0.5, 2, rows), max_cuts=400
    )


def levels() -> bt.Design:
    """Responses that differ from value to value of a column, for a tree of many leaves."""
    generator = np.random.default_rng(1)
    value = generator.integers(40, size=1003)
    x = np.column_stack([value, generator.random(1003)]).astype(float)
    return bt.make_design(x, generator.standard_normal(40)[value] + 0.01 * x[:, 1], task="regression", max_cuts=300)


SPARSE = bt.GrowTree(beta=2.0) & bt.Weights("sparse")
ROWS, SHORT = weighted(), {"warmup": 5, "draws": 5, "thin": 2}
LONG = {
    "long": Case(bt.BART(trees=5), ROWS, SHORT),
    "long, grown": Case(bt.BART(trees=5, init="grow"), ROWS, SHORT),
    "long, variance": Case(
        bt.BART(trees=5, prior=SPARSE, variance="forest", variance_trees=3, k="learned"), ROWS, SHORT
    ),
    "long, soft": Case(bt.BART(trees=5, prior=SPARSE, split="soft", k="learned"), ROWS, SHORT),
}
MANY_LEAVES = bt.BART(trees=1, prior=bt.GrowTree(beta=0.1, min_leaf=1), proposal={"birth_death": 6.0, "change": 1.5})
LEAVES = Case(MANY_LEAVES, levels())


@pytest.mark.parametrize("case", LONG.values(), ids=LONG)
@pytest.mark.parametrize("chains", [1, 3])
def test_threads_that_share_a_chain(chains: int, case: Case) -> None:
    assert_same(case.sample(chains=chains, threads=1), case.sample(chains=chains, threads=5))


@pytest.mark.parametrize("simd", ["plain", "avx2"])
@pytest.mark.parametrize(
    "case", [*CASES["bart"].values(), *LONG.values(), LEAVES], ids=[*CASES["bart"], *LONG, "leaves"]
)
def test_width_of_registers(case: Case, simd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The widest that the machine has, and narrower ones; where it has none of them the two are the same."""
    widest = case.sample()
    assert case is not LEAVES or widest.ensemble.leaves.max() > 32
    monkeypatch.setenv("BAYTREE_SIMD", simd)
    assert_same(widest, case.sample())


def test_other_offsets_do_not_go_on() -> None:
    case = CASES["bart"]["weights and offset"]
    design: Any = case.design
    for offset in (np.linspace(0, 1, design.rows), None):
        with pytest.raises(bt.InputError, match="not the data"):
            bt.extend(case.sample(), replace(design, offset=offset), draws=1, progress=False)


def test_another_proof_is_refused() -> None:
    """A proof that derives another tree than the one that was saved with it."""
    case = CASES["bart"]["program"]
    model = case.model.resolve(case.design)
    first, second = model.chains(case.design, 1, 2)
    state, other = model.state_of(first), model.state_of(second)
    with pytest.raises(bt.InputError, match="not the one that its proof derives"):
        model.restore(first, state | {"proofs": other["proofs"]})
    with pytest.raises(bt.InputError, match="another model"):
        model.restore(second, other | {"proofs": []})
