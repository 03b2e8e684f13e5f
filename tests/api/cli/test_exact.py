"""Every tree of a small table on the command line."""

import json
from pathlib import Path

import pytest

import baytree as bt
from api.cli.commands import failure, invoke

FIT = ["fit", "kyphosis.csv", "--target", "kyphosis", "--seed", "1", "--draws", "50"]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    invoke("data", "kyphosis", "--out", "kyphosis.csv")


@pytest.mark.usefixtures("table")
def test_fit_and_show() -> None:
    text = invoke(*FIT, "--method", "exact").stdout
    assert "Exact: every tree counted" in text
    assert "200 independent draws" in text
    posterior = bt.load("kyphosis.baytree")
    assert posterior.log_evidence().error == 0
    shown = invoke("show", "kyphosis.baytree").stdout
    assert "The most probable trees" in shown
    assert "Do the chains agree" not in shown
    found = json.loads(invoke("show", "kyphosis.baytree", "--json").stdout)
    assert found["every_tree"]["log_evidence"] == pytest.approx(-38.90959, abs=1e-5)


@pytest.mark.usefixtures("table")
def test_what_cannot_be_added_up() -> None:
    assert "MaxLeaves is about the tree" in failure(*FIT, "--method", "exact", "--max-leaves", "3")
