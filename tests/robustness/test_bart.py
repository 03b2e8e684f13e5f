"""Damaged, foreign and hostile files of sums of trees get a named error."""

import json
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree.bart.posterior import OPTIONAL, PART_ARRAYS, VARIANCE
from robustness.damage import change_a_byte, edit, refused_at_random, rewrite, rewrite_model

MODELS = {
    "constant": bt.BART(trees=4, prior=bt.GrowTree(beta=2.0) & bt.Weights("sparse")),
    "forest": bt.BART(trees=4, variance="forest", variance_trees=3),
    "soft": bt.BART(trees=4, split="soft", k="learned"),
}
# Arrays that not every file has, each with a file that has it.
SOME = [
    ("forest" if name.startswith(VARIANCE) else "soft" if name in ("bandwidth", "leaf_sd") else "constant", name)
    for name in OPTIONAL
]
ARRAYS = [*(("constant", name) for name in PART_ARRAYS), *SOME]


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder, design = tmp_path_factory.mktemp("files"), bt.datasets.friedman(60).design()
    for name, model in MODELS.items():
        bt.sample(model, design, warmup=20, draws=20, chains=2, seed=1, progress=False).save(folder / name)
    return {name: (folder / name).read_bytes() for name in MODELS}


@pytest.fixture
def kind() -> str:
    """Which of the files."""
    return "constant"


@pytest.mark.parametrize("kind", MODELS)
def test_the_whole_file_is_read(model: Path) -> None:
    posterior = bt.load(model)
    assert isinstance(posterior, bt.BARTPosterior)
    assert (posterior.chains, posterior.draws, posterior.ensemble.trees) == (2, 20, 4)


@pytest.mark.parametrize(("kind", "name"), ARRAYS)
def test_a_missing_array(model: Path, name: str) -> None:
    edit(model, "DELETE FROM arrays WHERE name = ? AND chain = 1", name)
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
    ("name", "change"),
    [
        ("feature", lambda a: np.full_like(a, 99)),
        ("feature", lambda a: np.full_like(a, 0)),
        ("feature", lambda a: a[:-1]),
        ("cut", lambda a: np.full_like(a, 2**32 - 1)),
        ("begin", lambda a: np.full_like(a, 2**64 - 1)),
        ("begin", lambda a: np.zeros_like(a)),
        ("tree", lambda a: a + 10**6),
        ("tree", lambda a: a - 10**6),
        ("tree", lambda a: a[:-1]),
        ("tree", lambda a: a[:-4]),
        ("value", lambda a: a[:-1]),
        ("value", lambda a: np.append(a, a[-1])),
        ("value", lambda a: np.full_like(a, np.nan)),
        ("sigma", lambda a: a[:-1]),
        ("sigma", lambda a: np.full_like(a, np.nan)),
        ("sigma", lambda a: -a),
        ("log_likelihood", lambda a: a[:-1]),
        ("log_weight", lambda a: a[:-1]),
        ("log_weight", lambda a: a[:-10]),
        ("concentration", lambda a: a[:-1]),
    ],
)
def test_hostile_arrays(model: Path, name: str, change: Callable[[np.ndarray], Any]) -> None:
    rewrite(model, name, change)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize(
    "change",
    [
        {"trees": 5},
        {"trees": 0},
        {"trees": "many"},
        {"family": "forest"},
        {"k": -1},
        {"moves": {"birth_death": 1}},
        {"calibration": {}},
        {"calibration": None},
        {"prior": {"alpha": 2}},
    ],
    ids=str,
)
def test_hostile_models(model: Path, change: dict[str, Any]) -> None:
    rewrite_model(model, change)
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("key", ["stored", "variance_stored", "turns", "accepted", "drawn"])
def test_hostile_states(model: Path, key: str) -> None:
    with sqlite3.connect(model) as database:
        [(value,)] = database.execute("SELECT value FROM states WHERE chain = 0")
    state = json.loads(value)
    del state[key]
    text = json.dumps(state)
    edit(model, "UPDATE states SET value = ?, checksum = ? WHERE chain = 0", text, zlib.crc32(text.encode()))
    with pytest.raises(bt.FileError):
        bt.load(model)


@pytest.mark.parametrize("kind", MODELS)
def test_random_damage_never_crashes(model: Path) -> None:
    """Whatever happens to the bytes, loading gives a posterior or a FileError."""
    assert refused_at_random(model, 100) > 30
