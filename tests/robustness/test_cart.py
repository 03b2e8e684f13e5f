"""Hostile files of single trees get a named error: what only they can have, and what the schema can say."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from robustness.damage import edit, header_of, rewrite, rewrite_header

pytestmark = pytest.mark.parametrize("name", ["cart: three classes"])


@pytest.mark.parametrize(
    ("array", "change"),
    [
        ("feature", lambda a: np.full_like(a, 99)),
        ("feature", lambda a: np.full_like(a, 0)),
        ("feature", lambda a: np.full_like(a, -1)),
        ("cut", lambda a: np.full_like(a, 2**32 - 1)),
        ("begin", lambda a: np.full_like(a, 2**64 - 1)),
        ("begin", lambda a: a[::-1]),
        ("begin", lambda a: np.zeros_like(a)),
        ("missing_left", lambda a: np.full_like(a, 1)),
        ("tree", lambda a: a + 10**6),
        ("tree", lambda a: a - 10**6),
        ("statistics", lambda a: a[:-2]),
    ],
)
def test_hostile_arrays(model: Path, array: str, change: Callable[[np.ndarray], Any]) -> None:
    rewrite(model, array, change)
    with pytest.raises(bt.FileError):
        bt.load(model)


def test_a_changed_header(model: Path) -> None:
    edit(model, "UPDATE header SET value = replace(value, 'x0', 'x9') WHERE key = 'schema'")
    with pytest.raises(bt.FileError, match="checksum"):
        bt.load(model)


def test_too_many_levels(model: Path) -> None:
    schema = header_of(model, "schema")
    levels = [f"level {i}" for i in range(100)]
    schema["columns"][0] |= {"kind": "categorical", "cuts": [], "lowest": [], "levels": levels}
    rewrite_header(model, "schema", json.dumps(schema))
    with pytest.raises(bt.FileError, match="at most 63 levels"):
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
