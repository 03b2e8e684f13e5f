"""Experts: the generalised linear models at the leaves of a soft tree.

Each family has arrays of parameters with the leaves on the first axis, and four verbs: log densities, means, a weighted
fit that never lowers its objective, and variances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from ..numeric.arrays import (
    Array,
    eye_like,
    log_gamma,
    namespace,
    solve_positive,
    weighted_cross,
    weighted_gram,
    zeros_like_shape,
)
from ..numeric.logit import fit_newton, log_probabilities
from ..numeric.newton import maximised

# An expert's noise is at least this share of the response's variance: one that fits a few rows exactly would else have
# an infinite likelihood.
LEAST_VARIANCE = 1e-6


@dataclass(frozen=True)
class Experts:
    """Parameters of all experts of a tree.

    Attributes
    ----------
    coefficients : array of shape (leaves, columns, outputs)
        What inputs are multiplied by; of classes (leaves, classes − 1, columns).
    """

    coefficients: Array
    family: ClassVar[str]

    @property
    def leaves(self) -> int:
        """Number of experts."""
        return int(self.coefficients.shape[0])

    def log_density(self, X: Array, Y: Array) -> Array:
        """log P(y | x, leaf), shape (leaves, rows)."""
        raise NotImplementedError

    def means(self, X: Array) -> Array:
        """E(y | x, leaf), shape (leaves, rows, outputs)."""
        raise NotImplementedError

    def variances(self, X: Array) -> Array:
        """Var(y | x, leaf), shape (leaves, rows, outputs)."""
        raise NotImplementedError

    def fitted(self, X: Array, Y: Array, weight: Array, ridge: float, steps: int) -> Experts:
        """The experts that fit weighted rows, no worse than these.

        Parameters
        ----------
        X, Y : array
            Inputs (rows, columns) and outputs (rows, outputs).
        weight : array of shape (leaves, rows)
            How much each row counts for each expert.
        ridge : float
            The penalty of the coefficients.
        steps : int
            The most Newton steps.
        """
        raise NotImplementedError

    def penalty(self, ridge: float) -> Array:
        """What the ridge takes from the log-likelihood."""
        xp = namespace(self.coefficients)
        return 0.5 * ridge * xp.sum(self.coefficients**2)


@dataclass(frozen=True)
class Gaussian(Experts):
    """Linear regressions with a variance for each leaf and output.

    Their ridge is in units of the variance, as a conjugate prior's: coefficients and variance are fitted together.
    """

    variance: Array = None
    least: Array = None
    family: ClassVar[str] = "linear"

    def means(self, X: Array) -> Array:
        """E(y | x, leaf)."""
        return _predictors(self.seen(X), self.coefficients)

    @staticmethod
    def seen(X: Array) -> Array:
        """The inputs that the experts see."""
        return X

    def variances(self, X: Array) -> Array:
        """The leaf's variances at every row."""
        xp = namespace(X)
        shape = (self.leaves, X.shape[0], self.variance.shape[-1])
        return xp.broadcast_to(self.variance[:, None, :], shape)

    def log_density(self, X: Array, Y: Array) -> Array:
        """log P(y | x, leaf)."""
        xp = namespace(X)
        scaled = _residuals(self.seen(X), Y, self.coefficients, self.variance)
        constant = xp.sum(xp.log(2 * math.pi * self.variance), axis=-1)
        return -0.5 * (xp.sum(scaled * scaled, axis=1) + constant[:, None])

    def fitted(self, X: Array, Y: Array, weight: Array, ridge: float, steps: int) -> Gaussian:
        """Weighted least squares."""
        xp = namespace(X)
        X = self.seen(X)
        columns = X.shape[1]
        moments = weighted_gram(xp.concat([X, Y], axis=1), weight)
        matrix = moments[:, :columns, :columns] + ridge * eye_like(X, columns)
        found = solve_positive(matrix, moments[:, :columns, columns:])
        off = _residuals(X, Y, found, xp.ones_like(self.variance))
        squares = xp.matmul(off * off, weight[..., None])[..., 0] + ridge * xp.sum(found**2, axis=1)
        total = xp.sum(weight, axis=-1)[:, None]
        variance = squares / xp.where(total > 0, total, xp.ones_like(total))
        return replace(self, coefficients=found, variance=xp.where(variance > self.least, variance, self.least))

    def penalty(self, ridge: float) -> Array:
        """Half the squares in units of the variance."""
        xp = namespace(self.coefficients)
        return 0.5 * ridge * xp.sum(xp.sum(self.coefficients**2, axis=1) / self.variance)


