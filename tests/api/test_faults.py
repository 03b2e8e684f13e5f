"""Faults are for the tests alone: no name reaches one from Python or the command line, and no wheel has any."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import baytree as bt
from baytree.cli import app
from baytree.mcmc.contract import AnyModel
from faults import injected, testing

ROOT = Path(__file__).parents[2]
QUICK: dict[str, Any] = {"chains": 1, "warmup": 5, "draws": 5, "seed": 1, "progress": False}

MODELS: dict[str, Callable[[], Any]] = {
    "cart": lambda: bt.CART(proposal="wrong:uc"),
    "cart, mixed": lambda: bt.CART(proposal={"wrong:uc": 1, "swap": 2}),
    "cart, monotone": lambda: bt.CART(
        bt.GrowTree() & bt.knowledge.Monotone(age=1), proposal="wrong:unordered:birth_death"
    ),
    "cart, program": lambda: bt.CART(bt.slp.load("growtree.slp"), proposal="wrong:one:subtree"),
    "bart": lambda: bt.BART(trees=3, proposal={"wrong:birth_death": 1}),
    "bart, soft": lambda: bt.BART(trees=3, split="soft", proposal={"birth_death": 1, "wrong:bandwidth": 1}),
    "bart, program": lambda: bt.BART(trees=3, prior=bt.slp.load("growtree.slp"), proposal="wrong:one:subtree"),
    "subset": lambda: bt.Subset(method="sample", proposal={"wrong:gibbs": 1}),
}


@pytest.fixture(scope="module")
def kyphosis() -> bt.datasets.Dataset:
    return bt.datasets.load("kyphosis")


def design_for(model: AnyModel, data: bt.datasets.Dataset) -> Any:
    return bt.make_linear_design(data.X, data.X["age"]) if isinstance(model, bt.Subset | bt.HME) else data.design()


@pytest.mark.parametrize("family", MODELS)
def test_python_refuses_them(family: str, kyphosis: bt.datasets.Dataset) -> None:
    """Where the name is taken apart, or at the latest where chains are made."""

    def run() -> None:
        model = MODELS[family]()
        bt.sample(model, design_for(model, kyphosis), **QUICK)

    with pytest.raises(bt.InputError, match=r"^no proposal .*wrong:.*Choose from: auto, "):
        run()


@pytest.mark.parametrize("family", [bt.CART, bt.BART, bt.Subset, bt.HME], ids=lambda family: family.__name__)
def test_ladders_have_none(family: type, kyphosis: bt.datasets.Dataset) -> None:
    model = family()
    with pytest.raises(bt.InputError, match=r"no ladder 'wrong:adaptive'.*Choose from: adaptive, mrbayes"):
        bt.sample(model, design_for(model, kyphosis), ladder="wrong:adaptive", temperatures=2, **QUICK)


@pytest.mark.parametrize(
    "options",
    [
        "--proposal wrong:uc",
        "--proposal wrong:stale:uc=1,swap=2",
        "--prior growtree.slp --proposal wrong:one:subtree",
        "--temperatures 3 --ladder wrong:adaptive",
        "--model bart --proposal wrong:change=1,birth_death=1",
        "--model bart --prior growtree.slp --proposal wrong:clipped:subtree",
        "--model subset --proposal wrong:gibbs",
        "--model subset --temperatures 3 --ladder wrong:mrbayes",
        "--model hme --method sample --temperatures 3 --ladder wrong:adaptive",
    ],
)
def test_the_command_line_refuses_them(options: str, tmp_path: Path, kyphosis: bt.datasets.Dataset) -> None:
    table, out = tmp_path / "table.csv", tmp_path / "model.baytree"
    kyphosis.X.write_csv(table)
    arguments = ["fit", str(table), "--target", "age", "--out", str(out), "-q", *options.split()]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2, result.output
    assert "wrong:" in result.output
    assert not out.exists()


def test_a_build_has_none_unless_asked() -> None:
    """`make dist` looks into a whole one."""
    assert re.search(r"option\(BAYTREE_FAULTS .* OFF\)", (ROOT / "CMakeLists.txt").read_text())
    settings = (ROOT / "pyproject.toml").read_text()
    assert "BAYTREE_FAULTS" not in settings
    # A wheel must not find what an editable build with faults left behind.
    assert 'build-dir = "build/{state}/' in settings


def test_each_is_caught_somewhere() -> None:
    folders = [ROOT / "tests" / name for name in ("exact", "invariance")]
    text = "".join(path.read_text() for folder in folders for path in folder.rglob("*.py"))
    named = {fault.name for fault in testing.Fault} - {"none"}
    assert {name for name in named if f'"{name}"' not in text} == set()


def test_they_end_with_the_block() -> None:
    with injected("uc"):
        with injected("swap"):
            pass
        assert testing.inject(testing.Fault.uc) is testing.Fault.uc
    assert testing.inject(testing.Fault.none) is testing.Fault.none
