"""Whether chains agree: R-hat and effective sample sizes, by ArviZ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Beyond this R-hat the chains disagree (Vehtari et al. 2021).
RHAT_LIMIT = 1.01


@dataclass(frozen=True)
class Diagnostic:
    """How well the chains know one quantity.

    Attributes
    ----------
    quantity : str
        Its name.
    mean, sd : float
        Over all draws.
    rhat : float or None
        Rank-normalised split R-hat [1]_; near 1 when the chains agree. None where it is not defined: for fewer than
        four draws, or a quantity that never changes.
    ess_bulk, ess_tail : float or None
        Effective sample sizes for the middle and for the tails.

    References
    ----------
    .. [1] Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Bayesian Analysis 16, 667–718.
    """

    quantity: str
    mean: float
    sd: float
    rhat: float | None
    ess_bulk: float | None
    ess_tail: float | None

    @property
    def rhat_text(self) -> str:
        """R-hat as people read it."""
        return "–" if self.rhat is None else f"{self.rhat:.3f}" if self.rhat < 100 else "> 100"

    @property
    def agrees(self) -> bool:
        """Whether R-hat is near 1."""
        return self.rhat is not None and self.rhat < RHAT_LIMIT


def diagnose(quantity: str, values: np.ndarray) -> Diagnostic:
    """Diagnose one quantity.

    Parameters
    ----------
    quantity : str
        Its name.
    values : numpy.ndarray
        Its draws, shape (chains, draws).
    """
    rhat = bulk = tail = None
    if values.shape[1] >= 4 and np.ptp(values) > 0:
        from arviz_stats.base import array_stats

        axes = {"chain_axis": 0, "draw_axis": 1}
        rhat = _finite(array_stats.rhat(values, **axes))
        bulk = _finite(array_stats.ess(values, **axes))
        tail = _finite(array_stats.ess(values, method="tail", prob=(0.05, 0.95), **axes))
    return Diagnostic(quantity, float(values.mean()), float(values.std()), rhat, bulk, tail)


def effective_size(values: np.ndarray) -> float:
    """The effective sample size of the mean of one chain's draws; their number where they never change."""
    if len(values) < 4 or np.ptp(values) == 0:
        return float(len(values))
    from arviz_stats.base import array_stats

    size = float(array_stats.ess(values[None], method="mean", chain_axis=0, draw_axis=1))
    return size if np.isfinite(size) else 1.0


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
