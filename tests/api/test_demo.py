"""The examples run, and what they tell people to type works."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import baytree as bt
from baytree.cli import app

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(path: Path, folder: Path) -> str:
    return subprocess.run([sys.executable, path], cwd=folder, capture_output=True, text=True, check=True).stdout


def test_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BAYTREE_EFFORT")
    text = run(EXAMPLES / "demo.py", tmp_path)
    posterior = bt.load(tmp_path / "breast_cancer.baytree")
    assert posterior.best_tree().to_text().splitlines()[0] in text
    assert posterior.summary().verdict in text
    assert posterior.summary().grade == "agree"
    commands = [line.strip() for line in text.splitlines() if line.strip().startswith(".venv/bin/baytree")]
    assert len(commands) == 4
    monkeypatch.chdir(tmp_path)
    for command in commands:
        assert CliRunner().invoke(app, shlex.split(command, comments=True)[1:]).exit_code == 0
    assert (tmp_path / "predictions.csv").read_text().startswith("prediction,P(benign),P(malignant)\n")


# These have tests of their own.
APART = {EXAMPLES / "demo.py", EXAMPLES / "gallery.py", EXAMPLES / "service.py"}


@pytest.mark.slow  # what the page shows is run with the pages
def test_gallery(tmp_path: Path) -> None:
    """Every picture can be drawn, and the page shows it and no other."""
    command = [sys.executable, str(EXAMPLES / "gallery.py"), "--quick", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    drawn = {path.name for path in tmp_path.glob("*.png")}
    docs = EXAMPLES.parent / "docs"
    assert set(done.stdout.split()) == drawn == {path.name for path in (docs / "assets" / "gallery").glob("*.png")}
    shown = re.findall(r"assets/gallery/(\w+\.png)", (docs / "gallery.md").read_text())
    assert sorted(shown) == sorted(drawn)


@pytest.mark.parametrize("path", sorted(set(EXAMPLES.glob("*.py")) - APART), ids=lambda path: path.stem)
def test_example(path: Path, tmp_path: Path) -> None:
    assert run(path, tmp_path)
    assert path.name in (EXAMPLES / "README.md").read_text()
