"""Sums of trees on the command line."""

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import baytree as bt
from baytree.cli import app
from baytree.storage import partial_path

QUICK = ["--model", "bart", "--trees", "8", "--chains", "2", "--draws", "30", "--warmup", "20", "--seed", "7"]
NUMBERS = ["fit", "friedman.csv", "--target", "y", "--drop", "o"]
CLASSES = ["fit", "kyphosis.csv", "--target", "kyphosis"]


@pytest.fixture(autouse=True)
def _in_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables of numbers, of two and of three classes, and a model of each."""
    folder = tmp_path_factory.mktemp("cli")
    friedman = bt.datasets.friedman(n=120, seed=1)
    offset = np.linspace(-1, 1, 120)
    table = friedman.X.with_columns(pl.Series("o", offset), pl.Series("y", friedman.y))
    table.write_csv(folder / "friedman.csv")
    kyphosis = bt.datasets.load("kyphosis")
    kyphosis.X.with_columns(pl.Series("kyphosis", kyphosis.y)).write_csv(folder / "kyphosis.csv")
    size = np.digitize(friedman.y, np.quantile(friedman.y, [1 / 3, 2 / 3]))
    table.drop("y", "o").with_columns(pl.Series("size", np.array(["low", "mid", "top"])[size])).write_csv(
        folder / "size.csv"
    )
    for file, target in (("friedman", "y"), ("kyphosis", "kyphosis"), ("size", "size")):
        drop = ["--drop", "o"] if file == "friedman" else []
        out = folder / f"{file}.baytree"
        invoke("fit", folder / f"{file}.csv", "--target", target, *drop, *QUICK, "--out", out)
    return folder


def invoke(*arguments: Any, code: int = 0) -> Any:
    """Run a command in this process; it must end with this exit code."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def failure(*arguments: Any, code: int = 2) -> str:
    """The message of a command that must fail."""
    result = invoke(*arguments, code=code)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.stderr.removeprefix("baytree: ").rstrip("\n")


# ---- fit ------------------------------------------------------------------------------------------------------------


def test_fit_tells_what_it_learned() -> None:
    text = invoke(*NUMBERS, *QUICK, "--out", "told.baytree").stdout
    posterior = bt.load("told.baytree")
    assert "2 chains × 30 draws" in text
    assert "Of all questions, how many are about a column" in text
    assert f"Each draw adds up 8 trees, of {posterior.ensemble.leaves.mean():.2f} leaves on average" in text
    assert f"the noise has a standard deviation of about {posterior.sigma.mean():.4g}" in text
    assert posterior.summary().verdict in text
    assert "baytree predict told.baytree friedman.csv" in text


def test_fit_equals_the_python_api() -> None:
    invoke(*NUMBERS[:4], "--model", "bart", "--trees", 7, "--k", 3, "--nu", 4, "--q", 0.75, "--sigma", 1.5,
           "--alpha", 0.9, "--beta", 1.5, "--min-leaf", 4, "--moves", "birth_death=2,change=1", "--start", "root",
           "--offset", "o", "--weight", "x6", "--monotone", "x4=+1", "--sparse", "--chains", 2, "--draws", 20,
           "--warmup", 10, "--thin", 2, "--seed", 3, "--out", "options.baytree")  # fmt: skip
    prior = bt.GrowTree(0.9, 1.5, 4) & bt.Monotone(x4=1) & bt.Weights("sparse")
    moves = {"birth_death": 2, "change": 1}
    model = bt.BART(trees=7, prior=prior, k=3.0, nu=4.0, q=0.75, sigma=1.5, moves=moves, init="root")
    design = bt.read("friedman.csv", "y", offset="o", weight="x6")
    expected = bt.sample(model, design, chains=2, draws=20, warmup=10, thin=2, seed=3, progress=False)
    found = bt.load("options.baytree")
    assert np.array_equal(found.log_likelihood, expected.log_likelihood)
    assert (found.settings, found.model) == (expected.settings, expected.model)


def test_a_program_as_the_prior() -> None:
    said = invoke(*NUMBERS, *QUICK, "--prior", "growtree.slp", "--moves", "subtree=2", "--max-depth", 2,
                  "--out", "program.baytree").stdout  # fmt: skip
    found = bt.load("program.baytree")
    assert found.model.prior == bt.slp.load("growtree.slp") & bt.MaxDepth(2)
    assert found.model.shares() == {"subtree": 2.0}
    assert found.ensemble.leaves.max() <= 4
    assert "Each draw adds up 8 trees" in said
    assert "Prior: the program growtree.slp" in invoke("show", "program.baytree").stdout


