"""Predictions from sums of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core

if TYPE_CHECKING:
    from .bart_posterior import BARTPosterior


def draws_of(posterior: BARTPosterior, codes: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """E(y | x) of some draws of each chain, shape (chains, draws, rows); with classes one more axis."""
    sums = posterior.mean
    out = []
    for chain in range(sums.chains):
        for draw in chosen:
            first, count = int(sums.first[chain, draw, 0]), int(sums.leaves[chain, draw].sum())
            one = _core.SumDraws(
                np.ascontiguousarray(sums.tree_index[chain, draw][None]), sums.values[first : first + count], None, 1
            )
            out.append(posterior._predictor.sums(np.ascontiguousarray(codes), one))
    fits = np.array(out, dtype=float).reshape(sums.chains, len(chosen), len(codes)) + posterior.model.centre[0]
    if posterior.schema.response.classes is None:
        return fits
    from scipy.special import ndtr

    return np.stack([ndtr(-fits), ndtr(fits)], axis=-1)


def predict(posterior: BARTPosterior, codes: np.ndarray, kind: str, prob: float, offset: Any) -> np.ndarray:
    """A stand-in."""
    fits = draws_of(posterior, codes, np.arange(posterior.draws))
    if kind == "mean":
        return fits.mean(axis=(0, 1))
    if kind == "interval":
        return np.moveaxis(np.quantile(fits, [(1 - prob) / 2, (1 + prob) / 2], axis=(0, 1)), 0, -1)
    return fits
