"""Quantiles of what a soft tree predicts: of mixtures of its experts' distributions."""

from __future__ import annotations

import numpy as np

from .experts import Gamma, Gaussian, Poisson
from .soft_tree import Mixture

# Halvings of an interval that holds a quantile: to 1e-15 of its width.
HALVINGS = 50


def mixture_cdf(mixture: Mixture, y: np.ndarray) -> np.ndarray:
    """P(Y ≤ y | x) of each row and output, shape (rows, outputs)."""
    from scipy import stats

    experts, means = mixture.experts, mixture.means
    if isinstance(experts, Gaussian):
        below = stats.norm.cdf((y - means) / np.sqrt(experts.variances(mixture.X)))
    elif isinstance(experts, Poisson):
        below = stats.poisson.cdf(y, means)
    else:
        assert isinstance(experts, Gamma)
        below = stats.gamma.cdf(y, experts.shape, scale=means / experts.shape)
    return np.sum(mixture.share[..., None] * below, axis=0)


def quantile(mixture: Mixture, prob: float) -> np.ndarray:
    """The quantile of Y given x, by bisection, shape (rows, outputs)."""
    means, sd = mixture.means, np.sqrt(mixture.experts.variances(mixture.X))
    reach = 40.0
    low, high = (means - reach * sd).min(axis=0), (means + reach * sd).max(axis=0)
    if not isinstance(mixture.experts, Gaussian):
        low = np.zeros_like(low)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = mixture_cdf(mixture, middle) >= prob
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.ceil(high - 1e-9) if isinstance(mixture.experts, Poisson) else high
