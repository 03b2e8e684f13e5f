"""Chains over single trees: one rung is no tempering, and a run that began at a tree can be resumed."""

from pathlib import Path

import pytest

import baytree as bt
from baytree.sampling import run as sampling
from equality.killing import Killed, killed_after
from equality.sameness import assert_same
from families import CASES


@pytest.mark.parametrize("name", ["two classes", "program"])
def test_one_rung_is_a_plain_chain(name: str) -> None:
    case = CASES["cart"][name]
    plain = case.sample()
    assert plain.rung_log_likelihood is None
    for ladder in ("adaptive", "mrbayes"):
        one_rung = case.sample(ladder=ladder, swap_every=3)
        assert_same(plain.states, one_rung.states)
        assert_same(plain.forest, one_rung.forest)
        assert_same(plain.log_likelihood, one_rung.log_likelihood)
    assert (case.sample(temperatures=3, swap_every=3).log_likelihood != plain.log_likelihood).any()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("blocks", [0, 1, 2, 9, 30])
@pytest.mark.parametrize("name", ["two classes", "monotone"])
def test_a_run_that_began_at_a_tree_is_resumed(
    name: str, blocks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, path = CASES["cart"][name], tmp_path / "model.baytree"
    start = case.sample(draws=1, seed=9).tree(0, 0)
    with monkeypatch.context() as patch:
        patch.setattr(sampling.Run, "_next_block", killed_after(blocks))
        with pytest.raises(Killed):
            case.sample(checkpoint=path, init=start)
    assert_same(case.sample(init=start), bt.resume(path, case.design, progress=False))