class Constant(Gaussian):
    """A mean and a variance for each leaf and output, whatever the input: the last column, of ones, is all they see."""

    family: ClassVar[str] = "constant"

    @staticmethod
    def seen(X: Array) -> Array:
        """The ones."""
        return X[:, -1:]


class ByNewton(Experts):
    """Experts of one linear predictor, fitted by Newton's method with a line search."""

    def means(self, X: Array) -> Array:
        """E(y | x, leaf)."""
        return self.mean_of(_predictors(X, self.coefficients))

    def fitted(self, X: Array, Y: Array, weight: Array, ridge: float, steps: int) -> Experts:
        """IRLS."""
        xp = namespace(X)
        y = Y[:, 0]

        def value(coefficients: Array) -> tuple[Array, Array]:
            predictor = _predictors(X, coefficients)[..., 0]
            fit = xp.sum(weight * self.log_density_of(predictor, y), axis=-1)
            return fit - 0.5 * ridge * xp.sum(coefficients**2, axis=(-2, -1)), predictor

        def derivatives(coefficients: Array, predictor: Array) -> tuple[Array, Array]:
            slope, curvature = self.derivatives_of(predictor, y)
            of_row = weighted_cross(X, slope[..., None], weight) - ridge * coefficients
            return of_row, weighted_gram(X, weight * curvature) + ridge * eye_like(X, X.shape[1])

        return replace(self, coefficients=maximised(self.coefficients, value, derivatives, steps))

    @staticmethod
    def mean_of(predictor: Array) -> Array:
        """The mean of a linear predictor."""
        raise NotImplementedError

    def log_density_of(self, predictor: Array, y: Array) -> Array:
        """The log density of y given a linear predictor."""
        raise NotImplementedError

    def derivatives_of(self, predictor: Array, y: Array) -> tuple[Array, Array]:
        """The log density's slope in the predictor, and minus its curvature or that expected."""
        raise NotImplementedError

    def curvature_of(self, predictor: Array, y: Array) -> Array:
        """Minus the log density's curvature in the predictor."""
        return self.derivatives_of(predictor, y)[1]

    def log_density(self, X: Array, Y: Array) -> Array:
        """log P(y | x, leaf)."""
        return self.log_density_of(_predictors(X, self.coefficients)[..., 0], Y[:, 0])


@dataclass(frozen=True)
class Poisson(ByNewton):
    """Counts with log means."""

    family: ClassVar[str] = "poisson"

    @staticmethod
    def mean_of(predictor: Array) -> Array:
        """exp."""
        return namespace(predictor).exp(predictor)

    def variances(self, X: Array) -> Array:
        """The means."""
        return self.means(X)

    def log_density_of(self, predictor: Array, y: Array) -> Array:
        """y η − e^η − log y!, row by row."""
        xp = namespace(predictor)
        return y * predictor - xp.exp(predictor) - log_gamma(y + 1)

    def derivatives_of(self, predictor: Array, y: Array) -> tuple[Array, Array]:
        """y − μ, and μ."""
        mean = namespace(predictor).exp(predictor)
        return y - mean, mean


@dataclass(frozen=True)
class Gamma(ByNewton):
    """Positive numbers with log means and one shape for each leaf; shape 1, exponential failure times, by default."""

    shape: float = 1.0
    family: ClassVar[str] = "gamma"

    @staticmethod
    def mean_of(predictor: Array) -> Array:
        """exp."""
        return namespace(predictor).exp(predictor)

    def variances(self, X: Array) -> Array:
        """The squared means over the shape."""
        return self.means(X) ** 2 / self.shape

    def log_density_of(self, predictor: Array, y: Array) -> Array:
        """Of Gamma(shape, mean e^η)."""
        xp = namespace(predictor)
        a = self.shape
        return a * (math.log(a) - predictor) - a * y * xp.exp(-predictor) + (a - 1) * xp.log(y) - math.lgamma(a)

    def derivatives_of(self, predictor: Array, y: Array) -> tuple[Array, Array]:
        """shape · (y/μ − 1), and the shape, which is expected."""
        xp = namespace(predictor)
        return self.shape * (y * xp.exp(-predictor) - 1), self.shape * xp.ones_like(predictor)

    def curvature_of(self, predictor: Array, y: Array) -> Array:
        """shape · y/μ."""
        return self.shape * y * namespace(predictor).exp(-predictor)


