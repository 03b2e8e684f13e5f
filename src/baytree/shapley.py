"""What each column adds to a prediction: Shapley values of sums of trees, averaged over the draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import InputError
from .sum_prediction import SumPrediction


@dataclass(frozen=True, eq=False)
class Shapley:
    """Shapley values of new rows, in the unit of f: that of the response, or of the normal variables behind classes.

    For each row they add up to f less what is expected of a row of which nothing is known. With more than two classes,
    all arrays have an axis of classes before that of columns.

    Attributes
    ----------
    names : tuple of str
        The columns.
    mean : numpy.ndarray, shape (rows, columns)
        The posterior mean of the values.
    interval : numpy.ndarray, shape (rows, columns, 2)
        Their equal-tailed credible intervals.
    expected : float or numpy.ndarray
        The posterior mean of what is expected of an unknown row.
    """

    names: tuple[str, ...]
    mean: np.ndarray
    interval: np.ndarray
    expected: float | np.ndarray


def shapley(prediction: SumPrediction, codes: np.ndarray, prob: float = 0.9) -> Shapley:
    """Shapley values of new rows, with columns that are not known averaged over by the training rows of each split.

    Parameters
    ----------
    prediction : SumPrediction
        The draws.
    codes : numpy.ndarray of uint32, shape (rows, columns)
        The rows, encoded.
    prob : float
        The probability of the intervals.
    """
    if not 0 < prob < 1:
        raise InputError(f"prob={prob!r}: choose a probability between 0 and 1")
    predictor, names = prediction.predictor, prediction.schema.names
    tails = [0.5 - prob / 2, 0.5 + prob / 2]
    means, intervals = [], []
    for rows in predictor.row_blocks(len(codes), len(names)):
        values, base = predictor.shapley(codes[rows])
        means.append(np.moveaxis(values.mean(axis=0), 0, 1))
        intervals.append(np.moveaxis(np.quantile(values, tails, axis=0), (0, 1), (-1, 1)))
    mean, interval = np.concatenate(means), np.concatenate(intervals)
    expected = base.mean(axis=0) + prediction.centre
    if prediction.outputs == 1:
        return Shapley(names, mean[:, 0], interval[:, 0], float(expected[0]))
    return Shapley(names, mean, interval, expected)
