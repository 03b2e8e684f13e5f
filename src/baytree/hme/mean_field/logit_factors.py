"""Logit models in a mean field: the gates, and experts for classes.

log Σ exp has no closed expectation under normal coefficients, but bounds that are quadratic in them, under which normal
factors are the best ones. Of two classes, u being the linear predictor,

``log(1 + eᵘ) ≤ (u − ξ)/2 + λ(ξ) (u² − ξ²) + log(1 + e^ξ)`` with ``λ(ξ) = tanh(ξ/2) / 4ξ``

for any ξ, best ξ² = E u² [1]_; it is the mean field of a Pólya–Gamma variable. Of K > 2 classes, the last of which has
u = 0,

``log Σ exp(u) ≤ log Σ exp(ψ) + g(ψ)'(u − ψ) + ½ (u − ψ)'A(u − ψ)`` with ``A = ½ (1 − 1 1'/K)``

for any ψ, best ψ = E u, g being the shares at ψ [2]_.

References
----------
.. [1] Jaakkola and Jordan (2000), Bayesian parameter estimation via variational methods, Statistics and Computing 10,
   25–37.
.. [2] Böhning (1992), Multinomial logistic regression algorithm, Annals of the Institute of Statistical Mathematics 44,
   197–200.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..numeric.arrays import (
    Array,
    device,
    eye_like,
    log_softmax,
    log_sum_exp,
    namespace,
    to_kind_of,
    weighted_gram,
    zeros_like_shape,
)
from ..tree.experts import Classes, log_gamma
from .factors import Prior, digamma, gamma_divergence

# Below this ξ the limit of λ, 1/8, is exact to working precision.
FLAT = 1e-5
# How far below the others the score of a branch is that there is no more: exp of it is 0, and the digits of the others
# are kept.
SHUT = 1e4


@dataclass(frozen=True)
class Logits:
    """Multinomial logit models, one a node: normal coefficients, and gamma precisions of these.

    Attributes
    ----------
    coefficients : array of shape (nodes, classes − 1, columns)
        Means; the last class has 0.
    spread : array of shape (nodes, (classes − 1) · columns, (classes − 1) · columns)
        Covariances.
    shape, rate : array of shape (nodes, 2)
        Of the gamma distributions of the precisions, of the slopes and of the offsets.
    live : array of bool of shape (nodes, classes)
        Which classes there are. With one left nothing is to be decided, and with none the node itself is shut.
    """

    coefficients: Array
    spread: Array
    shape: Array
    rate: Array
    live: Array

    @classmethod
    def first(cls, coefficients: Array) -> Logits:
        """Close to given coefficients, with precisions of 1."""
        xp = namespace(coefficients)
        nodes, free, columns = coefficients.shape
        spread = xp.stack([0.01 * eye_like(coefficients, free * columns)] * nodes)
        ones = zeros_like_shape(coefficients, nodes, 2) + 1
        live = xp.ones((nodes, free + 1), dtype=xp.bool, device=device(coefficients))
        return cls(coefficients, spread, ones, ones, live)

    def among(self, live: np.ndarray) -> Logits:
        """The same distribution of the coefficients of fewer classes."""
        xp = namespace(self.spread)
        found = replace(self, live=xp.asarray(live, device=device(self.spread)))
        there = found._of_columns(found._there)
        apart = (1 - there)[:, None, :] * eye_like(self.spread, there.shape[1])
        return replace(found, spread=self.spread * there[:, None, :] * there[:, :, None] + apart)

    @property
    def undecided(self) -> Array:
        """Which nodes have more than one class."""
        xp = namespace(self.live)
        return xp.sum(xp.astype(self.live, xp.int64), axis=-1) > 1

    def log_shares(self, X: Array) -> Array:
        """A lower bound of E log P(class | x, node), shape (nodes, rows, classes)."""
        xp = namespace(X)
        scores = self._scores(X)
        if scores.shape[-1] == 2:
            u = scores[..., 0]
            tight = self._tight(X, u)
            bound = 0.5 * (u + tight) + xp.log1p(xp.exp(-tight))
        else:
            bound = log_sum_exp(xp.where(self._counted, scores, -xp.inf)) + 0.5 * self._curved(X)
        known = xp.where(self.undecided[:, None, None], scores - bound[..., None], xp.zeros_like(scores))
        shut = ~self.live & xp.any(self.live, axis=-1)[:, None]
        return xp.where(shut[:, None, :], -xp.inf, known)

    def updated(self, X: Array, targets: Array, weight: Array, prior: Prior) -> Logits:
        """The factors given rows with soft targets (nodes, rows, classes), which count `weight` (nodes, rows).

        First the coefficients, then their precisions, each at their best given the others.
        """
        xp = namespace(X)
        scores = self._scores(X)
        nodes, free, columns = self.coefficients.shape
        if free == 1:
            curve = 2 * _lambda(self._tight(X, scores[..., 0]))
            grams = [weighted_gram(X, weight[node, :] * curve[node, :]) for node in range(nodes)]
            pull = targets[..., :1] - 0.5
        else:
            matrix = self._matrix
            shares = xp.exp(log_softmax(xp.where(self._counted, scores, -xp.inf)))
            pull = targets[..., :-1] - shares[..., :-1] + xp.matmul(scores[..., :-1], matrix)
            grams = [_product(matrix[node, ...], weighted_gram(X, weight[node, :])) for node in range(nodes)]
        there = self._of_columns(self._there)
        precision = there * self._precision(free, columns) + 1 - there
        spread = xp.stack(
            [xp.linalg.inv(grams[node] + precision[node, :] * eye_like(X, free * columns)) for node in range(nodes)]
        )
        right = xp.matmul(xp.matrix_transpose(weight[..., None] * pull), X) * self._there[..., None]
        coefficients = xp.reshape(xp.matmul(spread, xp.reshape(right, (nodes, -1, 1))), self.coefficients.shape)
        found = replace(self, coefficients=coefficients, spread=spread)
        size, squares = found._squares()
        return replace(found, shape=prior.gate_shape + 0.5 * size, rate=prior.gate_rate + 0.5 * squares)

    def divergence(self, prior: Prior) -> Array:
        """KL(q | prior) of each node, 0 where nothing is to be decided."""
        xp = namespace(self.spread)
        size, squares = self._squares()
        log_precision = digamma(self.shape) - xp.log(self.rate)
        volume = xp.linalg.slogdet(self.spread)[1]
        normal = 0.5 * (xp.sum(squares * self.shape / self.rate - size * (1 + log_precision), axis=-1) - volume)
        gamma = xp.sum(gamma_divergence(self.shape, self.rate, prior.gate_shape, prior.gate_rate), axis=-1)
        return xp.where(self.undecided, normal + gamma, xp.zeros_like(gamma))

    def log_prior(self, coefficients: Array, prior: Prior) -> Array:
        """The log of the prior density of drawn coefficients, of each node; the precisions are integrated out."""
        xp = namespace(self.spread)
        drawn = replace(self, coefficients=self._opened(coefficients), spread=xp.zeros_like(self.spread))
        size, squares = drawn._squares()
        shape, rate = prior.gate_shape + 0.5 * size, prior.gate_rate + 0.5 * squares
        fixed = prior.gate_shape * math.log(prior.gate_rate) - math.lgamma(prior.gate_shape)
        found = fixed + log_gamma(shape) - shape * xp.log(rate) - 0.5 * size * math.log(2 * math.pi)
        return xp.where(self.undecided, xp.sum(found, axis=-1), xp.zeros_like(rate[:, 0]))

    def draw(self, generator: np.random.Generator) -> Array:
        """Coefficients from the factors; those of classes that are no more shut them."""
        xp = namespace(self.spread)
        noise = to_kind_of(self.spread, generator.normal(size=(*self.spread.shape[:2], 1)))
        moved = xp.reshape(xp.matmul(xp.linalg.cholesky(self.spread), noise), self.coefficients.shape)
        return self._shut(self.coefficients + moved)

    @property
    def mean(self) -> Array:
        """The means of the coefficients; those of classes that are no more shut them."""
        return self._shut(self.coefficients)

    @property
    def _there(self) -> Array:
        """1 for live classes but the last, else 0, shape (nodes, classes − 1)."""
        return namespace(self.live).astype(self.live[:, :-1], self.spread.dtype)

    @property
    def _counted(self) -> Array:
        """Live classes, and all of a node that is shut, with an axis for rows."""
        xp = namespace(self.live)
        return (self.live | ~xp.any(self.live, axis=-1)[:, None])[:, None, :]

    @property
    def _matrix(self) -> Array:
        """A, among live classes, shape (nodes, classes − 1, classes − 1)."""
        xp = namespace(self.spread)
        there = self._there
        count = xp.sum(xp.astype(self.live, there.dtype), axis=-1)
        count = xp.where(count > 0, count, xp.ones_like(count))
        outer = there[:, :, None] * there[:, None, :] / count[:, None, None]
        return 0.5 * (there[:, :, None] * eye_like(there, there.shape[1]) - outer)

    def _scores(self, X: Array) -> Array:
        """Expected linear predictors, shape (nodes, rows, classes)."""
        xp = namespace(X)
        mean = xp.matmul(X, xp.matrix_transpose(self.coefficients))
        return xp.concat([mean, xp.zeros_like(mean[..., :1])], axis=-1)

    def _tight(self, X: Array, mean: Array) -> Array:
        """ξ of two classes, shape (nodes, rows)."""
        xp = namespace(X)
        return xp.sqrt(mean**2 + xp.sum(xp.matmul(X, self.spread) * X, axis=-1))

    def _curved(self, X: Array) -> Array:
        """E (u − ψ)'A(u − ψ) of several classes, shape (nodes, rows)."""
        xp = namespace(X)
        nodes, free, columns = self.coefficients.shape
        parts = xp.reshape(self.spread, (nodes, free, columns, free, columns))
        matrix = self._matrix
        total = zeros_like_shape(X, nodes, X.shape[0])
        for k in range(free):
            for j in range(free):
                of_pair = xp.sum(xp.matmul(X, parts[:, k, :, j, :]) * X, axis=-1)
                total = total + matrix[:, k, j][:, None] * of_pair
        return total

    def _squares(self) -> tuple[Array, Array]:
        """Of slopes and offsets, how many coefficients there are and their expected squares, shape (nodes, 2)."""
        xp = namespace(self.spread)
        there = self._there
        around = xp.reshape(xp.linalg.diagonal(self.spread), self.coefficients.shape)
        each = xp.sum(there[..., None] * (self.coefficients**2 + around), axis=1)
        free = xp.sum(there, axis=-1)
        size = xp.stack([free * (self.coefficients.shape[-1] - 1), free], axis=-1)
        return size, xp.stack([xp.sum(each[:, :-1], axis=-1), each[:, -1]], axis=-1)

    def _precision(self, free: int, columns: int) -> Array:
        """The expected precision of each coefficient, shape (nodes, (classes − 1) · columns)."""
        xp = namespace(self.rate)
        expected = self.shape / self.rate
        of_class = [expected[:, :1]] * (columns - 1) + [expected[:, 1:]]
        return xp.concat(of_class * free, axis=1)

    def _of_columns(self, of_classes: Array) -> Array:
        """What classes have, for each of their coefficients."""
        return namespace(of_classes).repeat(of_classes, self.coefficients.shape[-1], axis=1)

    def _shut(self, coefficients: Array) -> Array:
        xp = namespace(coefficients)
        kept = self.undecided[:, None, None] & self.live[:, :-1, None]
        coefficients = xp.where(kept, coefficients, xp.zeros_like(coefficients))
        return coefficients + self._lowered

    def _opened(self, coefficients: Array) -> Array:
        return coefficients - self._lowered

    @property
    def _lowered(self) -> Array:
        """What the coefficients are moved by where classes are no more: offsets only."""
        xp = namespace(self.spread)
        some = xp.any(self.live, axis=-1)
        lower = xp.astype(~self.live & some[:, None], self.spread.dtype) * SHUT
        offset = (lower[:, -1:] - lower[:, :-1])[..., None]
        return xp.concat([xp.zeros_like(self.coefficients[..., :-1]), offset], axis=-1)


