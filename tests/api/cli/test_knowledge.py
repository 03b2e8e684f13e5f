"""What is known about the trees, on the command line."""

import json
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import baytree as bt
from api.cli.commands import failure, invoke
from baytree.cli import app
from baytree.sampling import run as sampling

RUN = ("--chains", "1", "--warmup", "5", "--draws", "5", "--seed", "1", "--out", "known.baytree")
FIT = ("fit", "kyphosis.csv", "--target", "y", *RUN)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a table of classes."""
    data = bt.datasets.load("kyphosis")
    pl.DataFrame(data.X).with_columns(pl.Series("y", data.y)).write_csv(tmp_path / "kyphosis.csv")
    return tmp_path


def known(*options: str) -> bt.Knowledge:
    """What the prior of a fitted model knows."""
    invoke(*FIT, *options)
    return bt.load("known.baytree").model.prior.knowledge


def said(*options: str, code: int = 2) -> str:
    message = failure(*FIT, *options, "-q", code=code)
    assert not Path("known.baytree").exists()
    return message


@pytest.mark.parametrize(
    ("options", "constraints"),
    [
        ("--box 'start<=12, age < 20'", (bt.Box(start="<=12", age="<20"),)),
        ("--box start>5,start<=12 --box age==3", (bt.Box(start=(5.000000000000001, 12)), bt.Box(age="==3"))),
        ("--monotone age=+1 --monotone start=-1", (bt.Monotone(age=1), bt.Monotone(start=-1))),
        ("--interact age,start --interact number", (bt.Interact([["age", "start"], ["number"]]),)),
        ("--forbid age --forbid start", (bt.Forbid("age"), bt.Forbid("start"))),
        ("--forbid-below age=2 --forbid-below start=age", (bt.Forbid("age", below=2), bt.Forbid("start", below="age"))),
        ("--only '0:age, start' --only 1:age", (bt.Only(0, ["age", "start"]), bt.Only(1, ["age"]))),
        ("--max-depth 4 --max-leaves 8", (bt.MaxDepth(4), bt.MaxLeaves(8))),
        ("--column-weight age=3 --column-weight start=0.5", (bt.Weights(age=3), bt.Weights(start=0.5))),
    ],
)  # fmt: skip
def test_options(options: str, constraints: tuple[Any, ...]) -> None:
    assert known(*shlex.split(options)).constraints == constraints


def test_a_file_and_options_together() -> None:
    Path("known.toml").write_text("max_depth = 4\n[weights]\nage = 3\n")
    assert known("--knowledge", "known.toml", "--forbid", "start") == (
        bt.MaxDepth(4) & bt.Weights(age=3) & bt.Forbid("start")
    )


def test_fit_and_show_say_what_is_known() -> None:
    options = ("--box", "start<=12", "--forbid", "number")
    lines = "Known about the trees:\n  box: no split inside start <= 12\n  never asks about number\n"
    assert lines in invoke(*FIT, *options).stdout
    assert lines in invoke("show", "known.baytree").stdout
    record = json.loads(invoke(*FIT, *options, "--json").stdout)["model"]["prior"]["knowledge"]
    assert bt.Knowledge.from_dict(record) == bt.Box(start="<=12") & bt.Forbid("number")
    assert "Known" not in invoke(*FIT).stdout


def test_what_leaves_nothing_to_learn_is_a_note() -> None:
    note = "--max-depth 0: every tree is a single leaf; choose 1 or more to let it ask"
    assert json.loads(invoke(*FIT, "--max-depth", "0", "--json").stdout)["notes"] == [note]
    options = ("--prior", "growtree.slp", "--max-depth", "0")
    assert json.loads(invoke(*FIT, *options, "--json").stdout)["notes"] == [note, "replacing the model known.baytree"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--box a=12", "--box a=12: 'a=12' is no condition; write conditions such as 'glucose<=127, age<=28'"),
        ("--box a<=12,", "--box a<=12,: '' is no condition; write conditions such as 'glucose<=127, age<=28'"),
        (
            "--box a<=many",
            "--box a<=many: a='<=many' is no side of a box; write '<=127', '>=128', '<5', '>5', '==3' or '128..200'",
        ),
        ("--box a>=3,a<2", "--box a>=3,a<2: a: the box is empty, as no number is >=3 and <2; correct one"),
        ("--monotone age", "--monotone age: write a column and what holds of it, such as age=+1"),
        ("--monotone age=up", "--monotone age=up: age='up': choose +1, growing, or -1, falling"),
        (
            "--interact age --interact ,",
            "--interact age --interact ,: --interact names no column; write two or more, as in a,b",
        ),
        ("--forbid-below age", "--forbid-below age: write a column and what holds of it, such as dose=2 or dose=sex"),
        ("--only age", "--only age: write a depth and columns, such as 0:age,glucose"),
        ("--only x:age", "--only x:age: write a depth and columns, such as 0:age,glucose"),
        ("--max-depth -1", "--max-depth -1: choose a whole number, 0 or more"),
        ("--max-leaves 0", "--max-leaves 0: choose a whole number, 1 or more"),
        (
            "--column-weight age=-1",
            "--column-weight age=-1: age=-1.0: choose a positive number; to leave a column out, use --forbid",
        ),
        ("--forbid strat", "--forbid: no column 'strat'. Did you mean 'start'? Choose from: age, number, start"),
        ("--monotone y=1", "--monotone: 'y' is the response, about which a tree does not ask; name other columns"),
        ("--monotone age=1 --monotone age=-1",
         "--monotone: age is given both as growing, +1, and as falling, -1; keep one"),
    ],
)  # fmt: skip
def test_wrong_options(options: str, message: str) -> None:
    assert said(*shlex.split(options)) == message


def test_wrong_files() -> None:
    Path("known.toml").write_text("max_dept = 4\n")
    assert said("--knowledge", "known.toml").startswith("known.toml: no entry 'max_dept'. Did you mean 'max_depth'?")
    absent = "no.toml: cannot be read (No such file or directory); check the path"
    assert said("--knowledge", "no.toml", code=3) == absent


def test_options_are_refused_before_the_table_is_read() -> None:
    Path("kyphosis.csv").write_bytes(b"")
    assert said("--max-leaves", "0").startswith("--max-leaves 0")


# ---- with a program -------------------------------------------------------------------------------------------------


def test_options_become_facts_of_a_program() -> None:
    options = ("--box", "start<=12", "--forbid", "number", "--max-depth", "2")
    text = invoke(*FIT, "--prior", "growtree.slp", *options).stdout
    assert "Known about the trees:\n  box: no split inside start <= 12\n" in text
    program = bt.slp.load("growtree.slp")
    facts = "const_class_probs('start <= 12', start, -inf, 12).\nforbid(number).\nmax_depth(2).\n"
    assert bt.load("known.baytree").model.prior.text == program.text + facts


def test_a_program_is_told_of_contradictions_too() -> None:
    program = ("--prior", "growtree.slp")
    assert said(*program, "--forbid", "strat").startswith("--forbid: no column 'strat'. Did you mean 'start'?")
    assert "have no column in common" in said(*program, "--only", "0:age", "--only", "0:start")
    assert "use semantics 'reject'" in said(*program, "--max-leaves", "3")
    invoke(*FIT, *program, "--max-leaves", "3", "--semantics", "reject")
    assert bt.load("known.baytree").n_leaves.max() <= 3


# ---- going on -------------------------------------------------------------------------------------------------------


class Killed(BaseException):
    """The end of a run that nobody expects."""


def kill(*_: Any) -> None:
    raise Killed


def test_resuming_with_the_same_knowledge_or_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("--box", "start<=12", "--forbid", "number")
    for again in ((), options):
        with monkeypatch.context() as patch:
            patch.setattr(sampling.Run, "_next_block", kill)
            with pytest.raises(Killed):
                CliRunner().invoke(app, [*FIT, *options], catch_exceptions=False)
        assert said("--resume", "--box", "start<=12", "--max-depth", "3") == (
            "--resume: the run was begun with other knowledge; leave --box and --max-depth out, or begin anew"
        )
        invoke(*FIT, "--resume", *again)
        assert bt.load("known.baytree").model.prior.knowledge == bt.Box(start="<=12") & bt.Forbid("number")
        Path("known.baytree").unlink()