def test_defaults_are_those_of_the_python_api() -> None:
    invoke(*CLASSES, "--model", "bart", "--chains", 1, "--draws", 1, "--warmup", 0, "--seed", 1, "--out", "d.baytree")
    found = bt.load("d.baytree").model
    assert found == bt.BART().resolve(bt.read("kyphosis.csv", "kyphosis"))
    assert found.prior.beta == 2.0


def test_fit_json() -> None:
    record = json.loads(invoke(*NUMBERS, *QUICK, "--json", "--out", "json.baytree").stdout)
    assert (record["trees"], record["draws"], record["model"]["family"]) == (8, 30, "bart")
    assert sum(record["variable_use"].values()) == pytest.approx(1)
    assert record["verdict"] and record["model_file"] == "json.baytree"


def test_a_longer_run_can_be_pasted() -> None:
    text = invoke(
        *NUMBERS, *QUICK, "--offset", "x10", "--draws", "10", "--warmup", "0", "--out", "short.baytree"
    ).stdout
    commands = [shlex.split(line, comments=True)[1:] for line in text.splitlines() if line.startswith("  baytree ")]
    show, predict, longer = commands
    assert predict[-2:] == ["--offset", "x10"]
    assert "--temperatures" not in longer and longer[longer.index("--model") + 1] == "bart"
    for command in (show, predict):
        invoke(*command)


def test_until_converged() -> None:
    limits = ["--until-converged", "--time-limit", "3"]
    posterior_of = ["--trees", "1", "--max-depth", "1", "--draws", "100"]
    invoke(*CLASSES, *QUICK, *posterior_of, *limits, "--out", "agree.baytree", "-q")
    found = bt.load("agree.baytree")
    assert found.settings.thin > 1 or found.diagnostics().agree


@pytest.mark.parametrize("option", ["--sparse", "--knowledge"])
def test_sparse_weights(option: str) -> None:
    Path("sparse.toml").write_text('weights = "sparse"\n')
    asked = [option] if option == "--sparse" else [option, "sparse.toml"]
    text = invoke(*NUMBERS, *QUICK, *asked, "--out", "sparse.baytree").stdout
    assert "weights: learned, few columns matter" in text
    posterior = bt.load("sparse.baytree")
    assert posterior.model.prior.knowledge.sparse
    assert posterior.log_weights.shape == (2, 30, 10)


def test_noise_that_trees_learn() -> None:
    options = ["--variance", "forest", "--variance-trees", "5"]
    text = invoke(*NUMBERS, *QUICK, *options, "--out", "noise.baytree").stdout
    posterior = bt.load("noise.baytree")
    assert (posterior.model.variance, posterior.variance_ensemble.trees) == ("forest", 5)
    assert "the noise depends on the row, with a standard deviation of about" in text
    assert "noise by the product of 5 trees, sigma = linear" in invoke("show", "noise.baytree").stdout
    sigma = predicted("noise.baytree", "friedman.csv", "--kind", "sigma")["sigma"]
    assert np.array_equal(sigma, posterior.predict("friedman.csv", "sigma"))


def test_soft_questions() -> None:
    invoke(*NUMBERS, *QUICK, "--split", "soft", "--bandwidth", "0.2", "--out", "soft.baytree", "-q")
    posterior = bt.load("soft.baytree")
    assert (posterior.model.split, posterior.model.bandwidth) == ("soft", 0.2)
    assert "8 trees; soft questions of mean bandwidth 0.2; leaf values" in invoke("show", "soft.baytree").stdout
    found = predicted("soft.baytree", "friedman.csv", "--kind", "mean")["mean"]
    assert np.array_equal(found, posterior.predict("friedman.csv"))


