"""``baytree explain``: what it prints, its JSON, its picture and its failures."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import baytree as bt

from .commands import BAYTREE, failure, invoke, offered


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("explain")
    kyphosis, boston = bt.datasets.load("kyphosis"), bt.datasets.load("boston")
    kyphosis.X.with_columns(pl.Series("kyphosis", kyphosis.y)).write_csv(place / "kyphosis.csv")
    boston.X.with_columns(pl.Series("medv", boston.y)).write_csv(place / "boston.csv")
    run: dict[str, Any] = {"warmup": 50, "draws": 20, "chains": 2, "seed": 1, "progress": False}
    bt.sample(bt.CART(), kyphosis.design(), **run).save(place / "kyphosis.baytree")
    bt.sample(bt.BART(trees=5), boston.design(), **run).save(place / "sums.baytree")
    return place


@pytest.fixture(autouse=True)
def _there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def test_it_says_what_python_says() -> None:
    posterior, row = bt.load("kyphosis.baytree"), bt.datasets.load("kyphosis").X[17]
    found = posterior.explain(row)
    text = invoke("explain", "kyphosis.baytree", "--row", 17).stdout
    assert text.startswith(f"Row 17: {found.said}\n")
    for line in (*found.path_lines(), *found.effect_lines(), *found.change_lines()):
        assert line.strip() in text
    for command in offered(text):
        invoke(*command)
    assert Path("row17.png").read_bytes().startswith(b"\x89PNG")
    record = json.loads(invoke("explain", "kyphosis.baytree", "--row", 17, "--json").stdout)
    assert record.pop("row") == 17
    assert record == json.loads(json.dumps(found.to_dict()))


def test_another_table_and_options() -> None:
    record = json.loads(
        invoke("explain", "sums.baytree", "--data", "boston.csv", "--row", 3, "--by", 1.5, "--json").stdout
    )
    assert record["wanted"] == "the mean moves by 1.5 or more" and record["response"] == "medv"
    record = json.loads(invoke("explain", "kyphosis.baytree", "--row", 0, "--of", "absent", "--json").stdout)
    assert record["what"] == "P(kyphosis = absent)"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("kyphosis.baytree", "--row", 81), 2, "--row 81: kyphosis.csv has 81 rows; choose from 0 to 80"),
        (("kyphosis.baytree", "--row", -1), 2, "choose from 0 to 80"),
        (("kyphosis.baytree", "--row", 1, "--data", "boston.csv"), 2, "the row has no column 'age'|no column 'number'"),
        (("sums.baytree", "--row", 1), 3, "sums.baytree holds no rows, and there is no table sums.csv beside it"),
        (("kyphosis.baytree", "--row", 1, "--data", "none.csv"), 3, "none.csv: no such file"),
        (("none.baytree", "--row", 1), 3, "none.baytree"),
        (("kyphosis.baytree", "--row", 1, "--of", "maybe"), 2, "Choose from: absent, present"),
        (("kyphosis.baytree", "--row", 1, "--by", 1), 2, "leave it out"),
        (("kyphosis.baytree", "--row", 1, "--offset", 1), 2, "fitted without one"),
        (("kyphosis.baytree", "--row", 1, "--prob", 2), 2, "--prob 2"),
        (("kyphosis.baytree", "--row", 1, "--out", "row.txt"), 2, "must end in .png, .svg, .pdf"),
        (("kyphosis.baytree", "--row", 1, "--out", "no/row.png"), 3, "there is no folder no"),
    ],
)
def test_failures(arguments: tuple[object, ...], code: int, said: str) -> None:
    message = failure("explain", *arguments, code=code)
    assert any(one in message for one in said.split("|"))


def test_a_closed_pipe_is_no_failure() -> None:
    line = " ".join([*BAYTREE, "explain", "kyphosis.baytree", "--row", "1", "|", "head", "-n", "1"])
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
