"""The estimators of every family: scikit-learn's own checks, and the habits its users have."""

import pickle
from typing import Any, Self, get_type_hints

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

import baytree as bt
from baytree.posterior.registry import FAMILIES
from families import CASES, ESTIMATORS, NUMBERS, TWO, Estimator, X, drawn

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


WITH_IMPORTANCES = [name for name, each in ESTIMATORS.items() if hasattr(type(each.estimator), "feature_importances_")]


@EVERY
def test_fit_is_typed_as_what_it_gives(each: Estimator) -> None:
    assert get_type_hints(type(each.estimator).fit)["return"] is Self


def test_families_of_trees_and_linear_models_have_importances() -> None:
    kinds = {type(ESTIMATORS[name].estimator).__name__ for name in WITH_IMPORTANCES}
    assert kinds == {f"{family}{task}" for family in ("CART", "BART") for task in ("Classifier", "Regressor")} | {
        "SubsetRegressor",
        "SubsetSelector",
    }


@pytest.mark.parametrize("name", WITH_IMPORTANCES)
def test_importances_select_columns(name: str) -> None:
    """They are shares, of which the column that says nothing has the least, and scikit-learn's selection takes them."""
    estimator = clone(ESTIMATORS[name].estimator)
    with pytest.raises(NotFittedError):
        _ = estimator.feature_importances_
    fitted = estimator.fit(ROWS, TWO if hasattr(estimator, "predict_proba") else NUMBERS)
    shares = fitted.feature_importances_
    assert shares.shape == (3,) and (shares >= 0).all() and shares.sum() <= 1 + 1e-9
    np.testing.assert_array_equal(shares, fitted.posterior_.variable_use().mean)
    kept = SelectFromModel(fitted, prefit=True, threshold=float(np.median(shares))).get_support()
    assert kept.tolist() == (shares >= np.median(shares)).tolist()


@pytest.mark.parametrize(
    "name", [name for name, each in ESTIMATORS.items() if type(each.estimator).__name__.endswith("Regressor")]
)
def test_standard_deviations_of_new_responses(name: str) -> None:
    """Those of draws of new responses, at the same rows."""
    fitted = clone(ESTIMATORS[name].estimator).fit(ROWS, NUMBERS)
    mean, sd = fitted.predict(ROWS, return_std=True)
    np.testing.assert_array_equal(mean, fitted.predict(ROWS))
    np.testing.assert_array_equal(sd, fitted.predict(ROWS, kind="sd"))
    assert sd.shape == mean.shape and (sd > 0).all()
    with pytest.raises(bt.InputError, match="return_std=True goes with the mean"):
        fitted.predict(ROWS, kind="sd", return_std=True)


def test_standard_deviations_of_sums_are_those_of_their_draws() -> None:
    posterior = drawn("bart: numbers")
    new = posterior.predict(X, "predictive").reshape(-1, len(X))
    sd = posterior.predict(X, "sd")
    # Thirty draws tell a standard deviation to a seventh of itself, and there are sixty rows.
    assert np.abs(np.log(new.std(axis=0) / sd)).max() < 0.7
    assert np.abs(np.log(new.std(axis=0) / sd)).mean() < 0.2
    draws = posterior.predict(X, "draws").reshape(-1, len(X))
    np.testing.assert_allclose(sd, np.sqrt(draws.var(axis=0) + (posterior.sigma**2).mean()))
    with pytest.raises(bt.InputError, match="no kind of prediction 'sd'"):
        drawn("bart: two classes").predict(X, "sd")


def test_weights_are_routed() -> None:
    """Through a pipeline and a search, as they come without either."""
    weight = np.where(np.median(NUMBERS) < NUMBERS, 20.0, 0.05)
    model = bt.CARTRegressor(draws=30, warmup=30, chains=2, random_state=0)
    with config_context(enable_metadata_routing=True):
        asked = clone(model).set_fit_request(sample_weight=True)
        routed = make_pipeline(FunctionTransformer(), asked).fit(ROWS, NUMBERS, sample_weight=weight)
        scored = clone(asked).set_score_request(sample_weight=True)
        search = GridSearchCV(scored, {"draws": [20, 30]}, cv=2).fit(ROWS, NUMBERS, sample_weight=weight)
        spread = clone(asked).set_predict_request(return_std=True)
        assert len(make_pipeline(spread).fit(ROWS, NUMBERS).predict(ROWS, return_std=True)) == 2
    alone = clone(model).fit(ROWS, NUMBERS, sample_weight=weight)
    np.testing.assert_array_equal(routed.predict(ROWS), alone.predict(ROWS))
    assert (routed.predict(ROWS) != clone(model).fit(ROWS, NUMBERS).predict(ROWS)).any()
    assert search.best_params_["draws"] in (20, 30)
