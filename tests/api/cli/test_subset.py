"""Subset selection in the linear model on the command line."""

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import baytree as bt
from api.cli.commands import failure, invoke, offered
from baytree.cli.families.subset import coefficients, model_prior, spelt
from baytree.cli.spoken import spoken

NUMBERS = ["fit", "friedman.csv", "--target", "y", "--drop", "group", "--model", "subset"]
MIXED = ["fit", "friedman.csv", "--target", "y", "--model", "subset"]
SAMPLED = ["--method", "sample", "--chains", "2", "--draws", "50", "--warmup", "20", "--seed", "7"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of numbers and a factor, and two models of it: enumerated and sampled."""
    folder = tmp_path_factory.mktemp("cli")
    friedman = bt.datasets.friedman(n=120, seed=1)
    group = np.array(["a", "b", "c"])[np.arange(120) % 3]
    table = friedman.X.with_columns(pl.Series("group", group), pl.Series("y", friedman.y))
    table.write_csv(folder / "friedman.csv")
    fit = [MIXED[0], folder / MIXED[1], *MIXED[2:], "--seed", 7, "-q"]
    invoke(*fit, "--draws", 50, "--chains", 2, "--out", folder / "all.baytree")
    invoke(*fit, *SAMPLED, "--interaction", "x1:x2", "--temperatures", 3, "--out", folder / "some.baytree")
    return folder


# ---- fit ------------------------------------------------------------------------------------------------------------


def test_fit_tells_what_it_learned() -> None:
    text = invoke(*NUMBERS, "--seed", 1, "--out", "told.baytree").stdout
    posterior = bt.load("told.baytree")
    best = posterior.top_models(1)[0]
    assert "Matrix: 10 columns in 10 units" in text
    assert "4,000 independent draws; seed 1" in text
    assert "How likely a column is in the model" in text
    assert f"The most probable model: {' + '.join(best.units)}, of probability {best.probability:.0%}" in text
    assert "✔ All 1,024 models were enumerated" in text
    assert "baytree predict told.baytree friedman.csv" in text


def test_fit_equals_the_python_api() -> None:
    invoke(*MIXED, "--model-prior", "independent=0.3", "--coefficients", "g=50", "--always", "x6", "--always", "group",
           "--interaction", "x1:x2", "--interaction", "group:x1", "--heredity", "weak", "--no-intercept", "--nu", 4,
           "--scale", 2.5, "--method", "sample", "--proposal", "metropolis=2,informed=1", "--drop", "x9",
           "--weight", "x10", "--chains", 2, "--draws", 20, "--warmup", 10, "--thin", 2, "--temperatures", 3,
           "--ladder", "mrbayes", "--seed", 3, "--out", "options.baytree")  # fmt: skip
    model = bt.Subset(
        bt.Independent(0.3),
        bt.GPrior(50),
        always=("x6", "group"),
        heredity="weak",
        fit_intercept=False,
        nu=4.0,
        scale=2.5,
        proposal={"metropolis": 2, "informed": 1},
        method="sample",
    )
    pairs = [("x1", "x2"), ("group", "x1")]
    design = bt.read_linear("friedman.csv", "y", weight="x10", drop="x9", interactions=pairs)
    settings: dict[str, Any] = {"temperatures": 3, "ladder": "mrbayes", "seed": 3, "progress": False}
    expected = bt.sample(model, design, chains=2, draws=20, warmup=10, thin=2, **settings)
    found = bt.load("options.baytree")
    assert np.array_equal(found.log_likelihood, expected.log_likelihood)
    assert np.array_equal(found.sigma, expected.sigma)
    assert (found.settings, found.model) == (expected.settings, expected.model)


def test_defaults_are_those_of_the_python_api() -> None:
    assert bt.load("all.baytree").model == bt.Subset().resolve(bt.read_linear("friedman.csv", "y"))


def test_all_interactions() -> None:
    text = invoke(*NUMBERS, *SAMPLED, "--interaction", "all", "--heredity", "strong", "--out", "pairs.baytree").stdout
    assert "Matrix: 55 columns in 55 units, of which 45 interactions" in text
    assert bt.load("pairs.baytree").model.heredity == "strong"


@pytest.mark.parametrize(
    ("text", "prior"),
    [
        ("beta-binomial", bt.BetaBinomial()),
        ("beta-binomial=2,5.5", bt.BetaBinomial(2, 5.5)),
        ("independent=0.2", bt.Independent(0.2)),
        ("sizes=0.5,0.25,0.25", bt.SizePrior([0.5, 0.25, 0.25])),
        ("4", bt.ExpectedSize(4)),
        ("0.1", bt.ExpectedSize(0.1)),
    ],
)
def test_priors_over_models(text: str, prior: Any) -> None:
    assert model_prior(text) == prior
    assert model_prior(spelt(prior)) == prior


@pytest.mark.parametrize(
    ("text", "prior"),
    [
        ("hyper-gn", bt.HyperGN()),
        ("hyper-gn=4", bt.HyperGN(4)),
        ("hyper-g=3", bt.HyperG(3)),
        ("g", bt.GPrior()),
        ("g=unit", bt.GPrior("unit")),
        ("g=eb", bt.GPrior("eb")),
        ("g=1e-3", bt.GPrior(1e-3)),
        ("ridge=0.7", bt.Ridge(0.7)),
    ],
)
def test_priors_of_coefficients(text: str, prior: Any) -> None:
    assert coefficients(text) == prior
    assert coefficients(spelt(prior)) == prior


def test_models_that_never_come_again_have_no_probability() -> None:
    few = ["--method", "sample", "--chains", 2, "--draws", 2, "--warmup", 0, "--seed", 2, "--interaction", "all"]
    fit = [*NUMBERS, *few, "--model-prior", "independent=0.5", "--coefficients", "g=0.01", "--out", "few.baytree"]
    assert "of probability" not in invoke(*fit).stdout
    assert "4 models visited, an unknown share of the posterior" in invoke("show", "few.baytree").stdout
    record = json.loads(invoke("show", "few.baytree", "--json").stdout)
    assert record["top_models"]["normalised"]["share"] is None


def test_a_longer_run_can_be_pasted() -> None:
    options = ["--always", "x6", "--interaction", "x1:x2", "--no-intercept", "--draws", "10", "--warmup", "0"]
    text = invoke(*NUMBERS, *SAMPLED, *options, "--out", "short.baytree").stdout
    commands = offered(text)
    assert {"--no-intercept", "--always", "--interaction"} <= set(commands[-1])
    assert commands[-1][-2:] == ["--effort", "default"]
    for command in commands:
        invoke(*[word.replace("default", "0.1") for word in command])
    settings = bt.load("short.baytree").settings
    assert settings.thin > 1 and settings.draws == 10


# ---- options that do not belong together ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--task classification", "linear models are of numbers"),
        ("--model-prior beta-binomia", "no prior over models 'beta-binomia'. Did you mean 'beta-binomial'? Choose "
         "from: beta-binomial, independent, sizes, an expected size"),
        ("--model-prior beta-binomial=1,2,3", "3 numbers are too many; write beta-binomial=A,B"),
        ("--model-prior beta-binomial=0,1", "a=0.0: choose a positive number"),
        ("--model-prior independent=1.5", "w=1.5: choose a probability between 0 and 1"),
        ("--model-prior sizes", "no size has a positive probability"),
        ("--model-prior sizes=1,x", "h[1]='x'"),
        ("--model-prior 11", "an expected size of 11 with 10 free units; choose less than 10"),
        ("--model-prior -2", "k=-2.0: choose a positive number"),
        ("--coefficients hyper-gm", "no prior of coefficients 'hyper-gm'. Did you mean 'hyper-gn'?"),
        ("--coefficients hyper-g=2", "a=2.0: choose more than 2"),
        ("--coefficients g=units", "no c 'units'. Did you mean 'unit'?"),
        ("--coefficients ridge=a", "c='a': choose a positive number"),
        ("--always x11", "no column 'x11'. Did you mean 'x1'?"),
        ("--interaction x1", "--interaction x1: give two columns as COL:COL, or all"),
        ("--interaction x1:x2:x3", "give two columns as COL:COL, or all"),
        ("--interaction x1:", "give two columns as COL:COL, or all"),
        ("--interaction all --interaction x1:x2", "has every pair already"),
        ("--interaction x1:x1", "'x1' cannot interact with itself"),
        ("--interaction x1:z", "no column 'z'"),
        ("--nu -1", "--nu -1.0: choose 0 or more"),
        ("--scale atuo", "--scale atuo: choose a positive number, or 'auto'"),
        ("--scale 0", "--scale 0.0: choose a positive number, or 'auto'"),
        ("--proposal swap", "no proposal 'swap'. Choose from: auto, gibbs, random, metropolis, informed, replace"),
        ("--method enumerate --interaction all", "at most 30 are enumerated"),
        ("--time-limit 0", "--time-limit 0: choose a positive number of seconds"),
        ("--until-converged --effort quick", "--until-converged is --effort unlimited"),
    ],
)  # fmt: skip
def test_wrong_options(options: str, said: str) -> None:
    assert said in failure(*NUMBERS, "-q", "--out", "new.baytree", *shlex.split(options))
    assert not Path("new.baytree").exists()


def test_classes_are_no_numbers() -> None:
    message = failure("fit", "friedman.csv", "--target", "group", "--model", "subset", "-q")
    assert "group" in message and "numbers" in message


# ---- show -----------------------------------------------------------------------------------------------------------


def test_show_an_enumeration() -> None:
    text, posterior = invoke("show", "all.baytree", "--models", 2).stdout, bt.load("all.baytree")
    assert "Prior: models beta-binomial=1,1; coefficients hyper-gn=3; noise nu = 3, scale = " in text
    best, second = posterior.top_models(2).models
    for one in (best, second):
        assert f"{one.odds:.3g}" in text and " + ".join(one.units) in text
    assert " + ".join(posterior.top_models(3)[2].units) + "\n" not in text
    assert f"Columns that are more likely in than out: {', '.join(posterior.median_model())}" in text
    assert "group=b" in text and "(intercept)" in text
    assert "Do the chains agree?" not in text and spoken(posterior.summary().verdict) in text


def test_show_draws() -> None:
    text, posterior = invoke("show", "some.baytree").stdout, bt.load("some.baytree")
    assert "Regression of y: 120 rows, 11 columns\n2 chains × 50 draws after a warm-up of 20; seed 7\n" in text
    assert "3 temperatures (adaptive): at least" in text
    assert f"{len(set(map(bytes, posterior.drawn.included()[posterior.drawn.model.ravel()])))} models visited" in text
    assert "Do the chains agree?" in text and "Accepted: gibbs" in text
    assert spoken(posterior.summary().verdict) in text


def test_show_the_only_model() -> None:
    columns = [f"x{number}" for number in range(10, 0, -1)]
    asked = [word for column in columns for word in ("--always", column)]
    invoke(*NUMBERS, *asked, "--draws", 20, "--out", "one.baytree", "-q")
    text = invoke("show", "one.baytree").stdout
    assert f"; always {', '.join(columns)}\n" in text
    assert "There is but one model; probabilities are exact." in text


@pytest.mark.parametrize("name", ["all", "some"])
def test_show_json(name: str) -> None:
    record = json.loads(invoke("show", f"{name}.baytree", "--models", 7, "--json").stdout)
    posterior = bt.load(f"{name}.baytree")
    assert len(record["top_models"]["models"]) == 7
    assert record["inclusion"] == posterior.inclusion().to_dict()
    assert record["coefficients"]["x1"] == posterior.coefficients().to_dict()["x1"]
    assert (record["tempered"] is None) == (name == "all")
    assert record["agree"] in (True, False)


def test_what_makes_no_sense_offers_what_does() -> None:
    for option in (["--trees", "3"], ["--tree", "0,0,0"]):
        assert "all.baytree holds linear models: list them by --models 10" in failure("show", "all.baytree", *option)


# ---- predict --------------------------------------------------------------------------------------------------------


def test_levels_that_were_never_seen_are_noted() -> None:
    pl.read_csv("friedman.csv").head(2).with_columns(group=pl.lit("z")).write_csv("new.csv")
    result = invoke("predict", "all.baytree", "new.csv")
    assert "note: column 'group': 2 values missing or never seen" in result.stderr


# ---- killed and resumed ---------------------------------------------------------------------------------------------
