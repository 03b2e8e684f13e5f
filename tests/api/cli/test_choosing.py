"""A fit without ``--model``: the options or the table choose the family, and a line says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import baytree as bt
from api.cli.commands import failure, invoke

RUN = ["--draws", 20, "--warmup", 20, "--chains", 2, "--seed", 1]


@pytest.fixture(autouse=True)
def _tables(folder: Path) -> None:
    generator = np.random.default_rng(0)
    x = generator.random((300, 3))
    table = pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": x.sum(axis=1)})
    table.write_csv("large.csv")
    small = pl.DataFrame({"a": [i % 3 for i in range(40)], "y": ["no", "yes", "no", "yes", "yes"] * 8})
    small.write_csv("small.csv")
    odd = table.with_columns(pl.Series("y", ["oops" if row == 39 else str(row) for row in range(300)]))
    odd.write_csv("odd.csv")


@pytest.mark.parametrize(
    ("table", "options", "family", "why"),
    [
        ("small.csv", [], "cart", "one tree, for in so small a table every one can be counted"),
        ("large.csv", [], "bart", "a sum of many trees, which predicts best where trees are too many to count"),
        ("large.csv", ["--rule", "uniform"], "cart", "one tree, which --rule is about"),
        ("small.csv", ["--trees", 5, "--k", 3], "bart", "a sum of many trees, which --trees and --k are about"),
        ("large.csv", ["--prior", "growtree.slp"], "cart", "one tree, which --prior shapes"),
        ("large.csv", ["--always", "a"], "subset", "a linear model of some of the columns, which --always is about"),
    ],
)
def test_the_family_is_chosen(table: str, options: list[Any], family: str, why: str) -> None:
    for _ in range(2):
        said = invoke("fit", table, "--target", "y", *RUN, *options, "--out", "m.baytree").stdout
        assert f"Model: {why}" in said
        assert bt.load("m.baytree").model.family == family
    equal = invoke("fit", table, "--target", "y", "--model", family, *RUN, *options, "--out", "n.baytree").stdout
    assert "Model: " not in equal
    np.testing.assert_array_equal(bt.load("m.baytree").log_likelihood, bt.load("n.baytree").log_likelihood)


def test_options_that_no_family_has_together() -> None:
    assert "--trees is for sums of trees" in failure(
        "fit", "small.csv", "--target", "y", "--trees", 3, "--rule", "uniform"
    )


def test_one_word_among_numbers_is_named() -> None:
    said = failure("fit", "odd.csv", "--target", "y")
    assert said == (
        "column 'y', row 40: 'oops' is not a number, as 299 of 300 values are; correct it or leave its row out, or, if "
        "they are names of classes, set --task classification"
    )
    assert "row 40: 'oops' where the response of a regression must be numbers" in failure(
        "fit", "odd.csv", "--target", "y", "--task", "regression"
    )
    assert not list(Path().glob("*.baytree*"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--max-cuts", 0], "--max-cuts 0; choose a whole number from 1 to 65,535, or all"),
        (["--model", "bart", "--init", "grow", "--split", "soft"], "--init grow grows hard rules; with --split soft "),
        (
            ["--model", "cart", "--method", "exact", "--temperatures", 4],
            "--method exact has no chains that could have ",
        ),
        (["--threads", 10**8], "--threads 100000000: choose a whole number from 1 to 4,096"),
        (["--chains", 10**8], "the states of 100,000,000 chains would take about"),
        (["--model", "bart", "--trees", 10**8], "the states of 4 chains would take about"),
        (["--draws", 10**9], "1,000,000,000 draws of 4 chains would take about"),
    ],
)
def test_messages_have_the_words_of_the_command_line(options: list[Any], said: str) -> None:
    found = failure_of("fit", "large.csv", "--target", "y", *options)
    assert said in found
    assert not any(sign in found for sign in ("='", "None", "bt.", "max_cuts"))


def failure_of(*arguments: Any) -> str:
    """The message of a command that fails after it began to tell."""
    return str(invoke(*arguments, code=2).stderr)


def test_long_runs_say_how_long_they_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("baytree.sampling.api.WORTH_SAYING", 0.0)
    said = invoke("fit", "large.csv", "--target", "y", "--model", "bart", "--trees", 5, *RUN).stderr
    assert "this run takes about 1 second; Ctrl-C keeps what was drawn by then" in said
