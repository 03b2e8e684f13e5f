"""The core's Pólya–Gamma variables against their Laplace transform and moments, which have closed forms."""

import numpy as np
import pytest

from baytree import _core
from reference.agreement import Disagreement, assert_means_agree

DRAWS = 20_000
# On both sides of where one proposal takes over from the other, 1 / 0.32, and where e^tilt has no number.
TILTS = (0.0, 0.3, -1.0, 3.0, 3.2, -8.0, 40.0, 2000.0)


def mean(tilt: float) -> float:
    return 0.25 if tilt == 0 else float(np.tanh(tilt / 2) / (2 * tilt))


def second_moment(tilt: float) -> float:
    if tilt == 0:
        return 1 / 24 + mean(tilt) ** 2
    sech = 1 / np.cosh(min(tilt / 2, 300.0))
    return float((2 * np.tanh(tilt / 2) - tilt * sech**2) / (4 * tilt**3) + mean(tilt) ** 2)


def log_laplace(tilt: float, t: float) -> float:
    """log E e^(−tω)."""
    low, high = abs(tilt) / 2, np.sqrt(tilt**2 / 4 + t / 2)
    return float(low - high + np.log1p(np.exp(-2 * low)) - np.log1p(np.exp(-2 * high)))


def check(tilt: float, assumed: float) -> None:
    """Draws of a tilt have the moments and the Laplace transform of the assumed one, at several places."""
    stream = _core.Stream(1, 0)
    draws = np.array([_core.polya_gamma(tilt, stream) for _ in range(DRAWS)])
    assert (draws > 0).all()
    # Where the transform is about 0.9, 0.5, 0.1 and less, whatever the scale.
    places = np.array([0.1, 0.7, 3.0, 8.0]) / mean(assumed)
    transformed = np.exp(-draws[:, None] * places)
    exact = np.exp([log_laplace(assumed, t) for t in places])
    values = np.column_stack([draws, draws**2, transformed])[None]
    assert_means_agree(values, np.array([mean(assumed), second_moment(assumed), *exact]))


@pytest.mark.parametrize("tilt", TILTS)
def test_draws_have_their_laplace_transform(tilt: float) -> None:
    check(tilt, tilt)


@pytest.mark.parametrize(("tilt", "assumed"), [(0.0, 0.7), (1.0, 1.2), (3.0, 3.2), (8.0, 8.2), (2000.0, 2005.0)])
def test_slightly_other_tilts_are_caught(tilt: float, assumed: float) -> None:
    with pytest.raises(Disagreement):
        check(tilt, assumed)
