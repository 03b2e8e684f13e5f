"""What every family does on the command line, in the same way."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import baytree as bt
from api.cli.commands import KILLED, failure, invoke, offered, predicted, write_friedman
from baytree import cli
from baytree.cli.declaring import option
from baytree.cli.families import FAMILIES
from baytree.cli.spoken import spoken
from baytree.posterior.registry import FAMILIES as registered
from baytree.storage import partial_path


@dataclass(frozen=True)
class Case:
    """A small run of a family's chains, as options and in Python.

    Attributes
    ----------
    options : str
        What makes a model that differs from the usual one and is quick to fit.
    model : Model
        The same in Python.
    usual : Model
        What the family has where nothing is asked.
    read : callable
        How Python reads the table.
    says : str
        What `fit` and `show` say of what was learned.
    arrays : tuple of str
        What of the posterior must be equal to the bit.
    contradictions : dict of str to str
        Options that an unfinished run refuses, and what it says was begun.
    """

    options: str
    model: Any
    usual: Any
    read: Callable[..., Any]
    says: str
    arrays: tuple[str, ...]
    contradictions: dict[str, str]


CASES = {
    "cart": Case(
        "--alpha 0.8 --beta 0.5 --min-leaf 4 --rule uniform --proposal uc=2,change=1 --max-depth 3",
        bt.CART(bt.GrowTree(0.8, 0.5, 4, "uniform") & bt.MaxDepth(3), proposal={"uc": 2, "change": 1}),
        bt.CART(),
        bt.read,
        "How likely a tree asks about a column",
        ("tree_index",),
        {
            "--alpha 0.5": "begun with --alpha 0.8",
            "--proposal uc": "begun with --proposal change=1,uc=2",
            "--max-depth 2": "begun with other knowledge; leave --max-depth out",
            "--temperatures 3": "begun with --temperatures 1",
            "--edit tree.txt": "begun without --edit",
        },
    ),
    "bart": Case(
        "--trees 6 --k 3 --nu 4 --q 0.75 --sigma 1.5 --alpha 0.9 --beta 1.5 --min-leaf 4 "
        "--proposal birth_death=2,change=1 --init root --monotone x4=+1 --sparse",
        bt.BART(
            trees=6,
            prior=bt.GrowTree(0.9, 1.5, 4) & bt.Monotone(x4=1) & bt.Weights("sparse"),
            k=3.0,
            nu=4.0,
            q=0.75,
            sigma=1.5,
            proposal={"birth_death": 2, "change": 1},
        ),
        bt.BART(),
        bt.read,
        "Of all questions, how many are about a column",
        ("sigma", "log_weights"),
        {
            "--trees 30": "begun with --trees 6",
            "--proposal birth_death": "begun with --proposal birth_death=2,change=1",
            "--beta 1": "begun with --beta 1.5",
            "--init grow": "begun with --init root",
            "--forbid x1": "begun with other knowledge; leave --forbid out",
            "--temperatures 3": "--temperatures is for single trees, mixtures of experts and linear models",
        },
    ),
    "subset": Case(
        "--method sample --always x6 --nu 4",
        bt.Subset(always=("x6",), nu=4.0, method="sample"),
        bt.Subset(),
        bt.read_linear,
        "How likely a column is in the model",
        ("sigma",),
        {
            "--model-prior 4": "begun with --model-prior beta-binomial=1,1; leave --model-prior out",
            "--coefficients g=eb": "begun with --coefficients hyper-gn=3",
            "--always x7": "begun with --always x6",
            "--heredity weak": "begun without --heredity; leave",
            "--no-intercept": "begun without --no-intercept",
            "--nu 0": "begun with --nu 4.0",
            "--scale 4": "begun with --scale ",
            "--method enumerate": "begun with --method sample",
            "--proposal gibbs": "begun with --proposal gibbs=1,replace=1",
            "--temperatures 3": "begun with --temperatures 1",
            "--trees 3": "--trees is for sums of trees",
            "--interaction x1:x2": "give the same table, with the same interactions",
        },
    ),
    "hme": Case(
        "--depth 1 --method gibbs --nu 4 --scale 2",
        bt.HME(depth=1, method="gibbs", nu=4, scale=2),
        bt.HME(),
        bt.read_linear,
        "leaf 1: y ",
        ("gates", "coefficients", "variance"),
        {
            "--depth 2": "begun with --depth 1; leave --depth out",
            "--method em": "begun with --method gibbs",
            "--ridge 3": "begun with --ridge 0.1",
            "--expert constant": "begun with --expert linear",
            "--interaction x1:x2": "give the same table, with the same interactions",
        },
    ),
}
FIT = ["fit", "friedman.csv", "--target", "y", "--drop", "group", "--drop", "o"]
QUICK = ["--chains", "2", "--draws", "30", "--warmup", "20", "--thin", "2", "--seed", "7"]
families = pytest.mark.parametrize("name", CASES)


def fit(name: str, *more: str) -> list[str]:
    """The line that fits the case of a family."""
    return [*FIT, "--model", name, *CASES[name].options.split(), *QUICK, *more]


def design(name: str) -> Any:
    return CASES[name].read("friedman.csv", "y", drop=["group", "o"])


def names(name: str, command: str) -> set[str]:
    """What a family asks of a command."""
    return {field.name for field in fields(getattr(FAMILIES[name], command))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table and a model of each family."""
    folder = tmp_path_factory.mktemp("cli")
    write_friedman(folder)
    (folder / "tree.txt").write_text("x1 <= 0.5?\n  yes: leaf\n  no: leaf\n")
    for name in CASES:
        line = fit(name, "--out", str(folder / f"{name}.baytree"), "-q")
        invoke(line[0], folder / line[1], *line[2:])
    return folder


