"""Hostile files of mixtures of experts, with memory or without, get a named error: what only they can have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from families import CASES
from robustness.damage import edit, rewrite, rewrite_model, rewrite_state

EVERY = pytest.mark.parametrize("name", [f"{family}: {name}" for family in ("hme", "hmdt") for name in CASES[family]])
NUMBERS = pytest.mark.parametrize("name", ["hme: numbers"])


@EVERY
@pytest.mark.parametrize("array", ["gates", "coefficients", "log_likelihood", "log_prior"])
def test_arrays_of_another_shape(model: Path, array: str) -> None:
    content = model.read_bytes()
    changes: list[Callable[[np.ndarray], Any]] = [
        lambda a: np.concatenate([a, a], axis=-1),
        lambda a: np.concatenate([a, a]),
        lambda a: a[..., None],
    ]
    for change in changes:
        model.write_bytes(content)
        rewrite(model, array, change)
        with pytest.raises(bt.FileError):
            bt.load(model)


@pytest.mark.parametrize("name", ["hme: numbers", "hmdt: exact"])
@pytest.mark.parametrize(
    "change", [lambda a: -a, lambda a: 0 * a, lambda a: a[:, :-1]], ids=["minus", "zero", "narrow"]
)
def test_hostile_variances(model: Path, change: Callable[[np.ndarray], Any]) -> None:
    rewrite(model, "variance", change)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("name", ["hme: online"])
def test_hostile_recursions(model: Path) -> None:
    rewrite(model, "recursion", lambda a: a[:, :-1])
    with pytest.raises(bt.FileError, match="what the recursions carry"):
        bt.load(model)
    edit(model, "DELETE FROM arrays WHERE name = 'recursion'")
    with pytest.raises(bt.FileError, match="what the recursions carry"):
        bt.load(model)


@EVERY
@pytest.mark.parametrize(
    "change",
    [
        {"depth": 3},
        {"depth": -1},
        {"depth": 0.5},
        {"depth": "deep"},
        {"branching": 4},
        {"expert": "poison"},
        {"method": "guess"},
        {"ridge": -1},
        {"scale": [1.0] * 9},
        {"init": {"columns": 1}},
        {"init": 3},
        {"more": 1},
    ],
    ids=str,
)
def test_hostile_models(model: Path, change: dict[str, Any]) -> None:
    rewrite_model(model, change)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("name", ["hme: numbers", "hme: one tree", "hme: two classes", "hmdt: exact", "hmdt: classes"])
def test_experts_of_another_kind(model: Path) -> None:
    rewrite_model(model, {"expert": "poisson"})
    with pytest.raises(bt.FileError):
        bt.load(model)


@EVERY
@pytest.mark.parametrize(
    "change",
    [
        {"kept": [0, 99]},
        {"kept": [0]},
        {"scale": [0.0, 1.0]},
        {"scale": [1.0]},
        {"output_scale": []},
        {"output_scale": [1.0] * 7},
        {"output_centre": ["a"]},
        {"one_output": None, "more": 1},
    ],
    ids=str,
)
def test_hostile_calibrations(model: Path, change: dict[str, Any]) -> None:
    calibration = bt.load(model).model.calibrated.to_dict()
    rewrite_model(model, {"calibration": calibration | change})
    with pytest.raises(bt.FileError):
        bt.load(model)


@NUMBERS
@pytest.mark.parametrize(
    "change",
    [{"leaf": [9] * 60}, {"leaf": [0]}, {"gates": [0.0]}, {"variance": [-1.0] * 4}, {"coefficients": [None] * 6}],
    ids=str,
)
def test_states_that_no_chain_can_have_do_not_go_on(model: Path, change: dict[str, Any], name: str) -> None:
    rewrite_state(model, lambda state: state | {"rungs": [state["rungs"][0] | change]})
    posterior = bt.load(model)
    with pytest.raises((bt.InputError, TypeError)):
        bt.extend(posterior, CASES["hme"]["numbers"].design, draws=1, progress=False)
