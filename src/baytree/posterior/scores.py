"""How well predictions fit rows whose response is known: scores with intervals, calibration, residuals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

# How often the rows are drawn anew for an interval, and by which generator.
RESAMPLES, KEY = 1000, 7
# A class of probability 0 that happens is scored as if it had had this one.
LEAST = 1e-12
# Above this shape of the tail the smoothed weights of a row are no use (Vehtari, Gelman and Gabry 2017).
BAD_TAIL = 0.7


@dataclass(frozen=True)
class Score:
    """A score over rows.

    Attributes
    ----------
    name : str
        What it is called.
    value : float
        Of the rows.
    interval : tuple of float
        Where it would lie for nine in ten other samples of as many rows, by the bootstrap.
    better : {"smaller", "larger"}
        Which way is better.
    """

    name: str
    value: float
    interval: tuple[float, float]
    better: str


Statistic = Callable[[np.ndarray], np.ndarray]


def _resampled(rows: int) -> np.ndarray:
    """How often each row is drawn, shape (resamples, rows)."""
    generator = np.random.Generator(np.random.Philox(key=KEY))
    return generator.multinomial(rows, np.full(rows, 1 / rows), RESAMPLES).astype(float) / rows


def _score(name: str, better: str, statistic: Statistic, weights: np.ndarray) -> Score:
    rows = weights.shape[1]
    value = float(statistic(np.full((1, rows), 1 / rows))[0])
    low, high = np.nanquantile(statistic(weights), [0.05, 0.95])
    return Score(name, value, (float(low), float(high)), better)


def number_scores(
    y: np.ndarray, mean: np.ndarray, log_density: np.ndarray | None, predictive: np.ndarray | None
) -> list[Score]:
    """Of numbers: RMSE, mean absolute error, R², log score, and the continuous ranked probability score.

    Parameters
    ----------
    y, mean : numpy.ndarray of shape (rows,)
        What happened, and what was expected.
    log_density : numpy.ndarray of shape (rows,), optional
        The logarithm of the predictive density of what happened.
    predictive : numpy.ndarray of shape (draws, rows), optional
        Draws of new responses.
    """
    weights = _resampled(len(y))
    error, square = np.abs(y - mean), (y - mean) ** 2

    def r_squared(weight: np.ndarray) -> np.ndarray:
        spread = weight @ y**2 - (weight @ y) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(spread > 0, 1 - weight @ square / spread, np.nan)

    found = [
        _score("root mean squared error", "smaller", lambda weight: np.sqrt(weight @ square), weights),
        _score("mean absolute error", "smaller", lambda weight: weight @ error, weights),
    ]
    if len(y) > 1 and np.ptp(y) > 0:
        # About the centre: of responses far from 0 the difference of squares would lose its digits.
        centre = y.mean()
        y, mean = y - centre, mean - centre
        found.append(_score("R², share of the variance explained", "larger", r_squared, weights))
    if log_density is not None:
        found.append(_score("log score, mean log predictive density", "larger", lambda w: w @ log_density, weights))
    if predictive is not None and len(predictive) > 1:
        crps = _crps(y, predictive - (centre if len(y) > 1 and np.ptp(y) > 0 else 0.0))
        found.append(_score("CRPS, continuous ranked probability score", "smaller", lambda w: w @ crps, weights))
    return found


def _crps(y: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """E|Y − y| − E|Y − Y'|/2 of each row."""
    ordered = np.sort(draws, axis=0)
    count = len(ordered)
    place = (2 * np.arange(1, count + 1) - count - 1)[:, None]
    spread = (place * ordered).sum(axis=0) / (count * (count - 1))
    return np.abs(draws - y).mean(axis=0) - spread


def class_scores(y: np.ndarray, share: np.ndarray) -> list[Score]:
    """Of classes: log loss, Brier score, accuracy, and of two the area under the ROC curve.

    Parameters
    ----------
    y : numpy.ndarray of shape (rows,)
        The positions of the classes that happened.
    share : numpy.ndarray of shape (rows, classes)
        The probabilities of all.
    """
    weights = _resampled(len(y))
    rows = np.arange(len(y))
    log_loss = -np.log(np.maximum(share[rows, y], LEAST))
    brier = ((share - np.eye(share.shape[1])[y]) ** 2).sum(axis=1)
    right = (share.argmax(axis=1) == y).astype(float)
    found = [
        _score("log loss", "smaller", lambda weight: weight @ log_loss, weights),
        _score("Brier score, summed over the classes", "smaller", lambda weight: weight @ brier, weights),
        _score("accuracy", "larger", lambda weight: weight @ right, weights),
    ]
    if share.shape[1] == 2 and 0 < y.sum() < len(y):
        found.append(_score("area under the ROC curve", "larger", lambda w: _auc(y, share[:, 1], w), weights))
    return found