def test_every_family_has_a_case() -> None:
    assert CASES.keys() == FAMILIES.keys()


def test_no_other_module_knows_a_family() -> None:
    modules = Path(cli.__file__).parent.rglob("*.py")
    others = [path for path in modules if path.parent.name != "families"]
    named = re.compile(rf"^ *from \.+(families\.)?({'|'.join(registered)})\b", re.MULTILINE)
    assert len(others) > 15 and [path for path in others if named.search(path.read_text())] == []


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("baytree fit --tr", ["--trees"]),
        ("baytree fit --model b", ["bart"]),
        ("baytree fit --heredity s", ["strong"]),
        ("baytree show --mo", ["--models"]),
    ],
)
def test_a_shell_completes_the_options_of_every_family(line: str, offers: list[str]) -> None:
    asked = {"_BAYTREE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    assert CliRunner().invoke(cli.app, prog_name="baytree", env=asked).stdout.split() == offers


# ---- fit ------------------------------------------------------------------------------------------------------------


@families
def test_fit_tells_what_it_learned_and_what_to_try(name: str) -> None:
    text, out = invoke(*fit(name, "--out", "told.baytree")).stdout, "told.baytree"
    assert "Read friedman.csv: 120 rows, 10 columns" in text and "Response 'y' (regression)" in text
    assert "2 chains × 30 draws after a warm-up of 20, every 2nd kept; seed 7; " in text
    assert CASES[name].says in text and spoken(bt.load(out).summary().verdict) in text
    assert f"Model written to {out}" in text and "\x1b" not in text
    show, report, predict, *longer = offered(text)
    assert (show, predict) == (["show", out], ["predict", out, "friedman.csv"])
    assert report == ["report", out, "--data", "friedman.csv"] and longer
    for command in (show, predict):
        invoke(*command)


@families
def test_fit_equals_the_python_api(name: str) -> None:
    run: dict[str, Any] = {"chains": 2, "draws": 30, "warmup": 20, "thin": 2, "seed": 7, "progress": False}
    found, expected = bt.load(f"{name}.baytree"), bt.sample(CASES[name].model, design(name), **run)
    assert (found.settings, found.model) == (expected.settings, expected.model)
    for array in ("log_likelihood", *CASES[name].arrays):
        assert np.array_equal(getattr(found, array), getattr(expected, array)), array


@families
def test_defaults_are_those_of_the_python_api(name: str) -> None:
    few = [] if name == "hme" else ["--chains", "1", "--draws", "1", "--warmup", "0"]
    invoke(*FIT, "--model", name, *few, "--seed", "1", "--out", "usual.baytree", "-q")
    assert bt.load("usual.baytree").model == CASES[name].usual.resolve(design(name)).drawn_by_chains()


@families
def test_fit_json_is_the_summary_and_nothing_else(name: str) -> None:
    result = invoke(*fit(name, "--json", "--out", f"{name}-json.baytree"))
    record = json.loads(result.stdout)
    assert result.stderr == ""
    assert record["model"]["family"] == name
    assert (record.pop("file"), record.pop("model_file")) == ("friedman.csv", f"{name}-json.baytree")
    assert record == json.loads(json.dumps(bt.load(f"{name}-json.baytree").summary().to_dict()))


@families
def test_a_longer_run_can_be_pasted(name: str) -> None:
    text = invoke(*fit(name, "--out", "short.baytree", "--draws", "5", "--warmup", "0")).stdout
    longer = offered(text)[-1]
    assert longer[: len(FIT)] == FIT
    assert {word for word in CASES[name].options.split() if word.startswith("--")} <= set(longer)
    invoke(*longer, "--draws", "7", "--warmup", "3", "--effort", "1", "-q")
    assert bt.load("short.baytree").draws == 7


class CountingClock:
    """A clock that is a fortieth of a second on each time somebody looks, however busy the machine is."""

    def __init__(self) -> None:
        self.looks = 0

    def monotonic(self) -> float:
        self.looks += 1
        return self.looks / 40


@families
def test_until_converged(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = CountingClock()
    monkeypatch.setattr("baytree.sampling.rounds.time", clock)
    monkeypatch.setattr("baytree.sampling.run.time", clock)
    invoke(*fit(name, "--until-converged", "--time-limit", "2", "--out", "agree.baytree", "-q"))
    found = bt.load("agree.baytree")
    assert found.settings.thin > 2 or found.diagnostics().is_enough


# ---- help -----------------------------------------------------------------------------------------------------------


def options_in(text: str) -> set[str]:
    """The options that a help page lists."""
    return set(re.findall(r"^│ (?:\* )? *(--[a-z-]+) ", text, re.MULTILINE))


def test_help_shows_what_all_share_and_where_to_look_further() -> None:
    text = invoke("fit", "--help").stdout
    shared = set.intersection(*(names(name, "fit") for name in CASES)) - {"written"}
    assert options_in(text) == {option(name) for name in shared - {"file"}} | {"--help"}
    for family in FAMILIES.values():
        [line] = [line for line in text.splitlines() if f"fit --model {family.name} --help" in line]
        assert family.about in line


@families
@pytest.mark.parametrize("before", [[], ["friedman.csv", "--target", "y"]])
def test_help_of_a_family_shows_what_concerns_it(name: str, before: list[str]) -> None:
    text = invoke("fit", *before, "--model", name, "--help").stdout
    assert options_in(text) == {option(one) for one in names(name, "fit") - {"file", "written"}} | {"--help"}


@pytest.mark.parametrize("command", ["show", "predict"])
def test_help_shows_what_any_file_may_take(command: str) -> None:
    found = set.union(*(names(name, command) for name in CASES)) - {"written", "model", "new"}
    assert options_in(invoke(command, "--help").stdout) == {option(name) for name in found} | {"--help"}


# ---- options of other families --------------------------------------------------------------------------------------


@families
def test_options_of_other_families_are_refused(name: str) -> None:
    """Before the table is read: there is none."""
    flags = ("sparse", "no_intercept", "early_stopping")
    own, family = names(name, "fit"), FAMILIES[name]
    for other in FAMILIES:
        for foreign in sorted(names(other, "fit") - own):
            owners = [one for one in FAMILIES if foreign in names(one, "fit")]
            words = [option(foreign), *([] if foreign in flags else ["1"])]
            said = failure("fit", "unreadable.csv", "--target", "y", "--model", name, *words)
            assert said.startswith(f"{option(foreign)} is for {FAMILIES[owners[0]].plural}")
            assert said.endswith(f"leave {option(foreign)} out")
            assert family.fit.instead.get(foreign, " or ".join(f"--model {owner}" for owner in owners)) in said


@families
def test_what_a_family_says_instead_is_of_others(name: str) -> None:
    for command in ("fit", "show", "predict"):
        instead = getattr(FAMILIES[name], command).instead
        others = set.union(*(names(other, command) for other in FAMILIES if other != name))
        assert set(instead) <= others - names(name, command)


def test_options_that_no_family_has_together_are_refused_as_of_single_trees() -> None:
    message = failure("fit", "unreadable.csv", "--target", "y", "--trees", "12", "--rule", "uniform")
    assert message == "--trees is for sums of trees; choose --model bart, or leave --trees out"


def test_a_family_that_is_not_there() -> None:
    message = failure("fit", "unreadable.csv", "--target", "y", "--model", "brat")
    assert message == "no model 'brat'. Did you mean 'bart'? Choose from: bart, cart, hme, subset"


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        ("--model bart --init cart", "'root', 'grow'"),
        ("--model hme --init root", "'auto', 'cart', 'grow', 'random'"),
        ("--model subset --method em", "'auto', 'enumerate', 'sample'"),
        ("--model hme --method enumerate", "'auto', 'em', 'em2', 'online', 'gibbs', 'variational'"),
    ],
)
def test_options_that_mean_another_thing_elsewhere(words: str, choices: str) -> None:
    result = invoke("fit", "unreadable.csv", "--target", "y", *words.split(), "--json", code=2)
    assert f"is not one of {choices}" in json.loads(result.stderr)["error"]


