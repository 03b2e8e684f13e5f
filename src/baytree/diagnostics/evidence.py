"""The evidence P(y | x), from the rungs of tempered chains."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .convergence import effective_size


class LogEvidence(NamedTuple):
    """log P(y | x) and its Monte Carlo standard error."""

    value: float
    error: float


def stepping_stone(log_likelihood: np.ndarray, ladders: np.ndarray) -> LogEvidence:
    """The log evidence by stepping stones.

    With Z(β) = Σ P(T) P(y | T)^β, so that Z(0) = 1 and Z(1) = P(y | x), each step up the ladder, Z(βᵢ) / Z(βᵢ₊₁), is
    the mean of P(y | T)^(βᵢ − βᵢ₊₁) over the draws of the hotter rung [1]_.

    Parameters
    ----------
    log_likelihood : numpy.ndarray
        log P(y | T) on every rung, shape (chains, draws, rungs).
    ladders : numpy.ndarray
        The powers of the likelihood of each chain, shape (chains, rungs), from 1 down to 0.

    Returns
    -------
    LogEvidence
        The mean over the chains. Its error is the larger of two: that of the means, by their effective sample sizes,
        and that which the spread between the chains shows; infinite where nothing tells it.

    References
    ----------
    .. [1] Xie, Lewis, Fan, Kuo and Chen (2011), Improving marginal likelihood estimation for Bayesian phylogenetic
       model selection, Systematic Biology 60, 150–160.
    """
    steps = (ladders[:, :-1] - ladders[:, 1:])[:, None, :] * log_likelihood[:, :, 1:]
    most = steps.max(axis=1, keepdims=True)
    weight = np.exp(steps - most)
    mean = weight.mean(axis=1)
    chains = (most[:, 0] + np.log(mean)).sum(axis=1)
    # The delta method: var(log mean) = var(mean) / mean².
    sizes = [[effective_size(rung) for rung in chain.T] for chain in weight]
    variance = (weight.var(axis=1) / mean**2 / np.array(sizes)).sum()
    within = np.sqrt(variance) / len(chains)
    if len(chains) == 1 and np.any(np.ptp(weight, axis=1) == 0):
        within = np.inf  # a rung that never moved says nothing about its error
    between = chains.std(ddof=1) / np.sqrt(len(chains)) if len(chains) > 1 else 0.0
    return LogEvidence(float(chains.mean()), float(max(within, between)))
