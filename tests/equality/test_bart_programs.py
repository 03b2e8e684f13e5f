"""Sums of trees of a program: the same bits for any threads and block size, extended, saved, resumed or not."""

from pathlib import Path

import numpy as np
import pytest

import baytree as bt
from baytree import InputError
from baytree.sampling import run as sampling
from baytree.storage import partial_path

generator = np.random.default_rng(2)
DESIGNS = {
    "numbers": bt.datasets.friedman(203, seed=3).design(),
    "weighted": bt.make_design(
        generator.random((150, 3)),
        generator.standard_normal(150),
        task="regression",
        sample_weight=generator.uniform(0.5, 2, 150),
    ),
    "probit": bt.datasets.load("breast_cancer").design(),
    "classes": bt.make_design(
        generator.random((107, 3)), np.array(list("abc"))[generator.integers(3, size=107)], task="classification"
    ),
}
PRIORS = {
    "backtrack": bt.slp.load("growtree.slp"),
    "reject": bt.slp.load("growtree.slp", semantics="reject") & bt.MaxDepth(3),
    "monotone": bt.slp.load("growtree.slp") & bt.Monotone(x4=1),
}
RUNS = pytest.mark.parametrize(
    ("data", "prior"),
    [
        ("numbers", "backtrack"),
        ("numbers", "monotone"),
        ("weighted", "reject"),
        ("probit", "backtrack"),
        ("classes", "backtrack"),
    ],
)


def draw(data: str, prior: str, **options: object) -> bt.BARTPosterior:
    settings = {"warmup": 15, "draws": 20, "thin": 3, "chains": 2, "seed": 5, "progress": False} | options
    model = bt.BART(trees=6, prior=PRIORS[prior], moves={"subtree": 1.5})
    return bt.sample(model, DESIGNS[data], **settings)


def assert_same(a: bt.BARTPosterior, b: bt.BARTPosterior) -> None:
    for name, array in a.ensemble.forest.arrays().items():
        np.testing.assert_array_equal(array, b.ensemble.forest.arrays()[name], err_msg=name)
    for name in ("tree_index", "values"):
        np.testing.assert_array_equal(getattr(a.mean, name), getattr(b.mean, name), err_msg=name)
    for name in ("sigma", "log_likelihood"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert a.states == b.states
    assert a.model == b.model


@RUNS
def test_threads(data: str, prior: str) -> None:
    assert_same(draw(data, prior, threads=1), draw(data, prior, threads=5))


@RUNS
def test_block_size(data: str, prior: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = draw(data, prior)
    monkeypatch.setattr(sampling, "BLOCK_SECONDS", 1e-9)
    assert_same(usual, draw(data, prior))


@RUNS
def test_saved_and_extended(data: str, prior: str, tmp_path: Path) -> None:
    short = draw(data, prior, draws=7)
    short.save(tmp_path / "model.baytree")
    loaded = bt.load(tmp_path / "model.baytree")
    assert_same(short, loaded)
    assert_same(draw(data, prior), bt.extend(loaded, DESIGNS[data], draws=13, progress=False))


class Killed(BaseException):
    """Stands for a process that is gone."""


@pytest.mark.parametrize("blocks", [1, 9, 40])
@RUNS
def test_resumed(data: str, prior: str, blocks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed in the warm-up, and between draws or on the way to one."""
    usual = draw(data, prior)
    monkeypatch.setattr(sampling, "BLOCK_SECONDS", 1e-9)
    monkeypatch.setattr(sampling, "CHECKPOINT_SECONDS", 0.0)
    advance, count = sampling.Run._next_block, 0

    def dying(run: sampling.Run) -> int:
        nonlocal count
        if count == blocks:
            raise Killed
        count += 1
        return advance(run)

    path = tmp_path / "model.baytree"
    monkeypatch.setattr(sampling.Run, "_next_block", dying)
    with pytest.raises(Killed):
        draw(data, prior, checkpoint=path)
    monkeypatch.setattr(sampling.Run, "_next_block", advance)
    assert partial_path(path).exists()
    assert_same(usual, bt.resume(path, DESIGNS[data], progress=False))


def test_another_proof_is_refused() -> None:
    """A proof that derives another tree than the one that was saved with it."""
    design = DESIGNS["numbers"]
    model = draw("numbers", "backtrack").model
    first, second = model.chains(design, 1, 2)
    state, other = model.state_of(first), model.state_of(second)
    with pytest.raises(InputError, match="not the one that its proof derives"):
        model.restore(first, state | {"proofs": other["proofs"]})
    with pytest.raises(InputError, match="another model"):
        model.restore(second, other | {"proofs": []})