# ---- show -----------------------------------------------------------------------------------------------------------


@families
def test_show_says_what_the_model_and_its_summary_say(name: str) -> None:
    text, posterior = invoke("show", f"{name}.baytree").stdout, bt.load(f"{name}.baytree")
    title = "Regression of y: 120 rows, 10 columns\n2 chains × 30 draws after a warm-up of 20, every 2nd kept; seed 7\n"
    assert text.startswith(title + posterior.model.describe(posterior.schema))
    assert CASES[name].says in text
    assert "Do the chains agree?" in text and spoken(posterior.summary().verdict) in text
    for remark in posterior.diagnostics().warnings():
        assert remark in text
    for move, share in posterior.acceptance.items():
        assert f"{move} {share:.0%}" in text or share < 0.0995 or share > 0.995
    assert "\x1b" not in text


@families
def test_show_json_has_the_summary(name: str) -> None:
    record, posterior = json.loads(invoke("show", f"{name}.baytree", "--json").stdout), bt.load(f"{name}.baytree")
    assert posterior.summary().to_dict().keys() - {"top_models"} <= record.keys()
    assert record["diagnostics"] == posterior.diagnostics().to_dict()
    assert record["agree"] == posterior.summary().agree


@families
@pytest.mark.parametrize("command", ["show", "predict"])
def test_what_a_file_does_not_hold_is_refused(name: str, command: str) -> None:
    new = ["friedman.csv"] if command == "predict" else []
    values = {"tree": "0,0,0", "offset": "x1"}
    for foreign in set.union(*(names(other, command) for other in FAMILIES)) - names(name, command):
        said = failure(command, f"{name}.baytree", *new, option(foreign), values.get(foreign, "2"))
        assert f", and {name}.baytree holds {FAMILIES[name].plural}" in said
        assert said.endswith(f"leave {option(foreign)} out")


