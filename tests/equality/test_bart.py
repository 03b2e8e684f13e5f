"""Sums of trees: the same seed gives the same bits, for any threads, block size and width of registers, extended,
saved, resumed or neither."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree.knowledge import Monotone
from baytree.sampling import run as sampling
from baytree.storage import partial_path


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


DESIGNS = {
    "numbers": bt.datasets.friedman(203, seed=3).design(),
    "rows": weighted(),
    "leaves": levels(),
    "probit": bt.datasets.load("breast_cancer").design(),
    "classes": bt.make_design(
        np.random.default_rng(2).random((107, 3)),
        np.array(list("abc"))[np.random.default_rng(3).integers(3, size=107)],
        task="classification",
    ),
}
KNOWN = {
    "plain": bt.Knowledge(),
    "sparse": bt.Knowledge() & bt.Weights("sparse"),
    "monotone": bt.Knowledge() & Monotone(x3=1),
    "grown": bt.Knowledge(),
    "forest": bt.Knowledge() & bt.Weights("sparse"),
    "soft": bt.Knowledge() & bt.Weights("sparse"),
}
RUNS = [
    *(("numbers", kind) for kind in KNOWN),
    *(("probit", "sparse"), ("probit", "soft"), ("classes", "plain"), ("classes", "grown")),
]
ROWS = [*RUNS, *(("rows", kind) for kind in ("plain", "grown", "forest", "soft")), ("leaves", "plain")]
EVERY = pytest.mark.parametrize(("data", "kind"), RUNS)


def assert_same(a: bt.BARTPosterior, b: bt.BARTPosterior) -> None:
    for one, other in zip((a.ensemble, a.variance_ensemble), (b.ensemble, b.variance_ensemble), strict=True):
        if one is None or other is None:
            assert one is other
            continue
        for name, array in one.forest.arrays().items():
            np.testing.assert_array_equal(array, other.forest.arrays()[name], err_msg=name)
        for name in ("tree_index", "values", "bandwidths"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("sigma", "leaf_sd", "log_likelihood", "log_weights", "concentration"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert a.states == b.states
    assert a.model == b.model
    assert a.schema == b.schema


def model(data: str, kind: str) -> bt.BART:
    if data == "leaves":
        moves = {"birth_death": 6.0, "change": 1.5}
        return bt.BART(trees=1, prior=bt.GrowTree(beta=0.1, min_leaf=1), moves=moves)
    prior, few = bt.GrowTree(beta=2.0) & KNOWN[kind], data == "rows"
    noise = {"variance": "forest", "variance_trees": 3 if few else 8} if kind == "forest" else {}
    start, split = "grow" if kind == "grown" else "root", "soft" if kind == "soft" else "hard"
    k = "learned" if kind in ("soft", "sparse", "forest") else 2.0
    return bt.BART(trees=5 if few else 20, prior=prior, k=k, init=start, split=split, **noise)


def draw(data: str, kind: str = "plain", **options: object) -> bt.BARTPosterior:
    settings = {"warmup": 30, "draws": 40, "thin": 2, "chains": 3, "seed": 5, "progress": False} | options
    return bt.sample(model(data, kind), DESIGNS[data], **settings)


@EVERY
def test_threads(data: str, kind: str) -> None:
    assert_same(draw(data, kind, threads=1), draw(data, kind, threads=3))


@pytest.mark.parametrize("kind", ["plain", "forest", "soft"])
@pytest.mark.parametrize("chains", [1, 3])
def test_threads_that_share_a_chain(chains: int, kind: str) -> None:
    few = {"chains": chains, "warmup": 5, "draws": 5}
    assert_same(draw("rows", kind, threads=1, **few), draw("rows", kind, threads=5, **few))


@pytest.mark.parametrize("simd", ["plain", "avx2"])
@pytest.mark.parametrize(("data", "kind"), ROWS)
def test_width_of_registers(data: str, kind: str, simd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The widest that the machine has, and narrower ones; where it has none of them the two are the same."""
    few = {"chains": 1, "warmup": 10, "draws": 10} if data == "rows" else {}
    widest = draw(data, kind, **few)
    assert data != "leaves" or widest.ensemble.leaves.max() > 32
    monkeypatch.setenv("BAYTREE_SIMD", simd)
    assert_same(widest, draw(data, kind, **few))


