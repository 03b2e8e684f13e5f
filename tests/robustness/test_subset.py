"""Damaged, foreign and hostile files of linear models get a named error."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree.posterior.base import RUNGS
from baytree.subset.draws import PART_ARRAYS
from baytree.subset.posterior import ENUMERATED, ENUMERATED_ARRAYS
from robustness.damage import change_a_byte, edit, refused_at_random, rewrite, rewrite_model

# Each with the settings of its run.
MODELS: dict[str, tuple[bt.Subset, dict[str, int]]] = {
    "sampled": (bt.Subset(method="sample"), {}),
    "tempered": (bt.Subset(method="sample"), {"temperatures": 3}),
    "enumerated": (bt.Subset(), {}),
}
# Arrays that not every file has, each with a file that has it.
SOME = [("tempered", RUNGS), *(("enumerated", ENUMERATED + name) for name in ENUMERATED_ARRAYS)]
ARRAYS = [*(("sampled", name) for name in PART_ARRAYS), *SOME]


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder, data = tmp_path_factory.mktemp("files"), bt.datasets.friedman(60)
    design = bt.make_linear_design(data.X, data.y)
    for name, (model, settings) in MODELS.items():
        run = {"warmup": 20, "draws": 20, "chains": 2, "seed": 1, "progress": False}
        bt.sample(model, design, **run, **settings).save(folder / name)
    return {name: (folder / name).read_bytes() for name in MODELS}


@pytest.fixture
def kind() -> str:
    """Which of the files."""
    return "sampled"


@pytest.mark.parametrize("kind", MODELS)
def test_the_whole_file_is_read(model: Path, kind: str) -> None:
    posterior = bt.load(model)
    assert isinstance(posterior, bt.SubsetPosterior)
    assert (posterior.chains, posterior.draws, len(posterior.units)) == (2, 20, 10)
    assert (posterior.enumerated is not None) == (kind == "enumerated")


@pytest.mark.parametrize(("kind", "name"), ARRAYS)
def test_a_missing_array(model: Path, name: str) -> None:
    edit(model, "DELETE FROM arrays WHERE name = ? AND chain = 0", name)
    with pytest.raises(bt.FileError, match="damaged"):
        bt.load(model)


@pytest.mark.parametrize(("kind", "name"), SOME)
def test_what_a_model_has_cannot_be_left_out(model: Path, name: str) -> None:
    edit(model, "DELETE FROM arrays WHERE name = ?", name)
    with pytest.raises(bt.FileError, match="damaged"):
        bt.load(model)


@pytest.mark.parametrize(("kind", "name"), ARRAYS)
def test_a_changed_byte(model: Path, name: str) -> None:
    change_a_byte(model, name)
    with pytest.raises(bt.FileError, match="checksum"):
        bt.load(model)


@pytest.mark.parametrize(
    ("kind", "name", "change"),
    [
        ("sampled", "unit", lambda a: np.full_like(a, 99)),
        ("sampled", "unit", lambda a: a[::-1]),
        ("sampled", "unit", lambda a: a[:-1]),
        ("sampled", "begin", lambda a: a[:-1]),
        ("sampled", "begin", lambda a: a[::-1]),
        ("sampled", "begin", lambda a: np.zeros(0)),
        ("sampled", "model", lambda a: a + 10**6),
        ("sampled", "model", lambda a: a - 10**6),
        ("sampled", "model", lambda a: a[:-1]),
        ("sampled", "mean", lambda a: a[:-1]),
        ("sampled", "mean", lambda a: np.full_like(a, np.nan)),
        ("sampled", "coefficient", lambda a: np.append(a, 1.0)),
        ("sampled", "coefficient", lambda a: np.full_like(a, np.inf)),
        ("sampled", "sigma", lambda a: -a),
        ("sampled", "sigma", lambda a: a[:-1]),
        ("sampled", "level", lambda a: np.full_like(a, np.nan)),
        ("sampled", "shrinkage", lambda a: a[:-1]),
        ("sampled", "log_likelihood", lambda a: np.full_like(a, np.nan)),
        ("sampled", "log_prior", lambda a: a[:-1]),
        ("tempered", RUNGS, lambda a: a[:-1]),
        ("tempered", RUNGS, lambda a: np.full_like(a, np.nan)),
        ("enumerated", ENUMERATED + "log_total", lambda a: np.full_like(a, np.nan)),
        ("enumerated", ENUMERATED + "log_total", lambda a: a[:-1]),
        ("enumerated", ENUMERATED + "inclusion", lambda a: a[:-1]),
        ("enumerated", ENUMERATED + "inclusion", lambda a: a + 1),
        ("enumerated", ENUMERATED + "inclusion", lambda a: np.full_like(a, np.nan)),
        ("enumerated", ENUMERATED + "sizes", lambda a: a[:-1]),
        ("enumerated", ENUMERATED + "unit", lambda a: np.full_like(a, 99)),
        ("enumerated", ENUMERATED + "begin", lambda a: a[:-1]),
        ("enumerated", ENUMERATED + "begin", lambda a: a[::-1]),
        ("enumerated", ENUMERATED + "begin", lambda a: np.zeros(0)),
        ("enumerated", ENUMERATED + "log_prior", lambda a: a[:-1]),
        ("enumerated", ENUMERATED + "log_likelihood", lambda a: np.full_like(a, np.nan)),
    ],
)
def test_hostile_arrays(model: Path, name: str, change: Callable[[np.ndarray], Any]) -> None:
    rewrite(model, name, change)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize(
    "change",
    [
        {"family": "lasso"},
        {"coefficients": {"kind": "spike"}},
        {"coefficients": {"kind": "hyper_g", "a": 1.0}},
        {"model_prior": {"kind": "independent", "w": 2.0}},
        {"model_prior": None},
        {"moves": {"jump": 1}},
        {"method": "guess"},
        {"always": 3.5},
        {"nu": "many"},
        {"scale": -1.0},
        {"calibration": {}},
        {"calibration": None},
    ],
    ids=str,
)
def test_hostile_models(model: Path, change: dict[str, Any]) -> None:
    rewrite_model(model, change)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("kind", MODELS)
def test_random_damage_never_crashes(model: Path) -> None:
    """Whatever happens to the bytes, loading gives a posterior or a FileError."""
    assert refused_at_random(model, 100) > 30