# ---- options that do not belong together ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--temperatures 4", "--temperatures is for single trees, linear models and mixtures of experts: chains of "
         "sums of trees are not tempered; --until-converged goes on until they agree; leave --temperatures out"),
        ("--ladder mrbayes", "--ladder is for single trees, linear models and mixtures of experts"),
        ("--proposal uc", "named by --moves; leave --proposal out"),
        ("--rule uniform", "--rule is for single trees"),
        ("--edit tree.txt", "--edit is for single trees: sums of trees have the built-in prior or that of a program"),
        ("--semantics reject", "--semantics is for a program"),
        ("--prior growtree.slp --beta 2", "write it into growtree.slp"),
        ("--prior edittree.slp --semantics reject", "edittree.slp: not for sums of trees"),
        ("--prior growtree.slp --start grow", "init='grow' needs a GrowTree"),
        ("--trees 0", "trees=0: choose a whole number, 1 or more"),
        ("--k -1", "k=-1.0: choose a positive number"),
        ("--q 1", "q=1.0 is a probability"),
        ("--nu 0", "nu=0.0: choose a positive number"),
        ("--k much", "k='much': choose a positive number, or 'learned'"),
        ("--sigma lineal", "Did you mean 'linear'?"),
        ("--sigma -2", "sigma=-2.0: choose a positive number"),
        ("--moves swap", "no move 'swap'. Choose from: auto, birth_death, change"),
        ("--variance-trees 5", "add that, or leave --variance-trees out"),
        ("--variance forest --nu inf", "nu=inf fixes the noise"),
        ("--split soft --monotone x4=+1", "split='soft' cannot be held to Monotone; leave that out"),
        ("--split soft --start grow", "with split='soft' choose init='root'"),
        ("--bandwidth 0.2", "--bandwidth is for --split soft"),
        ("--offset nothing", "no column 'nothing'"),
        ("--column-weight x1=2 --sparse", "keep one"),
    ],
)  # fmt: skip
def test_wrong_options(options: str, said: str) -> None:
    assert said in failure(*NUMBERS, *QUICK, "-q", "--out", "new.baytree", *shlex.split(options))
    assert not Path("new.baytree").exists()


OF_SUMS = ["--trees 5", "--k 2", "--q 0.9", "--sigma naive", "--start root", "--offset o", "--sparse"]
SHARED = ["--nu 3", "--moves auto"]


@pytest.mark.parametrize("option", [*OF_SUMS, *SHARED])
def test_options_of_sums_with_a_single_tree(option: str) -> None:
    Path("unreadable.csv").write_bytes(b"")
    name = option.split()[0]
    message = failure("fit", "unreadable.csv", "--target", "y", *option.split())
    families, models = "sums of trees", "--model bart"
    if option in SHARED:
        families, models = f"{families} and linear models", f"{models} or --model subset"
    if name == "--nu":
        families = families.replace(" and linear models", ", linear models and mixtures of experts")
        models = f"{models} or --model hme"
    assert message == f"{name} is for {families}; choose {models}, or leave {name} out"


def test_sparse_weights_in_a_file_need_sums() -> None:
    Path("sparse.toml").write_text('weights = "sparse"\n')
    assert "use BART" in failure(*NUMBERS, "--knowledge", "sparse.toml", "-q")
    Path("dense.toml").write_text('weights = "dense"\n')
    assert "weights = 'dense'" in failure(*NUMBERS, *QUICK, "--knowledge", "dense.toml", "-q")


@pytest.mark.parametrize("option", ["--nu 4", "--q 0.5", "--sigma 2", "--variance forest"])
def test_noise_is_of_numbers(option: str) -> None:
    message = failure(*CLASSES, *QUICK, *option.split(), "-q")
    assert f"{option.split()[0]} is about the noise of numbers, and 'kyphosis' has classes" in message


# ---- show -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["friedman", "kyphosis", "size"])
def test_show(name: str) -> None:
    text = invoke("show", f"{name}.baytree").stdout
    posterior = bt.load(f"{name}.baytree")
    assert f"Model: the sum of 8 trees{' for each class' if name == 'size' else ''}; leaf values of" in text
    assert ("noise by sigma = linear, nu = 3, q = 0.9" in text) == (name == "friedman")
    assert "Prior: a node splits with probability 0.95 / (1 + depth)^2" in text
    assert "Do the chains agree?" in text and posterior.summary().verdict in text
    assert "Accepted: birth_death" in text
    record = json.loads(invoke("show", f"{name}.baytree", "--json").stdout)
    assert record["variable_use"] == posterior.summary().variable_use
    assert record["diagnostics"] == posterior.diagnostics().to_dict()


