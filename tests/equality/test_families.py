"""Every family: the same seed gives the same bits, for any threads and block sizes, extended, saved, killed and resumed
or neither."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree.sampling import run as sampling
from baytree.storage import partial_path
from equality.killing import Killed, killed_after
from equality.sameness import assert_same
from families import EVERY, Case

CHAINS = {name: case for name, case in EVERY.items() if case.has_chains}

every_case = pytest.mark.parametrize("case", EVERY.values(), ids=EVERY)
case_with_chains = pytest.mark.parametrize("case", CHAINS.values(), ids=CHAINS)


def extended(posterior: Any, case: Case, whole: Any) -> Any:
    """As many draws as the whole has."""
    return bt.extend(posterior, case.design, draws=whole.draws - posterior.draws, progress=False)


@every_case
def test_a_seed_gives_the_same_bits(case: Case) -> None:
    whole = case.sample()
    assert whole.has_chains == case.has_chains
    assert_same(whole, case.sample())


@every_case
def test_threads(case: Case) -> None:
    """Fewer than there are chains, and more, which rungs and rows share."""
    assert_same(case.sample(threads=1), case.sample(threads=5))


@case_with_chains
@pytest.mark.parametrize("seconds", [1e-9, 0.001])
def test_block_size(case: Case, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = case.sample()
    monkeypatch.setattr(sampling, "BLOCK_SECONDS", seconds)
    assert_same(usual, case.sample())


@every_case
def test_saved(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one block, and in several."""
    posterior, path = case.sample(), tmp_path / "model.baytree"
    for numbers in (1_000_000, 40):
        monkeypatch.setattr("baytree.posterior.base.NUMBERS_PER_BLOCK", numbers)
        posterior.save(path)
        assert_same(posterior, bt.load(path))


@case_with_chains
def test_extended(case: Case, tmp_path: Path) -> None:
    """At once, or from a file."""
    whole, some = case.sample(), case.sample(draws=5)
    some.save(tmp_path / "some.baytree")
    assert_same(whole, extended(some, case, whole))
    assert_same(whole, extended(bt.load(tmp_path / "some.baytree"), case, whole))


@every_case
@pytest.mark.usefixtures("small_blocks")
def test_a_checkpoint_becomes_the_model_file(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "model.baytree"
    assert_same(case.sample(checkpoint=path), bt.load(path))
    assert not partial_path(path).exists()


@case_with_chains
@pytest.mark.parametrize("blocks", [0, 1, 2, 9, 30])
@pytest.mark.usefixtures("small_blocks")
def test_resumed(case: Case, blocks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after some blocks, before or in the warm-up, between draws or on the way to one, and resumed."""
    usual, path = case.sample(), tmp_path / "model.baytree"
    with monkeypatch.context() as patch:
        patch.setattr(sampling.Run, "_next_block", killed_after(blocks))
        with pytest.raises(Killed):
            case.sample(checkpoint=path)
    assert partial_path(path).exists() and not path.exists()
    assert_same(usual, bt.resume(path, case.design, progress=False))
    assert_same(usual, bt.load(path))


@case_with_chains
def test_seeds_and_chains_differ(case: Case) -> None:
    one, other = case.sample(), case.sample(seed=6)
    assert (one.log_likelihood != other.log_likelihood).any()
    assert (one.log_likelihood[0] != one.log_likelihood[1]).any()
    with pytest.raises(AssertionError):
        assert_same(one, other)


@case_with_chains
def test_other_data_do_not_go_on(case: Case) -> None:
    design: Any = case.design
    posterior, other = case.sample(), replace(design, y=np.flip(design.y).copy())
    with pytest.raises(bt.InputError, match="not the data"):
        bt.extend(posterior, other, draws=1, progress=False)
