"""The good table that bad inputs are made of, and short fits of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

import baytree as bt

ROWS = 30
GENERATOR = np.random.default_rng(15)
A, B = GENERATOR.normal(size=ROWS), GENERATOR.integers(0, 3, ROWS).astype(float)
X = np.column_stack([A, B])
Y = A + B + GENERATOR.normal(scale=0.3, size=ROWS)
TWO = np.where(np.median(Y) < Y, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(Y, np.quantile(Y, [0.3, 0.7]))]
SHORT: dict[str, Any] = {"warmup": 3, "draws": 3, "chains": 1, "seed": 1, "progress": False}
BART, GIBBS = bt.BART(trees=3), bt.HME(depth=1, method="gibbs")
EM = bt.HME(depth=1)


def put(values: Any, at: Any, value: Any) -> Any:
    """A copy of an array or a list with another value at a place."""
    copy = values.copy()
    copy[at] = value
    return copy


def column(values: Any) -> pl.DataFrame:
    """The good table with another column."""
    return pl.DataFrame({"a": A, "b": B, "c": values})


def trees(X: Any = X, y: Any = Y, **options: Any) -> bt.Design:
    """A design of trees."""
    return bt.make_design(X, y, **{"task": "regression" if y is Y else "auto"} | options)


def lines(X: Any = X, y: Any = Y, **options: Any) -> bt.LinearDesign:
    """A design of linear models."""
    return bt.make_linear_design(X, y, **{"task": "regression" if y is Y else "auto"} | options)


def steps(X: Any = X, y: Any = Y, **options: Any) -> Any:
    """A design of sequences."""
    return bt.make_sequence_design(X, y, **options)


def drawn(design: Any = None, model: Any = None, **settings: Any) -> Any:
    """The posterior of a short run."""
    return bt.sample(model or bt.CART(), trees() if design is None else design, **SHORT | settings)


def fitted(X: Any = X, y: Any = Y, model: Any = None, **options: Any) -> np.ndarray:
    """The predictions of a short run at its own rows."""
    model = model or bt.CART()
    make = lines if isinstance(model, (bt.HME, bt.Subset)) else trees
    return drawn(make(X, y, **options), model).predict(X)


@cache
def _model_file(family: str) -> bytes:
    named = pl.DataFrame(X, schema=["x0", "x1"])
    bins, matrix = trees(named), lines(named)
    made = {"cart": (bins, bt.CART()), "classes": (trees(named, THREE), bt.CART()), "subset": (matrix, bt.Subset())}
    made |= {"bart": (trees(named, offset=Y * 0 + 1), BART), "hme": (matrix, EM), "gibbs": (matrix, GIBBS)}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.baytree"
        drawn(*made[family]).save(path)
        return path.read_bytes()


def model_file(family: str) -> Callable[[str], None]:
    """Writes the model file of a short run of a family."""

    def write(path: str) -> None:
        Path(path).write_bytes(_model_file(family))

    return write
