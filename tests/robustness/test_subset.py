"""Hostile files of linear models get a named error: what only they can have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree.subset.posterior import ENUMERATED
from robustness.damage import rewrite, rewrite_model


@pytest.mark.parametrize(
    ("name", "array", "change"),
    [
        ("subset: sampled", "unit", lambda a: np.full_like(a, 99)),
        ("subset: sampled", "unit", lambda a: a[::-1]),
        ("subset: sampled", "begin", lambda a: a[::-1]),
        ("subset: sampled", "model", lambda a: a + 10**6),
        ("subset: sampled", "model", lambda a: a - 10**6),
        ("subset: sampled", "coefficient", lambda a: np.append(a, 1.0)),
        ("subset: sampled", "sigma", lambda a: -a),
        ("subset: enumerated", ENUMERATED + "inclusion", lambda a: a + 1),
        ("subset: enumerated", ENUMERATED + "unit", lambda a: np.full_like(a, 99)),
        ("subset: enumerated", ENUMERATED + "begin", lambda a: a[::-1]),
    ],
)
def test_hostile_arrays(model: Path, array: str, change: Callable[[np.ndarray], Any]) -> None:
    rewrite(model, array, change)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("name", ["subset: sampled"])
@pytest.mark.parametrize(
    "change",
    [
        {"coefficients": {"kind": "spike"}},
        {"coefficients": {"kind": "hyper_g", "a": 1.0}},
        {"model_prior": {"kind": "independent", "w": 2.0}},
        {"model_prior": None},
        {"proposal": {"jump": 1}},
        {"method": "guess"},
        {"always": 3.5},
        {"nu": "many"},
        {"scale": -1.0},
    ],
    ids=str,
)
def test_hostile_models(model: Path, change: dict[str, Any]) -> None:
    rewrite_model(model, change)
    with pytest.raises(bt.FileError):
        bt.load(model)
