"""Whatever table and options are given: a posterior with finite predictions, or an error of baytree's own."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import baytree as bt
from robustness import strategies
from robustness.strategies import Given

DESIGNS: dict[Any, Any] = {
    bt.CART: bt.make_design,
    bt.BART: bt.make_design,
    bt.Subset: bt.make_linear_design,
    bt.HME: bt.make_linear_design,
    bt.HMDT: bt.make_sequence_design,
}
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def come_of(case: Given) -> str:
    """``"fitted"`` or ``"refused"``; anything else that happens is an error of the test."""
    family, parameters = case.model
    weight = {} if family is bt.HMDT else {"sample_weight": case.weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            design = DESIGNS[family](case.X, case.y, task=case.task, **weight)
            posterior = bt.sample(family(**parameters), design, progress=False, **case.settings)
            predicted = posterior.predict(case.X)
        except bt.InputError:
            return "refused"
    assert predicted.shape[0] == len(case.X)
    assert np.isfinite(predicted).all()
    return "fitted"


CAME: Counter[str] = Counter()


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=QUIET)
@given(strategies.given())
def test_any_table_and_options(case: Given) -> None:
    CAME[come_of(case)] += 1


def test_both_come() -> None:
    """The strategies reach fits as well as errors."""
    if not CAME:
        test_any_table_and_options()
    assert CAME["fitted"] >= 10
    assert CAME["refused"] >= 10


@pytest.mark.slow
@settings(max_examples=5000, deadline=None, suppress_health_check=QUIET)
@given(strategies.given())
def test_many_tables_and_options(case: Given) -> None:
    come_of(case)
