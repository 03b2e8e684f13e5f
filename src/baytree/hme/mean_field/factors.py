"""Linear experts in a mean field, and the prior of all its factors.

A factor says what it expects the log density of rows to be, how far it is from its prior, what weighted rows make of
it, and draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..numeric.arrays import Array, eye_like, namespace, to_kind_of, to_numpy, weighted_gram
from ..tree.experts import Gaussian, log_gamma


@dataclass(frozen=True)
class Prior:
    """What is believed before the rows, for inputs and outputs in standard units.

    Attributes
    ----------
    gate_shape, gate_rate : float
        Coefficients of a logit model are normal around 0. Their precision is unknown, one for the slopes of a node and
        one for its offsets, and has this gamma distribution: by itself coefficients are from Student distributions of
        two degrees of freedom.
    precision : float
        Coefficients of a linear model are normal around 0 with precision `precision` / σ².
    noise_shape, noise_scale : float
        σ² is from this inverse gamma distribution.
    """

    gate_shape: float = 1.0
    gate_rate: float = 1.0
    precision: float = 0.1
    noise_shape: float = 1.5
    noise_scale: float = 0.5


@dataclass(frozen=True)
class Lines:
    """Linear models: given σ² the coefficients are normal, and σ² is inverse gamma, as in the prior.

    Attributes
    ----------
    experts : Gaussian
        Their kind, and the means of coefficients and variances.
    spread : array of shape (leaves, columns, columns)
        The covariance of the coefficients in units of σ².
    shape : array of shape (leaves,)
        Of the inverse gamma distribution of σ².
    scale : array of shape (leaves, outputs)
        Likewise.
    """

    experts: Gaussian
    spread: Array
    shape: Array
    scale: Array

    @classmethod
    def first(cls, experts: Gaussian) -> Lines:
        """Around given experts."""
        xp = namespace(experts.coefficients)
        leaves, columns, _ = experts.coefficients.shape
        spread = xp.stack([eye_like(experts.coefficients, columns)] * leaves)
        return cls(experts, spread, 2 * xp.ones_like(experts.variance[:, 0]), experts.variance)

    def log_density(self, X: Array, Y: Array) -> Array:
        """E log P(y | x, leaf), shape (leaves, rows)."""
        xp = namespace(X)
        seen = self.experts.seen(X)
        off = (Y - xp.matmul(seen, self.experts.coefficients)) ** 2 * (self.shape[:, None] / self.scale)[:, None, :]
        around = xp.sum(xp.matmul(seen, self.spread) * seen, axis=-1)
        log_variance = xp.log(self.scale) - digamma(self.shape)[:, None]
        rest = xp.sum(log_variance + math.log(2 * math.pi), axis=-1)
        return -0.5 * (xp.sum(off, axis=-1) + Y.shape[1] * around + rest[:, None])

    def updated(self, X: Array, Y: Array, weight: Array, prior: Prior) -> Lines:
        """The factor given rows, which count `weight` of shape (leaves, rows)."""
        xp = namespace(X)
        seen = self.experts.seen(X)
        columns = seen.shape[1]
        coefficients, spread, scale = [], [], []
        for leaf in range(weight.shape[0]):
            of_leaf = weight[leaf, :]
            matrix = weighted_gram(seen, of_leaf) + prior.precision * eye_like(X, columns)
            inverse = xp.linalg.inv(matrix)
            found = xp.matmul(inverse, xp.matmul(xp.matrix_transpose(seen), of_leaf[:, None] * Y))
            off = xp.sum(of_leaf[:, None] * (Y - xp.matmul(seen, found)) ** 2, axis=0)
            coefficients.append(found)
            spread.append(inverse)
            scale.append(prior.noise_scale + 0.5 * (off + prior.precision * xp.sum(found**2, axis=0)))
        shape = prior.noise_shape + 0.5 * xp.sum(weight, axis=1)
        scales = xp.stack(scale)
        experts = replace(self.experts, coefficients=xp.stack(coefficients), variance=scales / (shape[:, None] - 1))
        return Lines(experts, xp.stack(spread), shape, scales)

    def divergence(self, prior: Prior) -> Array:
        """KL(q | prior) of each leaf."""
        xp = namespace(self.spread)
        outputs, columns = self.scale.shape[1], self.spread.shape[1]
        shape = self.shape[:, None]
        squares = xp.sum(self.experts.coefficients**2, axis=1) * (shape / self.scale)
        around = prior.precision * xp.linalg.trace(self.spread) - xp.linalg.slogdet(self.spread)[1]
        fixed = columns * (1 + math.log(prior.precision))
        normal = 0.5 * (outputs * (around - fixed) + prior.precision * xp.sum(squares, axis=-1))
        gamma = gamma_divergence(shape, self.scale, prior.noise_shape, prior.noise_scale)
        return normal + xp.sum(gamma, axis=-1)

    def log_prior(self, experts: Gaussian, prior: Prior) -> Array:
        """The log of the prior density of the experts of each leaf."""
        xp = namespace(self.spread)
        columns = self.spread.shape[1]
        squares = prior.noise_scale + 0.5 * prior.precision * xp.sum(experts.coefficients**2, axis=1)
        fixed = prior.noise_shape * math.log(prior.noise_scale) - math.lgamma(prior.noise_shape)
        fixed += 0.5 * columns * math.log(prior.precision / (2 * math.pi))
        powers = (prior.noise_shape + 1 + 0.5 * columns) * xp.log(experts.variance)
        return xp.sum(fixed - powers - squares / experts.variance, axis=-1)

    def draw(self, generator: np.random.Generator) -> Gaussian:
        """Experts from the factor."""
        xp = namespace(self.spread)
        shape = to_kind_of(self.scale, generator.standard_gamma(to_numpy(self.shape)[:, None], self.scale.shape))
        variance = self.scale / shape
        noise = to_kind_of(self.scale, generator.normal(size=self.experts.coefficients.shape))
        moved = xp.matmul(xp.linalg.cholesky(self.spread), noise) * xp.sqrt(variance)[:, None, :]
        return replace(self.experts, coefficients=self.experts.coefficients + moved, variance=variance)

    @property
    def mean(self) -> Gaussian:
        """Experts with the means of the parameters."""
        return self.experts


def gamma_divergence(shape: Array, rate: Array, prior_shape: float, prior_rate: float) -> Array:
    """KL of gamma distributions, or of inverse gamma ones."""
    xp = namespace(rate)
    of_shape = (shape - prior_shape) * digamma(shape) - log_gamma(shape) + math.lgamma(prior_shape)
    return of_shape + prior_shape * (xp.log(rate) - math.log(prior_rate)) + shape * (prior_rate / rate - 1)


def digamma(values: Array) -> Array:
    """The derivative of log Γ, which the array API lacks: by SciPy, and back."""
    from scipy.special import digamma

    return to_kind_of(values, digamma(to_numpy(values)))
