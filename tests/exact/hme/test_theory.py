"""The theory of soft trees: EM within its bound, and a hard split that learns as its free energy says."""

from __future__ import annotations

import numpy as np
import pytest

from baytree.studies import convergence, hard_split

# ---- convergence ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[0.3, 0.7])
def rate(request: pytest.FixtureRequest) -> convergence.Rate:
    rng = np.random.default_rng(1)
    return convergence.rate_of(*convergence.realizable(600, request.param, rng), 100)


def test_em_is_no_slower_than_its_bound(rate: convergence.Rate) -> None:
    assert 0 < rate.smallest < rate.largest < 2
    assert rate.holds
    assert rate.observed <= rate.bound < 1
    assert rate.observed == pytest.approx(rate.asymptotic, rel=0.02)


def test_a_slower_iteration_breaks_the_bound(rate: convergence.Rate) -> None:
    """Steps of m/8 of those of EM converge as (1 − m²/8)², which the same check rejects."""
    factor = (1 - rate.smallest**2 / 8) ** 2
    slow = convergence.Rate(rate.largest, rate.smallest, 1e-3 * factor ** np.arange(1, 500))
    assert slow.observed == pytest.approx(factor)
    assert not slow.holds
    assert slow.observed > slow.bound


# ---- a hard split ---------------------------------------------------------------------------------------------------


def vectors(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Students and teachers of four inputs, of length 1, at any angles."""
    found = np.random.default_rng(seed).normal(size=(2, 3, 4))
    student, teacher = found / np.linalg.norm(found, axis=-1, keepdims=True)
    return student, teacher


def outputs(of: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.where(x @ of[0] > 0, x @ of[1], x @ of[2])


@pytest.mark.parametrize("seed", range(4))
def test_the_error_is_that_of_gaussian_inputs(seed: int) -> None:
    student, teacher = vectors(seed)
    x = np.random.default_rng(seed).normal(size=(400_000, 4))
    errors = 0.5 * (outputs(student, x) - outputs(teacher, x)) ** 2
    allowed = 4 * errors.std() / np.sqrt(len(errors))
    overlaps, within, of_teacher = student @ teacher.T, student[1:] @ student[0], teacher[1:] @ teacher[0]
    exact = hard_split.generalisation_error(overlaps, within, of_teacher)
    assert errors.mean() == pytest.approx(exact, abs=allowed)


def test_the_printed_sign_is_not_that_of_gaussian_inputs() -> None:
    """The same check rejects the slides' formula, where the teacher's vectors are orthogonal and the student's too."""
    teacher = np.eye(3, 4)
    student = np.linalg.qr(np.random.default_rng(2).normal(size=(4, 3)))[0].T
    x = np.random.default_rng(3).normal(size=(400_000, 4))
    errors = 0.5 * (outputs(student, x) - outputs(teacher, x)) ** 2
    allowed = 4 * errors.std() / np.sqrt(len(errors))
    overlaps = student @ teacher.T
    exact = float(hard_split.generalisation_error(overlaps))
    mixed = (overlaps[0, 1] - overlaps[0, 2]) * (overlaps[1, 0] - overlaps[2, 0])
    printed = exact + mixed / (np.pi * np.sqrt(1 - overlaps[0, 0] ** 2))
    assert errors.mean() == pytest.approx(exact, abs=allowed)
    assert errors.mean() != pytest.approx(printed, abs=allowed)


def test_no_error_at_the_teacher() -> None:
    assert hard_split.generalisation_error(np.eye(3)) == pytest.approx(0, abs=1e-5)
    turned = np.array([[-1.0, 0, 0], [0, 0, 1], [0, 1, 0]])  # the other side, and the lines exchanged
    assert hard_split.generalisation_error(turned) == pytest.approx(0, abs=1e-5)


def test_the_critical_point() -> None:
    found = hard_split.critical_load()
    assert found == pytest.approx(4.695, abs=1e-3)
    assert found == pytest.approx(np.pi * np.sqrt(1 + np.pi**2 / 8), abs=1e-5)
    assert hard_split.stability(hard_split.CRITICAL - 0.1) > 0 > hard_split.stability(hard_split.CRITICAL + 0.1)


def test_the_symmetric_phase_is_stationary() -> None:
    centre, step = hard_split.symmetric_phase(3.0), 1e-5 * np.eye(12)
    slopes = [(hard_split.free_energy(centre + e, 3.0) - hard_split.free_energy(centre - e, 3.0)) / 2e-5 for e in step]
    np.testing.assert_allclose(slopes, 0, atol=1e-6)


@pytest.mark.parametrize("shape", ["uniform", "biased"])
def test_students_turn_without_a_preference(shape: str) -> None:
    """Where nothing pulls, students stay uniform: R_v² has the mean 1/N. Those that are pushed do not."""
    rng = np.random.default_rng(5)
    inputs, rows = 6, 4000
    vectors_at = rng.normal(size=(rows, inputs))
    vectors_at /= np.linalg.norm(vectors_at, axis=-1, keepdims=True)
    for _ in range(5):
        vectors_at = hard_split._turned(vectors_at, np.full(rows, 0.7), rng)
        if shape == "biased":
            vectors_at[:, 0] += 0.1
            vectors_at /= np.linalg.norm(vectors_at, axis=-1, keepdims=True)
    squares = vectors_at[:, 0] ** 2
    off = abs(squares.mean() - 1 / inputs) / (squares.std() / np.sqrt(rows))
    assert (off < 4) == (shape == "uniform")


def test_students_drawn_have_the_free_energys_error() -> None:
    """Of many inputs, below the transition; finite N shows as 1/N."""
    loads = np.array([2.0, 15.0])
    drawn = hard_split.simulate(loads, 40, 600, 6, np.random.default_rng(6))
    for place, load in enumerate(loads):
        at = hard_split.equilibrium(float(load), None if load < hard_split.CRITICAL else _ordered())
        expected = float(hard_split.generalisation_error(at[:9].reshape(3, 3), at[9:11]))
        errors = drawn.error[place]
        allowed = 4 * errors.std(ddof=1) / np.sqrt(len(errors)) + 1 / 40
        assert errors.mean() == pytest.approx(expected, abs=allowed)
    assert drawn.split.mean(axis=1)[1] > 0.9 > 0.3 > drawn.split.mean(axis=1)[0]


def _ordered() -> np.ndarray:
    at = np.zeros(12)
    at[[0, 4, 8]] = 0.9
    return at
