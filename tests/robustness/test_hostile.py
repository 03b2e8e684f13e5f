"""Model files of which everything is right but one thing: refused with a named error, or as harmless as they look."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from api.cli.commands import failure, invoke
from baytree.cli.output import as_json
from baytree.storage import ModelReader
from families import EVERY
from fixtures.make import FOLDER
from robustness.damage import edit, header_of, rewrite, rewrite_header, rewrite_model, rewrite_state, state_of
from robustness.fuzz_models import REFUSED, SAME, count, outcome
from robustness.mutants import DEEP, PROGRAMS, mutate

MUTANTS = 260
ODD_VALUES: list[Any] = [None, "x", [], {}, -1, 10**400, [[]], 0.5]
TREES = pytest.mark.parametrize("name", ["cart: numbers"])
CLASSES = pytest.mark.parametrize("name", ["cart: two classes"])


@pytest.mark.parametrize("mutants", [MUTANTS, pytest.param(8000, marks=pytest.mark.slow)])
def test_mutants_with_valid_checksums(mutants: int) -> None:
    """Of every family: refused, or their answers make sense, and none of them crashes or hangs."""
    outcomes, faults = count(mutants)
    assert faults == [] and outcomes.total() == mutants
    assert min(outcomes[REFUSED], outcomes[SAME]) > mutants / 10  # of either kind there are many


def test_mutants_are_what_they_say(tmp_path: Path) -> None:
    """Another seed is another mutant, and the same seed the same."""
    path, content = tmp_path / "mutant.baytree", max(FOLDER.glob("cart-*.baytree")).read_bytes()
    found = []
    for seed in (*range(40), *range(40)):
        path.write_bytes(content)
        found.append((mutate(path, seed), path.read_bytes()))
    assert found[:40] == found[40:] and len(dict(found)) > 35
    assert sum(changed != content for _, changed in found) > 70


@TREES
@pytest.mark.parametrize("program", PROGRAMS)
def test_only_real_tables(model: Path, program: str) -> None:
    """Views can go on for ever, triggers write, and generated columns make gigabytes of nothing."""
    with closing(sqlite3.connect(model)) as database:
        database.executescript(program)
    if "journal_mode" in program:
        assert bt.load(model).draws
    else:
        with pytest.raises(bt.FileError):
            bt.load(model)


@TREES
@pytest.mark.parametrize("version", [0, -1, 3])
def test_versions_that_are_none(model: Path, version: int) -> None:
    edit(model, f"PRAGMA user_version = {version}")
    with pytest.raises(bt.FileError, match=f"format {version}"):
        bt.load(model)


@TREES
def test_never_more_than_there_is_room_for(model: Path) -> None:
    """In a hostile file one page is part of many rows, without end."""
    with closing(sqlite3.connect(model)) as database:
        texts = "SELECT length(value) + 99 AS size FROM header UNION ALL SELECT length(value) + 99 FROM states"
        [(size,)] = database.execute(f"SELECT sum(size) FROM ({texts})")
        reader = ModelReader(model, database, size)
        assert reader.header and reader.states
        with pytest.raises(bt.FileError, match="more than there is room for"):
            reader.parts()


@TREES
@pytest.mark.parametrize("value", [DEEP, "1" * 5000, "NaN", "1e999", "[" * 900 + "]" * 900, "9" * 4000])
@pytest.mark.parametrize("key", ["model", "schema", "settings", "diagnostics"])
def test_json_that_is_hard_to_read(model: Path, key: str, value: str) -> None:
    rewrite_header(model, key, value)
    with pytest.raises(bt.FileError):
        bt.load(model)


@TREES
@pytest.mark.parametrize(
    "change",
    [
        {"chains": "2"},
        {"draws": 15.0},
        {"draws": 0},
        {"thin": [3]},
        {"warmup": 2**64},
        {"seed": 10**400},
        {"rows": None},
        {"data": 5},
        {"offset": 1},
        {"ladder": []},
    ],
    ids=str,
)
def test_settings_of_another_type(model: Path, change: dict[str, Any]) -> None:
    rewrite_header(model, "settings", json.dumps(header_of(model, "settings") | change))
    with pytest.raises(bt.FileError):
        bt.load(model)


@TREES
@pytest.mark.parametrize(
    "change",
    [
        lambda column: column | {"name": 3},
        lambda column: column | {"levels": [0.5, 1.5]},
        lambda column: column | {"has_missing": "no"},
        lambda column: column | {"cuts": column["cuts"][::-1]},
        lambda column: column | {"cuts": [column["cuts"]]},
        lambda column: column | {"pooled": ["a", "a"]},
        lambda column: column | {"kind": "number"},
        lambda column: column | {"lowest": column["lowest"][:-1]},
    ],
)
def test_columns_that_no_table_has(model: Path, change: Callable[[Any], Any]) -> None:
    schema = header_of(model, "schema")
    schema["columns"][0] = change(schema["columns"][0])
    rewrite_header(model, "schema", json.dumps(schema))
    with pytest.raises(bt.FileError):
        bt.load(model)


@CLASSES
@pytest.mark.parametrize(
    "classes",
    [
        None,
        {"dtype": "<U3", "labels": []},
        {"dtype": "<U3", "labels": ["no", "no"]},
        {"dtype": "<U500000000", "labels": ["no", "yes"]},
        {"dtype": "|O", "labels": [None, "yes"]},
        {"dtype": "|V8", "labels": ["no", "yes"]},
        {"dtype": "<U3", "labels": [["no"], "yes"]},
    ],
    ids=str,
)
def test_classes_that_no_response_has(model: Path, classes: Any) -> None:
    schema = header_of(model, "schema")
    schema["response"]["classes"] = classes
    rewrite_header(model, "schema", json.dumps(schema))
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("name", ["cart: numbers", "cart: two classes", "cart: monotone", "cart: monotone classes"])
@pytest.mark.parametrize("value", [-1.0, -1e6, 1e200])
def test_statistics_that_no_rows_have(model: Path, value: float) -> None:
    """They predicted NaN, and 0.5, in silence."""
    rewrite(model, "statistics", lambda a: np.full_like(a, value))
    with pytest.raises(bt.FileError, match="none that rows give"):
        bt.load(model)


@pytest.mark.parametrize("name", ["hme: numbers", "hmdt: exact"])
@pytest.mark.parametrize("depth", [10**6, 2**62, 400])
@pytest.mark.parametrize("key", ["depth", "branching"])
def test_trees_too_deep_for_any_memory(model: Path, key: str, depth: int) -> None:
    rewrite_model(model, {key: depth})
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("name", ["cart: numbers", "hme: numbers"])
def test_states_that_cannot_go_on_are_named(model: Path, name: str) -> None:
    """Refused when they are read, or by whoever would go on from them; each change once."""
    content, state = model.read_bytes(), state_of(model)
    refused = 0
    for key in state:
        for value in ODD_VALUES:
            model.write_bytes(content)
            rewrite_state(model, lambda state, key=key, value=value: state | {key: value})  # type: ignore[misc]
            try:
                bt.extend(bt.load(model), EVERY[name].design, draws=1, progress=False)
            except bt.FileError:
                refused += 1
    assert refused > 4 * len(state)


@pytest.mark.parametrize("name", ["hme: one tree", "hme: online", "hme: mean field", "hmdt: exact"])
def test_states_that_say_how_no_fit_went(model: Path, name: str) -> None:
    content, state = model.read_bytes(), state_of(model)
    refused = 0
    for key in state:
        for value in (*ODD_VALUES, True):
            model.write_bytes(content)
            rewrite_state(model, lambda state, key=key, value=value: state | {key: value})  # type: ignore[misc]
            try:
                str(bt.load(model).summary())
            except bt.FileError:
                refused += 1
    assert refused > 5 * len(state)


@pytest.mark.parametrize("name", ["hme: mean field", "hme: mean field, two classes"])
@pytest.mark.parametrize("odd", ["0.5", [0.5], True, None])
@pytest.mark.parametrize("key", ["gates", "coefficients"])
def test_a_tree_of_what_is_no_number(model: Path, key: str, odd: Any) -> None:
    """Words went through to predictions and summaries."""

    def change(state: dict[str, Any]) -> dict[str, Any]:
        state["centre"][key][-1] = odd
        return state

    rewrite_state(model, change)
    with pytest.raises(bt.FileError, match="centre"):
        bt.load(model)


@pytest.mark.parametrize("name", ["hme: three classes"])
@pytest.mark.parametrize("unit", [{"output_scale": [1.0, 2.0, 1.0]}, {"output_centre": [0.5, 0.5, 0.5]}], ids=str)
def test_classes_in_another_unit(model: Path, unit: dict[str, Any]) -> None:
    """Their probabilities were more than 1."""
    calibration = header_of(model, "model")["calibration"]
    rewrite_model(model, {"calibration": calibration | unit})
    with pytest.raises(bt.FileError, match="another unit"):
        bt.load(model)


@pytest.mark.parametrize("name", ["cart: every tree"])
@pytest.mark.parametrize("array", ["inclusion", "leaves", "root_probability", "moments", "top_log_prior"])
def test_sums_of_another_shape(model: Path, array: str) -> None:
    rewrite(model, f"summed_{array}", lambda a: a[..., None])
    with pytest.raises(bt.FileError, match="what the sum found"):
        bt.load(model)


@CLASSES
def test_no_sign_that_a_terminal_obeys_comes_out_of_a_file(model: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\u202e"
    schema = header_of(model, "schema")
    schema["columns"][0]["name"] = schema["response"]["name"] = evil
    schema["response"]["classes"] = {"dtype": f"<U{len(evil)}", "labels": [evil, "yes"]}
    rewrite_header(model, "schema", json.dumps(schema))
    for shown in (invoke("show", model), invoke("show", model, "--json")):
        assert not set(evil) & {"\x1b", "\x07", "\u202e"} & set(shown.output)
    edit(model, "UPDATE arrays SET name = ? || name", evil)
    assert not {"\x1b", "\x07", "\u202e"} & set(failure("show", model, code=3))


def test_a_figure_too_large_for_json_is_named() -> None:
    with pytest.raises(bt.InputError, match="too large for JSON"):
        as_json({"log_likelihood": float("inf")})


@pytest.mark.parametrize(
    ("way", "name", "seed"),
    [
        ("damage", "bart: grown", 1702),
        ("mutate", "released: bart-0.2.0", 5793),
        ("mutate", "bart: program, three classes", 7168),
    ],
)
def test_what_the_long_form_found(way: str, name: str, seed: int, tmp_path: Path) -> None:
    """A unit whose square is beyond numbers, and labels that are no list, were taken and then failed."""
    assert outcome(way, name, seed, tmp_path / "mutant.baytree") == REFUSED
