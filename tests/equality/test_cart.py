"""Chains over single trees: one rung is no tempering, a run that began at a tree can be resumed, and rows that are kept
as sets of bits give the same bits as lists."""

from pathlib import Path

import pytest

import baytree as bt
from baytree.sampling import run as sampling
from equality.killing import Killed, killed_after
from equality.sameness import assert_same
from exact.cart.chains import model
from exact.trees.native import read_space
from families import CASES, Case, bins
from reference.trees.spaces import CONSTRAINED, SPACES, Space

EVERY_PROPOSAL = {"uc": 1, "q0": 1, "cycle(5)": 1, "birth_death": 1, "change": 1, "swap": 1}


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


def assert_rows_make_no_difference(case: Case, monkeypatch: pytest.MonkeyPatch, simd: str = "") -> None:
    monkeypatch.setenv("BAYTREE_ROWS", "lists")
    lists = case.sample()
    monkeypatch.setenv("BAYTREE_ROWS", "sets")
    monkeypatch.setenv("BAYTREE_SIMD", simd)
    assert_same(lists, case.sample())


@pytest.mark.parametrize("simd", ["plain", "avx2", "avx512"])
@pytest.mark.parametrize("case", CASES["cart"].values(), ids=CASES["cart"])
def test_rows_as_sets(case: Case, simd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_rows_make_no_difference(case, monkeypatch, simd)


@pytest.mark.filterwarnings("ignore:.*cannot be divided")  # a space of one leaf
@pytest.mark.parametrize("space", [*SPACES, *CONSTRAINED], ids=lambda space: space.name)
def test_rows_of_small_spaces_as_sets(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"warmup": 300, "draws": 100, "temperatures": 3, "swap_every": 4}
    assert_rows_make_no_difference(Case(model(space, EVERY_PROPOSAL), read_space(space), settings), monkeypatch)


@pytest.mark.parametrize("name", ["kyphosis", "breast_cancer", "pima", "boston"])
def test_rows_of_tables_as_sets(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(bt.CART(), bt.datasets.load(name).design(max_cuts=None), {"warmup": 2000, "temperatures": 3})
    assert_rows_make_no_difference(case, monkeypatch)


def test_forms_of_rows_that_there_are_none_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAYTREE_ROWS", "heaps")
    with pytest.raises(bt.InputError, match=r"no BAYTREE_ROWS 'heaps'.*Choose from: suited, lists, sets"):
        Case(bt.CART(), bins()).sample()