def test_show_one_tree() -> None:
    posterior = bt.load("friedman.baytree")
    tree = posterior.tree(1, 29, 3)
    text = invoke("show", "friedman.baytree", "--tree", "1,29,3").stdout
    assert "Tree 3 of draw 29 of chain 1, and what it adds to the sum" in text
    assert "\n".join(f"  {line}" for line in tree.to_text().splitlines()) in text
    record = json.loads(invoke("show", "friedman.baytree", "--tree", "1,29,3", "--json").stdout)
    assert record["tree"] == tree.to_dict()


@pytest.mark.parametrize("place", ["2,0,0", "0,30,0", "0,0,8", "0,0", "a,b,c", "-1,0,0", ""])
def test_trees_that_are_not_there(place: str) -> None:
    message = failure("show", "friedman.baytree", "--tree", place)
    assert f"--tree {place}: give a chain, a draw and a tree, from 0,0,0 to 1,29,7" in message


def test_what_makes_no_sense_offers_what_does() -> None:
    assert "draw one tree: --tree 0,0,0" in failure("show", "friedman.baytree", "--trees", "3")
    invoke(*NUMBERS, "--chains", 1, "--draws", 5, "--warmup", 0, "--out", "single.baytree", "-q")
    assert "list them by --trees" in failure("show", "single.baytree", "--tree", "0,0,0")
    assert "is no tree" in failure(*NUMBERS, "--edit", "friedman.baytree", "-q")


# ---- predict --------------------------------------------------------------------------------------------------------


def predicted(*arguments: Any) -> pl.DataFrame:
    return pl.read_csv(invoke("predict", *arguments).stdout.encode())


def test_predict_numbers() -> None:
    found, posterior = predicted("friedman.baytree", "friedman.csv", "--prob", "0.8"), bt.load("friedman.baytree")
    assert found.columns == ["mean", "lower", "upper", "predictive_lower", "predictive_upper"]
    interval = posterior.predict("friedman.csv", "interval", 0.8)
    new = posterior.predict("friedman.csv", "predictive_interval", 0.8)
    assert np.array_equal(found["mean"], posterior.predict("friedman.csv"))
    assert np.array_equal(found.select("lower", "upper"), interval)
    assert np.array_equal(found.select("predictive_lower", "predictive_upper"), new)


@pytest.mark.parametrize(("name", "labels"), [("kyphosis", ["absent", "present"]), ("size", ["low", "mid", "top"])])
def test_predict_classes(name: str, labels: list[str]) -> None:
    found, expected = predicted(f"{name}.baytree", f"{name}.csv"), bt.load(f"{name}.baytree").predict(f"{name}.csv")
    assert found.columns == ["prediction", *(f"P({label})" for label in labels)]
    assert np.array_equal(found.drop("prediction").to_numpy(), expected)
    assert found["prediction"].to_list() == np.array(labels)[expected.argmax(axis=1)].tolist()


@pytest.mark.parametrize("kind", ["mean", "interval", "predictive_interval"])
def test_kinds_of_numbers(kind: str) -> None:
    found = predicted("friedman.baytree", "friedman.csv", "--kind", kind).to_numpy()
    assert np.array_equal(found.squeeze(), bt.load("friedman.baytree").predict("friedman.csv", kind))


@pytest.mark.parametrize("kind", ["draws", "predictive"])
def test_draws_have_a_line_each(kind: str) -> None:
    pl.read_csv("friedman.csv").head(3).write_csv("three.csv")
    found = predicted("friedman.baytree", "three.csv", "--kind", kind)
    expected = bt.load("friedman.baytree").predict("three.csv", kind)
    assert found.columns == ["row", "chain", "draw", {"draws": "mean", "predictive": "prediction"}[kind]]
    assert found.height == 3 * 2 * 30
    for row, chain, draw, value in found.sample(20, seed=1).iter_rows():
        assert value == expected[chain, draw, row]


def test_kinds_of_classes() -> None:
    posterior = bt.load("kyphosis.baytree")
    interval = posterior.predict("kyphosis.csv", "interval", 0.5)
    found = predicted("kyphosis.baytree", "kyphosis.csv", "--kind", "interval", "--prob", "0.5")
    assert found.columns == [f"{side} P({label})" for label in ("absent", "present") for side in ("lower", "upper")]
    assert np.array_equal(found.to_numpy(), interval.reshape(81, 4))
    new = predicted("kyphosis.baytree", "kyphosis.csv", "--kind", "predictive")["prediction"]
    assert set(new) <= {"absent", "present"}
    draws = predicted("kyphosis.baytree", "kyphosis.csv", "--kind", "draws")
    assert draws.columns == ["row", "chain", "draw", "P(absent)", "P(present)"]
    assert "no kind of prediction 'vote'" in failure("predict", "kyphosis.baytree", "kyphosis.csv", "--kind", "vote")


