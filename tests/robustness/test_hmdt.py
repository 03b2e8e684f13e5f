"""Damaged, foreign and hostile files of hidden Markov decision trees get a named error."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from robustness.damage import change_a_byte, edit, refused_at_random, rewrite, rewrite_model, rewrite_state

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(40, 2))
GROUPS = np.repeat([0, 1], 20)
DESIGNS = {
    "numbers": bt.make_sequence_design(X, X[:, 0] * X[:, 1], groups=GROUPS),
    "classes": bt.make_sequence_design(X, X[:, 0] * X[:, 1] > 0, groups=GROUPS, task="classification"),
}
ARRAYS = ("gates", "coefficients", "log_likelihood", "log_prior")


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("files")
    for name, design in DESIGNS.items():
        bt.sample(bt.HMDT(depth=1, epochs=3, n_init=1), design, seed=1, progress=False).save(folder / name)
    return {name: (folder / name).read_bytes() for name in DESIGNS}


@pytest.fixture
def kind() -> str:
    """Which of the files."""
    return "numbers"


@pytest.mark.parametrize("kind", DESIGNS)
def test_the_whole_file_is_read(model: Path) -> None:
    posterior = bt.load(model)
    assert isinstance(posterior, bt.HMDTPosterior)
    assert (posterior.chains, posterior.draws) == (1, 1)


@pytest.mark.parametrize("name", [*ARRAYS, "variance"])
def test_a_missing_array(model: Path, name: str) -> None:
    edit(model, "DELETE FROM arrays WHERE name = ?", name)
    with pytest.raises(bt.FileError, match="damaged"):
        bt.load(model)


@pytest.mark.parametrize("name", [*ARRAYS, "variance"])
def test_a_changed_byte(model: Path, name: str) -> None:
    change_a_byte(model, name)
    with pytest.raises(bt.FileError, match="checksum"):
        bt.load(model)


@pytest.mark.parametrize("kind", DESIGNS)
@pytest.mark.parametrize(
    "change",
    [
        lambda a: a[:-1],
        lambda a: np.full_like(a, np.nan),
        lambda a: np.full_like(a, np.inf),
        lambda a: np.concatenate([a, a], axis=-1),
        lambda a: np.concatenate([a, a]),
        lambda a: a[..., None],
        lambda a: a.ravel()[:0],
    ],
    ids=["short", "nan", "inf", "wide", "long", "deep", "empty"],
)
@pytest.mark.parametrize("name", ARRAYS)
def test_hostile_arrays(model: Path, name: str, change: Callable[[np.ndarray], Any]) -> None:
    rewrite(model, name, change)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize(
    "change", [lambda a: -a, lambda a: 0 * a, lambda a: a[:, :-1]], ids=["minus", "zero", "narrow"]
)
def test_hostile_variances(model: Path, change: Callable[[np.ndarray], Any]) -> None:
    rewrite(model, "variance", change)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("kind", DESIGNS)
@pytest.mark.parametrize(
    "change",
    [
        {"depth": 2},
        {"depth": 0},
        {"depth": "deep"},
        {"branching": 3},
        {"expert": "auto"},
        {"expert": "poisson"},
        {"expert": "poison"},
        {"method": "guess"},
        {"ridge": -1},
        {"init": {"columns": 1}},
        {"init": 3},
        {"calibration": {}},
        {"calibration": None},
        {"family": "forest"},
        {"family": "hme"},
        {"more": 1},
    ],
    ids=str,
)
def test_hostile_models(model: Path, change: dict[str, Any]) -> None:
    rewrite_model(model, change)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("kind", DESIGNS)
@pytest.mark.parametrize(
    "change",
    [{"kept": [0, 99]}, {"kept": [0]}, {"scale": [0.0, 1.0]}, {"output_scale": []}, {"output_scale": [1.0] * 7}],
    ids=str,
)
def test_hostile_calibrations(model: Path, change: dict[str, Any]) -> None:
    calibration = bt.load(model).model.calibrated.to_dict()
    rewrite_model(model, {"calibration": calibration | change})
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("name", ["objective", "converged", "sequences", "seen"])
def test_what_is_said_of_the_fit_cannot_be_left_out(model: Path, name: str) -> None:
    rewrite_state(model, lambda state: {key: value for key, value in state.items() if key != name})
    with pytest.raises(bt.FileError, match="the state of chain 0"):
        bt.load(model)


@pytest.mark.parametrize(
    "change",
    [{"objective": []}, {"objective": ["a"]}, {"objective": 3}, {"sequences": 0}, {"sequences": 41}, {"seen": "all"}],
    ids=str,
)
def test_hostile_states(model: Path, change: dict[str, Any]) -> None:
    rewrite_state(model, lambda state: state | change)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("kind", DESIGNS)
def test_random_damage_never_crashes(model: Path) -> None:
    """Whatever happens to the bytes, loading gives a posterior or a FileError."""
    assert refused_at_random(model, 60) > 20
