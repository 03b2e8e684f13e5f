"""Whether the chains agree: R-hat and effective sample sizes, by ArviZ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .posterior import Posterior


@dataclass(frozen=True)
class Diagnostic:
    """How well the chains know one quantity.

    Attributes
    ----------
    quantity : str
        Its name.
    mean, sd : float
        Over all draws.
    rhat : float
        Rank-normalised split R-hat; near 1 when the chains agree. NaN where it cannot be computed.
    ess_bulk, ess_tail : float
        Effective sample sizes for the middle and for the tails. NaN where they cannot be computed.
    """

    quantity: str
    mean: float
    sd: float
    rhat: float
    ess_bulk: float
    ess_tail: float


def diagnose(posterior: Posterior) -> list[Diagnostic]:
    """Diagnose the log-likelihood and the size of the tree.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    """
    quantities = {"log-likelihood": posterior.log_likelihood, "leaves": posterior.n_leaves.astype(float)}
    return [_diagnostic(name, values) for name, values in quantities.items()]


def _diagnostic(name: str, values: np.ndarray) -> Diagnostic:
    from arviz_stats.base import array_stats

    rhat = bulk = tail = float("nan")
    # A constant quantity, or fewer draws than the definitions need, has no R-hat.
    if values.shape[1] >= 4 and np.ptp(values) > 0:
        axes = {"chain_axis": 0, "draw_axis": 1}
        rhat = float(array_stats.rhat(values, **axes))
        bulk = float(array_stats.ess(values, **axes))
        tail = float(array_stats.ess(values, method="tail", prob=(0.05, 0.95), **axes))
    return Diagnostic(name, float(values.mean()), float(values.std()), rhat, bulk, tail)
