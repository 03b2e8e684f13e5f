"""The mean and covariance of the coefficients, and the noise, over all models, against the dense reference."""

from dataclasses import replace

import numpy as np
import pytest

from baytree import _core
from exact.subset.chains import problem
from reference.subset.linear_models import LinearModels, Moments
from reference.subset.spaces import (
    ALWAYS,
    COLLINEAR,
    FACTORS,
    INTERACTIONS,
    NO_INTERCEPT,
    PLAIN,
    WEIGHTED,
    WIDE,
    models,
)

# As of the enumeration; the reference knows the best c of a model to about 10⁻⁸.
TOLERANCE = 1e-9
SPACES = [
    models(PLAIN, "c", "half"),
    models(NO_INTERCEPT, "hyper-g 4", "half"),
    models(FACTORS, "hyper-g", "beta-binomial"),
    models(COLLINEAR, "ridge", "half"),
    models(COLLINEAR, "hyper-g", "half"),
    models(ALWAYS, "hyper-g/n", "half"),
    models(ALWAYS, "unit", "half"),
    models(WIDE, "ridge", "half"),
    models(INTERACTIONS, "c", "half", "strong"),
    models(WEIGHTED, "hyper-g/n", "half", nu=0.0),
]


def assert_moments(space: LinearModels, given: LinearModels, tolerance: float = TOLERANCE) -> None:
    found, exact = _core.enumerate_subsets(problem(space), 1, np.zeros(0)), Moments.of(given)
    width = len(exact.mean)
    covariance = np.zeros((width, width))
    covariance[np.tril_indices(width)] = found["coefficient_covariance"]
    expected = np.tril(exact.square - np.outer(exact.mean, exact.mean))
    every = np.concatenate([found["coefficient_mean"], covariance.ravel(), found["noise"]])
    reference = np.concatenate([exact.mean, expected.ravel(), [exact.sigma, exact.variance]])
    np.testing.assert_allclose(every, reference, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("space", SPACES, ids=lambda space: f"{space.table.name}-{space.slab}")
def test_moments(space: LinearModels) -> None:
    assert_moments(space, space)


def test_the_best_spread_of_each_model() -> None:
    space = models(WEIGHTED, "eb", "half")
    assert_moments(space, space, 1e-6)


def test_another_noise_has_other_moments() -> None:
    space = models(PLAIN, "c", "half")
    with pytest.raises(AssertionError):
        assert_moments(space, replace(space, lam=space.lam * (1 + 1e-6)))


def test_a_variance_that_does_not_exist_is_infinite() -> None:
    """Two degrees of freedom: σ² has no mean, the coefficients have one."""
    space = models(replace(WIDE, matrix=WIDE.matrix[:3], y=WIDE.y[:3]), "c", "half", nu=0.0)
    found = _core.enumerate_subsets(problem(space), 1, np.zeros(0))
    assert np.isinf(found["noise"][1]) and np.isfinite(found["noise"][0])
    assert np.isfinite(found["coefficient_mean"]).all()
