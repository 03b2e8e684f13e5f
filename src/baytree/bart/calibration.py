"""What a sum of trees takes from the data: the centre, and the scales of its priors (its hyperparameters)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..data.design import Design
from ..errors import InputError
from ..validation import require_guess

# A residual spread below this share of the response's is taken to be this: a linear fit may leave nothing.
LEAST_SHARE = 1e-3
# Beyond these the response leaves the range of single precision.
LARGEST, SMALLEST = 1e30, 1e-30
# A response farther from the median than this many robust standard deviations, which are 1.4826 times the median
# absolute deviation, is no guide to the range.
FARTHEST, NORMAL_MAD = 6.0, 1.4826
# Where k is learned, the one whose leaf values give its prior a scale.
USUAL_K = 2.0


@dataclass(frozen=True)
class Calibration:
    """What the prior takes from the data.

    Attributes
    ----------
    centre : tuple of float
        Added to each sum of trees: the middle of the response's range; of two classes the probit of the second one's
        share; of several classes 0 for each.
    leaf_sd : float
        The standard deviation of a leaf value.
    scale : float
        λ of σ² ~ νλ/χ²_ν, in the square of the response's unit.
    unit : float
        A power of two: the core computes in multiples of it.
    """

    centre: tuple[float, ...]
    leaf_sd: float
    scale: float
    unit: float

    @classmethod
    def of(
        cls,
        design: Design,
        *,
        trees: int,
        k: float | str,
        nu: float,
        q: float,
        sigma: str | float,
        robust: bool = False,
    ) -> Calibration:
        """The calibration of a design, for the hyperparameters that `BART` describes; robust without its outliers."""
        k = USUAL_K if isinstance(k, str) else k
        if design.classes is not None:
            sums = sums_of(design)
            return cls(
                (0.0,) * sums if sums > 1 else (_probit_of_share(design),), 3.0 / (k * math.sqrt(trees)), 1.0, 1.0
            )
        y = design.y if design.offset is None else design.y - design.offset
        kept = ~outlying(y) if robust else np.ones(len(y), dtype=bool)
        low, high = float(y[kept].min()), float(y[kept].max())
        spread = high - low
        if not np.abs(y).max() < LARGEST or 0 < spread < SMALLEST:
            raise InputError(
                f"column {design.response.name!r}: its values lie between {low:g} and {high:g}; rescale it"
            )
        spread = spread or max(abs(low), 1.0)  # of a constant response any will do
        if not isinstance(sigma, str):
            require_guess("sigma", sigma, spread)
        scale = _sigma_hat(design, y, kept, spread, sigma) ** 2
        if nu < math.inf:
            from scipy.stats import chi2

            scale *= float(chi2.ppf(1 - q, nu)) / nu
        unit = 2.0 ** math.ceil(math.log2(spread))
        return cls(((low + high) / 2,), spread / (2 * k * math.sqrt(trees)), scale, unit)

    def to_dict(self) -> dict[str, Any]:
        """The calibration as JSON-safe values, exact to the last bit."""
        return asdict(self) | {"centre": list(self.centre)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Calibration:
        """The calibration that `to_dict` described."""
        # Its square is used, of which there is none beyond.
        if not 1e-150 < record["unit"] < 1e150:
            raise InputError(f"the calibration has the unit {record['unit']!r}, which no response has")
        return cls(**{**record, "centre": tuple(record["centre"])})


def sums_of(design: Design) -> int:
    """How many sums of trees there are: one of numbers and of two classes, else one for each class."""
    return 1 if design.classes is None or len(design.classes) <= 2 else len(design.classes)


def factor_prior(nu: float, scale: float, factors: int) -> tuple[float, float]:
    """ν' and λ' of factors ν'λ'/χ²_ν' whose product is like νλ/χ²_ν: its logarithm has the same mean and variance."""
    from scipy.optimize import brentq
    from scipy.special import polygamma, psi

    mean = math.log(nu * scale / 2) - float(psi(nu / 2))
    variance = float(polygamma(1, nu / 2)) / factors
    # The trigamma function of x lies between 1/x and 1/x + 1/x².
    low, high = 1 / variance, (1 + math.sqrt(1 + 4 * variance)) / (2 * variance)
    half = brentq(lambda x: float(polygamma(1, x)) - variance, low, high, xtol=1e-12 * low) if factors > 1 else nu / 2
    return 2 * half, math.exp(mean / factors + float(psi(half))) / half


def outlying(y: np.ndarray) -> np.ndarray:
    """Which numbers are outliers: too far from the median, beside how far the others are from it."""
    distance = np.abs(y - np.median(y))
    differing = distance[distance > 0]
    # Where most are the same number, by how far the others are.
    typical = np.median(distance) or (np.median(differing) if differing.size else 0.0)
    far: np.ndarray = distance > FARTHEST * NORMAL_MAD * typical
    return far


def _sigma_hat(design: Design, y: np.ndarray, kept: np.ndarray, spread: float, sigma: str | float) -> float:
    if not isinstance(sigma, str):
        return float(sigma)
    weight = np.ones(len(y)) if design.weight is None else design.weight
    predictors = _linear_predictors(design)[kept] if sigma == "linear" else None
    y, weight = y[kept], weight[kept]
    mean = np.average(y, weights=weight)
    naive = math.sqrt(float(weight @ (y - mean) ** 2) / max(len(y) - 1, 1))
    naive = naive or LEAST_SHARE * spread
    if predictors is None:
        return naive
    freedom = len(y) - predictors.shape[1]
    if freedom <= 0:
        return naive
    root = np.sqrt(weight)
    fit, _, rank, _ = np.linalg.lstsq(predictors * root[:, None], (y - mean) * root, rcond=None)
    squares = float(weight @ (y - mean - predictors @ fit) ** 2)
    return max(math.sqrt(squares / max(len(y) - rank, 1)), LEAST_SHARE * naive)


def _linear_predictors(design: Design) -> np.ndarray:
    """An intercept and the columns as numbers: the middle between the cuts around a bin, levels as indicators."""
    columns = [np.ones(design.rows)]
    for column, bins in zip(design.columns, design.bins, strict=True):
        if column.has_missing:
            columns.append((bins == column.missing_bin).astype(float))
        if column.kind == "categorical":
            columns += [(bins == level).astype(float) for level in range(1, column.observed)]
        elif len(column.cuts):
            cuts = np.asarray(column.cuts, dtype=float)
            edges = np.concatenate([cuts[:1], cuts, cuts[-1:]])
            middle = np.append(edges[:-1] / 2 + edges[1:] / 2, np.median(cuts))  # the last one for missing values
            columns.append(middle[bins])
    predictors = np.column_stack(columns)
    largest = np.abs(predictors).max(axis=0)
    return predictors / np.where(largest > 0, largest, 1.0)


def _probit_of_share(design: Design) -> float:
    from scipy.special import ndtri

    weight = np.ones(design.rows) if design.weight is None else design.weight
    # With one more row of each class, so that a class without rows has a share as well.
    return float(ndtri((weight[design.y == 1].sum() + 1) / (weight.sum() + 2)))
