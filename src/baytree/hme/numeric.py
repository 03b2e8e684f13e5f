"""What soft trees compute with: the array API, so that the same code runs on NumPy, PyTorch, JAX or CuPy arrays."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np

Array = Any


def namespace(*arrays: Array) -> Any:
    """The functions for arrays of this kind."""
    return array_api_compat.array_namespace(*arrays)


def log_sum_exp(values: Array) -> Array:
    """log Σ exp over the last axis."""
    xp = namespace(values)
    largest = xp.max(values, axis=-1, keepdims=True)
    # Where all are −∞ so is the sum.
    largest = xp.where(xp.isfinite(largest), largest, xp.zeros_like(largest))
    return xp.log(xp.sum(xp.exp(values - largest), axis=-1)) + xp.squeeze(largest, axis=-1)


def log_softmax(values: Array) -> Array:
    """The logarithms of exp(values), normalised over the last axis."""
    return values - log_sum_exp(values)[..., None]


def solve_positive(matrix: Array, right: Array) -> Array:
    """The solution of a system whose matrix is positive definite but for rounding.

    A matrix that is singular to working precision, such as that of an expert with hardly any weight, gets a diagonal of
    1e-10 of its largest entry.
    """
    xp = namespace(matrix, right)
    size = matrix.shape[-1]
    largest = xp.max(xp.abs(matrix))
    jitter = xp.where(largest > 0, largest * 1e-10, xp.ones_like(largest))
    return xp.linalg.solve(matrix + jitter * xp.eye(size, dtype=matrix.dtype, device=_device(matrix)), right)


def weighted_gram(X: Array, weight: Array) -> Array:
    """X'WX."""
    xp = namespace(X)
    return xp.matmul(xp.matrix_transpose(X), X * weight[:, None])


def _device(array: Array) -> Any:
    return array_api_compat.device(array)


def eye_like(array: Array, size: int) -> Array:
    """An identity matrix of the same kind and precision."""
    xp = namespace(array)
    return xp.eye(size, dtype=array.dtype, device=_device(array))


def zeros_like_shape(array: Array, *shape: int) -> Array:
    """Zeros of the same kind and precision."""
    xp = namespace(array)
    return xp.zeros(shape, dtype=array.dtype, device=_device(array))


def to_kind_of(array: Array, values: Any) -> Array:
    """Values, from NumPy or elsewhere, as an array of the same kind and precision."""
    xp = namespace(array)
    return xp.asarray(values, dtype=array.dtype, device=_device(array))


def to_numpy(array: Array) -> np.ndarray:
    """The same numbers as a NumPy array, from whatever device."""
    if array_api_compat.is_torch_array(array):
        return np.asarray(array.detach().cpu())
    if array_api_compat.is_cupy_array(array):
        return np.asarray(array.get())
    return np.asarray(array)
