"""What a linear model takes from the data: the prior of its noise, and the units of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import expm1, inf, log
from typing import Any

import numpy as np

from ..data.matrix import LinearDesign
from ..data.standardise import DEPENDENT, Standard, standardise
from ..errors import InputError
from ..validation import is_number, require_guess, require_not_negative

# The least share of the response's variance that counts as noise: a fit that leaves less is exact.
LEAST_SHARE = 1e-6
# The share that counts as noise where rows are too few for a full fit.
UNKNOWN_SHARE = 0.5
# Units of the response in a unit of a column; coefficients are some times as large, and added up.
STEEPEST = 1e290


@dataclass(frozen=True)
class Calibration:
    """What a model takes from the data.

    Attributes
    ----------
    scale : float
        λ of the noise's prior, in the squared unit of the response.
    mean, unit : float
        The response's centre and unit; 0 its centre without an intercept.
    weight : float
        The total weight of the rows.
    centre, spread : tuple of float
        The centre and the unit of each column of the matrix; a spread of 0 marks one that never varies, or depends on
        others of its unit, and so never enters.
    """

    scale: float
    mean: float
    unit: float
    weight: float
    centre: tuple[float, ...]
    spread: tuple[float, ...]

    @classmethod
    def of(cls, design: LinearDesign, nu: float, scale: float | str, *, intercept: bool) -> Calibration:
        """The calibration of a design, for ν and λ as `noise_prior` takes them."""
        standard = standardise(design, intercept=intercept)
        if not isinstance(scale, str) and nu > 0:
            require_guess("scale", scale, standard.unit**2)
        _, scale = noise_prior(design, nu, scale, intercept=intercept)
        with np.errstate(over="ignore"):
            steep = np.flatnonzero(standard.kept & (standard.unit / standard.scale > STEEPEST))
        if steep.size:
            raise InputError(
                f"column {design.schema.matrix_names[steep[0]]!r}: it spreads by {standard.scale[steep[0]]:.3g}, so "
                "little beside the response that coefficients leave float64; rescale it"
            )
        weight = float(design.rows if design.weight is None else design.weight.sum())
        spread = np.where(standard.kept, standard.scale, 0.0)
        return cls(scale, standard.mean, standard.unit, weight, tuple(standard.centre.tolist()), tuple(spread.tolist()))

    def to_dict(self) -> dict[str, Any]:
        """The calibration as JSON-safe values, exact to the last bit."""
        return asdict(self) | {"centre": list(self.centre), "spread": list(self.spread)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Calibration:
        """The calibration that `to_dict` described."""
        return cls(**{**record, "centre": tuple(record["centre"]), "spread": tuple(record["spread"])})


def noise_prior(
    design: LinearDesign, nu: float = 3.0, scale: float | str = "auto", *, intercept: bool = True
) -> tuple[float, float]:
    """ν and λ of the noise's prior, ``σ² ~ IG(ν/2, νλ/2)``, which says that ``νλ/σ² ~ χ²_ν``.

    λ is a guess of σ², and ν the number of rows that the guess is worth. Under ``"auto"`` λ is calibrated as Chipman,
    George and McCulloch suggest [1]_: the residual variance of the fit of all columns, σ²_FULL, and that of the empty
    model, σ²_Y, are rough under- and over-estimates of σ², and the interval between them gets the most probability that
    it can. With a and b for its ends, dP(a < σ² < b)/dλ is 0 where the density of log σ² is the same at both:
    ``(λ/a)^(ν/2) exp(−νλ/2a) = (λ/b)^(ν/2) exp(−νλ/2b)``. Hence

    ``λ = log(b/a) / (1/a − 1/b)``

    whatever ν; it lies between a and √(ab).

    Where there are no more rows than columns, a full fit says nothing about the noise, and half of σ²_Y is the
    under-estimate: signal and noise are taken to be alike. A fit that is exact has rows enough to say that there is
    next to no noise; then a millionth of σ²_Y is.

    Parameters
    ----------
    design : LinearDesign
        The table. The noise of a row of weight w has variance σ²/w.
    nu : float
        ν, 0 or more; 0 is the improper limit p(σ²) ∝ 1/σ², for which λ does not matter.
    scale : float or "auto"
        λ, in the squared units of the response.
    intercept : bool
        Whether the model has an intercept.

    Returns
    -------
    nu, scale : float
        λ is 0 where ν is.

    References
    ----------
    .. [1] Chipman, George and McCulloch (2012), Structure discovery, §2.1.
    """
    require_noise(nu, scale)
    if nu == 0:
        return 0.0, 0.0
    if scale != "auto":
        return float(nu), float(scale)
    standard = standardise(design, intercept=intercept)
    empty = design.rows / standard.freedom
    found = best_scale(_full_variance(standard, empty), empty) * standard.unit * standard.unit
    if not 0 < found < inf:
        raise InputError(
            f"column {design.response.name!r}: its values spread by about {standard.unit:.3g}, whose square is out of "
            "range; rescale it"
        )
    return float(nu), found


def best_scale(low: float, high: float) -> float:
    """The λ that gives most probability to σ² between two numbers."""
    distance = log(high / low)
    return high * distance / expm1(distance) if distance else high


def _full_variance(standard: Standard, empty: float) -> float:
    """σ²_FULL in standard units, where the empty model has σ²_Y."""
    matrix = standard.matrix[:, standard.kept]
    if standard.freedom <= matrix.shape[1]:
        return UNKNOWN_SHARE * empty
    from scipy.linalg import lapack, solve_triangular

    # Where the next column is always the one that the others leave most of, all that depend on others come last.
    factor, order, rank, _ = lapack.dpstrf(matrix.T @ matrix, tol=DEPENDENT * len(matrix))
    matrix, factor = matrix[:, order[:rank] - 1], factor[:rank, :rank]
    coefficients = solve_triangular(factor, solve_triangular(factor, matrix.T @ standard.y, trans="T"))
    residual = standard.y - matrix @ coefficients
    return max(float(residual @ residual) / (standard.freedom - rank), LEAST_SHARE * empty)


def require_noise(nu: Any, scale: Any) -> None:
    """Raise InputError for what cannot be ν and λ."""
    require_not_negative("nu", nu)
    # Where ν is 0 λ does not matter, and a resolved model has 0.
    of_no_matter = nu == 0 and is_number(scale) and scale == 0
    if scale != "auto" and not of_no_matter and (not is_number(scale) or not 0 < scale < inf):
        raise InputError(f"scale={scale!r}: choose a positive number, or 'auto'")
