"""Sums of trees on the command line."""

import json
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import baytree as bt
from api.cli.commands import failure, invoke, offered, predicted

QUICK = ["--model", "bart", "--trees", "8", "--chains", "2", "--draws", "30", "--warmup", "20", "--seed", "7"]
NUMBERS = ["fit", "friedman.csv", "--target", "y", "--drop", "o"]
CLASSES = ["fit", "kyphosis.csv", "--target", "kyphosis"]


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


# ---- fit ------------------------------------------------------------------------------------------------------------


def test_a_program_as_the_prior() -> None:
    said = invoke(*NUMBERS, *QUICK, "--prior", "growtree.slp", "--proposal", "subtree=2", "--max-depth", 2,
                  "--out", "program.baytree").stdout  # fmt: skip
    found = bt.load("program.baytree")
    assert found.model.prior == bt.slp.load("growtree.slp") & bt.MaxDepth(2)
    assert found.model.shares == {"subtree": 2.0}
    assert found.ensemble.leaves.max() <= 4
    assert "Each draw adds up 8 trees" in said
    assert "Prior: the program growtree.slp" in invoke("show", "program.baytree").stdout


def test_registers_that_there_are_none_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAYTREE_SIMD", "nonsense")
    said = invoke(*NUMBERS, *QUICK, "--out", "never.baytree", code=2).stderr
    assert said.startswith("baytree: no BAYTREE_SIMD 'nonsense'")


def test_a_longer_run_can_be_pasted() -> None:
    text = invoke(
        *NUMBERS, *QUICK, "--offset", "x10", "--draws", "10", "--warmup", "0", "--out", "short.baytree"
    ).stdout
    show, report, predict, longer = offered(text)
    assert predict[-2:] == report[-2:] == ["--offset", "x10"]
    assert "--temperatures" not in longer and longer[longer.index("--model") + 1] == "bart"
    for command in (show, predict):
        invoke(*command)


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


def test_noise_with_outliers() -> None:
    text = invoke(*NUMBERS, *QUICK, "--noise", "student", "--out", "student.baytree").stdout
    posterior = bt.load("student.baytree")
    assert posterior.model.noise == "student" and posterior.freedom.shape == posterior.sigma.shape
    assert "the noise has a scale of about" in text and "degrees of freedom (Student)" in text
    assert "Student noise by sigma = linear" in invoke("show", "student.baytree").stdout
    found = predicted("student.baytree", "friedman.csv", "--kind", "predictive_interval")
    interval = posterior.predict("friedman.csv", "predictive_interval")
    assert np.array_equal(found.select("predictive_lower", "predictive_upper").to_numpy(), interval)


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
        ("--temperatures 4", "--temperatures is for single trees, mixtures of experts and linear models: chains of "
         "sums of trees are not tempered; --effort thorough goes on until they agree; leave --temperatures out"),
        ("--semantics reject", "--semantics is for a program"),
        ("--prior growtree.slp --beta 2", "write it into growtree.slp"),
        ("--prior edittree.slp --semantics reject", "edittree.slp: not for sums of trees"),
        ("--prior growtree.slp --init grow", "--init grow needs a GrowTree"),
        ("--trees 0", "--trees 0: choose a whole number, 1 or more"),
        ("--k -1", "--k -1.0: choose a positive number"),
        ("--q 1", "--q 1.0 is a probability"),
        ("--nu 0", "--nu 0.0: choose a positive number"),
        ("--k much", "--k much: choose a positive number, or 'learned'"),
        ("--sigma lineal", "Did you mean 'linear'?"),
        ("--sigma -2", "--sigma -2.0: choose a positive number"),
        ("--proposal swap", "no proposal 'swap'. Choose from: auto, birth_death, change"),
        ("--variance-trees 5", "add that, or leave --variance-trees out"),
        ("--variance forest --nu inf", "--nu inf fixes the noise"),
        ("--split soft --monotone x4=+1", "--split soft cannot be held to --monotone; leave that out"),
        ("--split soft --init grow", "with --split soft choose --init root"),
        ("--split soft --proposal perturb", "only the cuts of hard rules are perturbed"),
        ("--bandwidth 0.2", "--bandwidth is for --split soft"),
        ("--offset nothing", "no column 'nothing'"),
        ("--column-weight x1=2 --sparse", "keep one"),
    ],
)  # fmt: skip
def test_wrong_options(options: str, said: str) -> None:
    assert said in failure(*NUMBERS, *QUICK, "-q", "--out", "new.baytree", *shlex.split(options))
    assert not Path("new.baytree").exists()


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
    leaves = posterior.ensemble.leaves.mean()
    assert f"Each draw adds up {24 if name == 'size' else 8} trees" in text and f"of {leaves:.2f} leaves on" in text
    if name == "friedman":
        assert f"the noise has a standard deviation of about {posterior.sigma.mean():.4g}" in text


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
    assert failure("show", "friedman.baytree", "--trees", "3") == (
        "--trees is for single trees, and friedman.baytree holds sums of trees: a sum of trees does not come again; "
        "see which columns it uses, or draw one tree: --tree 0,0,0; leave --trees out"
    )
    assert "is no tree" in failure(*NUMBERS, "--edit", "friedman.baytree", "-q")


# ---- predict --------------------------------------------------------------------------------------------------------


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
    assert "--kind vote: kyphosis.baytree does not offer that" in failure(
        "predict", "kyphosis.baytree", "kyphosis.csv", "--kind", "vote"
    )


def test_kinds_of_a_single_tree() -> None:
    invoke(*CLASSES, "--chains", 2, "--draws", 20, "--warmup", 10, "--out", "one.baytree", "-q")
    found = predicted("one.baytree", "kyphosis.csv", "--kind", "vote").drop("prediction").to_numpy()
    assert np.array_equal(found, bt.load("one.baytree").predict("kyphosis.csv", "vote"))


def test_predict_with_an_offset() -> None:
    plain, offset = predicted("friedman.baytree", "friedman.csv"), pl.read_csv("friedman.csv")["o"]
    found = predicted("friedman.baytree", "friedman.csv", "--offset", "o")
    np.testing.assert_allclose(found["mean"], plain["mean"] + offset, rtol=1e-6)
    assert "Did you mean 'x1'?" in failure("predict", "friedman.baytree", "friedman.csv", "--offset", "x11")


def test_predict_asks_for_the_offset_of_new_rows() -> None:
    invoke(*NUMBERS[:4], *QUICK, "--offset", "o", "--out", "added.baytree", "-q")
    said = failure("predict", "added.baytree", "friedman.csv")
    assert "the model was fitted with an offset" in said and "--offset" in said
    assert "\nAn offset is added to the sum.\n" in invoke("show", "added.baytree").stdout
    table = pl.read_csv("friedman.csv").with_columns(nothing=0)
    table.write_csv("nothing.csv")
    plain, found = (predicted("added.baytree", "nothing.csv", "--offset", name) for name in ("nothing", "o"))
    np.testing.assert_allclose(found["mean"], plain["mean"] + table["o"], rtol=1e-6)


# ---- killed and resumed ---------------------------------------------------------------------------------------------
