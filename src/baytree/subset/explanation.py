"""What each term of the linear models contributes to the prediction of a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..interpret.explanation import Effect, Reasons, shown
from ..posterior.prediction import interval_of

if TYPE_CHECKING:
    from .posterior import SubsetPosterior


def reasons_of(posterior: SubsetPosterior, values: Sequence[Any], row: np.ndarray, prob: float) -> Reasons:
    """Coefficients times how far the row is from an average one, averaged over models, the largest first.

    Parameters
    ----------
    posterior : SubsetPosterior
        The draws.
    values : sequence
        The row.
    row : numpy.ndarray of shape (1, columns of the matrix)
        The same as a row of the matrix.
    prob : float
        The probability of the intervals.
    """
    schema, prediction = posterior.schema, posterior.prediction
    # Without an intercept there is no average row to begin at, and the centres are 0.
    centre = np.array(posterior.model.calibrated.centre)
    drawn = prediction.coefficients().reshape(-1, schema.width) * (row[0] - centre)
    exact = prediction.coefficient_mean[1] * (row[0] - centre)
    share = posterior.inclusion().best
    effects = []
    for number, probability in zip(posterior.model.possible_units(schema), share, strict=True):
        unit = schema.units[number]
        moved = drawn[:, unit.columns].sum(axis=1)
        interval = interval_of(moved, prob)
        effects.append(
            Effect(
                unit.name,
                "" if unit.parents else shown(values[number]),
                float(probability),
                float(exact[unit.columns].sum()),
                (float(interval[0]), float(interval[1])),
            )
        )
    effects.sort(key=lambda effect: -abs(effect.mean or 0.0))
    # What all models predict of an average row; with an intercept its posterior mean is that of the response.
    name, base = schema.response.name, posterior.model.calibrated.mean
    title = f"What moves {name} from {base:.4g}, that of an average row"
    return Reasons((), tuple(effects), base, name, ("", title))


def spreads_of(posterior: SubsetPosterior) -> list[tuple[float, float]]:
    """The mean and the standard deviation of the numbers of each column, over the training rows."""
    found, schema = posterior.model.calibrated, posterior.schema
    spread = np.array(found.spread) * np.sqrt(posterior.settings.rows / found.weight)
    begins = [unit.begin for unit in schema.units[: len(schema.columns)]]
    return [
        (float(schema.centres[begin]), float(spread[begin]) or 1.0) if begin < schema.width else (0.0, 1.0)
        for begin in begins
    ]
