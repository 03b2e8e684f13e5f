"""The command line of logic programs, and programs as priors of ``fit``."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import baytree as bt
from api.cli.commands import invoke
from reference.slp.figures import FIGURE_2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a program and two tables."""
    (tmp_path / "figure2.slp").write_text(FIGURE_2)
    for name in ("kyphosis", "friedman"):
        data = bt.datasets.load(name) if name == "kyphosis" else bt.datasets.friedman(120)
        pl.DataFrame(data.X).with_columns(pl.Series("y", data.y)).write_csv(tmp_path / f"{name}.csv")
    return tmp_path


def test_sample_prints_models() -> None:
    lines = invoke("slp", "sample", "figure2.slp", "[1] : cart(T)", "-n", 5, "--seed", 1).stdout.splitlines()
    assert len(lines) == 5
    assert all(line.startswith(("x1-[", "x2-[", "x3-[")) for line in lines)  # at depth 1 a split is certain
    assert lines == invoke("slp", "sample", "figure2.slp", "[1] : cart(T)", "-n", 5, "--seed", 1).stdout.splitlines()


def test_sample_of_several_variables_and_json() -> None:
    Path("pair.slp").write_text("1 : p(a). 1 : p(b). two(X, Y) :- p(X), p(Y).")
    assert invoke("slp", "sample", "pair.slp", "two(X, Y)", "-n", 1).stdout.startswith("X = ")
    found = json.loads(invoke("slp", "sample", "pair.slp", "two(X, Y)", "-n", 2, "--json").stdout)
    assert [set(model) for model in found["models"]] == [{"X", "Y"}] * 2


def test_proof_in_the_style_of_figure_3() -> None:
    text = invoke("slp", "proof", "figure2.slp", "[1] : cart(T)", "--seed", 1).stdout
    first, second = text.splitlines()[:2]
    assert first.startswith("cart(_1) = cart(x")
    assert "splt(_1) = splt(x" in second and "one of 3, line 7" in second
    assert "choice points, probability" in text


@pytest.mark.parametrize(("name", "begins"), [("p.svg", "<svg"), ("p.dot", "digraph"), ("p.txt", "cart(")])
def test_proof_is_drawn_into_a_file(name: str, begins: str) -> None:
    invoke("slp", "proof", "figure2.slp", "[1] : cart(T)", "--out", name)
    assert begins in Path(name).read_text()[:200]


def test_proof_of_a_built_in_choice_names_no_line() -> None:
    arguments = ("growtree.slp", "cart(T)", "--data", "kyphosis.csv", "--target", "y", "--seed", 2)
    text = invoke("slp", "proof", *arguments).stdout
    [line] = [line for line in text.splitlines() if "choose_feature(" in line][:1]
    assert "one of 3" in line and "line" not in line


def test_explain_says_which_proposal_and_why() -> None:
    text = invoke("slp", "explain", "growtree.slp").stdout
    assert text.startswith("proposal: subtree")
    assert "LeftNode is read by grow/3" in text
    assert "address: refused" in text
    assert "address: exact" in invoke("slp", "explain", "growtree.slp", "--semantics", "reject").stdout


def test_copy_a_shipped_program_once() -> None:
    invoke("slp", "copy", "growtree.slp", "mine.slp")
    assert Path("mine.slp").read_text() == (bt.slp.SHIPPED / "growtree.slp").read_text()
    assert "exists" in invoke("slp", "copy", "growtree.slp", "mine.slp", code=3).output
    assert "Did you mean" in invoke("slp", "copy", "growtre.slp", "other.slp", code=2).output
    assert "no problems" in invoke("slp", "check", "boxes.slp").stdout


@pytest.mark.parametrize("name", ["kyphosis", "friedman"])
def test_fit_with_a_program(name: str) -> None:
    options = ("--target", "y", "--draws", 50, "--warmup", 50, "--seed", 1, "--chains", 2)
    invoke("fit", f"{name}.csv", "--prior", "growtree.slp", *options)
    posterior = bt.load(f"{name}.baytree")
    assert posterior.model.prior == bt.slp.load("growtree.slp")
    assert posterior.model.proposal == {"subtree": 1.0}
    assert "the program growtree.slp" in invoke("show", f"{name}.baytree").stdout
    invoke("predict", f"{name}.baytree", f"{name}.csv")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--prior", "growtree.slp", "--alpha", 0.5), "--alpha is for the built-in prior"),
        (("--semantics", "reject"), "name it by --prior"),
        (("--prior", "growtree.slp", "--proposal", "address"), "semantics reject"),
        (("--prior", "growtree.slp", "--proposal", "birth_death"), "proposal 'birth_death'"),
        (("--prior", "figure2.slp"), "label variable"),
        (("--prior", "network.slp"), "must define cart/1"),
        (("--prior", "absent.slp"), "cannot be read"),
        (("--prior", "few.slp"), "use semantics 'reject'"),
        (("--prior", "unknown.slp"), "did you mean start"),
    ],
)
def test_fit_refuses(options: tuple[Any, ...], says: str) -> None:
    text = (bt.slp.SHIPPED / "growtree.slp").read_text()
    Path("few.slp").write_text(text + "max_leaves(3).\n")
    Path("unknown.slp").write_text(text + "forbid(strat).\n")
    code = 3 if "absent.slp" in options else 2
    output = invoke("fit", "kyphosis.csv", "--target", "y", "--draws", 10, *options, code=code).output
    assert says in " ".join(output.split())


def test_conditions_on_the_whole_tree_hold_in_every_draw() -> None:
    text = (bt.slp.SHIPPED / "growtree.slp").read_text() + "max_leaves(3).\nrequire(start).\n"
    Path("few.slp").write_text(text)
    options = ("--semantics", "reject", "--target", "y", "--draws", 200, "--warmup", 20, "--chains", 1, "--seed", 1)
    invoke("fit", "kyphosis.csv", "--prior", "few.slp", *options)
    posterior = bt.load("kyphosis.baytree")
    for tree in posterior.trees:
        assert tree.n_leaves <= 3
        assert "start" in str(tree)
