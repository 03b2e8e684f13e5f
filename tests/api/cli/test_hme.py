"""Mixtures of experts on the command line."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import baytree as bt
from api.cli.commands import failure, invoke, offered
from baytree.cli.spoken import spoken

FIT = ["fit", "friedman.csv", "--target", "y", "--model", "hme"]
GROUPS = ["fit", "friedman.csv", "--target", "group", "--model", "hme"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of numbers and classes, and a model of each."""
    folder = tmp_path_factory.mktemp("cli")
    friedman = bt.datasets.friedman(n=120, seed=1)
    group = np.array(["a", "b", "c"])[np.digitize(friedman.y, [12, 17])]
    friedman.X.with_columns(pl.Series("group", group), pl.Series("y", friedman.y)).write_csv(folder / "friedman.csv")
    for fit, other, name in ((FIT, "group", "numbers"), (GROUPS, "y", "groups")):
        words = [fit[0], folder / fit[1], *fit[2:], "--drop", other, "--depth", 1, "--seed", 1, "-q"]
        invoke(*words, "--out", folder / f"{name}.baytree")
    return folder


def test_fit_is_the_python_api() -> None:
    design = bt.read_linear("friedman.csv", "y", drop="group")
    expected = bt.sample(bt.HME(depth=1), design, seed=1)
    found = bt.load("numbers.baytree")
    assert (found.model, found.settings) == (expected.model, expected.settings)
    assert np.array_equal(found.gates, expected.gates) and np.array_equal(found.coefficients, expected.coefficients)
    classes = bt.read_linear("friedman.csv", "group", task="auto", drop="y")
    assert bt.load("groups.baytree").model == bt.HME(depth=1).resolve(classes)


def test_a_mean_field_has_draws_and_intervals() -> None:
    words = [*FIT, "--drop", "group", "--depth", 1, "--method", "variational", "--draws", 40, "--seed", 1]
    text = invoke(*words, "--out", "field.baytree").stdout
    assert "mean field" in text and "live" in text
    assert bt.load("field.baytree").draws == 40
    invoke("predict", "field.baytree", "friedman.csv", "--out", "predictions.csv")
    found = pl.read_csv("predictions.csv")
    assert (found["lower"] < found["mean"]).all() and (found["mean"] < found["upper"]).all()
    assert "--chains: --method variational has no chains" in failure(*words, "--chains", 2)


def test_fit_says_what_was_learned() -> None:
    text = invoke(*FIT, "--drop", "group", "--depth", 1, "--seed", 1, "--out", "again.baytree").stdout
    assert "Response 'y' (regression)" in text
    assert "EM, " in text and "leaf 1: y " in text and "leaf 2: y " in text
    assert "✔ EM ended by itself after" in text
    commands = offered(text)
    assert [command[0] for command in commands] == ["show", "report", "predict"]
    for command in commands:
        invoke(*command)


def test_options() -> None:
    options = (
        "--depth 1 --branching 3 --expert constant --method em2 --init random --n-init 2 --ridge 0.5 --epochs 7 "
        "--early-stopping --interaction x1:x2 --seed 3"
    )
    text = invoke(*FIT, "--drop", "group", *options.split(), "--out", "options.baytree").stdout
    assert "of which 1 interaction" in text and "! EM with gates by least squares has not converged after 7" in text
    model = bt.load("options.baytree").model
    design = bt.read_linear("friedman.csv", "y", drop="group", interactions=[("x1", "x2")])
    asked = bt.HME(
        depth=1, branching=3, expert="constant", method="em2", init="random", n_init=2, ridge=0.5, epochs=7,
        early_stopping=True,
    )  # fmt: skip
    assert model == asked.resolve(design)


def test_fit_json() -> None:
    asked = [*GROUPS, "--drop", "y", "--depth", 1, "--seed", 1, "--json", "--out", "json.baytree"]
    record = json.loads(invoke(*asked).stdout)
    assert (record["model"]["family"], record["model"]["expert"]) == ("hme", "multinomial")
    assert len(record["gates"]) == 1 and len(record["experts"]) == 2
    assert set(record["experts"][0]["average"]) == {"a", "b", "c"}
    assert record["verdict"] and record["agree"] is True and record["model_file"] == "json.baytree"


def test_show() -> None:
    posterior, text = bt.load("numbers.baytree"), invoke("show", "numbers.baytree").stdout
    assert "Regression of y: 120 rows, 10 columns" in text
    assert "Model: a soft tree of depth 1 with 2 branches, 2 leaves with linear experts; ridge 0.1" in text
    for line in str(posterior.gate_directions()).splitlines():
        assert line in text
    assert posterior.summary().verdict in text and "Do the chains agree?" not in text
    record = json.loads(invoke("show", "numbers.baytree", "--json").stdout)
    assert record["gates"] == posterior.gate_directions().to_dict()


