"""Scores, calibration and leave-one-out, against their definitions and the field's libraries."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from baytree.posterior import scores
from baytree.report.charts import rank_counts

GENERATOR = np.random.default_rng(3)
Y = GENERATOR.normal(size=80)
DRAWS = Y * 0.5 + GENERATOR.normal(size=(300, 80))


def test_numbers() -> None:
    found = {
        one.name.split(",")[0]: one for one in scores.number_scores(Y + 1e6, DRAWS.mean(0) + 1e6, None, DRAWS + 1e6)
    }
    error = Y - DRAWS.mean(0)
    assert found["root mean squared error"].value == pytest.approx(np.sqrt(np.mean(error**2)))
    assert found["R²"].value == pytest.approx(1 - np.sum(error**2) / np.sum((Y - Y.mean()) ** 2))
    spread = np.abs(DRAWS[:, None, 0] - DRAWS[None, :, 0]).sum() / (300 * 299)
    crps = scores._crps(Y, DRAWS)
    assert crps[0] == pytest.approx(np.abs(DRAWS[:, 0] - Y[0]).mean() - spread / 2)
    assert found["CRPS"].value == pytest.approx(crps.mean())
    for one in found.values():
        assert one.interval[0] < one.value < one.interval[1]


def test_intervals_of_scores_cover() -> None:
    """Of the mean absolute error of normal errors, √(2/π), nine in ten."""
    inside = 0
    for seed in range(100):
        y = np.random.default_rng(seed).normal(size=200)
        low, high = scores.number_scores(y, np.zeros(200), None, None)[1].interval
        inside += low < np.sqrt(2 / np.pi) < high
    # Nine in ten of a hundred, within four standard deviations.
    assert 78 <= inside <= 100


def test_classes() -> None:
    y = (GENERATOR.random(70) < 0.4).astype(int)
    share = np.clip(0.4 + 0.2 * (y - 0.5) + 0.2 * GENERATOR.normal(size=70).round(1), 0.05, 0.95)
    found = {one.name: one.value for one in scores.class_scores(y, np.column_stack([1 - share, share]))}
    assert found["log loss"] == pytest.approx(log_loss(y, share))
    assert found["Brier score, summed over the classes"] == pytest.approx(2 * brier_score_loss(y, share))
    assert found["area under the ROC curve"] == pytest.approx(roc_auc_score(y, share))
    assert found["accuracy"] == pytest.approx(np.mean((share > 0.5) == y))


def test_calibrated_predictions_are_level_and_others_are_not() -> None:
    y = GENERATOR.normal(size=4000)
    levels = np.linspace(0.1, 0.9, 9)
    exact = scores.pit_counts(y, np.repeat(norm.ppf(levels)[:, None], 4000, axis=1))
    assert exact.sum() == pytest.approx(1)
    assert np.abs(exact - 0.1).max() < 4 * np.sqrt(0.09 / 4000)
    narrow = scores.pit_counts(y, np.repeat(norm.ppf(levels)[:, None] / 2, 4000, axis=1))
    assert narrow[0] > 0.2 and narrow[-1] > 0.2
    # Counts lie on quantiles: each is divided among the places that it may have.
    assert scores.pit_counts(np.zeros(5), np.zeros((9, 5))) == pytest.approx(np.full(10, 0.1))
    [(_, covered, width)] = scores.coverage(y, {0.9: np.tile(norm.ppf([0.05, 0.95]), (4000, 1))})
    assert covered == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / 4000)) and width == pytest.approx(2 * norm.ppf(0.95))


def test_reliability() -> None:
    share = GENERATOR.random(5000)
    found = scores.reliability(GENERATOR.random(5000) < share, share)
    assert found["rows"].sum() == 5000 and len(found["said"]) == 10
    assert np.abs(found["happened"] - found["said"]).max() < 4 * np.sqrt(0.25 / 500)
    inside = (found["interval"][:, 0] <= found["said"]) & (found["said"] <= found["interval"][:, 1])
    assert inside.sum() >= 6


def test_leave_one_out_is_that_of_a_known_mean() -> None:
    """Of normal responses with an unknown mean: the density of each given the others."""
    y = GENERATOR.normal(size=50)
    draws = np.random.default_rng(5).normal(y.mean(), 1 / np.sqrt(50), 4000)
    found = scores.leave_one_out(norm.logpdf(y[None], draws[:, None]))
    without = (y.sum() - y) / 49
    exact = norm.logpdf(y, without, np.sqrt(1 + 1 / 49))
    assert found is not None and found.bad == 0
    assert found.mean == pytest.approx(exact.mean(), abs=4 * 0.002)
    assert scores.leave_one_out(np.zeros((10, 3))) is None


def test_ranks_are_level_where_chains_agree() -> None:
    counts = rank_counts(GENERATOR.normal(size=(4, 1000)), 20)
    assert counts.sum() == 4000 and (counts.sum(axis=0) == 200).all()
    assert np.abs(counts - 50).max() < 5 * np.sqrt(50)
    # Ties are shared by turns, so that chains which stand still at one value show no difference.
    assert np.abs(rank_counts(np.zeros((4, 1000)), 20) - 50).max() <= 1
    apart = rank_counts(np.array([np.zeros(100), np.ones(100)]), 20)
    assert apart[0, :10].sum() == 100 and apart[1, 10:].sum() == 100
