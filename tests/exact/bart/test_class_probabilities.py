"""The probability of each of several normal variables to be the largest, against integration and a formula."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import baytree as bt
from baytree import _core


def probabilities(means: np.ndarray) -> np.ndarray:
    return _core.class_probabilities(np.ascontiguousarray(means)).reshape(means.shape)


def by_integration(means: np.ndarray, k: int) -> float:
    others = np.delete(means, k)
    top = means.max()
    value, _ = quad(
        lambda u: stats.norm.pdf(u - means[k]) * stats.norm.cdf(u - others).prod(),
        top - 10,
        top + 10,
        points=[top],
        epsabs=1e-11,
        limit=200,
    )
    return float(value)


def test_two_classes_have_a_formula() -> None:
    differences = np.concatenate([np.linspace(-15, 15, 2001), [40.0, 1e300]])
    found = probabilities(np.stack([np.zeros_like(differences), differences], axis=1))
    assert np.abs(found[:, 1] - stats.norm.cdf(differences / np.sqrt(2))).max() < 1e-8


@pytest.mark.parametrize(("classes", "tolerance"), [(3, 1e-8), (5, 1e-8), (10, 2e-8), (26, 1e-7), (100, 1e-6)])
@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0, 4.0])
def test_more_classes(classes: int, tolerance: float, spread: float) -> None:
    means = spread * np.random.default_rng(classes).normal(size=(2, classes)) + 100
    found = probabilities(means)
    for row in range(2):
        for k in range(min(classes, 3)):
            assert found[row, k] == pytest.approx(by_integration(means[row], k), rel=0, abs=tolerance)
    assert np.abs(found.sum(axis=1) - 1).max() < 1e-14


def test_odd_means() -> None:
    assert probabilities(np.zeros((0, 3))).size == 0
    assert probabilities(np.array([[2.0]])).tolist() == [[1.0]]
    assert np.isfinite(probabilities(np.array([[-np.inf, 0.0, 1.0], [-1e308, 1e308, 0.0]]))).all()
    probabilities(np.array([[np.nan, 0.0], [0.0, np.nan], [np.inf, np.inf]]))
    for means in (np.zeros(3), np.zeros((3, 0))):
        with pytest.raises(bt.InputError, match="give a row of means"):
            _core.class_probabilities(means)
