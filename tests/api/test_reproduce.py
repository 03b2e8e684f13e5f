"""The published experiments: each runs, says what it found beside what was published, and repeats."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import baytree as bt
from baytree import studies
from baytree.cli import app
from baytree.studies import boxes

NAMES = sorted(studies.STUDIES)


def invoke(*arguments: Any, code: int = 0) -> Any:
    """Run a command in this process; it must end with this exit code."""
    result = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module", params=NAMES)
def quick(request: pytest.FixtureRequest) -> tuple[str, studies.Outcome]:
    return request.param, studies.run(request.param, quick=True, seed=3)


def test_help_lists_the_studies() -> None:
    text = invoke("--help").stdout
    assert [name for name in NAMES if name not in text] == []


def test_a_study_is_shown_beside_what_was_published(quick: tuple[str, studies.Outcome], tmp_path: Path) -> None:
    name, outcome = quick
    result = invoke(name, "--quick", "--seed", 3, "--out", tmp_path / "runs")
    for text in (outcome.setup, "published", *(line.quantity for line in outcome.lines), *outcome.findings):
        assert text in result.stdout
    assert "too noisy" in result.stderr
    with (tmp_path / "runs" / f"{name}.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(outcome.runs)


def test_a_study_repeats_and_is_told_as_json(quick: tuple[str, studies.Outcome]) -> None:
    name, outcome = quick
    record = json.loads(invoke(name, "--quick", "--seed", 3, "--json").stdout)
    assert (record["study"], record["quick"], record["seed"]) == (name, True, 3)
    assert record["runs"] == list(outcome.runs)
    assert [line["here"] for line in record["lines"]] == [line.here for line in outcome.lines]


def test_another_seed_gives_other_runs(quick: tuple[str, studies.Outcome]) -> None:
    name, outcome = quick
    assert studies.run(name, quick=True, seed=4).runs != outcome.runs


def test_unknown_studies_are_refused() -> None:
    with pytest.raises(bt.InputError, match="boxes"):
        studies.run("boxs")


def test_a_folder_that_cannot_be_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "absent" / "runs"):
        result = invoke("boxes", "--out", folder, code=3)
        assert str(folder) in result.stderr
        assert "data set" not in result.stderr


# ---- boxes ----------------------------------------------------------------------------------------------------------


def test_the_true_tree_cuts_no_box() -> None:
    pima = bt.datasets.load("pima")
    probabilities = boxes.true_probabilities(boxes.TRUE_TREE, pima.X, pima.y == "pos")
    assert len(np.unique(probabilities)) == 14
    glucose, mass, age = (pima.X[name].to_numpy() for name in ("glucose", "mass", "age"))
    for box in ((glucose <= 127) & (age <= 28), (glucose >= 128) & (mass <= 29.8)):
        assert len(np.unique(probabilities[box])) == 1


def test_the_spread_is_that_between_seeds_not_data_sets() -> None:
    assert boxes.spread(np.array([[70.0, 70.0], [80.0, 80.0]])) == 0
    assert boxes.spread(np.array([74.8, 76.2, 74.4])) == pytest.approx(0.945, abs=0.001)


@pytest.mark.slow
def test_boxes_make_trees_better_and_seeds_matter_less() -> None:
    assert studies.run("boxes").agrees
