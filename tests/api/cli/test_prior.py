"""``baytree prior``, and a given tree as the prior of ``fit`` and ``show``."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from api.cli.commands import invoke, write_kyphosis
from baytree.sampling import run as sampling
from baytree.storage import partial_path

QUICK = ["--chains", "2", "--draws", "60", "--warmup", "40", "--seed", "7"]
KYPHOSIS = ["kyphosis.csv", "--target", "kyphosis"]
TREE = """start <= 12.5?
  yes: age <= 60?
    yes: leaf
    no: leaf
  no: leaf
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a table of classes and a tree."""
    write_kyphosis(tmp_path)
    (tmp_path / "tree.txt").write_text(TREE)
    return tmp_path


# ---- baytree prior ---------------------------------------------------------------------------------------------------


def test_prior_shows_sizes_depths_columns_and_trees() -> None:
    text = invoke("prior", *KYPHOSIS, "--seed", 1).stdout
    for words in (
        "Read kyphosis.csv: 81 rows, 3 columns",
        "Prior: a node splits with probability 0.95 / (1 + depth)",
        "1,000 trees drawn; seed 1",
        "How many leaves a tree has",
        "2 leaves",
        "of the trees are a single leaf",
        "How deep it is",
        "depth 1",
        "How likely a tree asks about a column",
        "Tree 2 of 1,000",
    ):
        assert words in text
    drawn = bt.GrowTree().sample(bt.read("kyphosis.csv", "kyphosis"), 1000, seed=1)
    assert all(line in text for line in str(drawn.trees[0]).splitlines())
    assert "Tree 3" not in text


def test_prior_json_is_what_python_says() -> None:
    options = ["--alpha", "0.8", "--beta", "0.5", "--min-leaf", "7", "--rule", "uniform", "--drop", "age"]
    found = json.loads(invoke("prior", *KYPHOSIS, *options, "--seed", 3, "--draws", 200, "--trees", 3, "--json").stdout)
    prior = bt.GrowTree(0.8, 0.5, 7, "uniform")
    drawn = prior.sample(bt.read("kyphosis.csv", "kyphosis", drop="age"), 200, seed=3)
    assert found["prior"] == prior.to_dict()
    assert {name: found[name] for name in drawn.to_dict()} == drawn.to_dict()
    assert found["trees"] == [tree.to_dict() for tree in drawn.trees[:3]]
    assert (found["rows"], found["columns"]) == (81, 2)


def test_prior_of_a_program_and_of_a_given_tree() -> None:
    design = bt.read("kyphosis.csv", "kyphosis")
    for options, prior in (
        (["--prior", "growtree.slp"], bt.slp.load("growtree.slp")),
        (["--prior", "growtree.slp", "--semantics", "reject"], bt.slp.load("growtree.slp", "reject")),
        (["--edit", "tree.txt", "--edits", "1.5", "--min-leaf", "3"], bt.EditTree(TREE, 1.5, 3)),
    ):
        found = json.loads(invoke("prior", *KYPHOSIS, *options, "--seed", 3, "--draws", 100, "--json").stdout)
        assert found["leaves"] == prior.sample(design, 100, seed=3).to_dict()["leaves"]
        assert found["prior"] == prior.to_dict()


def test_prior_ends_with_a_fit_that_can_be_pasted() -> None:
    text = invoke("prior", *KYPHOSIS, "--edit", "tree.txt", "--edits", 2, "--drop", "number", "--draws", 50).stdout
    [line] = [line for line in text.splitlines() if "baytree fit" in line]
    invoke(*shlex.split(line, comments=True)[1:], *QUICK)
    fitted = bt.load("kyphosis.baytree")
    assert fitted.model.prior == bt.EditTree(TREE, 2) and fitted.schema.names == ("age", "start")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--draws", "0"], "--draws 0: choose a whole number, 1 or more"),
        (["--seed", "-1"], "--seed -1: choose a whole number from 0"),
        (["--alpha", "2"], "--alpha 2.0 is a probability"),
        (["--max-cuts", "few"], "--max-cuts few: choose a whole number, or 'all'"),
        (["--edits", "3"], "--edits is for a given tree; name it by --edit, or leave --edits out"),
        (["--semantics", "reject"], "--semantics is for a program; name it by --prior"),
        (["--edit", "tree.txt", "--alpha", "0.5"], "--alpha is for the built-in prior; leave it out with --edit"),
        (["--edit", "tree.txt", "--edits", "0"], "--edits 0.0: choose a positive mean number of edits"),
        (["--edit", "tree.txt", "--prior", "growtree.slp"], "--prior and --edit are two priors; choose one of them"),
        (["--prior", "growtree.slp", "--min-leaf", "3"], "with --prior, write it into growtree.slp"),
    ],
)
@pytest.mark.parametrize("command", ["prior", "fit"])
def test_options_that_do_not_go_together(command: str, options: list[str], said: str) -> None:
    # Before the table is read: there is none.
    result = invoke(command, "nowhere.csv", "--target", "kyphosis", *options, code=2)
    assert said in result.stderr and "nowhere" not in result.stderr


def test_what_cannot_be_read() -> None:
    assert "no such file" in invoke("prior", "nowhere.csv", "--target", "y", code=3).stderr
    assert "nowhere.json: cannot be read" in invoke("prior", *KYPHOSIS, "--edit", "nowhere.json", code=3).stderr
    Path("bad.txt").write_text("start < 3?\n yes: leaf\n no: leaf\n")
    assert (
        "bad.txt: line 1: 'start < 3?' is no question" in invoke("prior", *KYPHOSIS, "--edit", "bad.txt", code=2).stderr
    )
    Path("other.json").write_text(json.dumps({"feature": "strat", "threshold": 3, "left": {}, "right": {}}))
    said = invoke("fit", *KYPHOSIS, "--edit", "other.json", code=2).stderr
    assert "no column 'strat'. Did you mean 'start'?" in said
    assert not Path("kyphosis.baytree").exists() and not partial_path("kyphosis.baytree").exists()


def test_a_closed_pipe_ends_in_peace() -> None:
    command = f"{shlex.quote(sys.executable)} -m baytree prior {' '.join(KYPHOSIS)} --draws 20 | head -n 1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# ---- fit and show ----------------------------------------------------------------------------------------------------


def test_fit_equals_the_python_api_and_show_tells_what_changed() -> None:
    invoke("fit", *KYPHOSIS, "--edit", "tree.txt", "--edits", 1, *QUICK)
    posterior = bt.load("kyphosis.baytree")
    same = bt.sample(
        bt.CART(bt.EditTree(TREE, edits=1)),
        bt.read("kyphosis.csv", "kyphosis"),
        chains=2,
        draws=60,
        warmup=40,
        seed=7,
        progress=False,
    )
    assert np.array_equal(posterior.log_likelihood, same.log_likelihood)
    text = invoke("show", "kyphosis.baytree").stdout
    assert "Prior: edits of a given tree of 3 leaves, 1 on average (grow 0.4, prune 0.3, change 0.3)" in text
    assert "What became of the given tree" in text
    assert all(line in text for line in str(same.edits()).splitlines())
    assert json.loads(invoke("show", "kyphosis.baytree", "--json").stdout)["edits"] == json.loads(
        json.dumps(same.edits().to_dict())
    )


def test_show_without_a_given_tree_says_nothing_of_one() -> None:
    invoke("fit", *KYPHOSIS, *QUICK)
    assert "given tree" not in invoke("show", "kyphosis.baytree").stdout
    assert "edits" not in json.loads(invoke("show", "kyphosis.baytree", "--json").stdout)


def test_a_model_and_what_show_prints_of_it_can_be_edited() -> None:
    invoke("fit", *KYPHOSIS, *QUICK)
    Path("best.json").write_text(invoke("show", "kyphosis.baytree", "--json").stdout)
    for source in ("kyphosis.baytree", "best.json"):
        invoke("fit", *KYPHOSIS, "--edit", source, *QUICK, "--out", "edited.baytree")
        assert bt.load("edited.baytree").model.prior == bt.EditTree(bt.load("kyphosis.baytree"))


def test_notes_tell_what_could_not_be_laid() -> None:
    Path("deep.txt").write_text(TREE.replace("    yes: leaf", "    yes: start <= 1?\n      yes: leaf\n      no: leaf"))
    found = json.loads(invoke("fit", *KYPHOSIS, "--edit", "deep.txt", "--min-leaf", "12", *QUICK, "--json").stdout)
    assert any("1 split of the given tree cannot be laid on this table" in note for note in found["notes"])


def test_an_unfinished_run_is_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["fit", *KYPHOSIS, "--edit", "tree.txt", "--edits", "2", "--seed", "7"]
    settings = ["--draws", "2000", "--warmup", "100", "--chains", "2"]

    def fall(self: Any, warmed: int, drawn: int, *rest: Any) -> None:
        if drawn > 100:
            raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(sampling, "CHECKPOINT_SECONDS", 0)
        patched.setattr(sampling.Progress, "update", fall)
        invoke(*command, *settings, code=1)
    assert partial_path("kyphosis.baytree").exists()

    Path("other.txt").write_text(TREE.replace("60", "70"))
    for options, said in (
        (["--edit", "tree.txt", "--edits", "3"], "the run was begun with --edits 2.0"),
        (["--edit", "other.txt"], "the run was begun with --edit <Template: 3 leaves>"),
    ):
        assert said in invoke("fit", *KYPHOSIS, *options, "--resume", code=2).stderr
    invoke(*command, "--resume", "-q")
    invoke(*command, *settings, "-q", "--out", "whole.baytree")
    resumed, whole = bt.load("kyphosis.baytree"), bt.load("whole.baytree")
    assert np.array_equal(resumed.log_likelihood, whole.log_likelihood) and resumed.states == whole.states
