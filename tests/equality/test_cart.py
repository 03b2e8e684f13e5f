"""The same seed gives the same bits: for any threads, any block size, extended, saved, resumed or neither."""

from pathlib import Path

import numpy as np
import pytest

import baytree as bt
from baytree.knowledge import Monotone
from baytree.sampling import run as sampling
from baytree.storage import partial_path

PROPOSALS = ["uc", "cycle(4)", "auto", "program:auto", "program:address", "program:cycle(4)"]
# Leaf values are part of the state.
MONOTONE = ["monotone:auto", "monotone program:auto"]
SIGNS = {"classification": {"clump_thickness": 1, "mitoses": -1}, "regression": {"x4": 1, "x5": -1}}


def regression() -> bt.Design:
    data = bt.datasets.friedman(200, seed=3)
    return data.design()


def classification() -> bt.Design:
    return bt.datasets.load("breast_cancer").design()


DESIGNS = {"classification": classification(), "regression": regression()}


def assert_same(a: bt.Posterior, b: bt.Posterior) -> None:
    for name, array in a.forest.arrays().items():
        np.testing.assert_array_equal(array, b.forest.arrays()[name], err_msg=name)
    for name in ("statistics", "tree_index", "log_likelihood", "log_prior", "values"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    np.testing.assert_equal(a.rung_log_likelihood, b.rung_log_likelihood)
    assert a.states == b.states
    assert a.model == b.model
    assert a.schema == b.schema


def draw(task: str, proposal: str = "auto", **options: object) -> bt.Posterior:
    settings = {"warmup": 150, "draws": 120, "thin": 3, "chains": 3, "seed": 5, "progress": False} | options
    kind, _, name = proposal.rpartition(":")
    prior = bt.slp.load("growtree.slp", semantics="reject") if "program" in kind else bt.GrowTree()
    if kind == "monotone":
        prior = prior & Monotone(**SIGNS[task])
    elif kind == "monotone program":
        facts = "".join(f"monotone({column}, {sign}).\n" for column, sign in SIGNS[task].items())
        prior = bt.slp.Program(prior.text + facts, semantics="reject")
    return bt.sample(bt.CART(prior, proposal=name), DESIGNS[task], **settings)


@pytest.mark.parametrize("proposal", [*PROPOSALS, *MONOTONE])
@pytest.mark.parametrize("task", DESIGNS)
def test_threads(task: str, proposal: str) -> None:
    assert_same(draw(task, proposal, threads=1), draw(task, proposal, threads=3))


@pytest.mark.parametrize("proposal", ["auto", "program:auto", *MONOTONE])
@pytest.mark.parametrize("ladder", ["adaptive", "mrbayes"])
@pytest.mark.parametrize("task", DESIGNS)
def test_tempered(task: str, ladder: str, proposal: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Threads that share rungs, block sizes that divide the time between swaps, extended, saved and loaded."""
    tempered = {"temperatures": 4, "ladder": ladder, "swap_every": 7}
    whole = draw(task, proposal, threads=1, **tempered)
    assert_same(whole, draw(task, proposal, threads=8, **tempered))
    short = draw(task, proposal, draws=50, **tempered)
    short.save(tmp_path / "short.baytree")
    short = bt.load(tmp_path / "short.baytree")
    assert_same(whole, bt.extend(short, DESIGNS[task], draws=70, progress=False))
    monkeypatch.setattr(sampling, "BLOCK_SECONDS", 1e-9)
    assert_same(whole, draw(task, proposal, **tempered))


@pytest.mark.parametrize("proposal", ["auto", "program:auto"])
def test_one_rung_is_a_plain_chain(proposal: str) -> None:
    plain = draw("classification", proposal)
    assert plain.rung_log_likelihood is None
    for ladder in ("adaptive", "mrbayes"):
        assert_same(plain, draw("classification", proposal, temperatures=1, ladder=ladder, swap_every=3))
    tempered = draw("classification", proposal, temperatures=2)
    assert not np.array_equal(plain.log_likelihood, tempered.log_likelihood)


@pytest.mark.parametrize("seconds", [1e-9, 0.001])
@pytest.mark.parametrize("task", DESIGNS)
def test_block_size(task: str, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = draw(task)
    monkeypatch.setattr(sampling, "BLOCK_SECONDS", seconds)
    assert_same(usual, draw(task))


@pytest.mark.parametrize("proposal", [*PROPOSALS, *MONOTONE])
@pytest.mark.parametrize("task", DESIGNS)
def test_extend(task: str, proposal: str) -> None:
    short = draw(task, proposal, draws=50)
    assert_same(draw(task, proposal), bt.extend(short, DESIGNS[task], draws=70, progress=False))


@pytest.mark.parametrize("proposal", ["auto", *MONOTONE])
@pytest.mark.parametrize("task", DESIGNS)
def test_save_and_load(task: str, proposal: str, tmp_path: Path) -> None:
    posterior = draw(task, proposal)
    assert (posterior.values is None) == (proposal == "auto")
    posterior.save(tmp_path / "model.baytree")
    loaded = bt.load(tmp_path / "model.baytree")
    assert_same(posterior, loaded)
    assert posterior.settings == loaded.settings
    assert_same(bt.extend(posterior, DESIGNS[task], progress=False), bt.extend(loaded, DESIGNS[task], progress=False))


@pytest.mark.parametrize("proposal", ["auto", *MONOTONE])
def test_save_in_several_blocks(proposal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    posterior = draw("classification", proposal)
    monkeypatch.setattr("baytree.posterior.base.NUMBERS_PER_BLOCK", 40)
    posterior.save(tmp_path / "model.baytree")
    assert_same(posterior, bt.load(tmp_path / "model.baytree"))


@pytest.mark.parametrize("proposal", ["auto", *MONOTONE])
@pytest.mark.parametrize("task", DESIGNS)
def test_checkpoint(task: str, proposal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "BLOCK_SECONDS", 1e-4)
    monkeypatch.setattr(sampling, "CHECKPOINT_SECONDS", 0.0)
    path = tmp_path / "model.baytree"
    posterior = draw(task, proposal, checkpoint=path)
    assert_same(posterior, bt.load(path))
    assert not partial_path(path).exists()


class Killed(BaseException):
    """Stands for a process that is gone."""


@pytest.mark.parametrize("blocks", [0, 1, 2, 9, 60, 200])
@pytest.mark.parametrize("proposal", ["auto", "monotone:auto"])
@pytest.mark.parametrize("task", DESIGNS)
def test_resume(task: str, proposal: str, blocks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after some blocks, before or in the warm-up, between draws or in the middle of one, and resumed."""
    start = draw(task, draws=1, seed=9).tree(0, 0)
    usual = draw(task, proposal, init=start)
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
            draw(task, proposal, checkpoint=path, init=start)
    assert_same(usual, bt.resume(path, DESIGNS[task], progress=False))
    assert_same(usual, bt.load(path))


def test_seeds_and_chains_differ() -> None:
    one, other = draw("classification", seed=1), draw("classification", seed=2)
    assert (one.log_likelihood != other.log_likelihood).any()
    assert (one.log_likelihood[0] != one.log_likelihood[1]).any()


def test_other_data_are_refused() -> None:
    posterior = draw("classification")
    with pytest.raises(bt.InputError, match="not the data"):
        bt.extend(posterior, bt.datasets.load("pima").design(), draws=1, progress=False)