@dataclass(frozen=True)
class Classes(Experts):
    """Multinomial logit models, of two classes logistic ones. Outputs are indicators of the classes."""

    family: ClassVar[str] = "multinomial"

    def log_density(self, X: Array, Y: Array) -> Array:
        """log P(class | x, leaf)."""
        return namespace(X).sum(Y * log_probabilities(X, self.coefficients), axis=-1)

    def means(self, X: Array) -> Array:
        """P(class | x, leaf), shape (leaves, rows, classes)."""
        xp = namespace(X)
        return xp.exp(log_probabilities(X, self.coefficients))

    def variances(self, X: Array) -> Array:
        """p (1 − p)."""
        share = self.means(X)
        return share * (1 - share)

    def fitted(self, X: Array, Y: Array, weight: Array, ridge: float, steps: int) -> Classes:
        """IRLS."""
        return replace(self, coefficients=fit_newton(X, Y, weight, self.coefficients, ridge, steps))


def _predictors(X: Array, coefficients: Array) -> Array:
    """X times the coefficients of every leaf, shape (leaves, rows, outputs), in memory with the rows last."""
    xp = namespace(X)
    leaves, columns, outputs = coefficients.shape
    flat = xp.reshape(xp.matrix_transpose(coefficients), (leaves * outputs, columns))
    return xp.matrix_transpose(xp.reshape(xp.matmul(flat, xp.matrix_transpose(X)), (leaves, outputs, X.shape[0])))


def _residuals(X: Array, Y: Array, coefficients: Array, variance: Array) -> Array:
    """What is left of the outputs, in standard deviations, shape (leaves, outputs, rows).

    One product of matrices: inputs and outputs side by side, times minus the coefficients and ones.
    """
    xp = namespace(X)
    leaves, columns, outputs = coefficients.shape
    ones = xp.broadcast_to(eye_like(X, outputs), (leaves, outputs, outputs))
    both = xp.concat([-xp.matrix_transpose(coefficients), ones], axis=-1) / xp.sqrt(variance)[..., None]
    flat = xp.reshape(both, (leaves * outputs, columns + outputs))
    off = xp.matmul(flat, xp.matrix_transpose(xp.concat([X, Y], axis=1)))
    return xp.reshape(off, (leaves, outputs, X.shape[0]))


def first_experts(family: str, X: Array, Y: Array, weight: Array, leaves: int) -> Experts:
    """Experts that all say the same, whatever the input: what the outputs are on average.

    Parameters
    ----------
    family : {"linear", "constant", "logistic", "multinomial", "poisson", "gamma"}
        What they are.
    X, Y, weight : array
        Inputs, of which the last column is ones, outputs and weights.
    leaves : int
        How many.
    """
    xp = namespace(X)
    columns, outputs = X.shape[1], Y.shape[1]
    mean = xp.sum(weight[:, None] * Y, axis=0) / xp.sum(weight)
    if family in ("logistic", "multinomial"):
        coefficients = zeros_like_shape(X, outputs - 1, columns)
        shares = xp.where(mean > 1e-6, mean, xp.ones_like(mean) * 1e-6)
        offset = xp.log(shares[:-1] / shares[-1])
        coefficients = xp.concat([coefficients[:, :-1], offset[:, None]], axis=1)
        return Classes(_repeated(coefficients, leaves))
    level = mean if family in ("linear", "constant") else xp.log(mean)
    coefficients = xp.concat([zeros_like_shape(X, columns - 1, outputs), level[None, :]], axis=0)
    if family == "poisson":
        return Poisson(_repeated(coefficients, leaves))
    if family == "gamma":
        return Gamma(_repeated(coefficients, leaves))
    variance = xp.sum(weight[:, None] * (Y - mean) ** 2, axis=0) / xp.sum(weight)
    variance = xp.where(variance > 0, variance, xp.ones_like(variance))
    if family == "constant":
        coefficients = level[None, :]
    kind = Constant if family == "constant" else Gaussian
    return kind(_repeated(coefficients, leaves), _repeated(variance, leaves), LEAST_VARIANCE * variance)


def _repeated(values: Array, times: int) -> Array:
    xp = namespace(values)
    return xp.stack([values] * times)