def test_predict() -> None:
    found = pl.read_csv(invoke("predict", "numbers.baytree", "friedman.csv", "--prob", 0.8).stdout.encode())
    posterior = bt.load("numbers.baytree")
    assert found.columns == ["mean", "predictive_lower", "predictive_upper"]
    assert np.array_equal(found["mean"], posterior.predict("friedman.csv"))
    ends = posterior.predict("friedman.csv", "predictive_interval", 0.8)
    assert np.array_equal(found.select("predictive_lower", "predictive_upper"), ends)
    sd = pl.read_csv(invoke("predict", "numbers.baytree", "friedman.csv", "--kind", "sd").stdout.encode())
    assert np.array_equal(sd["sd"], posterior.predict("friedman.csv", "sd"))
    groups = pl.read_csv(invoke("predict", "groups.baytree", "friedman.csv").stdout.encode())
    assert groups.columns == ["prediction", "P(a)", "P(b)", "P(c)"]
    predict = ["predict", "numbers.baytree", "friedman.csv"]
    assert "found one tree, which has no error bars" in failure(*predict, "--kind", "interval")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--trees 5", "--trees is for sums of trees: a soft tree has one tree; --depth and --branching say"),
        ("--max-depth 2", "all leaves of a soft tree are at --depth; leave --max-depth out"),
        ("--depth -1", "--depth -1: choose a whole number, 0 or more"),
        ("--depth 20", "1,048,576 leaves; choose at most 4,096"),
        ("--branching 1", "--branching 1: choose a whole number, 2 or more"),
        ("--branching 3 --init cart", "decision trees have two branches, not 3; choose 'random'"),
        ("--ridge -1", "--ridge -1.0: choose 0 or more, or 'auto'"),
        ("--ridge atuo", "--ridge atuo: choose 0 or more, or 'auto'"),
        ("--epochs 0", "--epochs 0: choose a whole number, 1 or more"),
        ("--n-init 0", "--n-init 0: choose a whole number, 1 or more"),
        ("--expert logistic", "--expert logistic is not for a regression; choose from: auto, linear, constant"),
        ("--draws 10", "--draws: --method em ends with one tree; leave --draws out"),
        ("--temperatures 3", "--temperatures: --method em has no chains; leave --temperatures out"),
        ("--nu 4", "--nu: --method em has no chains; leave --nu out"),
        ("--method variational --warmup 5", "--warmup: --method variational has no chains"),
        ("--method gibbs --epochs 5", "--epochs: --method gibbs makes no epochs; leave --epochs out"),
        ("--method gibbs --expert gamma", "--method gibbs is not for gamma experts; choose 'em'"),
        ("--method gibbs --weight x1", "--method gibbs takes no weights; choose 'em', or repeat the rows"),
        ("--method gibbs --scale 0", "--scale 0.0: choose a positive number, or 'auto'"),
        ("--until-converged", "--until-converged: --method em has no chains"),
    ],
)  # fmt: skip
def test_wrong_options(options: str, said: str) -> None:
    assert said in failure(*FIT, "--drop", "group", "-q", "--out", "new.baytree", *shlex.split(options))
    assert not Path("new.baytree").exists()


GIBBS = [*FIT, "--drop", "group", "--depth", "1", "--method", "gibbs"]


def test_gibbs() -> None:
    options = ["--chains", "2", "--warmup", "20", "--draws", "30", "--seed", "4", "--nu", "4", "--scale", "2"]
    text = invoke(*GIBBS, *options, "--temperatures", "3", "--out", "gibbs.baytree").stdout
    assert "2 chains × 30 draws after a warm-up of 20; seed 4" in text and "3 temperatures (adaptive)" in text
    found, design = bt.load("gibbs.baytree"), bt.read_linear("friedman.csv", "y", drop="group")
    model = bt.HME(depth=1, method="gibbs", nu=4, scale=2)
    settings: dict[str, Any] = {"chains": 2, "warmup": 20, "draws": 30, "seed": 4, "temperatures": 3}
    expected = bt.sample(model, design, **settings, progress=False)
    assert (found.model, found.settings) == (expected.model, expected.settings)
    assert np.array_equal(found.gates, expected.gates) and np.array_equal(found.variance, expected.variance)
    assert found.rung_log_likelihood.shape == (2, 30, 3)
    text = invoke("show", "gibbs.baytree").stdout
    assert "Do the chains agree?" in text and "log-prior" in text and "noise nu = 4, scale = 2" in text
    assert "3 temperatures (adaptive)" in text and spoken(found.summary().verdict) in text
    table = pl.read_csv(invoke("predict", "gibbs.baytree", "friedman.csv").stdout.encode())
    assert table.columns == ["mean", "lower", "upper", "predictive_lower", "predictive_upper"]
    assert np.array_equal(table.select("lower", "upper"), found.predict("friedman.csv", "interval"))


def test_several_responses() -> None:
    """Such models come from Python; each response has columns of its own."""
    table = pl.read_csv("friedman.csv")
    X, y = table.select("x1", "x2"), table["y"].to_numpy()
    options: dict[str, Any] = {"chains": 2, "warmup": 5, "draws": 3, "random_state": 0}
    model = bt.HMERegressor(depth=1, method="gibbs", **options).fit(X, np.column_stack([y, -y]))
    model.posterior_.save("several.baytree")
    found = pl.read_csv(invoke("predict", "several.baytree", "friedman.csv").stdout.encode())
    assert found.columns[:4] == ["mean[0]", "mean[1]", "lower[0]", "upper[0]"]
    assert np.array_equal(found.select("lower[1]", "upper[1]"), model.predict(X, kind="interval")[:, 1])
    drawn = pl.read_csv(invoke("predict", "several.baytree", "friedman.csv", "--kind", "draws").stdout.encode())
    assert drawn.columns == ["row", "chain", "draw", "mean[0]", "mean[1]"] and drawn.height == 120 * 6
    assert "leaf 1: y[0] " in invoke("show", "several.baytree").stdout


def test_independent_draws() -> None:
    words = [*FIT, "--drop", "group", "--depth", "1", "--method", "variational", "--draws", "20", "--seed", "1"]
    text = invoke(*words, "--out", "field.baytree").stdout
    assert "; 20 independent draws; seed 1" in text and "live" in text
    posterior = bt.load("field.baytree")
    assert (posterior.chains, posterior.draws, posterior.has_chains) == (1, 20, False)
    assert "Do the chains agree?" not in invoke("show", "field.baytree").stdout
    assert "lower" in invoke("predict", "field.baytree", "friedman.csv").stdout.splitlines()[0]
