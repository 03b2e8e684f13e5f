"""Files that are no model files, of earlier and later versions, and of runs that were killed, whatever the family."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import baytree as bt
from robustness.damage import edit


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(bt.FileError, match="no such file"):
        bt.load(tmp_path / "absent.baytree")


@pytest.mark.parametrize("content", [b"", b"hello", b"SQLite format 3\0" + bytes(84), b"\x80\x04K\x01."])
def test_foreign_files(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "foreign.baytree"
    path.write_bytes(content)
    with pytest.raises(bt.FileError):
        bt.load(path)


def test_another_database(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("CREATE TABLE header (key, value)")
    with pytest.raises(bt.FileError, match="not a baytree model file"):
        bt.load(tmp_path / "other.db")


@pytest.mark.parametrize("name", ["cart: numbers"])
def test_newer_format(model: Path) -> None:
    edit(model, "PRAGMA user_version = 99")
    with pytest.raises(bt.FileError, match="newer baytree"):
        bt.load(model)


@pytest.mark.parametrize("name", ["cart: numbers"])
def test_unwritable_place(model: Path) -> None:
    with pytest.raises(bt.FileError, match="cannot be written"):
        bt.load(model).save(model.parent / "no" / "such" / "folder.baytree")


def test_a_kill_in_the_middle_of_a_checkpoint(tmp_path: Path) -> None:
    """SQLite's journal undoes the half-written block, and the run goes on from the one before."""
    path = tmp_path / "model.baytree"
    code = f"""
import os, signal, sqlite3
import numpy as np
import baytree as bt
from baytree import storage
from baytree.sampling import run as sampling
design = bt.datasets.load("kyphosis").design()
sampling.BLOCK_SECONDS, sampling.CHECKPOINT_SECONDS = 1e-9, 0.0
append = storage.ModelWriter.append
def kill_at_third(writer, *block):
    if writer._block == 3:
        row = ("tree", 0, 99, "<f8", "[4000000]", 0, np.zeros(4_000_000))
        writer._database.execute("INSERT INTO arrays VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        os.kill(os.getpid(), signal.SIGKILL)
    append(writer, *block)
storage.ModelWriter.append = kill_at_third
bt.sample(bt.CART(), design, warmup=20, draws=100, chains=2, seed=1, progress=False, checkpoint={str(path)!r})
"""
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -9
    assert Path(f"{path}.partial-journal").exists()
    design = bt.datasets.load("kyphosis").design()
    resumed = bt.resume(path, design, progress=False)
    usual = bt.sample(bt.CART(), design, warmup=20, draws=100, chains=2, seed=1, progress=False)
    np.testing.assert_array_equal(resumed.log_likelihood, usual.log_likelihood)
    assert bt.load(path).draws == 100


def test_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(bt.FileError, match="no unfinished run"):
        bt.resume(tmp_path / "model.baytree", bt.datasets.load("kyphosis").design())


def test_a_folder_is_no_place_for_a_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(bt.FileError, match="is a folder"):
        bt.sample(bt.CART(), bt.datasets.load("kyphosis").design(), checkpoint=tmp_path)


def test_a_run_that_never_began_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, design = tmp_path / "model.baytree", bt.datasets.load("kyphosis").design()

    def full_disk(*_: object) -> None:
        raise bt.FileError("disk full")

    monkeypatch.setattr("baytree.storage.ModelWriter.append", full_disk)
    with pytest.raises(bt.FileError, match="disk full"):
        bt.sample(bt.CART(), design, checkpoint=path, progress=False)
    assert not list(tmp_path.iterdir())


def test_a_save_replaces_models_alone(tmp_path: Path) -> None:
    """Neither a table nor another program's database is written over; an empty file is nobody's."""
    posterior = bt.sample(bt.CART(), bt.datasets.load("kyphosis").design(), warmup=5, draws=5, chains=2, progress=False)
    table, database, path = (tmp_path / name for name in ("table.csv", "other.db", "model.baytree"))
    table.write_text("x,y\n1,2\n")
    with sqlite3.connect(database) as other:
        other.execute("CREATE TABLE header (key, value)")
    for foreign in (table, database):
        before = foreign.read_bytes()
        with pytest.raises(bt.FileError, match="exists and is not a model; choose another name"):
            posterior.save(foreign)
        assert foreign.read_bytes() == before
    path.touch()
    for _ in range(2):
        posterior.save(path)
        assert bt.load(path).draws == 5


def test_what_a_killed_save_left_goes_with_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "model.baytree"
    for left in ("saving", "saving-journal"):
        Path(f"{path}.{left}").write_bytes(b"cut off")
    design = bt.datasets.load("kyphosis").design()
    bt.sample(bt.CART(), design, warmup=5, draws=5, chains=2, checkpoint=path, progress=False)
    assert [file.name for file in tmp_path.iterdir() if "saving" in file.name] == []


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(bt.FileError, match="is a folder"):
        bt.load(tmp_path)
