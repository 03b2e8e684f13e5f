"""Soft trees on arrays that have nothing but what the array API promises, as a stand-in for those of a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import baytree as bt

xp = pytest.importorskip("array_api_strict")

X = np.random.default_rng(0).normal(size=(200, 3))
Y = np.where(X[:, 0] > 0, X[:, 1], -X[:, 2]) + 0.1 * np.random.default_rng(1).normal(size=200)


def strict(values: np.ndarray) -> Any:
    return xp.asarray(values)


@pytest.mark.parametrize("expert", ["linear", "constant", "poisson", "gamma"])
@pytest.mark.parametrize("options", [{}, {"early_stopping": True}, {"method": "em2", "init": "random"}], ids=str)
def test_a_fit_on_other_arrays_is_the_same(expert: str, options: dict[str, Any]) -> None:
    y = Y if expert in ("linear", "constant") else np.exp(Y).round() + 1
    make = bt.HMERegressor(depth=2, expert=expert, epochs=5, random_state=0, **options)
    here, there = make.fit(X, y), bt.HMERegressor(**make.get_params())
    there.fit(strict(X), strict(y), sample_weight=strict(np.ones(200)))
    assert isinstance(there.tree_.gates[0], type(strict(X)))
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-9)
    for kind in ("mean", "sd", "predictive_interval"):
        found = there.predict(strict(X), kind=kind)
        assert isinstance(found, type(strict(X))) and found.dtype == xp.float64
        np.testing.assert_allclose(np.asarray(found), here.predict(X, kind=kind), rtol=1e-6, atol=1e-9)
        # A table of another kind is predicted by the same tree, and its predictions are of its kind.
        assert isinstance(there.predict(X, kind=kind), np.ndarray)
    np.testing.assert_allclose(np.asarray(there.responsibilities(strict(X))), here.responsibilities(X), atol=1e-9)
    np.testing.assert_allclose(
        there.deviance_tree(strict(X), strict(y)).total, here.deviance_tree(X, y).total, rtol=1e-9
    )
    there.responsibility_plane(strict(X), (0, 1), grid=3)


def test_a_mean_field_on_other_arrays() -> None:
    make = bt.HMERegressor(depth=2, method="variational", epochs=5, random_state=0)
    here, there = make.fit(X, Y), bt.HMERegressor(**make.get_params()).fit(strict(X), strict(Y))
    assert isinstance(there.tree_.gates[0], type(strict(X)))
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-9)
    found = there.predict(strict(X), kind="interval")
    np.testing.assert_allclose(np.asarray(found), here.predict(X, kind="interval"), rtol=1e-6, atol=1e-9)


def test_the_precision_is_that_of_the_rows() -> None:
    make = bt.HMERegressor(depth=1, random_state=0)
    single = make.fit(strict(X.astype(np.float32)), strict(Y))
    assert single.tree_.gates[0].dtype == xp.float32
    assert single.predict(strict(X.astype(np.float32))).dtype == xp.float32
    double = bt.HMERegressor(depth=1, random_state=0).fit(X, Y)
    # Steps that gain less than rounding are not made, so single precision ends a little sooner.
    assert single.objective_[-1] == pytest.approx(double.objective_[-1], rel=1e-3)
    whole = bt.HMERegressor(depth=1, random_state=0).fit(strict((3 * X).astype(np.int64)), strict(Y))
    assert whole.tree_.gates[0].dtype == xp.float64


@pytest.mark.parametrize("labels", [np.array([3, 7]), np.array(["a", "b"])], ids=["numbers", "text"])
def test_classes_on_other_arrays(labels: np.ndarray) -> None:
    y = labels[(X[:, 0] * X[:, 1] > 0).astype(int)]
    make = bt.HMEClassifier(depth=1, random_state=0)
    here = make.fit(X, y).predict_proba(X)
    there = bt.HMEClassifier(depth=1, random_state=0).fit(strict(X), strict(y) if labels.dtype.kind == "i" else y)
    np.testing.assert_allclose(np.asarray(there.predict_proba(strict(X))), here, rtol=1e-9)
    found = there.predict(strict(X))
    assert isinstance(found, type(strict(X)) if labels.dtype.kind == "i" else np.ndarray)
    np.testing.assert_array_equal(np.asarray(found), make.predict(X))


def test_rows_one_by_one_are_learned_by_numpy() -> None:
    model = bt.HMERegressor(depth=1, method="online", epochs=1, random_state=0).fit(strict(X), strict(Y))
    assert isinstance(model.tree_.gates[0], np.ndarray)
    assert isinstance(model.predict(strict(X)), type(strict(X)))
    assert isinstance(model.partial_fit(strict(X), strict(Y)).predict(X), np.ndarray)
