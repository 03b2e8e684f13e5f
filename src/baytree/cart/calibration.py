"""What a Gaussian leaf takes from the data: the prior of its variance (empirical Bayes hyperparameters)."""

from __future__ import annotations

import math

import numpy as np

from ..data.design import Design
from ..errors import InputError

# Within these bounds no square of the calibration leaves the range of numbers.
SMALLEST_VARIANCE = 1e-100
# A rough lower bound of the noise needs no more rows than this.
SATURATED_ROWS = 10_000


def variance_prior(design: Design, min_leaf: int, nu: float | None) -> tuple[float, float, float]:
    """The nu and scale that `Gaussian` describes, and the variance of the response; a nu that is given stays."""
    variance = _variance(design)
    if not SMALLEST_VARIANCE < variance < 1 / SMALLEST_VARIANCE:
        raise InputError(f"column {design.response.name!r}: its variance is {variance:.3g}; rescale it")
    return *_between(_saturated_variance(design, min_leaf, variance), variance, nu), variance


def _variance(design: Design) -> float:
    """The variance of the response, a row of weight w counting as w rows."""
    mean = np.average(design.y, weights=design.weight)
    total = design.rows if design.weight is None else design.weight.sum()
    return float(np.average((design.y - mean) ** 2, weights=design.weight) * total / max(total - 1, 1))


def _saturated_variance(design: Design, min_leaf: int, variance: float) -> float:
    """Residual variance of a greedy tree grown as far as `min_leaf` lets it, on the bins of some rows."""
    from sklearn.tree import DecisionTreeRegressor

    rows = np.linspace(0, design.rows - 1, min(design.rows, SATURATED_ROWS)).astype(np.int64)
    bins, weight = np.column_stack([bins[rows] for bins in design.bins]), design.weight
    weight = None if weight is None else weight[rows]
    # About 0 and of about variance 1: scikit-learn sums plain squares, and splits nothing whose impurity is tiny.
    unit = 2.0 ** round(math.log2(variance) / 2)
    y = (design.y[rows] - np.average(design.y[rows], weights=weight)) / unit
    tree = DecisionTreeRegressor(min_samples_leaf=min_leaf, random_state=0).fit(bins, y, weight)
    squares = (y - tree.predict(bins)) ** 2
    total = len(rows) if weight is None else weight.sum()
    return float(np.average(squares, weights=weight) * total / max(total - tree.get_n_leaves(), 1)) * unit**2


def _between(low: float, high: float, nu: float | None) -> tuple[float, float]:
    """nu and scale so that sigma2 = nu·scale/χ²_nu lies between `low` and `high` with probability 0.9."""
    from scipy.optimize import brentq
    from scipy.stats import chi2

    low = min(max(low, 1e-6 * high), 0.99 * high)

    def log_ratio(candidate: float) -> float:
        return float(np.log(chi2.ppf(0.95, candidate) / chi2.ppf(0.05, candidate)) - np.log(high / low))

    if nu is None:
        # The ratio of the prior's outer quantiles falls with nu; beyond the ends the nearer end is taken.
        few, many = 1.0, 10.0
        nu = many if log_ratio(many) > 0 else few if log_ratio(few) < 0 else float(brentq(log_ratio, few, many))
    # In the middle of the interval on the log scale, also where nu was given or clipped.
    middle = np.sqrt(low * high) * np.sqrt(chi2.ppf(0.95, nu) * chi2.ppf(0.05, nu))
    return nu, float(middle / nu)
