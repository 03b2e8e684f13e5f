"""Simulation-based calibration of subset selection, from the table to the predictions: where model, coefficients, noise
and response come from the priors, the truth ranks uniformly among the draws of the posterior.

The prior of the intercept is flat and cannot be drawn from. But data that are moved move the posterior as well, so
that any intercept will do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import baytree as bt
from faults import injected
from invariance.cart.test_sbc import BINS, DRAWS, LEAST_P, rank
from reference.agreement import Disagreement

pytestmark = pytest.mark.slow

REPLICATES = 800
ROWS = 16
INTERCEPT = -4e4
LEVELS = np.array(["blue", "green", "red"])
WEIGHT = np.random.default_rng(1).uniform(0.2, 4.0, ROWS)
WEIGHT.flags.writeable = False


def table(rows: int, seed: int) -> pl.DataFrame:
    """A number in a large unit far from 0, a factor and a number in a small unit."""
    generator = np.random.default_rng(seed)
    colour = LEVELS[generator.permutation(np.arange(rows) % 3)]
    x, z = generator.normal(3e4, 1e3, rows), generator.normal(0, 1e-3, rows)
    return pl.DataFrame({"x": x, "colour": colour, "z": z + (x - 3e4) / 1e6})


TABLE, NEW = table(ROWS, 2), table(3, 3)
UNITS = ((0,), (1, 2), (3,))


def matrix(rows: pl.DataFrame) -> np.ndarray:
    colour = rows["colour"].to_numpy()
    return np.column_stack([rows["x"], colour == "green", colour == "red", rows["z"]]).astype(float)


@dataclass(frozen=True)
class Simulated:
    """A model, and how its data are made; shares no code with the library but the names of the priors."""

    coefficients: bt.GPrior | bt.HyperG | bt.HyperGN | bt.Ridge
    w: float = 0.5
    nu: float = 5.0
    scale: float = 2e6
    weighted: bool = True
    intercept: bool = True

    def model(self, method: str, proposal: dict[str, float]) -> bt.Subset:
        return bt.Subset(
            bt.Independent(self.w),
            self.coefficients,
            nu=self.nu,
            scale=self.scale,
            fit_intercept=self.intercept,
            method=method,
            proposal=proposal,
        )

    def spread(self, generator: np.random.Generator) -> float:
        """c, or g by the inverse of its distribution function."""
        prior = self.coefficients
        if isinstance(prior, bt.HyperG | bt.HyperGN):
            g = generator.random() ** (-2 / (prior.a - 2)) - 1
            return g * ROWS if isinstance(prior, bt.HyperGN) else g
        return float(prior.c)

    def draw(self, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Responses, coefficients, means at the new rows, and the noise's standard deviation."""
        weight = WEIGHT if self.weighted else np.ones(ROWS)
        x = matrix(TABLE)
        centre = np.average(x, axis=0, weights=weight) if self.intercept else np.zeros(4)
        rows = (x - centre) * np.sqrt(weight)[:, None]
        inside = [column for unit in UNITS if generator.random() < self.w for column in unit]
        sigma = np.sqrt(self.nu * self.scale / generator.chisquare(self.nu))
        covariance = np.linalg.inv(rows[:, inside].T @ rows[:, inside])
        if isinstance(self.coefficients, bt.Ridge):
            covariance = np.diag(1 / np.mean(rows[:, inside] ** 2, axis=0))
        root = np.linalg.cholesky(self.spread(generator) * covariance)
        beta = np.zeros(4)
        beta[inside] = sigma * root @ generator.normal(size=len(inside))
        level = INTERCEPT * self.intercept
        y = level + (x - centre) @ beta + sigma / np.sqrt(weight) * generator.normal(size=ROWS)
        return y, beta, level + (matrix(NEW) - centre) @ beta, float(sigma)


def replicate(given: Simulated, simulated: Simulated, method: str, proposal: dict[str, float], seed: int) -> list[int]:
    generator = np.random.default_rng(seed)
    y, beta, means, sigma = simulated.draw(generator)
    design = bt.make_linear_design(TABLE, y, sample_weight=WEIGHT if given.weighted else None)
    settings: dict[str, Any] = {"warmup": 50, "draws": DRAWS, "thin": 10, "chains": 1, "seed": seed, "progress": False}
    post = bt.sample(given.model(method, proposal), design, **settings)
    f, new = (post.predict(NEW, kind)[0] for kind in ("draws", "predictive"))
    included = post.drawn.included()[post.drawn.model[0]]
    pairs = [
        *((float(beta[unit[0]] != 0), included[:, place]) for place, unit in enumerate(UNITS)),
        *zip(means / sigma, f.T / sigma, strict=True),
        ((means[0] - means[1]) / sigma, (f[:, 0] - f[:, 1]) / sigma),
        (means[0] / sigma + generator.normal(), new[:, 0] / sigma),
        (1.0, post.sigma[0] / sigma),
    ]
    return [rank(float(true), np.asarray(drawn, dtype=float), generator) for true, drawn in pairs]


def calibrated(
    given: Simulated,
    simulated: Simulated | None = None,
    method: str = "enumerate",
    proposal: dict[str, float] | None = None,
) -> None:
    ranks = np.array(
        [replicate(given, simulated or given, method, proposal or {"gibbs": 1}, seed) for seed in range(REPLICATES)]
    )
    p_values = [
        float(stats.chisquare(np.bincount(column * BINS // (DRAWS + 1), minlength=BINS)).pvalue) for column in ranks.T
    ]
    if min(p_values) <= LEAST_P:
        raise Disagreement(f"ranks are not uniform: {np.round(p_values, 6)}")


MODELS = [
    Simulated(bt.GPrior(6.0)),
    Simulated(bt.GPrior(40.0), w=0.3, intercept=False),
    Simulated(bt.HyperG(3.5)),
    Simulated(bt.HyperGN(3.5), weighted=False),
    Simulated(bt.Ridge(2.0)),
    Simulated(bt.Ridge(0.3), w=0.7, intercept=False),
]


@pytest.mark.parametrize("given", MODELS, ids=str)
def test_truth_ranks_uniformly(given: Simulated) -> None:
    calibrated(given)


@pytest.mark.parametrize("proposal", [{"gibbs": 1, "replace": 1}, {"informed": 5}], ids=str)
def test_truth_ranks_uniformly_among_the_draws_of_a_chain(proposal: dict[str, float]) -> None:
    calibrated(MODELS[2], method="sample", proposal=proposal)


@pytest.mark.parametrize(
    "other",
    [{"w": 0.65}, {"nu": 1.0}, {"scale": 3e6}, {"weighted": False}, {"coefficients": bt.GPrior(12.0)}],
    ids=str,
)
def test_another_simulation_is_caught(other: dict[str, Any]) -> None:
    with pytest.raises(Disagreement):
        calibrated(MODELS[0], replace(MODELS[0], **other))


@pytest.mark.parametrize("given", [MODELS[1], MODELS[4]], ids=str)
def test_wrong_moves_are_caught(given: Simulated) -> None:
    with injected("subset_gibbs"), pytest.raises(Disagreement):
        calibrated(given, method="sample", proposal={"gibbs": 1})
