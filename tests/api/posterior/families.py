"""A small posterior of each family, and of each kind of response and noise that it has."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import baytree as bt

RUN: dict[str, Any] = {"warmup": 40, "draws": 15, "chains": 2, "seed": 3, "progress": False}
GENERATOR = np.random.default_rng(0)
ROWS = 60
X = np.column_stack([GENERATOR.normal(size=ROWS), GENERATOR.integers(0, 3, ROWS), GENERATOR.random(ROWS)])
X[::9, 0] = np.nan
Y = 10 + np.nan_to_num(X[:, 0]) + 2 * (X[:, 1] == 1) + GENERATOR.normal(scale=0.3, size=ROWS)
RESPONSES = {"number": Y, "two": np.where(Y > 10.5, "yes", "no"), "three": np.digitize(Y, [9.9, 11])}
WEIGHT, OFFSET = np.linspace(0.5, 2, ROWS), np.linspace(-1, 1, ROWS)


class Case(NamedTuple):
    """A posterior, and the design that it was drawn from."""

    posterior: Any
    design: Any


def design(response: str = "number", **more: Any) -> bt.Design:
    task = "regression" if response == "number" else "classification"
    return bt.make_design(X, RESPONSES[response], task=task, categorical_features=[1], **more)


def matrix(response: str = "number", **more: Any) -> bt.LinearDesign:
    task = "regression" if response == "number" else "classification"
    return bt.make_linear_design(X, RESPONSES[response], task=task, categorical_features=[1], **more)


def responses(name: str) -> np.ndarray:
    """Those of sequences, of which some were not seen."""
    y: np.ndarray = Y.copy()
    if name == "hmdt classes":
        y = RESPONSES["three"].astype(object)
    if name == "hmdt two outputs":
        y = np.column_stack([Y, -3 * Y])
    y[4::10] = None if y.dtype == object else np.nan
    return y


GROUPS = np.arange(ROWS) // 25


def sequences(name: str) -> bt.SequenceDesign:
    """Three sequences."""
    task = "classification" if "classes" in name else "regression"
    return bt.make_sequence_design(X, responses(name), groups=GROUPS, task=task, categorical_features=[1])


def two_outputs() -> bt.LinearDesign:
    from baytree.hme.outputs import design_of_outputs

    return design_of_outputs(X[:, 1:], np.column_stack([Y, -3 * Y + X[:, 2]]), "regression", None, [0])


FEW = {"trees": 6}
CASES: dict[str, Callable[[], tuple[Any, Any, dict[str, Any]]]] = {
    "cart": lambda: (bt.CART(), design(), {}),
    "cart weighted": lambda: (bt.CART(), design(sample_weight=WEIGHT), {}),
    "cart classes": lambda: (bt.CART(), design("three"), {}),
    "cart monotone": lambda: (bt.CART(bt.GrowTree() & bt.Monotone(x0=1)), design(), {}),
    "cart monotone classes": lambda: (bt.CART(bt.GrowTree() & bt.Monotone(x0=1)), design("two"), {}),
    "cart tempered": lambda: (bt.CART(), design("two"), {"temperatures": 3}),
    "bart": lambda: (bt.BART(**FEW), design(sample_weight=WEIGHT), {}),
    "bart offset": lambda: (bt.BART(**FEW, split="soft"), design(offset=OFFSET), {}),
    "bart variance": lambda: (
        bt.BART(**FEW, variance="forest", variance_trees=3),
        design(sample_weight=WEIGHT, offset=OFFSET),
        {},
    ),
    "bart two classes": lambda: (bt.BART(**FEW), design("two", sample_weight=1 + np.arange(ROWS) % 3), {}),
    "bart two classes offset": lambda: (bt.BART(**FEW), design("two", offset=OFFSET), {}),
    "bart three classes": lambda: (bt.BART(**FEW), design("three"), {}),
    "subset": lambda: (bt.Subset(method="sample"), matrix(sample_weight=WEIGHT), {}),
    "subset enumerated": lambda: (bt.Subset(fit_intercept=False), matrix(), {}),
    "hme": lambda: (bt.HME(depth=1, method="gibbs"), matrix(), {}),
    "hme tempered": lambda: (bt.HME(depth=1, method="gibbs", expert="constant"), matrix(), {"temperatures": 3}),
    "hme classes": lambda: (bt.HME(depth=1, method="gibbs"), matrix("three"), {}),
    "hme two classes": lambda: (bt.HME(depth=1, method="variational"), matrix("two"), {}),
    "hme one tree": lambda: (bt.HME(depth=1), matrix(sample_weight=WEIGHT), {}),
    "hme counts": lambda: (bt.HME(depth=1, expert="poisson"), bt.make_linear_design(X, np.round(Y)), {}),
    "hmdt": lambda: (bt.HMDT(depth=2, n_init=1, epochs=5), sequences("hmdt"), {}),
    "hmdt mean field": lambda: (bt.HMDT(depth=1, method="mean_field", epochs=5), sequences("hmdt"), {}),
    "hmdt classes": lambda: (bt.HMDT(depth=1, n_init=1, epochs=10), sequences("hmdt classes"), {}),
    "hmdt two outputs": lambda: (bt.HMDT(depth=1, n_init=1, epochs=10), sequences("hmdt two outputs"), {}),
    "hme two outputs": lambda: (bt.HME(depth=1, method="gibbs"), two_outputs(), {}),
}


@cache
def case(name: str) -> Case:
    """One of them; each is drawn once."""
    model, data, more = CASES[name]()
    return Case(bt.sample(model, data, **RUN | more), data)


def rows_of(name: str) -> np.ndarray:
    """The training table of a case, to be predicted."""
    return X[:, 1:] if name == "hme two outputs" else X


def options_of(name: str) -> dict[str, Any]:
    """What its predictions need besides."""
    if name.startswith("hmdt"):
        return {"y": responses(name), "groups": GROUPS}
    return {"offset": OFFSET} if case(name).design.offset is not None else {}


def seen_rows(name: str) -> np.ndarray:
    """The rows whose response was seen."""
    seen = case(name).design.seen
    return np.arange(ROWS) if seen is None else np.flatnonzero(seen)
