"""Damaged and hostile files of every family get a named error; nothing is lost, nothing executed."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from families import EVERY
from robustness.damage import (
    arrays_of,
    change_a_byte,
    edit,
    header_of,
    loads,
    refused_at_random,
    rewrite,
    rewrite_header,
    rewrite_model,
    rewrite_state,
    state_of,
)

pytestmark = pytest.mark.parametrize("name", EVERY)

# What a hostile writer makes of an array, its checksum right, and of which types.
WRONG_ARRAYS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "short": ("fiu", lambda a: a[:-1]),
    "empty": ("fiu", lambda a: a.ravel()[:0]),
    "nan": ("f", lambda a: np.full_like(a, np.nan)),
    "infinite": ("f", lambda a: np.full_like(a, np.inf)),
}
ODD_VALUES: list[Any] = [None, "x", {}, -1, 1e300]


def without(record: dict[str, Any], key: str) -> dict[str, Any]:
    return {kept: record[kept] for kept in record if kept != key}


def test_missing_arrays(model: Path) -> None:
    """Of the first chain, or of all."""
    content = model.read_bytes()
    for array in arrays_of(model):
        for where in (" AND chain = 0", ""):
            model.write_bytes(content)
            edit(model, f"DELETE FROM arrays WHERE name = ?{where}", array)
            with pytest.raises(bt.FileError, match="damaged"):
                bt.load(model)


def test_changed_bytes(model: Path) -> None:
    content = model.read_bytes()
    for array in arrays_of(model):
        model.write_bytes(content)
        change_a_byte(model, array)
        with pytest.raises(bt.FileError, match="checksum"):
            bt.load(model)


@pytest.mark.parametrize("wrong", WRONG_ARRAYS)
def test_hostile_arrays(model: Path, wrong: str) -> None:
    content, (types, change) = model.read_bytes(), WRONG_ARRAYS[wrong]
    loaded = []
    for array, dtype in arrays_of(model).items():
        if np.dtype(dtype).kind in types:
            model.write_bytes(content)
            rewrite(model, array, change)
            loaded += [array] if loads(model) else []
    assert loaded == []


@pytest.mark.parametrize(
    ("column", "value"),
    [("dtype", "|O"), ("shape", "[-1]"), ("shape", "[4611686018427387904, 8]"), ("shape", "x")],
)
def test_hostile_descriptions(model: Path, column: str, value: str) -> None:
    edit(model, f"UPDATE arrays SET {column} = ?", value)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("table", ["header", "states", "arrays"])
def test_missing_tables_and_rows(model: Path, table: str) -> None:
    edit(model, f"DELETE FROM {table}")
    with pytest.raises(bt.FileError, match="damaged"):
        bt.load(model)
    edit(model, f"DROP TABLE {table}")
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("key", ["model", "schema", "settings"])
def test_hostile_headers(model: Path, key: str) -> None:
    for value in ("null", "{}", "[]", "7", "not json"):
        rewrite_header(model, key, value)
        with pytest.raises(bt.FileError):
            bt.load(model)


def test_hostile_diagnostics(model: Path) -> None:
    for value in ("{}", "[]", "7", "not json"):
        rewrite_header(model, "diagnostics", value)
        with pytest.raises(bt.FileError):
            bt.load(model)


def test_hostile_models(model: Path) -> None:
    """What no model has is refused; an odd value is refused or, where a model may have it, read."""
    content, record = model.read_bytes(), header_of(model, "model")
    changes: list[dict[str, Any]] = [{"family": "forest"}]
    if "calibration" in record:
        changes += [{"calibration": None}, {"calibration": {}}]
    for change in changes:
        model.write_bytes(content)
        rewrite_model(model, change)
        with pytest.raises(bt.FileError):
            bt.load(model)
    odd = [record | {key: value} for key in record for value in ODD_VALUES]
    odd += [without(record, key) for key in record]
    refused = 0
    for model_record in odd:
        model.write_bytes(content)
        rewrite_header(model, "model", json.dumps(model_record))
        refused += not loads(model)
    assert refused > len(odd) / 3


def test_hostile_states(model: Path) -> None:
    """A state that lacks something is refused or, where only a run that goes on needs it, read."""
    content, state = model.read_bytes(), state_of(model)
    for key in state:
        model.write_bytes(content)
        rewrite_state(model, partial(without, key=key))
        assert not loads(model) or key != "drawn"


def test_truncated_files(model: Path) -> None:
    content = model.read_bytes()
    for size in (50, 1000, len(content) // 2, len(content) - 4096):
        model.write_bytes(content[:size])
        with pytest.raises(bt.FileError):
            bt.load(model)


def test_random_damage_never_crashes(model: Path) -> None:
    """Whatever happens to the bytes, loading gives a posterior or a FileError."""
    assert refused_at_random(model, 60) > 20


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
