"""The estimators of every family: scikit-learn's own checks, and the habits its users have."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import estimator_checks_generator

import baytree as bt
from baytree.posterior.registry import FAMILIES
from families import CASES, ESTIMATORS, NUMBERS, TWO, Estimator, X

EVERY = pytest.mark.parametrize("each", ESTIMATORS.values(), ids=ESTIMATORS)
ROWS = np.nan_to_num(X, nan=0.3)

CHECKS = [
    pytest.param(each, estimator, check, id=f"{name}-{check.func.__name__}-{number}")
    for name, each in ESTIMATORS.items()
    for number, (estimator, check) in enumerate(estimator_checks_generator(each.estimator))
]


def test_every_family_is_here() -> None:
    """A family that has registered has cases, and every estimator that there is a place among those that are tested."""
    assert set(CASES) == set(FAMILIES)
    public = [getattr(bt, name) for name in bt.__all__]
    estimators = {one for one in public if isinstance(one, type) and issubclass(one, BaseEstimator)}
    assert {type(each.estimator) for each in ESTIMATORS.values()} == estimators


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("each", "estimator", "check"), CHECKS)
def test_scikit_learn_check(each: Estimator, estimator: BaseEstimator, check: Any) -> None:
    if check.func.__name__ in each.fails:
        with pytest.raises((AssertionError, bt.InputError)):
            check(estimator)
    else:
        check(estimator)


@EVERY
def test_every_expected_failure_is_a_check(each: Estimator) -> None:
    assert set(each.fails) <= {check.func.__name__ for _, check in estimator_checks_generator(each.estimator)}


def predictions(estimator: Any) -> np.ndarray:
    """What an estimator makes of the table: predictions or, of a selector, columns."""
    return estimator.transform(ROWS) if hasattr(estimator, "transform") else estimator.predict(ROWS)


@EVERY
def test_copies(each: Estimator) -> None:
    """Clones have the same options, pickles predict the same, and neither depends on the number of threads."""
    assert clone(each.estimator).get_params() == each.estimator.get_params()
    y = TWO if hasattr(each.estimator, "predict_proba") else NUMBERS
    fitted = clone(each.estimator).fit(ROWS, y)
    again = clone(each.estimator).set_params(n_jobs=2).fit(ROWS, y)
    for other in (again, pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(predictions(fitted), predictions(other))
