"""The normal variables behind many classes, against quadrature: the probability of a class, and draws of them."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr
from scipy.stats import kstest, norm

import baytree as bt
from baytree import _core

CLASSES = (3, 10, 26, 60, 200)
GRID = 2.0**-16  # to which variables are rounded


class Largest:
    """The first of some normal variables, given that it is the largest: a density on a grid that is much too fine."""

    def __init__(self, means: np.ndarray) -> None:
        own, others = means[0], means[1:]
        wide = np.linspace(means.max() - 40, means.max() + 40, 8001)
        near = wide[self._log_density(wide, own, others).argmax()]
        self.at = np.linspace(near - 9, near + 9, 40_001)
        log_density = self._log_density(self.at, own, others)
        density = np.exp(log_density - log_density.max())
        step = self.at[1] - self.at[0]
        self.log_probability = float(log_density.max() + np.log(density.sum() * step))
        self.density = density / (density.sum() * step)
        # A rival is normal below it.
        rival = self.at - others[0]
        self.mean_of_rival = float(
            (self.density * (others[0] - np.exp(norm.logpdf(rival) - log_ndtr(rival)))).sum() * step
        )

    @staticmethod
    def _log_density(u: np.ndarray, own: float, others: np.ndarray) -> np.ndarray:
        return norm.logpdf(u - own) + log_ndtr(u[:, None] - others).sum(axis=1)

    def distribution(self, u: np.ndarray) -> np.ndarray:
        total = np.concatenate(
            [[0.0], np.cumsum((self.density[1:] + self.density[:-1]) / 2) * (self.at[1] - self.at[0])]
        )
        return np.interp(u, self.at, total)


def cases(classes: int, ahead: float) -> np.ndarray:
    """The first class so far ahead of rivals that are equal, and of rivals that are not."""
    equal, spread = np.zeros(classes), np.random.default_rng(classes).normal(size=classes)
    equal[0] = spread[0] = ahead
    return np.array([equal, spread], dtype=np.float32)


def log_probability(means: np.ndarray) -> float:
    return _core.class_log_likelihood(means[None], np.zeros(1, dtype=np.int32))


@pytest.mark.parametrize("means", cases(10, -4.0).astype(float))
def test_the_reference_integrates(means: np.ndarray) -> None:
    own, others = means[0], means[1:]
    value, _ = quad(lambda u: norm.pdf(u - own) * norm.cdf(u - others).prod(), -20, 20, epsabs=0, epsrel=1e-11)
    assert Largest(means).log_probability == pytest.approx(np.log(value), abs=1e-10)


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("ahead", [2.0, 0.0, -4.0, -8.0, -30.0])
def test_probability_of_a_class(classes: int, ahead: float) -> None:
    for means in cases(classes, ahead):
        exact = Largest(means.astype(float)).log_probability
        # A thousandth and more comes from a table that is as good as predictions need.
        tolerance = 2e-3 if exact > np.log(1e-3) else 1e-11 * max(1.0, abs(exact))
        assert log_probability(means) == pytest.approx(exact, rel=0, abs=tolerance)


def test_the_class_is_one_of_many_and_far_behind() -> None:
    """Where the mode was searched with steps of one half, this was −35.63."""
    means = np.zeros((1, 26), dtype=np.float32)
    means[0, 0] = -4
    assert log_probability(means[0]) == pytest.approx(-17.6292, abs=1e-4)


@pytest.mark.parametrize("classes", [3, 26, 200])
@pytest.mark.parametrize("ahead", [2.0, -4.0, -30.0])
def test_draws(classes: int, ahead: float) -> None:
    draws, alarm = 4000, 1e-5
    for seed, means in enumerate(cases(classes, ahead)):
        found = _core.draw_latents(np.tile(means, (draws, 1)), np.zeros(draws, dtype=np.int32), seed)
        found = found.reshape(draws, classes)
        assert (found[:, 0] >= found.max(axis=1) - 2 * GRID).all()
        exact = Largest(means.astype(float))
        assert kstest(found[:, 0], exact.distribution).pvalue > alarm
        # The saboteur: the same draws a fifth of a standard deviation further on
        assert kstest(found[:, 0] + 0.2 * found[:, 0].std(), exact.distribution).pvalue < alarm
        error = found[:, 1].std() / np.sqrt(draws)
        assert abs(found[:, 1].mean() - exact.mean_of_rival) < 4.5 * error


def test_no_sensible_sums_end_with_an_error() -> None:
    for wrong in (np.nan, np.inf, 1e30):
        means = np.full((1, 5), wrong, dtype=np.float32)
        means[0, 1] = 0
        with pytest.raises(bt.InputError, match="cannot be drawn"):
            _core.draw_latents(means, np.ones(1, dtype=np.int32), 1)


@pytest.mark.parametrize("low", [1e10, 1e200, np.inf, np.nan])
def test_a_normal_variable_above_what_it_never_reaches(low: float) -> None:
    drawn = _core.Stream(1, 0).normal_above(low)
    assert drawn >= low or np.isnan(low)


@pytest.mark.parametrize("classes", [60, 200])
def test_many_classes_are_fitted(classes: int) -> None:
    """Sixty never ended."""
    generator = np.random.default_rng(1)
    X, y = generator.normal(size=(600, 3)), np.arange(600) % classes
    design = bt.make_design(X, y, task="classification")
    posterior = bt.sample(bt.BART(trees=5), design, warmup=3, draws=2, chains=1, seed=1, progress=False)
    assert np.isfinite(posterior.log_likelihood).all()
    assert posterior.predict(X[:2]).shape[0] == 2