@pytest.mark.parametrize("seconds", [1e-9, 0.001])
@EVERY
def test_block_size(data: str, kind: str, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = draw(data, kind)
    monkeypatch.setattr(sampling, "BLOCK_SECONDS", seconds)
    assert_same(usual, draw(data, kind))


@EVERY
def test_extend(data: str, kind: str) -> None:
    short = draw(data, kind, draws=13)
    assert_same(draw(data, kind), bt.extend(short, DESIGNS[data], draws=27, progress=False))


@EVERY
def test_save_and_load(data: str, kind: str, tmp_path: Path) -> None:
    posterior = draw(data, kind)
    posterior.save(tmp_path / "model.baytree")
    loaded = bt.load(tmp_path / "model.baytree")
    assert_same(posterior, loaded)
    assert posterior.settings == loaded.settings
    assert_same(bt.extend(posterior, DESIGNS[data], progress=False), bt.extend(loaded, DESIGNS[data], progress=False))


def test_save_in_several_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    posterior = draw("probit", "sparse")
    monkeypatch.setattr("baytree.posterior.base.NUMBERS_PER_BLOCK", 400)
    posterior.save(tmp_path / "model.baytree")
    assert_same(posterior, bt.load(tmp_path / "model.baytree"))


@EVERY
def test_checkpoint(data: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "BLOCK_SECONDS", 1e-4)
    monkeypatch.setattr(sampling, "CHECKPOINT_SECONDS", 0.0)
    path = tmp_path / "model.baytree"
    posterior = draw(data, kind, checkpoint=path)
    assert_same(posterior, bt.load(path))
    assert not partial_path(path).exists()


class Killed(BaseException):
    """Stands for a process that is gone."""


@pytest.mark.parametrize("blocks", [0, 1, 2, 9, 60])
@EVERY
def test_resume(data: str, kind: str, blocks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after some blocks, before or in the warm-up, between draws or in the middle of one, and resumed."""
    usual = draw(data, kind)
    monkeypatch.setattr(sampling, "BLOCK_SECONDS", 1e-9)
    monkeypatch.setattr(sampling, "CHECKPOINT_SECONDS", 0.0)
    path = tmp_path / "model.baytree"
    advance, count = sampling.Run._next_block, 0

    def until_killed(run: sampling.Run) -> int:
        nonlocal count
        if count == blocks:
            raise Killed
        count += 1
        return advance(run)

    with monkeypatch.context() as patch:
        patch.setattr(sampling.Run, "_next_block", until_killed)
        with pytest.raises(Killed):
            draw(data, kind, checkpoint=path)
    assert_same(usual, bt.resume(path, DESIGNS[data], progress=False))
    assert_same(usual, bt.load(path))


def test_seeds_and_chains_differ() -> None:
    one, other = draw("numbers", seed=1), draw("numbers", seed=2)
    assert (one.sigma != other.sigma).any()
    assert (one.sigma[0] != one.sigma[1]).any()


def test_other_data_are_refused() -> None:
    with pytest.raises(bt.InputError, match="not the data"):
        bt.extend(draw("numbers"), DESIGNS["rows"], draws=1, progress=False)


def test_other_offsets_are_refused() -> None:
    design = DESIGNS["numbers"]
    shifted = replace(design, offset=np.linspace(0, 1, design.rows))
    with pytest.raises(bt.InputError, match="not the data"):
        bt.extend(draw("numbers"), shifted, draws=1, progress=False)