@dataclass(frozen=True)
class Classifiers:
    """Experts for classes.

    Attributes
    ----------
    logits : Logits
        A node for each leaf, all classes live.
    """

    logits: Logits

    def log_density(self, X: Array, Y: Array) -> Array:
        """A lower bound of E log P(class | x, leaf), shape (leaves, rows)."""
        return namespace(X).sum(Y * self.logits.log_shares(X), axis=-1)

    def updated(self, X: Array, Y: Array, weight: Array, prior: Prior) -> Classifiers:
        """The factor given rows, which count `weight` of shape (leaves, rows)."""
        targets = namespace(X).broadcast_to(Y, (weight.shape[0], *Y.shape))
        return Classifiers(self.logits.updated(X, targets, weight, prior))

    def divergence(self, prior: Prior) -> Array:
        """KL(q | prior) of each leaf."""
        return self.logits.divergence(prior)

    def log_prior(self, experts: Classes, prior: Prior) -> Array:
        """The log of the prior density of the experts of each leaf."""
        return self.logits.log_prior(experts.coefficients, prior)

    def draw(self, generator: np.random.Generator) -> Classes:
        """Experts from the factor."""
        return Classes(self.logits.draw(generator))

    @property
    def mean(self) -> Classes:
        """Experts with the means of the parameters."""
        return Classes(self.logits.mean)


def _lambda(tight: Array) -> Array:
    xp = namespace(tight)
    safe = xp.where(tight > FLAT, tight, xp.ones_like(tight))
    return xp.where(tight > FLAT, xp.tanh(0.5 * safe) / (4 * safe), 0.125 * xp.ones_like(tight))


def _product(left: Array, right: Array) -> Array:
    """The Kronecker product of two square matrices."""
    xp = namespace(left)
    size = left.shape[0]
    rows = [xp.concat([left[i, j] * right for j in range(size)], axis=1) for i in range(size)]
    return xp.concat(rows, axis=0)