@pytest.mark.parametrize("command", ["show", "predict"])
def test_a_family_that_only_python_knows(command: str) -> None:
    new = ["friedman.csv"] if command == "predict" else []
    with patch.dict(FAMILIES):  # which gives back their order, too
        del FAMILIES["hme"]
        said = failure(command, "hme.baytree", *new)
    assert said == (
        "hme.baytree: holds a model of the family 'hme', which the command line cannot read; in Python baytree.load "
        "does"
    )


# ---- predict --------------------------------------------------------------------------------------------------------


@families
def test_predict(name: str) -> None:
    found, posterior = predicted(f"{name}.baytree", "friedman.csv", "--prob", "0.8"), bt.load(f"{name}.baytree")
    assert found.columns == ["mean", "lower", "upper", "predictive_lower", "predictive_upper"]
    kinds = posterior.predict("friedman.csv", ("mean", "interval", "predictive_interval"), 0.8)
    assert np.array_equal(found["mean"], kinds["mean"])
    assert np.array_equal(found.select("lower", "upper"), kinds["interval"])
    assert np.array_equal(found.select("predictive_lower", "predictive_upper"), kinds["predictive_interval"])


@families
@pytest.mark.parametrize("kind", ["draws", "predictive"])
def test_draws_have_a_line_each(name: str, kind: str) -> None:
    pl.read_csv("friedman.csv").head(3).write_csv("three.csv")
    found, expected = (
        predicted(f"{name}.baytree", "three.csv", "--kind", kind),
        bt.load(f"{name}.baytree").predict("three.csv", kind),
    )
    value = {"draws": "mean", "predictive": "prediction"}[kind]
    assert found.columns == ["row", "chain", "draw", value]
    assert np.array_equal(found[value].to_numpy().reshape(3, 2, 30), np.moveaxis(expected, 2, 0))


