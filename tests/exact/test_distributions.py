"""The core's random numbers of every distribution, against scipy's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from baytree import _core

DRAWS = 20_000
# A right generator fails with this probability, if the seed were not fixed.
FALSE_ALARM = 1e-4

Draw = Callable[[_core.Stream], float]


def p_value(draw: Draw, exact: Any, seed: int = 1) -> float:
    stream = _core.Stream(seed, 0)
    return float(stats.kstest([draw(stream) for _ in range(DRAWS)], exact.cdf).pvalue)


def probability(logit: float) -> float:
    return float(1 / (1 + np.exp(-logit)))


@pytest.mark.parametrize(
    ("draw", "exact"),
    [
        (lambda stream: stream.normal(), stats.norm()),
        *[(lambda stream, a=a: stream.log_gamma(a), stats.loggamma(a)) for a in (1e-3, 0.3, 1.0, 2.5, 1e3)],
        *[
            (lambda stream, a=a, b=b: probability(stream.logit_beta(a, b)), stats.beta(a, b))
            for a, b in [(0.5, 0.5), (1.0, 4.0), (0.1, 0.2), (30.0, 2.5)]
        ],
        *[(lambda stream, v=v: stream.student(v), stats.t(v)) for v in (0.7, 3.0, 40.0)],
    ],
)
def test_draws_have_their_distribution(draw: Draw, exact: Any) -> None:
    assert p_value(draw, exact) > FALSE_ALARM


@pytest.mark.parametrize(
    ("draw", "wrong"),
    [
        (lambda stream: stream.normal(), stats.norm(0, 1.1)),
        (lambda stream: stream.log_gamma(0.3), stats.loggamma(0.33)),
        (lambda stream: stream.log_gamma(2.5), stats.loggamma(2.7)),
        (lambda stream: probability(stream.logit_beta(1.0, 4.0)), stats.beta(1.0, 4.4)),
        (lambda stream: stream.student(3.0), stats.norm()),
    ],
)
def test_slightly_other_distributions_are_caught(draw: Draw, wrong: object) -> None:
    assert p_value(draw, wrong) < FALSE_ALARM


def test_probabilities_that_round_to_one_keep_their_order() -> None:
    stream = _core.Stream(1, 0)
    logits = np.array([stream.logit_beta(5.01, 0.01) for _ in range(1000)])
    assert np.isfinite(logits).all()
    assert (1 / (1 + np.exp(-logits)) == 1).mean() > 0.3
    assert len(set(logits.tolist())) == 1000


def test_nothing_is_kept_for_the_next_number() -> None:
    """A stream that is put back to a place goes on with the same numbers."""
    stream = _core.Stream(3, 0)
    stream.normal()
    place = stream.position
    numbers = [stream.normal(), stream.log_gamma(0.5), stream.student(2.0)]
    stream.seek(place)
    assert [stream.normal(), stream.log_gamma(0.5), stream.student(2.0)] == numbers


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_no_variable_has_ends(wrong: float) -> None:
    """Rejection accepts none of these, and tried for ever."""
    stream = _core.Stream(1, 0)
    assert not np.isfinite(stream.log_gamma(wrong))
    assert not _core.polya_gamma(wrong, stream) > 0
