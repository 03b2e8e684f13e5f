"""What scikit-learn's estimators are given that they cannot use."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

import baytree as bt

from .case import Case
from .given import ROWS, SHORT, THREE, TWO, A, X, Y, put

InputError = bt.InputError
QUICK: dict[str, Any] = {name: SHORT[name] for name in ("warmup", "draws", "chains")} | {"random_state": 0}
NAN = float("nan")


def cart(X: Any = X, y: Any = Y, **options: Any) -> Any:
    return bt.CARTRegressor(**QUICK | options).fit(X, y)


def classes(X: Any = X, y: Any = THREE, **options: Any) -> Any:
    return bt.CARTClassifier(**QUICK | options).fit(X, y)


def bart(X: Any = X, y: Any = Y, **options: Any) -> Any:
    return bt.BARTRegressor(trees=3, **QUICK | options).fit(X, y)


def hme(X: Any = X, y: Any = Y, **options: Any) -> Any:
    return bt.HMERegressor(**{"depth": 1, "random_state": 0} | options).fit(X, y)


def subset(X: Any = X, y: Any = Y, **options: Any) -> Any:
    return bt.SubsetRegressor(**{"random_state": 0} | options).fit(X, y)


def selected(**options: Any) -> Any:
    return bt.SubsetSelector(**{"random_state": 0} | options).fit(X, Y)


ESTIMATORS = [
    Case("predictions before the fit", lambda: bt.CARTRegressor().predict(X), NotFittedError, "not fitted"),
    Case(
        "predictions of a sum before the fit",
        lambda: bt.BARTClassifier().predict_proba(X),
        NotFittedError,
        "not fitted",
    ),
    Case("a selection before the fit", lambda: bt.SubsetSelector().transform(X), NotFittedError, "not fitted"),
    Case("a parameter that is none", lambda: bt.CARTRegressor().set_params(trees=3), ValueError, "Invalid parameter"),
    Case("numbers for a classifier", lambda: classes(y=Y), InputError, "Unknown label type"),
    Case("text for a regressor", lambda: cart(y=TWO), InputError, "must be numbers, not text"),
    Case("text for a regression by experts", lambda: hme(y=TWO), InputError, "numbers"),
    Case("one class", lambda: classes(y=["same"] * ROWS), InputError, "only one class"),
    Case("no response", lambda: cart(y=None), InputError, "requires y to be passed"),
    Case("a response too short", lambda: bart(y=Y[1:]), InputError, "inconsistent numbers of samples"),
    Case("two responses of a sum", lambda: bart(y=np.column_stack([Y, Y])), InputError, "shape (30, 2)"),
    Case("a missing response of experts", lambda: hme(y=put(Y, 2, NAN)), InputError, "NaN"),
    Case(
        "a missing one of two responses",
        lambda: hme(y=np.column_stack([Y, put(Y, 2, NAN)])),
        InputError,
        "drop these rows",
    ),
    Case("two responses of the same number", lambda: hme(y=np.ones((ROWS, 2))), InputError, "same in all rows"),
    Case("two responses past the floats", lambda: hme(y=np.column_stack([Y, Y]) * 1e307), InputError, "rescale it"),
    Case("an infinite cell of a sum", lambda: bart(put(X, (0, 0), np.inf)), InputError, "infinite value"),
    Case("a vector of cells", lambda: cart(A), InputError, "reshape(-1, 1)"),
    Case("no rows", lambda: cart(X[:0], Y[:0]), InputError, "0 samples"),
    Case(
        "a column too many to predict", lambda: cart().predict(np.ones((2, 3))), ValueError, "is expecting 2 features"
    ),
    Case("a seed in words", lambda: cart(random_state="one"), ValueError, "one"),
    Case("no chains", lambda: bart(chains=0), InputError, "chains=0"),
    Case("draws in words", lambda: cart(draws="many"), InputError, "draws='many'"),
    Case("no processors", lambda: cart(n_jobs=0), InputError, "n_jobs=0"),
    Case("processors in words", lambda: cart(n_jobs="all"), InputError, "n_jobs='all'"),
    Case("a prior in words", lambda: cart(prior="grow"), InputError, "prior='grow'"),
    Case("cuts in words", lambda: bart(max_cuts="all"), InputError, "max_cuts"),
    Case("columns that grow by twos", lambda: bart(monotonic_cst=[2, 0]), InputError, "monotonic_cst"),
    Case("too few columns that grow", lambda: bart(monotonic_cst=[1]), InputError, "monotonic_cst"),
    Case("columns that grow by words", lambda: bart(monotonic_cst="up"), InputError, "monotonic_cst"),
    Case("interactions by another word", lambda: bart(interaction_cst="some"), InputError, "interaction_cst"),
    Case("interactions of columns that are not there", lambda: bart(interaction_cst=[{0, 9}]), InputError, "9"),
    Case("a threshold past 1", lambda: selected(threshold=2), InputError, "threshold=2"),
    Case("less than no features", lambda: selected(max_features=-1), InputError, "max_features=-1"),
    Case("a method of experts that is none", lambda: hme(method="mcmc"), InputError, "no method 'mcmc'"),
    Case(
        "weights for chains of experts",
        lambda: bt.HMERegressor(method="gibbs").fit(X, Y, sample_weight=np.full(ROWS, 2.0)),
        InputError,
        "takes no weights",
    ),
    Case(
        "weights that are negative",
        lambda: bt.SubsetRegressor().fit(X, Y, sample_weight=-np.ones(ROWS)),
        InputError,
        "is negative",
    ),
    Case("more rows for a fit by EM", lambda: hme().partial_fit(X, Y).predict(X)),
    Case(
        "classes that come later without a word",
        lambda: bt.HMEClassifier(depth=1, method="online").fit(X, TWO).partial_fit(X, THREE),
        InputError,
        "is no class of the fit",
    ),
    Case(
        "an interval of no probability", lambda: bart().posterior_.predict(X, "interval", 1.0), InputError, "prob=1.0"
    ),
    Case(
        "an offset of another length",
        lambda: bt.BARTRegressor(trees=3, **QUICK).fit(X, Y, offset=[1.0]),
        InputError,
        "one offset for each row",
    ),
    Case(
        "sequences of groups that come again",
        lambda: bt.HMDTRegressor(depth=1, n_init=1).fit(X, Y, groups=np.arange(ROWS) % 2),
        InputError,
        "do not lie together",
    ),
    Case("a score of another length", lambda: cart().score(X, Y[1:]), ValueError, "inconsistent"),
    Case("an interaction of a regression", lambda: subset(interactions=[(0, 7)]), InputError, "no column 7"),
]