@families
def test_a_kind_that_is_not_there(name: str) -> None:
    message = failure("predict", f"{name}.baytree", "friedman.csv", "--kind", "meen")
    assert "does not offer that. Did you mean 'mean'? It offers\n  auto: " in message


# ---- killed and resumed ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [[], ["--resume"]])
def test_a_run_that_was_killed_in_its_first_moments_begins_again(flags: list[str]) -> None:
    partial_path("early.baytree").write_bytes(b"")
    options = ["--chains", "2", "--warmup", "20", "--draws", "20", "--seed", "5", "--out", "early.baytree"]
    done = invoke(*FIT, *options, *flags)
    assert ("killed before it began" in done.stderr) == bool(flags)
    assert bt.load("early.baytree").draws == 20 and not partial_path("early.baytree").exists()


def test_a_run_in_its_warm_up_is_shown_as_one() -> None:
    script = KILLED.replace("[run.drawn] if run.drawn else []", "[run.drawn]")
    fit = [*FIT, "--chains", "2", "--warmup", "400", "--seed", "5", "--out", "warming.baytree", "--quiet"]
    subprocess.run([sys.executable, "-c", script, *fit], check=False)
    assert "is not finished" in failure("show", "warming.baytree", code=3)
    said = failure("show", partial_path("warming.baytree"), code=3)
    assert re.search(r"a run in its warm-up, \d+ of 400 iterations", said)
    partial_path("warming.baytree").unlink()


@families
def test_a_killed_run_is_resumed_to_the_same_posterior(name: str) -> None:
    run = [*CASES[name].options.split(), "--chains", "2", "--warmup", "20", "--draws", "40", "--seed", "5"]
    out = ["--out", "killed.baytree", "--quiet"]
    done = subprocess.run([sys.executable, "-c", KILLED, *FIT, "--model", name, *run, *out])
    assert done.returncode == -signal.SIGKILL
    resume = [*FIT, "--resume", *out]
    another = next(other for other in FAMILIES if other != name)
    contradictions = {
        f"--model {another}": f"begun with --model {name}",
        "--draws 9": "begun with --draws 40",
        "--seed 6": "begun with --seed 5",
    }
    for options, said in (contradictions | CASES[name].contradictions).items():
        assert said in failure(*resume, *shlex.split(options)), options
    other_data = ["x1" if word == "y" else word for word in resume]
    assert "not the data" in failure(*other_data)
    assert partial_path("killed.baytree").exists()

    said = invoke(*resume[:-1]).stdout
    assert "baytree predict killed.baytree friedman.csv" in said
    assert "  baytree fit" not in said, "without --model it would be another model"
    invoke(*FIT, "--model", name, *run, "--out", "whole.baytree", "--quiet")
    resumed, whole = bt.load("killed.baytree"), bt.load("whole.baytree")
    for array in ("log_likelihood", *CASES[name].arrays):
        assert np.array_equal(getattr(resumed, array), getattr(whole, array)), array
    assert resumed.states == whole.states
    assert not partial_path("killed.baytree").exists()
    assert "killed.baytree is finished" in failure(*resume, code=3)