def _auc(y: np.ndarray, share: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The probability that a row of the second class has the larger share, ties counting half, for weights of rows."""
    values, place = np.unique(share, return_inverse=True)
    of_value = np.zeros((len(y), len(values)))
    of_value[np.arange(len(y)), place] = 1.0
    first = (weight * (y == 0)) @ of_value
    second = (weight * (y == 1)) @ of_value
    below = np.cumsum(first, axis=1) - first
    total = first.sum(axis=1) * second.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, (second * (below + first / 2)).sum(axis=1) / total, np.nan)


@dataclass(frozen=True)
class LeaveOneOut:
    """What each row's log score would be had it been held out, by Pareto-smoothed importance sampling [1]_.

    Attributes
    ----------
    mean, error : float
        The mean over rows, and its standard error.
    bad : float
        The share of the rows for which the estimate is not to be trusted.

    References
    ----------
    .. [1] Vehtari, Gelman and Gabry (2017), Practical Bayesian model evaluation using leave-one-out cross-validation
       and WAIC, Statistics and Computing 27, 1413–1432.
    """

    mean: float
    error: float
    bad: float


def leave_one_out(log_likelihood: np.ndarray) -> LeaveOneOut | None:
    """Estimate it from the log-likelihood of each draw and row; None where the draws are too few."""
    if len(log_likelihood) < 100 or not np.isfinite(log_likelihood).all():
        return None
    from arviz_stats.base import array_stats

    found, tail, _ = array_stats.loo(log_likelihood.T, chain_axis=None, draw_axis=-1)
    found, tail = np.asarray(found, dtype=float), np.asarray(tail, dtype=float)
    if not np.isfinite(found).all():
        return None
    return LeaveOneOut(
        float(found.mean()), float(found.std(ddof=1) / np.sqrt(len(found))), float((tail > BAD_TAIL).mean())
    )


def coverage(y: np.ndarray, intervals: Mapping[float, np.ndarray]) -> list[tuple[float, float, float]]:
    """Of each probability, the share of the rows inside, and the mean width of the intervals."""
    return [
        (prob, float(((ends[:, 0] <= y) & (y <= ends[:, 1])).mean()), float((ends[:, 1] - ends[:, 0]).mean()))
        for prob, ends in intervals.items()
    ]


def pit_counts(y: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
    """The shares of rows between neighbouring quantiles of their predictions, shape (quantiles + 1,).

    Of predictions that are calibrated all are equally large: the histogram of probability integral transforms.
    A row on several quantiles, as counts often are, is divided among the places that it may have.

    Parameters
    ----------
    y : numpy.ndarray of shape (rows,)
        What happened.
    quantiles : numpy.ndarray of shape (levels, rows)
        The predictive quantiles at equal steps of the level, ascending.
    """
    below, above = (quantiles < y).sum(axis=0), (quantiles <= y).sum(axis=0)
    shares = np.zeros(len(quantiles) + 1)
    for low, high in zip(below, above, strict=True):
        shares[low : high + 1] += 1 / (high - low + 1)
    return shares / len(y)


def reliability(happened: np.ndarray, share: np.ndarray, bins: int = 10) -> dict[str, Any]:
    """Predicted probabilities in groups of about as many rows, beside how often what they are of happened.

    Parameters
    ----------
    happened : numpy.ndarray of bool
        Whether it did.
    share : numpy.ndarray
        How probable it was said to be.
    bins : int
        The most groups.
    """
    order = np.argsort(share, kind="stable")
    groups = [group for group in np.array_split(order, min(bins, max(1, len(order) // 5))) if len(group)]
    said = np.array([share[group].mean() for group in groups])
    did = np.array([happened[group].mean() for group in groups])
    sizes = np.array([len(group) for group in groups])
    # Wilson's interval, which stays between 0 and 1.
    z = 1.645
    middle = (did + z**2 / (2 * sizes)) / (1 + z**2 / sizes)
    half = z * np.sqrt(did * (1 - did) / sizes + z**2 / (4 * sizes**2)) / (1 + z**2 / sizes)
    interval = np.stack([middle - half, middle + half], axis=1)
    return {"said": said, "happened": did, "rows": sizes, "interval": np.clip(interval, 0.0, 1.0)}
