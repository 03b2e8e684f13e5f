"""What soft trees compute with: the array API, so that the same code runs on NumPy, PyTorch, JAX or CuPy arrays."""

from __future__ import annotations

import math
from typing import Any

import array_api_compat
import numpy as np

Array = Any
# How many numbers are worked on at a time, where an operation would need many times the memory of the data: what a
# processor's cache holds.
BLOCK = 1 << 17

# B_2k / (2k (2k − 1)), k = 1, 2, …: the coefficients of Stirling's series.
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
LIFT = 8


def namespace(*arrays: Array) -> Any:
    """The functions for arrays of this kind."""
    return array_api_compat.array_namespace(*arrays)


def log_sum_exp(values: Array) -> Array:
    """log Σ exp over the last axis."""
    return normalised(values)[1]


def log_softmax(values: Array) -> Array:
    """The logarithms of exp(values), normalised over the last axis."""
    return values - log_sum_exp(values)[..., None]


def normalised(values: Array) -> tuple[Array, Array]:
    """exp(values), normalised over the last axis, and the logarithm of what it was divided by."""
    xp = namespace(values)
    largest = xp.max(values, axis=-1, keepdims=True)
    # Where all are −∞ so is the sum.
    largest = xp.where(xp.isfinite(largest), largest, xp.zeros_like(largest))
    relative = xp.exp(values - largest)
    total = xp.sum(relative, axis=-1, keepdims=True)
    return relative / total, xp.squeeze(xp.log(total) + largest, axis=-1)


def solve_positive(matrix: Array, right: Array) -> Array:
    """The solutions of systems whose matrices are positive definite but for rounding.

    A matrix that is singular to working precision, such as that of an expert with hardly any weight, gets a diagonal of
    1e-10 of its largest entry, or in single precision 1e-6.
    """
    xp = namespace(matrix, right)
    largest = xp.max(xp.abs(matrix), axis=(-2, -1), keepdims=True)
    least = max(1e-10, 8 * float(xp.finfo(matrix.dtype).eps))
    jitter = xp.where(largest > 0, largest * least, xp.ones_like(largest))
    return xp.linalg.solve(matrix + jitter * eye_like(matrix, matrix.shape[-1]), right)


def log_gamma(values: Array) -> Array:
    """log Γ of positive numbers, which the array API lacks.

    Stirling's series, whose first term left out is below 1e-14 from 8 on; smaller numbers are lifted there by
    Γ(z + 1) = z Γ(z).
    """
    xp = namespace(values)
    small = values < LIFT
    z = xp.where(small, values + LIFT, values)
    lifted = xp.ones_like(values)
    for step in range(LIFT):
        lifted = xp.where(small, lifted * (values + step), lifted)
    inverse = 1 / z
    square = inverse * inverse
    series = xp.zeros_like(z)
    for term in reversed(STIRLING):
        series = series * square + term
    return (z - 0.5) * xp.log(z) - z + 0.5 * math.log(2 * math.pi) + series * inverse - xp.log(lifted)


def weighted_gram(X: Array, weight: Array) -> Array:
    """X'WX for one or many sets of weights, shape (…, columns, columns).

    The products of all pairs of columns are made once for all sets, in blocks of rows, so that what is left is one
    product of matrices.

    Parameters
    ----------
    X : array of shape (rows, columns)
        The rows.
    weight : array of shape (…, rows)
        Their weights.
    """
    xp = namespace(X)
    rows, columns = X.shape
    pairs = [(i, j) for i in range(columns) for j in range(i, columns)]
    place = {pair: number for number, pair in enumerate(pairs)}
    first, second = (index(X, side) for side in zip(*pairs, strict=True))
    sets = xp.reshape(weight, (-1, rows))
    total = zeros_like_shape(X, sets.shape[0], len(pairs))
    length = max(1, BLOCK // len(pairs))
    for begin in range(0, rows, length):
        end = min(begin + length, rows)
        block = xp.matrix_transpose(X[begin:end, :])
        products = xp.take(block, first, axis=0) * xp.take(block, second, axis=0)
        total = total + xp.matmul(sets[:, begin:end], xp.matrix_transpose(products))
    whole = [place[min(i, j), max(i, j)] for i in range(columns) for j in range(columns)]
    return xp.reshape(xp.take(total, index(X, whole), axis=1), (*weight.shape[:-1], columns, columns))


def weighted_cross(X: Array, Y: Array, weight: Array) -> Array:
    """X'WY for one or many sets of weights and outputs, shape (…, columns, outputs).

    Parameters
    ----------
    X : array of shape (rows, columns)
        The rows.
    Y : array of shape (…, rows, outputs) or (rows, outputs)
        Their outputs.
    weight : array of shape (…, rows)
        Their weights.
    """
    xp = namespace(X)
    weighted = weight[..., None, :] * xp.matrix_transpose(Y)
    sums = xp.matmul(xp.reshape(weighted, (-1, X.shape[0])), X)
    return xp.matrix_transpose(xp.reshape(sums, (*weighted.shape[:-1], X.shape[1])))


def restricted(matrix: Array, free: Array) -> Array:
    """Matrices of which only the rows and columns that are free are left; of the others the identity's.

    Parameters
    ----------
    matrix : array of shape (…, size, size)
        Of a system.
    free : array of shape (…, size)
        1 for the unknowns that are free, 0 for those that the system leaves at 0.
    """
    identity = eye_like(matrix, matrix.shape[-1])
    return matrix * free[..., :, None] * free[..., None, :] + identity * (1 - free)[..., None, :]


def index(array: Array, places: Any) -> Array:
    """Places to take from an array, where it lies."""
    xp = namespace(array)
    return xp.asarray(list(places), dtype=xp.int64, device=device(array))


def device(array: Array) -> Any:
    """Where an array lies."""
    return array_api_compat.device(array)


def eye_like(array: Array, size: int) -> Array:
    """An identity matrix of the same kind and precision."""
    xp = namespace(array)
    return xp.eye(size, dtype=array.dtype, device=device(array))


def zeros_like_shape(array: Array, *shape: int) -> Array:
    """Zeros of the same kind and precision."""
    xp = namespace(array)
    return xp.zeros(shape, dtype=array.dtype, device=device(array))


def is_foreign(values: Any) -> bool:
    """Whether this is an array of another kind than NumPy's."""
    return bool(array_api_compat.is_array_api_obj(values)) and not array_api_compat.is_numpy_array(values)


def floating(array: Array) -> Array:
    """The array, or if its numbers are whole, the same in double precision."""
    xp = namespace(array)
    return array if xp.isdtype(array.dtype, "real floating") else xp.astype(array, xp.float64)


def to_kind_of(array: Array, values: Any) -> Array:
    """Values, from NumPy or elsewhere, as an array of the same kind and precision."""
    xp = namespace(array)
    return xp.asarray(values, dtype=array.dtype, device=device(array))


def to_numpy(array: Array) -> np.ndarray:
    """The same numbers as a NumPy array, from whatever device."""
    if array_api_compat.is_torch_array(array):
        return np.asarray(array.detach().cpu())
    if array_api_compat.is_cupy_array(array):
        return np.asarray(array.get())
    return np.asarray(array)


def local(values: Any) -> Any:
    """What a table can be made of: arrays of other kinds as NumPy's, all else as it is."""
    return to_numpy(values) if is_foreign(values) else values
