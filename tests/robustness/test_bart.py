"""Hostile files of sums of trees get a named error: what only they can have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from robustness.damage import rewrite, rewrite_model

SPARSE = pytest.mark.parametrize("name", ["bart: sparse"])


@SPARSE
@pytest.mark.parametrize(
    ("array", "change"),
    [
        ("feature", lambda a: np.full_like(a, 99)),
        ("feature", lambda a: np.full_like(a, 0)),
        ("cut", lambda a: np.full_like(a, 2**32 - 1)),
        ("begin", lambda a: np.full_like(a, 2**64 - 1)),
        ("begin", lambda a: np.zeros_like(a)),
        ("tree", lambda a: a + 10**6),
        ("tree", lambda a: a - 10**6),
        ("tree", lambda a: a[:-6]),
        ("value", lambda a: np.append(a, a[-1])),
        ("sigma", lambda a: -a),
        ("log_weight", lambda a: a[:-3]),
    ],
)
def test_hostile_arrays(model: Path, array: str, change: Callable[[np.ndarray], Any]) -> None:
    rewrite(model, array, change)
    with pytest.raises(bt.FileError):
        bt.load(model)


@SPARSE
@pytest.mark.parametrize(
    "change",
    [
        {"trees": 5},
        {"trees": 0},
        {"trees": "many"},
        {"k": -1},
        {"proposal": {"birth_death": 1}},
        {"prior": {"alpha": 2}},
    ],
    ids=str,
)
def test_hostile_models(model: Path, change: dict[str, Any]) -> None:
    rewrite_model(model, change)
    with pytest.raises(bt.FileError):
        bt.load(model)
