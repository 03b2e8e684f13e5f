"""What EM would maximise if the decisions were known: its slope and information, and a tree's parameters as one vector.

Given the decisions' probabilities h, the objective Q(θ | h) is a sum over gates and leaves, so its second derivative is
a matrix of blocks, one for each gate and each leaf.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..numeric.arrays import Array, eye_like, namespace, weighted_gram, zeros_like_shape
from ..numeric.logit import gradient, negative_hessian
from ..tree.experts import ByNewton, Classes, Experts, Gaussian
from ..tree.soft_tree import Responsibilities, SoftTree


@dataclass(frozen=True)
class Block:
    """One gate or leaf of the complete-data objective.

    Attributes
    ----------
    slope : array of shape (parameters,)
        The derivative of Q.
    information : array of shape (parameters, parameters)
        Minus its second derivative.
    """

    slope: Array
    information: Array


def vector_of(tree: SoftTree) -> Array:
    """The parameters: gates level by level, then leaf by leaf; variances as logarithms, after the coefficients."""
    some = tree.experts.coefficients
    xp = namespace(some)
    parts = [xp.reshape(gate, (-1,)) for gate in tree.gates]
    return xp.concat([*parts, xp.reshape(_of_experts(tree.experts), (-1,))])


def tree_at(tree: SoftTree, vector: Array) -> SoftTree:
    """The tree of the same shape with these parameters."""
    xp = namespace(vector)
    gates, at = [], 0
    for gate in tree.gates:
        size = gate.shape[0] * gate.shape[1] * gate.shape[2]
        gates.append(xp.reshape(vector[at : at + size], gate.shape))
        at += size
    experts = tree.experts
    found = xp.reshape(vector[at:], _of_experts(experts).shape)
    if isinstance(experts, Gaussian):
        found, log_variance = found[..., :-1], found[..., -1]
        coefficients = xp.matrix_transpose(found)
        return SoftTree(tuple(gates), replace(experts, coefficients=coefficients, variance=xp.exp(log_variance)))
    return SoftTree(tuple(gates), replace(experts, coefficients=found))


def _of_experts(experts: Experts) -> Array:
    if not isinstance(experts, Gaussian):
        return experts.coefficients
    xp = namespace(experts.coefficients)
    return xp.concat([xp.matrix_transpose(experts.coefficients), xp.log(experts.variance)[..., None]], axis=-1)


def blocks(tree: SoftTree, X: Array, Y: Array, weight: Array, found: Responsibilities, ridge: float) -> Iterator[Block]:
    """The blocks of Q(θ | h), in the order of `vector_of`.

    Parameters
    ----------
    tree : SoftTree
        θ.
    X, Y, weight : array
        Inputs, outputs and weights.
    found : Responsibilities
        h.
    ridge : float
        The penalty, which is minus the logarithm of a normal prior.
    """
    xp = namespace(X)
    for gates, share, reach in zip(tree.gates, found.branch, found.node, strict=False):
        for node in range(gates.shape[0]):
            given = X, share[node, ...], reach[node, :] * weight, gates[node, ...], ridge
            yield Block(xp.reshape(gradient(*given), (-1,)), negative_hessian(*given))
    experts = tree.experts
    for leaf in range(experts.leaves):
        of_leaf = found.node[-1][leaf, :] * weight
        if isinstance(experts, Gaussian):
            for output in range(Y.shape[1]):
                yield _of_line(experts, X, Y[:, output], of_leaf, leaf, output, ridge)
        elif isinstance(experts, Classes):
            given = X, Y, of_leaf, experts.coefficients[leaf, ...], ridge
            yield Block(xp.reshape(gradient(*given), (-1,)), negative_hessian(*given))
        else:
            assert isinstance(experts, ByNewton)
            coefficients = experts.coefficients[leaf, :, 0]
            predictor = xp.matmul(X, coefficients)
            slope, _ = experts.derivatives_of(predictor, Y[:, 0])
            curvature = experts.curvature_of(predictor, Y[:, 0])
            yield Block(
                xp.matmul(xp.matrix_transpose(X), of_leaf * slope) - ridge * coefficients,
                weighted_gram(X, of_leaf * curvature) + ridge * eye_like(X, X.shape[1]),
            )


def _of_line(experts: Gaussian, X: Array, y: Array, weight: Array, leaf: int, output: int, ridge: float) -> Block:
    """Coefficients β and s = log σ² of −½ Σ w (s + (y − xβ)² e⁻ˢ) − ½ ridge |β|² e⁻ˢ."""
    xp = namespace(X)
    X = experts.seen(X)
    coefficients, variance = experts.coefficients[leaf, :, output], experts.variance[leaf, output]
    off = y - xp.matmul(X, coefficients)
    slope = (xp.matmul(xp.matrix_transpose(X), weight * off) - ridge * coefficients) / variance
    matrix = (weighted_gram(X, weight) + ridge * eye_like(X, X.shape[1])) / variance
    squares = (xp.sum(weight * off**2) + ridge * xp.sum(coefficients**2)) / variance
    last = xp.reshape(0.5 * squares, (1, 1))
    top = xp.concat([matrix, slope[:, None]], axis=1)
    bottom = xp.concat([slope[None, :], last], axis=1)
    of_variance = xp.reshape(0.5 * (squares - xp.sum(weight)), (1,))
    return Block(xp.concat([slope, of_variance]), xp.concat([top, bottom], axis=0))


def slope_of(parts: list[Block]) -> Array:
    """The slope of Q(θ | h); where h is that of θ, by Fisher's identity also that of the penalised log-likelihood."""
    return namespace(parts[0].slope).concat([part.slope for part in parts])


def information_of(parts: list[Block]) -> Array:
    """The complete-data information as one matrix."""
    some = parts[0].slope
    xp = namespace(some)
    size = sum(part.slope.shape[0] for part in parts)
    rows, before = [], 0
    for part in parts:
        own = part.slope.shape[0]
        left = zeros_like_shape(some, own, before)
        right = zeros_like_shape(some, own, size - before - own)
        rows.append(xp.concat([left, part.information, right], axis=1))
        before += own
    return xp.concat(rows, axis=0)
