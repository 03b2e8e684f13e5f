"""The dense reference of linear models against what others say of them: scipy's Student, a closed form, limits."""

import math

import numpy as np
import pytest
from scipy import special, stats

from reference.subset.linear_models import Floats, GPrior, HyperG, Independent, Ridge, Student, log_likelihoods
from reference.subset.spaces import (
    FACTORS,
    NO_INTERCEPT,
    PLAIN,
    SLABS,
    TABLES,
    WEIGHTED,
    heredities,
    model_priors,
    models,
)

NU, LAM = 3.0, 0.3


def chosen(table, number: int) -> Floats:
    """The raw columns of a model."""
    return table.matrix[:, table.members[number][list(table.unit)]]


def log_ratio(y: Floats, spread: Floats, noise: Floats, nu: float = NU) -> float:
    """The log density of responses with and without a spread of their means; νλ stays as it is."""
    with_means, without = (
        stats.multivariate_t.logpdf(y, shape=NU * LAM / nu * scale, df=nu) for scale in (noise + spread, noise)
    )
    return float(with_means - without)


@pytest.mark.parametrize("slab", [GPrior(7.5), GPrior("unit"), Ridge(0.8)], ids=str)
def test_densities_of_the_rows(slab: GPrior | Ridge) -> None:
    """Without an intercept nothing is projected: the rows are Student with a scale matrix that can be written down."""
    table = NO_INTERCEPT
    for number, value in enumerate(log_likelihoods(table, slab, NU, LAM)):
        x = chosen(table, number)
        if isinstance(slab, Ridge):
            x = x / np.sqrt(np.mean(x**2, axis=0))
            spread = slab.c * x @ x.T
        else:
            c = table.rows if isinstance(slab.c, str) else slab.c
            spread = c * x @ np.linalg.solve(x.T @ x, x.T)
        assert value == pytest.approx(log_ratio(table.y, spread, np.eye(table.rows)), abs=1e-9)


@pytest.mark.parametrize("table", [PLAIN, WEIGHTED, FACTORS], ids=lambda table: table.name)
def test_a_flat_intercept_is_the_limit_of_a_wide_one(table) -> None:
    """An intercept of standard deviation 10³ σ; rows have variance σ²/w.

    A density that is wide in units of σ is flat but for 1/σ, which is one degree of freedom more than a flat one has.
    """
    noise = np.diag(1 / table.row_weights) + 1e6
    for number, value in enumerate(log_likelihoods(table, GPrior(7.5), NU, LAM)):
        x = chosen(table, number)
        x = x - np.average(x, axis=0, weights=table.row_weights)
        x /= np.maximum(np.abs(x).max(axis=0), 1e-300)
        spread = 7.5 * x @ np.linalg.solve(x.T @ (x.T * table.row_weights).T, x.T)
        assert value == pytest.approx(log_ratio(table.y, spread, noise, NU - 1), abs=1e-5)


@pytest.mark.parametrize("a", [2.5, 3.0, 4.0])
@pytest.mark.parametrize(("rows", "columns", "share"), [(10, 2, 0.4), (40, 1, 0.02), (200, 7, 0.9), (30, 5, 0.0)])
def test_hyper_g_has_a_closed_form(rows: int, columns: int, share: float, a: float) -> None:
    """Liang et al. (2008), equation 17, for an improper prior of σ² and a flat intercept."""
    eigenvalues = np.arange(rows - 1) < columns
    y = Student(eigenvalues.astype(float), np.array([share, *[0.0] * (rows - 3), 1 - share]), 0.0, 0.0)
    closed = special.hyp2f1((rows - 1) / 2, 1, (columns + a) / 2, share) * (a - 2) / (columns + a - 2)
    assert HyperG(a).log_ratio(y, rows) == pytest.approx(math.log(closed), abs=1e-10)


def test_the_best_c_is_best() -> None:
    best = log_likelihoods(PLAIN, SLABS["eb"], NU, LAM)
    others = [log_likelihoods(PLAIN, GPrior(c), NU, LAM) for c in np.geomspace(1e-4, 1000, 300)]
    assert np.all(best >= np.max(others, axis=0) - 1e-12)
    np.testing.assert_allclose(best, np.max(others, axis=0), atol=1e-3)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_priors_are_distributions(table) -> None:
    for prior in model_priors(table):
        for heredity in heredities(table):
            given = models(table, "ridge", prior, heredity)
            if heredity is None:
                assert np.exp(given.log_prior).sum() == pytest.approx(1)
            assert given.target(1.0).sum() == pytest.approx(1)
    free = len(table.free)
    chance = Independent((0.3,) * free).chance(table.members[:, table.free])
    np.testing.assert_allclose(
        np.bincount(table.members[:, table.free].sum(axis=1), weights=chance),
        stats.binom.pmf(np.arange(free + 1), free, 0.3),
    )
