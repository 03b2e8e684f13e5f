"""Running commands in this process and beside it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import polars as pl
from typer.testing import CliRunner

import baytree as bt
from baytree.cli import app

BAYTREE = [sys.executable, "-m", "baytree"]
# The same program, killed in the draws behind a checkpoint and before the next.
KILLED = """
import os, signal, baytree.sampling.run as s
s.CHECKPOINT_SECONDS = 0
s.BLOCK_SECONDS = 1e-9
usual = s.Run._next_block
def next_block(run, calls=[]):
    iterations = usual(run)
    calls += [run.drawn] if run.drawn else []
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return iterations
s.Run._next_block = next_block
from baytree.cli import main
main()
"""


def invoke(*arguments: Any, code: int = 0) -> Any:
    """Run a command; it must end with this exit code."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def failure(*arguments: Any, code: int = 2) -> str:
    """The message of a command that must fail."""
    result = invoke(*arguments, code=code)
    assert result.stdout == ""
    assert result.stderr.startswith("baytree: ")
    assert "Traceback" not in result.stderr
    return result.stderr.removeprefix("baytree: ").rstrip("\n")


def offered(text: str) -> list[list[str]]:
    """The commands that a text offers to paste, without the name of the program."""
    return [shlex.split(line, comments=True)[1:] for line in text.splitlines() if line.startswith("  baytree ")]


def predicted(*arguments: Any) -> pl.DataFrame:
    """The table that `baytree predict` prints."""
    return pl.read_csv(invoke("predict", *arguments).stdout.encode())


def write_friedman(folder: Path) -> None:
    """Write Friedman's function with an offset ``o``, three classes ``group`` and numbers ``y``."""
    friedman = bt.datasets.friedman(n=120, seed=1)
    group = pl.Series("group", ["abc"[int(y > 12) + int(y > 17)] for y in friedman.y])
    offset = pl.Series("o", [i / 60 - 1 for i in range(120)])
    friedman.X.with_columns(offset, group, pl.Series("y", friedman.y)).write_csv(folder / "friedman.csv")


def write_kyphosis(folder: Path) -> None:
    """Write the bundled data of this name, with its two classes ``kyphosis``."""
    data = bt.datasets.load("kyphosis")
    data.X.with_columns(pl.Series("kyphosis", data.y)).write_csv(folder / "kyphosis.csv")
