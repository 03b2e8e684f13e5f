"""SHAP values of single trees: they add up, and a column that no tree asks about adds nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import baytree as bt

GENERATOR = np.random.default_rng(5)
X = np.column_stack([GENERATOR.normal(size=(80, 2)), np.ones(80)])
NUMBERS = np.where(X[:, 0] > 0, 2.0, -1.0) + 0.1 * GENERATOR.normal(size=80)
CLASSES = np.array(["low", "middle", "high"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]


def drawn(y: Any) -> tuple[bt.Posterior, bt.Design]:
    design = bt.make_design(X, y, task="auto")
    run: dict[str, Any] = {"warmup": 50, "draws": 40, "chains": 2, "seed": 1, "progress": False}
    return bt.sample(bt.CART(method="chains"), design, **run), design


@pytest.mark.parametrize(("y", "of"), [(NUMBERS, None), (CLASSES, "low"), (CLASSES, "high")])
def test_values_add_up_to_the_prediction(y: Any, of: str | None) -> None:
    posterior, design = drawn(y)
    found = posterior.shap(design, of=of, draws=None, rows=design.rows)
    predicted = posterior.predict(X)
    if of is not None:
        predicted = predicted[:, posterior.schema.response.place_of(of)]
    np.testing.assert_allclose(found.base + found.mean.sum(axis=1), predicted[found.rows], atol=1e-5)
    # A row of which nothing is known goes both ways in the shares of the training rows.
    assert found.base == pytest.approx(predicted.mean(), abs=1e-5)
    assert found.mean[:, 2] == pytest.approx(0.0, abs=1e-12)
    assert np.abs(found.mean[:, 0]).max() > 0.01


def test_the_response_is_a_probability() -> None:
    posterior, design = drawn(CLASSES)
    assert posterior.shap(design, of="high").response == "P(y = high)"
    with pytest.raises(bt.InputError, match="'none'"):
        posterior.shap(design, of="none")
