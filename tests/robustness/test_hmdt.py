"""Hostile files of hidden Markov decision trees get a named error: what is kept of the sequences and of the fit."""

from pathlib import Path
from typing import Any

import pytest

import baytree as bt
from robustness.damage import rewrite_model, rewrite_state

pytestmark = pytest.mark.parametrize("name", ["hmdt: exact"])


@pytest.mark.parametrize("change", [{"expert": "auto"}, {"family": "hme"}, {"depth": 0}], ids=str)
def test_hostile_models(model: Path, change: dict[str, Any]) -> None:
    rewrite_model(model, change)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("key", ["objective", "converged", "sequences", "seen"])
def test_what_is_said_of_the_fit_cannot_be_left_out(model: Path, key: str) -> None:
    rewrite_state(model, lambda state: {name: state[name] for name in state if name != key})
    with pytest.raises(bt.FileError, match=r"the states? (of the chains cannot be read|does not say how)"):
        bt.load(model)


@pytest.mark.parametrize(
    "change",
    [{"objective": []}, {"objective": ["a"]}, {"objective": 3}, {"sequences": 0}, {"sequences": 61}, {"seen": "all"}],
    ids=str,
)
def test_hostile_states(model: Path, change: dict[str, Any]) -> None:
    rewrite_state(model, lambda state: state | change)
    with pytest.raises(bt.FileError):
        bt.load(model)