def test_kinds_of_a_single_tree() -> None:
    invoke(*CLASSES, "--chains", 2, "--draws", 20, "--warmup", 10, "--out", "one.baytree", "-q")
    found = predicted("one.baytree", "kyphosis.csv", "--kind", "vote").drop("prediction").to_numpy()
    assert np.array_equal(found, bt.load("one.baytree").predict("kyphosis.csv", "vote"))
    assert "a single tree takes no offset" in failure("predict", "one.baytree", "kyphosis.csv", "--offset", "age")


def test_predict_with_an_offset() -> None:
    plain, offset = predicted("friedman.baytree", "friedman.csv"), pl.read_csv("friedman.csv")["o"]
    found = predicted("friedman.baytree", "friedman.csv", "--offset", "o")
    np.testing.assert_allclose(found["mean"], plain["mean"] + offset, rtol=1e-6)
    assert "Did you mean 'x1'?" in failure("predict", "friedman.baytree", "friedman.csv", "--offset", "x11")


def test_predict_asks_for_the_offset_of_new_rows() -> None:
    invoke(*NUMBERS[:4], *QUICK, "--offset", "o", "--out", "added.baytree", "-q")
    said = failure("predict", "added.baytree", "friedman.csv")
    assert "the model was fitted with an offset" in said and "--offset" in said
    assert "Model: the sum of 8 trees and an offset; leaf values" in invoke("show", "added.baytree").stdout
    table = pl.read_csv("friedman.csv").with_columns(nothing=0)
    table.write_csv("nothing.csv")
    plain, found = (predicted("added.baytree", "nothing.csv", "--offset", name) for name in ("nothing", "o"))
    np.testing.assert_allclose(found["mean"], plain["mean"] + table["o"], rtol=1e-6)


def test_predict_json() -> None:
    record = json.loads(invoke("predict", "size.baytree", "size.csv", "--json").stdout)
    assert record["rows"] == len(record["predictions"]) == 120
    assert set(record["predictions"][0]) == {"prediction", "P(low)", "P(mid)", "P(top)"}


# ---- killed and resumed ---------------------------------------------------------------------------------------------

# The same program, killed in the draws behind a checkpoint and before the next.
KILLED = """
import os, signal, baytree.sampling.run as s
s.CHECKPOINT_SECONDS = 0
def update(self, warmed, drawn, *rest, calls=[]):
    calls += [drawn] if drawn else []
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
s.Progress.update = update
from baytree.cli import main
main()
"""


def test_a_killed_run_is_resumed_to_the_same_posterior() -> None:
    settings = ["--model", "bart", "--trees", "20", "--chains", "2", "--warmup", "20", "--draws", "3000", "--seed", "5"]
    done = subprocess.run([sys.executable, "-c", KILLED, *NUMBERS, *settings, "--out", "killed.baytree"])
    assert done.returncode == -signal.SIGKILL
    resume = [*NUMBERS, "--resume", "--out", "killed.baytree", "--quiet"]
    for options, said in (
        ("--trees 30", "begun with --trees 20"),
        ("--model cart", "begun with --model bart"),
        ("--moves birth_death", "begun with --moves birth_death=1,change=0.25"),
        ("--beta 1", "begun with --beta 2.0"),
        ("--sparse", "begun with other knowledge; leave --sparse out"),
        ("--temperatures 3", "--temperatures is for single trees, linear models and mixtures of experts"),
    ):
        assert said in failure(*resume, *options.split())
    assert partial_path("killed.baytree").exists()

    said = invoke(*resume[:-1]).stdout
    assert "baytree predict killed.baytree friedman.csv" in said
    assert "  baytree fit" not in said, "without --model bart it would be another model"
    invoke(*NUMBERS, *settings, "--out", "whole.baytree", "--quiet")
    resumed, whole = bt.load("killed.baytree"), bt.load("whole.baytree")
    assert np.array_equal(resumed.log_likelihood, whole.log_likelihood)
    assert np.array_equal(resumed.ensemble.values, whole.ensemble.values)
    assert resumed.states == whole.states
