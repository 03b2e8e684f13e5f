"""Enumerated subsets, and the marginal likelihood that decides between them, against the dense reference.

Two ways to the same number: cross products and a factor that is updated here, eigenvalues of matrices of rows there.
The columns have mean square one, and columns that are not dependent leave a tenth of it or more, so rounding is a few
hundred times 10⁻¹⁶, times (N + ν)/2 in a log likelihood; integrals are had to 10⁻¹¹. TOLERANCE leaves room for both.
"""

import math
from typing import Any

import numpy as np
import pytest
from scipy import special

from baytree import InputError, _core
from exact.subset.chains import evidence, numbers_of, problem
from reference.agreement import Disagreement, assert_agrees
from reference.subset.linear_models import LinearModels, Student, Table
from reference.subset.spaces import (
    ALWAYS,
    COLLINEAR,
    FACTORS,
    INTERACTIONS,
    PLAIN,
    SLABS,
    TABLES,
    WIDE,
    heredities,
    model_priors,
    models,
)

TOLERANCE = 1e-9
MOST = 10

SPACES = [(table, heredity) for table in TABLES for heredity in heredities(table)]
NO_QUANTILES = np.zeros(0)


def name(value: object) -> str:
    return value.name if isinstance(value, Table) else str(value)


def assert_close(found: Any, exact: Any) -> None:
    np.testing.assert_allclose(found, exact, rtol=TOLERANCE, atol=TOLERANCE)


def agrees(given: LinearModels) -> None:
    """Everything that an enumeration says."""
    found = _core.enumerate_subsets(problem(given), MOST, NO_QUANTILES)
    joint = given.log_prior + np.where(given.exists, given.log_likelihood, 0.0)
    exact = given.target(1.0)
    assert_close(found["log_total"], special.logsumexp(joint))
    assert_close(found["inclusion"], exact @ given.table.members)
    assert_close(found["sizes"], np.bincount(given.sizes, weights=exact, minlength=len(given.table.free) + 1))
    top = numbers_of(given, found["unit"], found["begin"])
    assert len(top) == len(set(top)) == min(MOST, np.isfinite(joint).sum())
    # By probability and not by name: some models are equally good.
    assert_close(joint[top], np.sort(joint)[::-1][: len(top)])
    assert_close(found["log_prior"], given.log_prior[top])
    assert_close(found["log_likelihood"], given.log_likelihood[top])


@pytest.mark.parametrize("slab", SLABS)
@pytest.mark.parametrize(("table", "heredity"), SPACES, ids=name)
def test_every_pair_of_priors(table: Table, heredity: str | None, slab: str) -> None:
    for prior in model_priors(table):
        agrees(models(table, slab, prior, heredity))


@pytest.mark.parametrize("slab", SLABS)
@pytest.mark.parametrize("table", [PLAIN, FACTORS, ALWAYS, COLLINEAR], ids=name)
def test_a_noise_of_which_nothing_is_known(table: Table, slab: str) -> None:
    """ν = 0: no prior of σ² but 1/σ²."""
    agrees(models(table, slab, "beta-binomial", nu=0.0))


@pytest.mark.parametrize("slab", ["c", "unit", "ridge"])
def test_exact_fits_are_finite(slab: str) -> None:
    """Four columns and an intercept fit five rows exactly; with ν = 0 nothing else keeps σ² from 0."""
    agrees(models(WIDE, slab, "beta-binomial", nu=0.0))


@pytest.mark.parametrize("slab", ["eb", "hyper-g", "hyper-g/n"])
def test_exact_fits_that_may_be_as_good_as_they_like(slab: str) -> None:
    """Where ν = 0 and c may grow without end so may the likelihood: what is left of y is kept above 10⁻¹³ of it."""
    found = _core.enumerate_subsets(problem(models(WIDE, slab, "half", nu=0.0)), 64, NO_QUANTILES)
    assert len(found["log_likelihood"]) == models(WIDE, "c", "half", nu=0.0).exists.sum()
    assert np.all(np.isfinite(found["log_likelihood"])) and np.isfinite(found["log_total"])


# ---- the marginal likelihood alone -----------------------------------------------------------------------------------


