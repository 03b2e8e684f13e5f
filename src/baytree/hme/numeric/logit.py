"""Weighted multinomial logit models with soft targets: the gates, and experts for classes.

All of them take one model or many at once: axes before those that are named, written …, are those of the models.
"""

from __future__ import annotations

from .arrays import Array, eye_like, log_softmax, namespace, restricted, solve_positive, weighted_cross, weighted_gram
from .newton import maximised


def log_probabilities(X: Array, coefficients: Array) -> Array:
    """log P(class | x), the last class having coefficients 0.

    Parameters
    ----------
    X : array of shape (rows, columns)
        Inputs, with a column of ones.
    coefficients : array of shape (…, classes − 1, columns)
        Of all classes but the last.

    Returns
    -------
    array of shape (…, rows, classes)
        In memory the rows are last, along which all that follows is quick.
    """
    xp = namespace(X)
    flat = xp.reshape(coefficients, (-1, coefficients.shape[-1]))
    scores = xp.reshape(xp.matmul(flat, xp.matrix_transpose(X)), (*coefficients.shape[:-1], X.shape[0]))
    if coefficients.shape[-2] == 1:
        zero = xp.zeros_like(scores)
        beyond = xp.log1p(xp.exp(-xp.abs(scores)))
        both = xp.concat([xp.minimum(scores, zero) - beyond, -xp.maximum(scores, zero) - beyond], axis=-2)
        return xp.matrix_transpose(both)
    scores = xp.concat([scores, xp.zeros_like(scores[..., :1, :])], axis=-2)
    return log_softmax(xp.matrix_transpose(scores))


def objective(X: Array, targets: Array, weight: Array, coefficients: Array, ridge: float) -> Array:
    """Σ w Σ_i t_i log g_i − ridge/2 · |coefficients|², shape (…).

    Parameters
    ----------
    X : array of shape (rows, columns)
        Inputs.
    targets : array of shape (…, rows, classes)
        Soft targets.
    weight : array of shape (…, rows)
        Weights.
    coefficients : array of shape (…, classes − 1, columns)
        Of all classes but the last.
    ridge : float
        The penalty.
    """
    return _objective(targets, weight, coefficients, log_probabilities(X, coefficients), ridge)


def gradient(X: Array, targets: Array, weight: Array, coefficients: Array, ridge: float) -> Array:
    """The derivative of `objective`, shape (…, classes − 1, columns)."""
    shares = namespace(X).exp(log_probabilities(X, coefficients))
    return _gradient(X, targets, weight, coefficients, shares, ridge)


def negative_hessian(X: Array, targets: Array, weight: Array, coefficients: Array, ridge: float) -> Array:
    """Minus the second derivative of `objective`, of the coefficients row by row."""
    shares = namespace(X).exp(log_probabilities(X, coefficients))
    return _negative_hessian(X, targets, weight, shares, ridge)


def fit_newton(
    X: Array, targets: Array, weight: Array, start: Array, ridge: float, steps: int, free: Array | None = None
) -> Array:
    """Coefficients by Newton's method, which is IRLS here; none of its steps lowers the objective.

    Parameters
    ----------
    X, targets, weight : array
        Inputs, soft targets and weights, as for `objective`.
    start : array of shape (…, classes − 1, columns)
        Where to begin.
    ridge : float
        The penalty.
    steps : int
        The most steps.
    free : array of shape (…, columns), optional
        1 for columns whose coefficients are fitted, 0 for those that keep theirs.
    """
    xp = namespace(X)

    def value(coefficients: Array) -> tuple[Array, Array]:
        log_shares = log_probabilities(X, coefficients)
        return _objective(targets, weight, coefficients, log_shares, ridge), log_shares

    def derivatives(coefficients: Array, log_shares: Array) -> tuple[Array, Array]:
        shares = xp.exp(log_shares)
        slope = _gradient(X, targets, weight, coefficients, shares, ridge)
        curvature = _negative_hessian(X, targets, weight, shares, ridge)
        if free is None:
            return slope, curvature
        each = xp.broadcast_to(free[..., None, :], slope.shape)
        return slope * each, restricted(curvature, xp.reshape(each, curvature.shape[:-1]))

    return maximised(start, value, derivatives, steps)


def fit_least_squares(
    X: Array, targets: Array, weight: Array, ridge: float, free: Array | None = None, least: float = 1e-6
) -> Array:
    """Coefficients by one weighted least squares of the log odds of the targets against the last class.

    Algorithm 2: the targets ln h stand for the linear predictors. Targets below `least` count as that, as ln 0 has no
    least squares. Columns that are not `free` have coefficients 0.
    """
    xp = namespace(X)
    known = xp.log(xp.maximum(targets, xp.ones_like(targets) * least))
    odds = known[..., :-1] - known[..., -1:]
    matrix = weighted_gram(X, weight) + ridge * eye_like(X, X.shape[1])
    right = weighted_cross(X, odds, weight)
    if free is not None:
        matrix, right = restricted(matrix, free), right * free[..., None]
    return xp.matrix_transpose(solve_positive(matrix, right))


def _objective(targets: Array, weight: Array, coefficients: Array, log_shares: Array, ridge: float) -> Array:
    xp = namespace(targets)
    fit = xp.sum(weight * xp.sum(targets * log_shares, axis=-1), axis=-1)
    return fit - 0.5 * ridge * xp.sum(coefficients**2, axis=(-2, -1))


def _gradient(X: Array, targets: Array, weight: Array, coefficients: Array, shares: Array, ridge: float) -> Array:
    xp = namespace(X)
    off = targets - shares * xp.sum(targets, axis=-1, keepdims=True)
    return xp.matrix_transpose(weighted_cross(X, off[..., :-1], weight)) - ridge * coefficients


def _negative_hessian(X: Array, targets: Array, weight: Array, shares: Array, ridge: float) -> Array:
    xp = namespace(X)
    classes, columns = shares.shape[-1] - 1, X.shape[1]
    weight = weight * xp.sum(targets, axis=-1)
    shares = xp.matrix_transpose(shares)[..., :-1, :]
    rows = []
    for i in range(classes):
        of_pairs = -shares[..., i : i + 1, :] * shares
        own = of_pairs[..., i : i + 1, :] + shares[..., i : i + 1, :]
        of_pairs = xp.concat([of_pairs[..., :i, :], own, of_pairs[..., i + 1 :, :]], axis=-2)
        blocks = weighted_gram(X, weight[..., None, :] * of_pairs)
        rows.append(xp.concat([blocks[..., j, :, :] for j in range(classes)], axis=-1))
    return xp.concat(rows, axis=-2) + ridge * eye_like(X, classes * columns)
