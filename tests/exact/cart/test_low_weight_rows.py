"""Rows that weigh next to nothing beside others: a rule between the two must be judged, and their leaf filled, by what
they are, though sums over all rows are in single precision."""

import numpy as np
import pytest

import baytree as bt
from reference.agreement import Disagreement, assert_agrees, assert_means_agree

ROWS, LIGHT, SIGMA, ALPHA = 4096, 3.3e-5, 0.01, 0.95
# Light rows go left, and lie between heavy ones everywhere. One is far away, so that zero is far from all others.
LEFT = np.arange(ROWS) // 16 % 2 == 0
WEIGHT = np.where(LEFT, LIGHT, 1.0)
Y = np.where(LEFT, 1.106, 1.0)
Y[0] = -11.0


def marginal(rows: np.ndarray, centre: float, leaf_sd: float) -> tuple[float, float]:
    """The log marginal likelihood of the rows of a leaf, but for what does not depend on the tree, and their mean."""
    precision, sum_ = WEIGHT[rows].sum() / SIGMA**2, WEIGHT[rows] @ (Y[rows] - centre) / SIGMA**2
    within = precision + leaf_sd**-2
    return 0.5 * (sum_**2 / within - np.log(leaf_sd**2 * within)), centre + sum_ / within


def draws() -> tuple[np.ndarray, np.ndarray, bt.BART]:
    """Whether the root is split, and what is said of the left rows."""
    design = bt.make_design(~LEFT[:, None], Y, task="regression", sample_weight=WEIGHT)
    model = bt.BART(trees=1, sigma=SIGMA, nu=float("inf"), prior=bt.GrowTree(ALPHA, 2.0, 1))
    post = bt.sample(model, design, warmup=100, draws=10_000, chains=4, seed=1, progress=False)
    return post.ensemble.leaves[..., 0] - 1, post.predict(np.array([[False]]), "draws")[..., 0], post.model


def check(split: np.ndarray, fits: np.ndarray, model: bt.BART, moved: float = 0.0) -> None:
    """Compare with the exact probabilities, and with the exact mean of the left leaf, or a wrong one."""
    (log_left, mean), (log_right, _), (log_all, _) = (
        marginal(rows, model.centre[0], model.calibrated.leaf_sd) for rows in (LEFT, ~LEFT, np.full(ROWS, True))
    )
    odds = ALPHA / (1 - ALPHA) * np.exp(log_left + log_right - log_all)
    assert 0.3 < odds < 3
    assert_agrees(split, np.array([1.0, odds]) / (1 + odds))
    assert_means_agree((split * (fits - mean - moved))[..., None], np.zeros(1))


def test_light_rows() -> None:
    check(*draws())


def test_a_mean_that_is_off_is_caught() -> None:
    """By 1 in 20 of its standard deviation."""
    with pytest.raises(Disagreement):
        check(*draws(), moved=0.05 * SIGMA / np.sqrt(LIGHT * ROWS / 2))
