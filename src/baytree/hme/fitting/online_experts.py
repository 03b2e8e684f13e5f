"""Experts learned one row at a time: Newton steps with the information that the rows so far have given."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..tree.experts import ByNewton, Classes, Experts, Gaussian

# How far from zero coefficients may begin: R and S before any row, in units of 1 / x².
START = 1.0


@dataclass(frozen=True)
class ExpertState:
    """What the recursions of the experts carry from row to row, besides their coefficients.

    Attributes
    ----------
    spread : numpy.ndarray of shape (leaves, size, size)
        R, the inverse of the information about the coefficients: of one output, or of all classes but the last.
    squares : numpy.ndarray of shape (leaves, outputs), or None
        Decayed sums of the squared errors of experts that have variances.
    reach : numpy.ndarray of shape (leaves,), or None
        Decayed sums of the weights of their rows.
    """

    spread: np.ndarray
    squares: np.ndarray | None = None
    reach: np.ndarray | None = None


def first_expert_state(experts: Experts) -> ExpertState:
    """The state before any row."""
    leaves, rows, columns = experts.coefficients.shape
    size = rows * columns if isinstance(experts, Classes) else rows
    spread = np.broadcast_to(START * np.eye(size), (leaves, size, size)).copy()
    if not isinstance(experts, Gaussian):
        return ExpertState(spread)
    # As if each expert had seen a row that was off by its standard deviation.
    return ExpertState(spread, np.array(experts.variance), np.ones(leaves))


def learn_experts(
    experts: Experts, state: ExpertState, x: np.ndarray, y: np.ndarray, h: np.ndarray, decay: float
) -> tuple[Experts, ExpertState]:
    """One row: the information grows by the row's, and coefficients make the Newton step that it gives.

    With s and d the slope and minus the curvature of log P(y | η) in the linear predictor η = θ'x,

    ``R ← R − λ⁻¹ R x x'R / (λ/(h d) + x'R x)``, ``θ ← θ + h s R x``.

    At λ = 1 the row adds h d x x' to the information R⁻¹, and this is one step of IRLS a row, each at the coefficients
    reached so far. Of linear experts d is 1 and s the error: recursive least squares. Of counts s = y − μ and d = μ, of
    times with shape a s = a (y/μ − 1) and d = a y/μ. Of K classes with probabilities p the information diag(p) − p p'
    is Σ_k p_k (e_k − p)(e_k − p)', so that it takes K such steps with (e_k − p) ⊗ x for x and p_k for d, of which the
    first has the λ.

    Parameters
    ----------
    experts, state
        Where the recursions are.
    x, y : numpy.ndarray
        A row's inputs, with a one at the end, and outputs.
    h : numpy.ndarray of shape (leaves,)
        How much the row counts for each expert.
    decay : float
        λ, at most 1.
    """
    if isinstance(experts, Gaussian):
        return _learn_linear(experts, state, experts.seen(x[None])[0], y, h, decay)
    if isinstance(experts, Classes):
        return _learn_classes(experts, state, x, y, h, decay)
    assert isinstance(experts, ByNewton)
    predictor = experts.coefficients[..., 0] @ x
    slope, _ = experts.derivatives_of(predictor, y[0])
    spread = recursed(state.spread, x, h * experts.curvature_of(predictor, y[0]), decay)
    coefficients = experts.coefficients + ((h * slope)[:, None] * (spread @ x))[..., None]
    return replace(experts, coefficients=coefficients), ExpertState(spread)


def _learn_linear(
    experts: Gaussian, state: ExpertState, x: np.ndarray, y: np.ndarray, h: np.ndarray, decay: float
) -> tuple[Experts, ExpertState]:
    spread = recursed(state.spread, x, h, decay)
    off = y - x @ experts.coefficients
    coefficients = experts.coefficients + h[:, None, None] * np.einsum("kpq,q,ko->kpo", spread, x, off)
    assert state.squares is not None and state.reach is not None
    squares = decay * state.squares + h[:, None] * off**2
    reach = decay * state.reach + h
    variance = np.maximum(squares / reach[:, None], experts.least)
    return replace(experts, coefficients=coefficients, variance=variance), ExpertState(spread, squares, reach)


def _learn_classes(
    experts: Classes, state: ExpertState, x: np.ndarray, y: np.ndarray, h: np.ndarray, decay: float
) -> tuple[Experts, ExpertState]:
    share = experts.means(x[None])[:, 0, :]
    spread = state.spread
    for k in range(share.shape[1]):
        apart = np.eye(share.shape[1])[k, :-1] - share[:, :-1]
        along = (apart[:, :, None] * x).reshape(len(share), -1)
        spread = recursed(spread, along, h * share[:, k], decay if k == 0 else 1.0)
    slope = ((h[:, None] * (y - share))[:, :-1, None] * x).reshape(len(share), -1)
    step = np.einsum("kpq,kq->kp", spread, slope).reshape(experts.coefficients.shape)
    return replace(experts, coefficients=experts.coefficients + step), ExpertState(spread)


def recursed(spread: np.ndarray, x: np.ndarray, h: np.ndarray, decay: float) -> np.ndarray:
    """R − λ⁻¹ R x x'R / (λ/h + x'R x), multiplied out by h so that h = 0 leaves R as it is.

    Parameters
    ----------
    spread : numpy.ndarray of shape (…, size, size)
        R.
    x : numpy.ndarray of shape (size,) or (…, size)
        The row, or what stands for it at each node.
    h : numpy.ndarray of shape (…)
        How much it counts.
    decay : float
        λ.
    """
    along = (spread @ x[..., None])[..., 0]
    below = decay + h * np.sum(along * x, axis=-1)
    outer = along[..., :, None] * along[..., None, :]
    return spread - (h / (decay * below))[..., None, None] * outer
