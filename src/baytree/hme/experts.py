"""Experts: the generalised linear models at the leaves of a soft tree.

Each family has arrays of parameters with the leaves on the first axis, and four verbs: log densities, means, a weighted
fit that never lowers its objective, and variances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .logit import fit_newton, log_probabilities
from .numeric import (
    Array,
    eye_like,
    namespace,
    solve_positive,
    to_kind_of,
    weighted_gram,
    zeros_like_shape,
)

MOST_STEPS = 25
MOST_HALVINGS = 30
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
        return namespace(X).matmul(self.seen(X), self.coefficients)

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
        variance = self.variance[:, None, :]
        off = (Y - self.means(X)) ** 2 / variance + xp.log(variance) + math.log(2 * math.pi)
        return -0.5 * xp.sum(off, axis=-1)

    def fitted(self, X: Array, Y: Array, weight: Array, ridge: float, steps: int) -> Gaussian:
        """Weighted least squares."""
        xp = namespace(X)
        X = self.seen(X)
        coefficients, variances = [], []
        for leaf in range(self.leaves):
            of_leaf = weight[leaf, :]
            matrix = weighted_gram(X, of_leaf) + ridge * eye_like(X, X.shape[1])
            found = solve_positive(matrix, xp.matmul(xp.matrix_transpose(X), of_leaf[:, None] * Y))
            off = (Y - xp.matmul(X, found)) ** 2
            squares = xp.sum(of_leaf[:, None] * off, axis=0) + ridge * xp.sum(found**2, axis=0)
            total = xp.sum(of_leaf)
            variance = squares / xp.where(total > 0, total, xp.ones_like(total))
            coefficients.append(found)
            variances.append(xp.where(variance > self.least, variance, self.least))
        return replace(self, coefficients=xp.stack(coefficients), variance=xp.stack(variances))

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
        return self.mean_of(namespace(X).matmul(X, self.coefficients))

    def fitted(self, X: Array, Y: Array, weight: Array, ridge: float, steps: int) -> Experts:
        """IRLS."""
        xp = namespace(X)
        found = [
            self._newton(X, Y[:, 0], weight[leaf, :], self.coefficients[leaf, :, 0], ridge, steps)
            for leaf in range(self.leaves)
        ]
        return replace(self, coefficients=xp.stack(found)[..., None])

    def _newton(self, X: Array, y: Array, weight: Array, start: Array, ridge: float, steps: int) -> Array:
        xp = namespace(X)

        def value(coefficients: Array) -> float:
            fit = xp.sum(weight * self.log_density_of(xp.matmul(X, coefficients), y))
            return float(fit - 0.5 * ridge * xp.sum(coefficients**2))

        best, reached = start, value(start)
        for _ in range(min(steps, MOST_STEPS)):
            predictor = xp.matmul(X, best)
            slope, curvature = self.derivatives_of(predictor, y)
            matrix = weighted_gram(X, weight * curvature) + ridge * eye_like(X, X.shape[1])
            right = xp.matmul(xp.matrix_transpose(X), weight * slope) - ridge * best
            step = solve_positive(matrix, right[:, None])[:, 0]
            length = 1.0
            for _ in range(MOST_HALVINGS):
                candidate = best + length * step
                found = value(candidate)
                if found >= reached:
                    break
                length /= 2
            else:
                return best
            gained, best, reached = found - reached, candidate, found
            if gained <= 1e-10 * (abs(reached) + 1e-10):
                break
        return best

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
        return self.log_density_of(namespace(X).matmul(X, self.coefficients)[..., 0], Y[:, 0])


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
        """y η − e^η − log y!"""
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
        xp = namespace(X)
        found = [
            fit_newton(X, Y, weight[leaf, :], self.coefficients[leaf, ...], ridge, steps) for leaf in range(self.leaves)
        ]
        return replace(self, coefficients=xp.stack(found))


def log_gamma(values: Array) -> Array:
    """log Γ, which the array API lacks: by SciPy, and back."""
    from scipy.special import gammaln

    return to_kind_of(values, gammaln(np.asarray(values)))


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


EXPERTS: dict[str, Any] = {
    "linear": Gaussian,
    "constant": Constant,
    "logistic": Classes,
    "multinomial": Classes,
    "poisson": Poisson,
    "gamma": Gamma,
}
