"""How much each column moves what sums of trees predict of a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..diagnostics.comparison import DRAWS
from ..interpret.explanation import Effect, Reasons, shown
from ..posterior.prediction import interval_of

if TYPE_CHECKING:
    from .posterior import BARTPosterior


def reasons_of(posterior: BARTPosterior, values: Sequence[Any], row: np.ndarray, place: int, prob: float) -> Reasons:
    """SHAP values of a row with their intervals, the largest first; with classes, of the variable behind a class.

    Parameters
    ----------
    posterior : BARTPosterior
        The draws.
    values : sequence
        The row.
    row : numpy.ndarray of shape (1, columns)
        The same in bins.
    place : int
        With classes, which of them is explained.
    prob : float
        The probability of the intervals.
    """
    response = posterior.schema.response
    found, base = posterior.prediction.some(DRAWS).explain(row, place)
    mean, interval = found[:, 0].mean(axis=0), interval_of(found[:, 0], prob)
    unit = response.name
    if response.classes is not None:
        unit = f"the normal variable behind {response.name} = {response.classes[place]}"
    effects = tuple(
        Effect(
            posterior.schema.names[column],
            shown(values[column]),
            mean=float(mean[column]),
            interval=(float(interval[column, 0]), float(interval[column, 1])),
        )
        for column in np.argsort(-np.abs(mean), kind="stable")
    )
    average = f"{float(base.mean()):.4g}"
    title = f"What moves {unit} from {average}, that of an average row (SHAP values)"
    return Reasons((), effects, float(base.mean()), unit, ("", title))
