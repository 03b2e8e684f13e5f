"""Damaged, foreign and hostile files of mixtures of experts get a named error."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from robustness.damage import change_a_byte, edit, refused_at_random, rewrite, rewrite_model, rewrite_state

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(40, 2))
MODELS = {
    "numbers": (bt.HME(depth=1, method="gibbs"), bt.make_linear_design(X, X[:, 0] * X[:, 1])),
    "classes": (
        bt.HME(depth=1, method="gibbs"),
        bt.make_linear_design(X, np.digitize(X[:, 0], [-0.5, 0.5]), task="classification"),
    ),
    "one tree": (bt.HME(depth=1), bt.make_linear_design(X, X[:, 0] * X[:, 1])),
    "row by row": (bt.HME(depth=1, method="online", epochs=1), bt.make_linear_design(X, X[:, 0] * X[:, 1])),
}
ARRAYS = ("gates", "coefficients", "log_likelihood", "log_prior")


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("files")
    for name, (model, design) in MODELS.items():
        bt.sample(model, design, warmup=5, draws=10, chains=2, seed=1, progress=False).save(folder / name)
    return {name: (folder / name).read_bytes() for name in MODELS}


@pytest.fixture
def kind() -> str:
    """Which of the files."""
    return "numbers"


@pytest.mark.parametrize("kind", MODELS)
def test_the_whole_file_is_read(model: Path, kind: str) -> None:
    posterior = bt.load(model)
    assert isinstance(posterior, bt.HMEPosterior)
    assert (posterior.chains, posterior.draws) == ((1, 1) if kind in ("one tree", "row by row") else (2, 10))


@pytest.mark.parametrize("name", [*ARRAYS, "variance"])
def test_a_missing_array(model: Path, name: str) -> None:
    for where in (" AND chain = 1", ""):
        edit(model, f"DELETE FROM arrays WHERE name = ?{where}", name)
        with pytest.raises(bt.FileError, match="damaged"):
            bt.load(model)


@pytest.mark.parametrize("name", [*ARRAYS, "variance"])
def test_a_changed_byte(model: Path, name: str) -> None:
    change_a_byte(model, name)
    with pytest.raises(bt.FileError, match="checksum"):
        bt.load(model)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(
    "change",
    [
        lambda a: a[:-1],
        lambda a: np.full_like(a, np.nan),
        lambda a: np.full_like(a, np.inf),
        lambda a: np.concatenate([a, a], axis=-1),
        lambda a: a[..., None],
        lambda a: a.ravel()[:0],
    ],
    ids=["short", "nan", "inf", "wide", "deep", "empty"],
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


@pytest.mark.parametrize("kind", ["row by row"])
@pytest.mark.parametrize("change", [lambda a: a[:, :-1], lambda a: np.full_like(a, np.nan)], ids=["narrow", "nan"])
def test_hostile_recursions(model: Path, change: Callable[[np.ndarray], Any]) -> None:
    rewrite(model, "recursion", change)
    with pytest.raises(bt.FileError, match="what the recursions carry"):
        bt.load(model)
    edit(model, "DELETE FROM arrays WHERE name = 'recursion'")
    with pytest.raises(bt.FileError, match="what the recursions carry"):
        bt.load(model)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(
    "change",
    [
        {"depth": 2},
        {"depth": -1},
        {"depth": "deep"},
        {"branching": 3},
        {"expert": "poison"},
        {"expert": "poisson"},
        {"method": "guess"},
        {"ridge": -1},
        {"init": {"columns": 1}},
        {"init": 3},
        {"calibration": {}},
        {"calibration": None},
        {"family": "forest"},
        {"more": 1},
    ],
    ids=str,
)
def test_hostile_models(model: Path, change: dict[str, Any]) -> None:
    rewrite_model(model, change)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("kind", MODELS)
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


@pytest.mark.parametrize("key", ["rungs", "position", "drawn", "warmed"])
def test_hostile_states(model: Path, key: str) -> None:
    rewrite_state(model, lambda state: {name: state[name] for name in state if name != key})
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize(
    "change",
    [{"leaf": [9] * 40}, {"leaf": [0]}, {"gates": [0.0]}, {"variance": [-1.0, 1.0]}, {"coefficients": [None] * 6}],
    ids=str,
)
def test_states_that_no_chain_can_have_do_not_go_on(model: Path, change: dict[str, Any]) -> None:
    rewrite_state(model, lambda state: state | {"rungs": [state["rungs"][0] | change]})
    posterior = bt.load(model)
    with pytest.raises((bt.InputError, TypeError)):
        bt.extend(posterior, MODELS["numbers"][1], draws=1, progress=False)


@pytest.mark.parametrize("kind", MODELS)
def test_random_damage_never_crashes(model: Path) -> None:
    """Whatever happens to the bytes, loading gives a posterior or a FileError."""
    assert refused_at_random(model, 60) > 20