@pytest.mark.parametrize("slab", [slab for slab in SLABS if slab != "ridge"])
@pytest.mark.parametrize(("rows", "columns"), [(5, 1), (5, 3), (60, 1), (60, 13), (60, 58), (500, 90), (300, 150)])
def test_evidence(rows: int, columns: int, slab: str) -> None:
    """Columns that explain a share of the responses: next to nothing, as by chance, all; νλ is little of the rest."""
    by_chance = columns / (rows - 1) * np.linspace(0.5, 1.5, 5)
    for share in [0.0, 1e-9, 1e-3, 0.3, *by_chance[by_chance < 1], 0.999, 1 - 1e-6, 1 - 1e-9]:
        rest = 1 - share
        prior_square = rest / 1000
        squares = np.array([share, *[0.0] * (rows - 3), rest - prior_square])
        exact = SLABS[slab].log_ratio(Student((np.arange(rows - 1) < columns) * 1.0, squares, 3.0, prior_square), rows)
        found = evidence(SLABS[slab], rows, rows - 1 + 3.0, 1.0).log_marginal(columns, share, 0.0)
        # What is left is 1 − share, whose digits are fewer the less it is; it counts (N + ν)/2 times.
        rounding = 1e-15 / rest * rows
        np.testing.assert_allclose(found, exact, rtol=TOLERANCE, atol=TOLERANCE + rounding, err_msg=str(share))


@pytest.mark.parametrize("slab", SLABS)
def test_no_column_has_the_evidence_of_the_empty_model(slab: str) -> None:
    assert evidence(SLABS[slab], 20, 22.0, 3.5).log_marginal(0, 0.0, 0.0) == 0.0


# ---- draws by inversion ----------------------------------------------------------------------------------------------


def drawn(given: LinearModels, quantiles: np.ndarray) -> np.ndarray:
    found = _core.enumerate_subsets(problem(given), 1, quantiles)
    number = numbers_of(given, found["drawn_unit"], found["drawn_begin"])
    assert_close(found["drawn_log_prior"], given.log_prior[number])
    assert_close(found["drawn_log_likelihood"], given.log_likelihood[number])
    return number


DRAWN = [models(table, "unit", "independent", heredity) for table, heredity in SPACES]


@pytest.mark.parametrize("given", DRAWN, ids=lambda given: f"{given.table.name} {given.heredity}")
def test_draws(given: LinearModels) -> None:
    """Each model takes its share of the unit interval: of n even quantiles n p, give or take the two at its ends."""
    n = 20_000
    number = drawn(given, (np.arange(n) + 0.5) / n)
    count = np.bincount(number, minlength=len(given.exists))
    assert np.all(np.abs(count - n * given.target(1.0)) < 2 + n * TOLERANCE)
    assert (
        np.all(np.diff(np.flatnonzero(np.diff(number))) > 0) and (np.diff(number) != 0).sum() == (count > 0).sum() - 1
    )
    random = np.sort(np.random.default_rng(1).random(n))
    shuffled = np.random.default_rng(2).permutation(drawn(given, random))
    assert_agrees(shuffled[None], given.target(1.0), given.groupings)


def test_draws_of_other_models_are_caught() -> None:
    number = drawn(DRAWN[0], np.sort(np.random.default_rng(1).random(20_000)))
    with pytest.raises(Disagreement):
        assert_agrees(
            np.random.default_rng(2).permutation(number)[None], models(PLAIN, "eb", "independent").target(1.0)
        )


def test_the_ends_of_the_unit_interval() -> None:
    number = drawn(DRAWN[0], np.array([0.0, 0.0, math.nextafter(1.0, 0.0)]))
    assert DRAWN[0].exists[number].all() and number[0] == number[1]


# ---- the reference of another model ----------------------------------------------------------------------------------


@pytest.mark.parametrize("other", ["slab", "prior", "nu", "heredity"])
def test_another_model_is_caught(other: str) -> None:
    """The numbers of one model against the reference of another that differs in one part, if only a little."""
    table = INTERACTIONS
    given: dict[str, Any] = {"slab": "hyper-g", "prior": "independent", "heredity": "weak", "nu": 3.0}
    changed = {"slab": "hyper-g 4", "prior": "half", "heredity": "strong", "nu": 3.001}
    found = _core.enumerate_subsets(problem(models(table, **given)), 1, NO_QUANTILES)
    another = models(table, **(given | {other: changed[other]}))
    with pytest.raises(AssertionError):
        assert_close(found["inclusion"], another.target(1.0) @ table.members)


# ---- what cannot be --------------------------------------------------------------------------------------------------


def test_quantiles_must_be_ascending_and_below_one() -> None:
    given = problem(models(PLAIN))
    for quantiles in ([0.5, 0.4], [-0.1], [1.0], [math.nan]):
        with pytest.raises(InputError):
            _core.enumerate_subsets(given, 1, np.array(quantiles))
