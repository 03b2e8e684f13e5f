"""``baytree report``."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import baytree as bt
from api.cli.commands import failure, invoke, write_friedman, write_kyphosis
from families import drawn


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    write_kyphosis(folder)
    write_friedman(folder)
    short = ["--warmup", "30", "--draws", "20", "--chains", "2", "--seed", "1", "--quiet"]
    invoke("fit", folder / "kyphosis.csv", "--target", "kyphosis", "--out", folder / "m.baytree", *short)
    offset = ["--model", "bart", "--trees", "5", "--offset", "o", "--drop", "group"]
    invoke("fit", folder / "friedman.csv", "--target", "y", "--out", folder / "o.baytree", *offset, *short)
    return folder


def test_it_equals_the_python_api(folder: Path) -> None:
    said = invoke("report", folder / "m.baytree", "--data", folder / "kyphosis.csv", "--out", folder / "r.html")
    assert "10 sections written to" in said.stdout
    bt.load(folder / "m.baytree").report(folder / "p.html", folder / "kyphosis.csv")
    assert (folder / "r.html").read_bytes() == (folder / "p.html").read_bytes()


def test_progress_is_on_standard_error_and_can_be_silenced(folder: Path) -> None:
    chatty = invoke("report", folder / "m.baytree", "--out", folder / "r.html")
    assert "columns" in chatty.stderr and "columns" not in chatty.stdout
    quiet = invoke("report", folder / "m.baytree", "--out", folder / "r.html", "--quiet")
    assert quiet.stdout == quiet.stderr == ""


def test_the_page_lies_beside_the_model_by_default(folder: Path) -> None:
    invoke("report", folder / "m.baytree")
    assert (folder / "m.html").read_text().startswith("<!DOCTYPE html>")


def test_a_place_that_takes_no_file_is_refused_before_any_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)  # root may write anywhere
    said = failure("report", folder / "m.baytree", "--out", folder / "none.html", code=3)
    assert "you may not write there" in said and "answer" not in said


def test_json_is_the_record_and_writes_no_page_by_itself(folder: Path) -> None:
    (folder / "m.html").unlink(missing_ok=True)
    found = json.loads(invoke("report", folder / "m.baytree", "--data", folder / "kyphosis.csv", "--json").stdout)
    assert not (folder / "m.html").exists()
    assert found == json.loads(json.dumps(bt.load(folder / "m.baytree").reported(folder / "kyphosis.csv").record))
    both = invoke("report", folder / "m.baytree", "--json", "--out", folder / "both.html")
    assert json.loads(both.stdout)["out"] == str(folder / "both.html") and (folder / "both.html").exists()


def test_a_model_that_only_python_fits(tmp_path: Path) -> None:
    drawn("hmdt: exact").save(tmp_path / "m.baytree")
    assert "sections written" in invoke("report", tmp_path / "m.baytree").stdout


def test_offsets_are_named(folder: Path) -> None:
    data = ["--data", folder / "friedman.csv", "--out", folder / "o.html"]
    assert "offset" in failure("report", folder / "o.baytree", *data, "--quiet")
    found = json.loads(invoke("report", folder / "o.baytree", *data, "--offset", "o", "--json").stdout)
    assert found["fit"]["training"] is True


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["m.baytree", "--out", "r.txt"], 2, "ends in .html"),
        (["m.baytree", "--out", "no/r.html"], 3, "there is no folder"),
        (["none.baytree"], 3, "no such file"),
        (["m.baytree", "--data", "none.csv"], 3, "none.csv"),
        (["m.baytree", "--weight", "w"], 2, "--data"),
        (["m.baytree", "--data", "friedman.csv"], 2, "no column"),
        (["m.baytree", "--data", "kyphosis.csv", "--weight", "Agee"], 2, "Agee"),
        (["kyphosis.csv"], 3, "kyphosis.csv"),
    ],
)
def test_what_cannot_be_is_told(
    arguments: list[str], code: int, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = {path.name for path in folder.iterdir()}
    message = failure("report", *arguments, "--quiet", code=code)
    assert said in message and "Traceback" not in message
    assert {path.name for path in folder.iterdir()} == before


def test_it_never_replaces_what_it_reads(folder: Path, tmp_path: Path) -> None:
    text = (folder / "kyphosis.csv").read_text()
    table = tmp_path / "table.html"
    table.write_text(text)
    assert "would replace" in failure("report", folder / "m.baytree", "--data", table, "--out", table)
    assert table.read_text() == text


def test_a_form_of_many_columns_is_left_out_and_the_page_stays_small(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(80, 320))
    design = bt.make_design(X, X[:, 3] + generator.normal(size=80), task="regression")
    posterior = bt.sample(bt.BART(trees=10), design, warmup=20, draws=20, chains=2, seed=1, progress=False)
    report = posterior.reported(design)
    assert report.what_if is None and len(report.html) < 1_000_000
    assert "would be too large for a page" in report.html
