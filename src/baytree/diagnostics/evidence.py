"""The evidence P(y | x), from the rungs of tempered chains."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .comparison import effective_size

# Into how many batches the draws of a lone chain are cut to tell its error.
BATCHES = 10


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
        The logarithm of the mean of the chains' estimates: the mean of their logarithms would be too small. Its error
        is the larger of two: that of the means over draws, by their effective sample sizes, and that which the spread
        between the chains shows, or of a lone chain that between its batches; infinite where nothing tells it.

    References
    ----------
    .. [1] Xie, Lewis, Fan, Kuo and Chen (2011), Improving marginal likelihood estimation for Bayesian phylogenetic
       model selection, Systematic Biology 60, 150–160.
    """
    estimates, variance = zip(*(_of_chain(*chain) for chain in zip(log_likelihood, ladders, strict=True)), strict=True)
    log_chains = np.array(estimates)
    most = log_chains.max()
    # Of each chain its estimate of P(y | x) as a multiple of their mean.
    shares = np.exp(log_chains - most)
    value = most + np.log(shares.mean())
    shares /= shares.mean()
    within = np.sqrt((shares**2 * np.array(variance)).sum()) / len(shares)
    if len(shares) > 1:
        between = shares.std(ddof=1) / np.sqrt(len(shares))
    else:
        between = _between_batches(log_likelihood[0], ladders[0])
    return LogEvidence(float(value), float(max(within, between)))


def _of_chain(log_likelihood: np.ndarray, ladder: np.ndarray) -> tuple[float, float]:
    """The log evidence of one chain, and its variance by the effective sample sizes of its rungs."""
    steps = (ladder[:-1] - ladder[1:]) * log_likelihood[:, 1:]
    most = steps.max(axis=0)
    weight = np.exp(steps - most)
    mean = weight.mean(axis=0)
    # The delta method: var(log mean) = var(mean) / mean².
    sizes = np.array([effective_size(rung) for rung in weight.T])
    return float((most + np.log(mean)).sum()), float((weight.var(axis=0) / mean**2 / sizes).sum())


def _between_batches(log_likelihood: np.ndarray, ladder: np.ndarray) -> float:
    """The standard error that the spread between batches of a lone chain shows."""
    if len(log_likelihood) < 2 * BATCHES or np.any(np.ptp(log_likelihood[:, 1:], axis=0) == 0):
        return np.inf  # too short, or a rung that never moved: it says nothing about its error
    batches = [_of_chain(batch, ladder)[0] for batch in np.array_split(log_likelihood, BATCHES)]
    shares = np.exp(np.array(batches) - max(batches))
    return float(shares.std(ddof=1) / shares.mean() / np.sqrt(BATCHES))
