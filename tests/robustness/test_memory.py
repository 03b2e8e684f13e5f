"""Where memory ends: runs that cannot fit are refused before they begin, and a command that meets the end says so."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import typer

import baytree as bt
from baytree.cli.output import session
from families import EVERY
from robustness.bad_inputs.given import drawn, trees

LIMIT = 4 * 10**9


def test_a_command_tells_that_memory_ended(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as end, session():
        np.ones(10**15)
    assert end.value.exit_code == 1
    assert capsys.readouterr().err.startswith("baytree: not enough memory: Unable to allocate ")


def test_predictions_are_streamed(tmp_path: Path) -> None:
    """Draws of E(y | x) that fill 13 GB as lines, in a process of 4."""
    drawn(draws=10_000).save(tmp_path / "m.baytree")
    pl.DataFrame(np.zeros((40_000, 2))).write_csv(tmp_path / "new.csv")
    process = subprocess.Popen(
        [sys.executable, "-m", "baytree", "predict", "m.baytree", "new.csv", "--kind", "draws"],
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env={"OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT)),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"row,chain,draw,mean\n"
    assert process.stdout.readline().startswith(b"0,0,0,")
    process.stdout.close()  # as `head` does
    assert process.wait(60) == 0


@pytest.mark.slow
def test_a_large_table_takes_no_more_memory_than_a_small_one(tmp_path: Path) -> None:
    """Of ten times the rows the peak is hardly larger, in text and as Parquet."""
    drawn(draws=200).save(tmp_path / "m.baytree")
    peaks = {}
    for rows in (200_000, 2_000_000):
        pl.DataFrame(np.random.default_rng(0).random((rows, 2))).write_csv(tmp_path / "new.csv")
        pl.read_csv(tmp_path / "new.csv").write_parquet(tmp_path / "new.parquet")
        for source, out in (("new.csv", "out.csv"), ("new.parquet", "out.parquet")):
            code = (
                "import resource, sys\nfrom baytree.cli import app\n"
                f"app(['predict', 'm.baytree', '{source}', '--out', '{out}'], standalone_mode=False)\n"
                "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
            )
            done = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
            )
            peaks[rows, out] = int(done.stdout.split()[-1])  # in kB
            assert (pl.read_csv if out.endswith("csv") else pl.read_parquet)(tmp_path / out).height == rows
    for out in ("out.csv", "out.parquet"):
        assert peaks[2_000_000, out] < peaks[200_000, out] + 250_000


def test_a_library_that_finds_no_room_is_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as end, session():
        raise ImportError("_fblas.so: failed to map segment from shared object")
    assert end.value.exit_code == 1
    assert "not enough memory" in capsys.readouterr().err
    with pytest.raises(ImportError, match="no module"), session():
        raise ImportError("no module")


@pytest.mark.parametrize(
    "name", ["cart: numbers", "bart: numbers", "subset: sampled", "hme: numbers", "hme: mean field"]
)
def test_draws_that_cannot_fit_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size is predicted before anything is drawn; a shorter run of the same fits."""
    monkeypatch.setattr("baytree.sampling.memory.memory_limit", lambda: 10**7)
    with pytest.raises(
        bt.InputError, match=r"draws of \d chains? would take about .* GB of memory, and there are 0.0 GB"
    ):
        EVERY[name].sample(draws=10**6)
    assert EVERY[name].sample(draws=50).draws == 50


def test_chains_that_cannot_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("baytree.sampling.memory.memory_limit", lambda: 10**7)
    with pytest.raises(bt.InputError, match=r"the states of 1 chain would take about 0\.1 GB"):
        drawn(trees(), bt.BART(trees=10**5))


def test_more_draws_that_cannot_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    design = trees()
    posterior = drawn(design)
    monkeypatch.setattr("baytree.sampling.memory.memory_limit", lambda: 10**7)
    with pytest.raises(bt.InputError, match="draws of 1 chain would take about"):
        bt.extend(posterior, design, draws=10**6, progress=False)
