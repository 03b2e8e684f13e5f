"""Weighted multinomial logit models with soft targets: the gates, and experts for classes."""

from __future__ import annotations

from .numeric import Array, eye_like, log_softmax, namespace, solve_positive, weighted_gram, zeros_like_shape

MOST_NEWTON_STEPS = 25
MOST_HALVINGS = 30
# A Newton step that gains less than this share of the objective is the last.
ENOUGH = 1e-10


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
    """
    xp = namespace(X)
    scores = xp.matmul(X, xp.matrix_transpose(coefficients))
    return log_softmax(xp.concat([scores, xp.zeros_like(scores[..., :1])], axis=-1))


def objective(X: Array, targets: Array, weight: Array, coefficients: Array, ridge: float) -> Array:
    """Σ w Σ_i t_i log g_i − ridge/2 · |coefficients|²."""
    xp = namespace(X)
    fit = xp.sum(weight[:, None] * targets * log_probabilities(X, coefficients))
    return fit - 0.5 * ridge * xp.sum(coefficients**2)


def gradient(X: Array, targets: Array, weight: Array, coefficients: Array, ridge: float) -> Array:
    """The derivative of `objective`, shape (classes − 1, columns)."""
    xp = namespace(X)
    off = weight[:, None] * (targets - xp.exp(log_probabilities(X, coefficients)) * xp.sum(targets, axis=-1)[:, None])
    return xp.matmul(xp.matrix_transpose(off[:, :-1]), X) - ridge * coefficients


def negative_hessian(X: Array, targets: Array, weight: Array, coefficients: Array, ridge: float) -> Array:
    """Minus the second derivative of `objective`, of the coefficients row by row."""
    xp = namespace(X)
    classes, columns = coefficients.shape
    shares = xp.exp(log_probabilities(X, coefficients))
    weight = weight * xp.sum(targets, axis=-1)
    rows = []
    for i in range(classes):
        blocks = []
        for j in range(classes):
            of_pair = shares[:, i] * ((1.0 if i == j else 0.0) - shares[:, j])
            blocks.append(weighted_gram(X, weight * of_pair))
        rows.append(xp.concat(blocks, axis=1))
    return xp.concat(rows, axis=0) + ridge * eye_like(X, classes * columns)


def fit_newton(X: Array, targets: Array, weight: Array, start: Array, ridge: float, steps: int) -> Array:
    """Coefficients by Newton's method, which is IRLS here; none of its steps lowers the objective.

    Parameters
    ----------
    X, targets, weight : array
        Inputs (rows, columns), soft targets (rows, classes) and weights (rows,).
    start : array of shape (classes − 1, columns)
        Where to begin.
    ridge : float
        The penalty.
    steps : int
        The most steps.
    """
    xp = namespace(X)
    best = start
    value = float(objective(X, targets, weight, best, ridge))
    for _ in range(min(steps, MOST_NEWTON_STEPS)):
        slope = gradient(X, targets, weight, best, ridge)
        curvature = negative_hessian(X, targets, weight, best, ridge)
        step = xp.reshape(solve_positive(curvature, xp.reshape(slope, (-1, 1))), best.shape)
        # Where weights are all but hard the quadratic model reaches too far.
        length = 1.0
        for _ in range(MOST_HALVINGS):
            candidate = best + length * step
            found = float(objective(X, targets, weight, candidate, ridge))
            if found >= value:
                break
            length /= 2
        else:
            return best
        gained, best, value = found - value, candidate, found
        if gained <= ENOUGH * (abs(value) + ENOUGH):
            break
    return best


def fit_least_squares(X: Array, targets: Array, weight: Array, ridge: float, least: float = 1e-6) -> Array:
    """Coefficients by one weighted least squares of the log odds of the targets against the last class.

    Algorithm 2: the targets ln h stand for the linear predictors. Targets below `least` count as that, as ln 0 has no
    least squares.
    """
    xp = namespace(X)
    known = xp.log(xp.where(targets > least, targets, xp.ones_like(targets) * least))
    odds = known[:, :-1] - known[:, -1:]
    matrix = weighted_gram(X, weight) + ridge * eye_like(X, X.shape[1])
    right = xp.matmul(xp.matrix_transpose(X), weight[:, None] * odds)
    return xp.matrix_transpose(solve_positive(matrix, right))


def no_coefficients(X: Array, classes: int, nodes: int | None = None) -> Array:
    """Coefficients that make all classes equally likely."""
    shape = (classes - 1, X.shape[1])
    return zeros_like_shape(X, *shape) if nodes is None else zeros_like_shape(X, nodes, *shape)
