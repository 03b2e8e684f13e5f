"""Quantiles of what a soft tree predicts: of mixtures of its experts' distributions."""

from __future__ import annotations

import numpy as np

from .experts import Gamma, Gaussian, Poisson
from .soft_tree import SoftTree

# Halvings of an interval that holds a quantile: to 1e-15 of its width.
HALVINGS = 50


def mixture_cdf(tree: SoftTree, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """P(Y ≤ y | x) of each row and output, shape (rows, outputs)."""
    from scipy import stats

    share = np.exp(tree.log_paths(X))[..., None]
    experts, means = tree.experts, tree.experts.means(X)
    if isinstance(experts, Gaussian):
        below = stats.norm.cdf((y - means) / np.sqrt(experts.variances(X)))
    elif isinstance(experts, Poisson):
        below = stats.poisson.cdf(y, means)
    else:
        assert isinstance(experts, Gamma)
        below = stats.gamma.cdf(y, experts.shape, scale=means / experts.shape)
    return np.sum(share * below, axis=0)


def quantile(tree: SoftTree, X: np.ndarray, prob: float) -> np.ndarray:
    """The quantile of Y given x, by bisection, shape (rows, outputs)."""
    means, sd = tree.experts.means(X), np.sqrt(tree.experts.variances(X))
    reach = 40.0
    low, high = (means - reach * sd).min(axis=0), (means + reach * sd).max(axis=0)
    if not isinstance(tree.experts, Gaussian):
        low = np.zeros_like(low)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = mixture_cdf(tree, X, middle) >= prob
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.ceil(high - 1e-9) if isinstance(tree.experts, Poisson) else high
