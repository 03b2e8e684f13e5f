"""Damaged, foreign and hostile model files get a named error; nothing is lost, nothing executed."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import baytree as bt
from baytree.cart.posterior import PART_ARRAYS
from robustness.damage import change_a_byte, edit, refused_at_random, rewrite, rewrite_header

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    design = bt.datasets.load("kyphosis").design()
    path = tmp_path / "model.baytree"
    bt.sample(bt.CART(), design, warmup=50, draws=50, chains=2, seed=1, progress=False).save(path)
    return path


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


def test_newer_format(model: Path) -> None:
    edit(model, "PRAGMA user_version = 99")
    with pytest.raises(bt.FileError, match="newer baytree"):
        bt.load(model)


@pytest.mark.parametrize("table", ["header", "states", "arrays"])
def test_missing_tables_and_rows(model: Path, table: str) -> None:
    edit(model, f"DELETE FROM {table}")
    with pytest.raises(bt.FileError, match="damaged"):
        bt.load(model)
    edit(model, f"DROP TABLE {table}")
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("name", PART_ARRAYS)
def test_a_missing_array(model: Path, name: str) -> None:
    edit(model, "DELETE FROM arrays WHERE name = ? AND chain = 1", name)
    with pytest.raises(bt.FileError, match="damaged"):
        bt.load(model)


@pytest.mark.parametrize("name", PART_ARRAYS)
def test_a_changed_byte(model: Path, name: str) -> None:
    change_a_byte(model, name)
    with pytest.raises(bt.FileError, match="checksum"):
        bt.load(model)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("feature", lambda a: np.full_like(a, 99)),
        ("feature", lambda a: np.full_like(a, 0)),
        ("feature", lambda a: np.full_like(a, -1)),
        ("feature", lambda a: a[:-1]),
        ("cut", lambda a: np.full_like(a, 2**32 - 1)),
        ("begin", lambda a: np.full_like(a, 2**64 - 1)),
        ("begin", lambda a: a[::-1]),
        ("begin", lambda a: np.zeros_like(a)),
        ("missing_left", lambda a: np.full_like(a, 1)),
        ("tree", lambda a: a + 10**6),
        ("tree", lambda a: a - 10**6),
        ("tree", lambda a: a[:-1]),
        ("statistics", lambda a: a[:-2]),
        ("statistics", lambda a: a[:-1]),
        ("log_likelihood", lambda a: a[:-1]),
    ],
)
def test_hostile_arrays(model: Path, name: str, change: object) -> None:
    rewrite(model, name, change)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize(
    ("column", "value"),
    [("dtype", "|O"), ("dtype", "<f4"), ("shape", "[-1]"), ("shape", "[4611686018427387904, 8]"), ("shape", "x")],
)
def test_hostile_descriptions(model: Path, column: str, value: str) -> None:
    edit(model, f"UPDATE arrays SET {column} = ? WHERE name = 'tree'", value)
    with pytest.raises(bt.FileError):
        bt.load(model)


def test_a_changed_header(model: Path) -> None:
    edit(model, "UPDATE header SET value = replace(value, '8.5', '9.5') WHERE key = 'schema'")
    with pytest.raises(bt.FileError, match="checksum"):
        bt.load(model)


def test_too_many_levels(model: Path) -> None:
    with sqlite3.connect(model) as database:
        [(value,)] = database.execute("SELECT value FROM header WHERE key = 'schema'")
    schema = json.loads(value)
    schema["columns"][0] |= {"kind": "categorical", "cuts": [], "levels": [f"level {i}" for i in range(100)]}
    rewrite_header(model, "schema", json.dumps(schema))
    with pytest.raises(bt.FileError, match="at most 63 levels"):
        bt.load(model)


@pytest.mark.parametrize("key", ["model", "schema", "plan"])
@pytest.mark.parametrize("value", ["null", "{}", "[]", "7", "not json"])
def test_hostile_headers(model: Path, key: str, value: str) -> None:
    rewrite_header(model, key, value)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("value", ["{}", "[]", "7", "not json"])
def test_hostile_diagnostics(model: Path, value: str) -> None:
    rewrite_header(model, "diagnostics", value)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize(
    ("part", "figure", "value"),
    [
        ("leaves", "mean", "x"),
        ("leaves", "sd", None),
        ("leaves", "rhat", float("nan")),
        ("predictions", "rows", [1]),
        ("predictions", "largest_rhat", True),
        ("splits", "average_sd", {}),
    ],
)
def test_hostile_figures(model: Path, part: str, figure: str, value: object) -> None:
    figures = bt.load(model).diagnostics().to_dict()
    figures[part][figure] = value
    rewrite_header(model, "diagnostics", json.dumps(figures))
    with pytest.raises(bt.FileError):
        bt.load(model)


def test_truncated_file(model: Path) -> None:
    content = model.read_bytes()
    for size in (50, 1000, len(content) // 2, len(content) - 4096):
        model.write_bytes(content[:size])
        with pytest.raises(bt.FileError):
            bt.load(model)


def test_random_damage_never_crashes(model: Path) -> None:
    """Whatever happens to the bytes, loading gives a posterior or a FileError."""
    assert refused_at_random(model, 150) > 50


def test_saving_keeps_the_old_file_on_failure(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = model.read_bytes()
    posterior = bt.load(model)

    def full_disk(*_: object) -> None:
        raise bt.FileError("disk full")

    monkeypatch.setattr("baytree.storage.ModelWriter.append", full_disk)
    with pytest.raises(bt.FileError, match="disk full"):
        posterior.save(model)
    assert model.read_bytes() == before
    assert list(model.parent.iterdir()) == [model]


def test_unwritable_place(model: Path) -> None:
    with pytest.raises(bt.FileError, match="cannot be written"):
        bt.load(model).save(model.parent / "no" / "such" / "folder.baytree")


def test_released_files_are_still_read() -> None:
    """Every release leaves a fixture; later ones must read it and predict the same."""
    fixtures = sorted(FIXTURES.glob("*.baytree"))
    assert fixtures
    for path in fixtures:
        expected = json.loads(path.with_suffix(".json").read_text())
        posterior = bt.load(path)
        if isinstance(posterior, bt.Posterior):
            np.testing.assert_allclose(posterior.predict(expected["X"]), expected["mean"], rtol=1e-12)
            assert posterior.best_tree().to_dict() == expected["best_tree"]
            continue
        if isinstance(posterior, bt.HMEPosterior):
            np.testing.assert_allclose(posterior.predict(expected["X"]), expected["mean"], rtol=1e-12)
            assert list(posterior.best) == expected["best"]
            continue
        # Ensemble are in single precision.
        mean = posterior.predict(expected["X"], offset=expected.get("offset"))
        np.testing.assert_allclose(mean, expected["mean"], rtol=1e-6)
        assert posterior.tree(0, 0, 0).to_dict() == expected["tree"]
        if "sigma" in expected:
            np.testing.assert_allclose(posterior.predict(expected["X"], "sigma"), expected["sigma"], rtol=1e-6)


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


def test_a_run_that_never_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, design = tmp_path / "model.baytree", bt.datasets.load("kyphosis").design()

    def full_disk(*_: object) -> None:
        raise bt.FileError("disk full")

    monkeypatch.setattr("baytree.storage.ModelWriter.append", full_disk)
    with pytest.raises(bt.FileError, match="disk full"):
        bt.sample(bt.CART(), design, checkpoint=path, progress=False)
    with pytest.raises(bt.FileError, match="before it began"):
        bt.resume(path, design, progress=False)
