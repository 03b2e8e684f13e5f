"""Responses, weights, offsets and groups that cannot be used, and odd ones that can."""

# What is given is of a wrong type on purpose.
# mypy: disable-error-code="arg-type,list-item"

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

import baytree as bt

from .case import Case
from .given import BART, EM, GIBBS, ROWS, SHORT, THREE, TWO, A, B, X, Y, column, drawn, fitted, lines, put, steps, trees

InputError = bt.InputError
ONES = np.ones(ROWS)
HMDT = bt.HMDT(depth=1, epochs=2, n_init=1)
MEANFIELD = bt.HME(depth=1, method="variational")
PAIRS = np.column_stack([Y, -Y])
LATE = np.where(np.arange(ROWS) < 15, 0, 1)


def mix(value: object) -> list[object]:
    """The response with a value of another kind in it."""
    return [value, *Y[1:].tolist()]


def read(**columns: object) -> pl.DataFrame:
    return pl.DataFrame({"a": A, "y": Y} | columns)


def remembered(y: object = Y, **options: object) -> np.ndarray:
    """Predictions of a sequence that learned from these responses."""
    return drawn(steps(y=y, **options), HMDT).predict(X)


RESPONSES = [
    # ---- kinds ----------------------------------------------------------------------------------------------------
    Case("no response", lambda: trees(y=None), InputError, "requires y to be passed"),
    Case("no response for linear models", lambda: lines(y=None), InputError, "requires y to be passed"),
    Case("a response of a number alone", lambda: trees(y=3.0), InputError, "1d array"),
    Case("a response too short", lambda: trees(y=Y[:-1]), InputError, "inconsistent numbers of samples: 30 and 29"),
    Case("a response too long for sequences", lambda: steps(y=[*Y, 1.0]), InputError, "inconsistent numbers"),
    Case("two responses for trees", lambda: trees(y=PAIRS), InputError, "shape (30, 2)"),
    Case("two responses for linear models", lambda: lines(y=PAIRS), InputError, "shape (30, 2)"),
    Case("a cube of responses", lambda: trees(y=np.zeros((ROWS, 1, 1))), InputError, "shape (30, 1, 1)"),
    Case("a response of a column in a matrix", lambda: fitted(y=Y[:, None]), None, "column-vector y was passed"),
    Case("a response of lists of unequal length", lambda: trees(y=[[1], [1, 2]] * 15), InputError, "1d array"),
    Case("a response of dictionaries", lambda: trees(y=[{}] * ROWS), InputError, "nested values"),
    Case("a response of dates", lambda: trees(y=[datetime.date(2026, 1, 1)] * ROWS), InputError, "dates or times"),
    Case("a response of bytes", lambda: trees(y=[b"x", b"y"] * 15), InputError, "has type |S1"),
    Case("a complex response", lambda: trees(y=Y + 1j), InputError, "Complex data not supported"),
    Case("a sparse response", lambda: trees(y=sparse.csr_matrix(Y[:, None])), InputError, "1d array"),
    Case("a response of functions", lambda: trees(y=[len, max] * 15), InputError, "objects of type"),
    Case("text to be regressed", lambda: trees(y=TWO, task="regression"), InputError, "must be numbers, not text"),
    Case(
        "text to be regressed by linear models", lambda: lines(y=TWO, task="regression"), InputError, "must be numbers"
    ),
    Case("text to be regressed by sequences", lambda: steps(y=TWO), InputError, "must be numbers, not text"),
    Case(
        "classes of text and numbers", lambda: trees(y=mix("x"), task="classification"), InputError, "classes mix text"
    ),
    Case("a slip among numbers", lambda: trees(y=mix("1,5")), InputError, "'1,5' is not a number"),
    Case("fractions to be classified", lambda: trees(y=Y, task="classification"), InputError, "Unknown label type"),
    Case("a task that is none", lambda: trees(task="cluster"), InputError, "Choose from: auto, classification"),
    Case("a task that is a number", lambda: trees(task=1), InputError, "no task 1"),
    Case("a task that cannot be looked up", lambda: trees(task=["regression"]), InputError, "no task"),
    Case("booleans as a response", lambda: fitted(y=Y > 0)),
    Case("decimals as a response", lambda: fitted(y=[Decimal(row) for row in range(ROWS)])),
    Case("pandas categories as a response", lambda: fitted(y=pd.Series(pd.Categorical(THREE)))),
    Case("a name of a response that is a number", lambda: trees(target=3), InputError, "target=3"),
    # ---- numbers --------------------------------------------------------------------------------------------------
    Case("a response of NaN", lambda: trees(y=np.full(ROWS, np.nan)), InputError, "30 missing values (NaN)"),
    Case(
        "a missing response", lambda: trees(y=put(Y, 3, np.nan), task="regression"), InputError, "1 missing value (NaN)"
    ),
    Case("a missing response for linear models", lambda: lines(y=put(Y, 3, np.nan)), InputError, "drop these rows"),
    Case("a missing class", lambda: trees(y=[None, *TWO[1:]]), InputError, "missing value (NaN) in the response"),
    Case(
        "a sequence of missing responses", lambda: steps(y=np.full(ROWS, np.nan)), InputError, "every value is missing"
    ),
    Case(
        "a sequence with one response", lambda: steps(y=put(np.full(ROWS, np.nan), 4, 1.0)), InputError, "in every row"
    ),
    Case(
        "an infinite response",
        lambda: trees(y=put(Y, 3, np.inf), task="regression"),
        InputError,
        "row index 3: inf",
    ),
    Case("an infinite response for linear models", lambda: lines(y=put(Y, 3, -np.inf)), InputError, "infinite value"),
    Case("an infinite response in a sequence", lambda: steps(y=put(Y, 3, np.inf)), InputError, "infinite value"),
    Case(
        "a response past float64", lambda: trees(y=mix(10**400), task="regression"), InputError, "too large for float64"
    ),
    Case("a constant response", lambda: trees(y=ONES, task="regression"), InputError, "is 1 in every row"),
    Case(
        "a constant response for linear models",
        lambda: lines(y=ONES, task="regression"),
        InputError,
        "is 1 in every row",
    ),
    Case("a constant response for sequences", lambda: steps(y=ONES), InputError, "is 1 in every row"),
    Case("one class", lambda: trees(y=["only"] * ROWS), InputError, "only one class, only"),
    Case(
        "one class for linear models",
        lambda: lines(y=["only"] * ROWS, task="classification"),
        InputError,
        "only one class",
    ),
    Case("a class in every row of its own", lambda: fitted(y=[f"c{row}" for row in range(ROWS)])),
    Case("a class in every row, for a sum of trees", lambda: fitted(y=[f"c{row}" for row in range(ROWS)], model=BART)),
    Case("a class in every row, for experts", lambda: fitted(y=[f"c{row}" for row in range(ROWS)], model=EM)),
    Case(
        "the end of the floats, for a tree", lambda: fitted(y=Y * 1e307), InputError, "its variance is inf; rescale it"
    ),
    Case(
        "the end of the floats, for a sum of trees",
        lambda: fitted(y=Y * 1e307, model=BART),
        InputError,
        "its values lie between",
    ),
    Case(
        "the end of the floats, for linear models",
        lambda: fitted(y=Y * 1e307, model=bt.Subset()),
        InputError,
        "whose square is out of range",
    ),
    Case(
        "the end of the floats, for experts",
        lambda: fitted(y=Y * 1e307, model=EM),
        InputError,
        "its values lie between -1.3",
    ),
    Case(
        "the end of the floats, for chains of experts",
        lambda: fitted(y=Y * 1e307, model=GIBBS),
        InputError,
        "rescale it",
    ),
    Case(
        "the end of the floats, for a mean field",
        lambda: fitted(y=Y * 1e307, model=MEANFIELD),
        InputError,
        "rescale it",
    ),
    Case("the end of the floats, for sequences", lambda: remembered(Y * 1e307), InputError, "rescale it"),
    Case("subnormal responses, for a tree", lambda: fitted(y=Y * 1e-320), InputError, "its variance is 0; rescale it"),
    Case("subnormal responses, for a sum of trees", lambda: fitted(y=Y * 1e-320, model=BART), InputError, "rescale it"),
    Case(
        "subnormal responses, for linear models",
        lambda: fitted(y=Y * 1e-320, model=bt.Subset()),
        InputError,
        "whose square is out of range",
    ),
    Case("subnormal responses, for experts", lambda: fitted(y=Y * 1e-320, model=EM), InputError, "rescale it"),
    Case(
        "subnormal responses, for chains of experts",
        lambda: fitted(y=Y * 1e-320, model=GIBBS),
        InputError,
        "rescale it",
    ),
    Case("subnormal responses, for sequences", lambda: remembered(Y * 1e-320), InputError, "rescale it"),
    Case("a response far from zero", lambda: fitted(y=Y + 1e12, model=BART)),
    Case(
        "a response that rounding has eaten",
        lambda: fitted(y=2.0**53 + 2 * LATE, task="regression", model=bt.Subset()),
        InputError,
        "no more than rounding",
    ),
    Case("a response that is a column", lambda: fitted(y=A, model=bt.Subset())),
    Case("a response that is a column, for experts", lambda: fitted(y=A, model=EM)),
    Case("a response that is a column, for a sum of trees", lambda: fitted(y=A, model=BART)),
    Case("classes that a column tells apart", lambda: fitted(X=LATE[:, None], y=LATE, model=EM)),
    Case("classes that a column tells apart, for chains", lambda: fitted(X=LATE[:, None], y=LATE, model=GIBBS)),
    Case("classes that a column tells apart, for sums of trees", lambda: fitted(X=LATE[:, None], y=LATE, model=BART)),
    Case("negative counts", lambda: fitted(model=bt.HME(depth=1, expert="poisson")), InputError, "is for counts"),
    Case(
        "counts that are no whole numbers",
        lambda: fitted(y=np.abs(Y), task="regression", model=bt.HME(depth=1, expert="poisson")),
        InputError,
        "is for counts",
    ),
    Case(
        "zeros for gamma experts",
        lambda: fitted(y=np.maximum(Y, 0), task="regression", model=bt.HME(depth=1, expert="gamma")),
        InputError,
        "positive numbers",
    ),
    Case(
        "counts past 2**53",
        lambda: fitted(y=np.round(np.abs(Y) * 1e17), task="regression", model=bt.HME(depth=1, expert="poisson")),
    ),
    Case("numbers for logistic experts", lambda: fitted(model=bt.HME(expert="logistic")), InputError, "logistic"),
    Case(
        "three classes for logistic experts",
        lambda: fitted(y=THREE, model=bt.HME(expert="logistic")),
        InputError,
        "is for two classes",
    ),
    Case("classes for linear experts", lambda: fitted(y=TWO, model=bt.HME(expert="linear")), InputError, "linear"),
    Case(
        "classes for linear models",
        lambda: fitted(y=TWO, model=bt.Subset()),
        InputError,
        "linear models are of one number",
    ),
    Case(
        "classes for a Gaussian leaf",
        lambda: fitted(y=TWO, model=bt.CART(leaf=bt.Gaussian())),
        InputError,
        "use Categorical leaves",
    ),
    Case(
        "numbers for a leaf of classes",
        lambda: fitted(model=bt.CART(leaf=bt.Categorical())),
        InputError,
        "use Gaussian leaves",
    ),
    Case(
        "classes with a growing column",
        lambda: fitted(y=THREE, model=bt.CART(bt.GrowTree() & bt.Monotone(x0=1))),
        InputError,
        "3 classes",
    ),
    Case(
        "classes for noise that trees learn",
        lambda: fitted(y=TWO, model=bt.BART(variance="forest")),
        InputError,
        "variance",
    ),
    Case(
        "classes for noise that has outliers",
        lambda: fitted(y=TWO, model=bt.BART(noise="student")),
        InputError,
        "noise='student' is for numbers",
    ),
    # ---- weights --------------------------------------------------------------------------------------------------
    Case(
        "a negative weight",
        lambda: trees(sample_weight=put(ONES, 2, -1)),
        InputError,
        "weight -1 at row index 2 is negative",
    ),
    Case("weights of zero alone", lambda: trees(sample_weight=0 * ONES), InputError, "every weight is zero"),
    Case(
        "one positive weight",
        lambda: trees(sample_weight=put(0 * ONES, 1, 1)),
        InputError,
        "1 sample of positive weight",
    ),
    Case(
        "a missing weight", lambda: trees(sample_weight=put(ONES, 2, np.nan)), InputError, "at row index 2 is missing"
    ),
    Case("an infinite weight", lambda: trees(sample_weight=put(ONES, 2, np.inf)), InputError, "infinite value"),
    Case("weights of text", lambda: trees(sample_weight=["heavy"] * ROWS), InputError, "weights must be numbers"),
    Case("too few weights", lambda: trees(sample_weight=ONES[1:]), InputError, "one weight for each row"),
    Case(
        "weights as a column of a matrix",
        lambda: trees(sample_weight=ONES[:, None]),
        InputError,
        "one weight for each row",
    ),
    Case("a weight alone", lambda: trees(sample_weight=2.0), InputError, "one weight for each row"),
    Case("weights of lists", lambda: trees(sample_weight=[[1]] * ROWS), InputError, "one weight for each row"),
    Case(
        "positive weights of one class alone",
        lambda: trees(y=TWO, sample_weight=(TWO == "yes") * 1.0),
        InputError,
        "only one class",
    ),
    Case(
        "weights that leave a constant response",
        lambda: trees(y=LATE * 1.0, task="regression", sample_weight=LATE),
        InputError,
        "in every row",
    ),
    Case(
        "weights past all reason",
        lambda: trees(sample_weight=ONES * 1e300),
        InputError,
        "choose weights from 1e-15 to 1e+15",
    ),
    Case(
        "weights of next to nothing",
        lambda: lines(sample_weight=put(ONES, 4, 1e-300)),
        InputError,
        "weight 1e-300 at row index 4",
    ),
    Case("weights that add up past float64", lambda: lines(sample_weight=ONES * 1e308), InputError, "is out of range"),
    Case("the heaviest rows, for a tree", lambda: fitted(sample_weight=ONES * 1e15)),
    Case("the heaviest rows, for a sum of trees", lambda: fitted(sample_weight=ONES * 1e15, model=BART)),
    Case("the heaviest rows, for experts", lambda: fitted(sample_weight=ONES * 1e15, model=EM)),
    Case("the lightest rows, for a tree", lambda: fitted(sample_weight=ONES * 1e-15)),
    Case("the lightest rows, for a sum of trees", lambda: fitted(sample_weight=ONES * 1e-15, model=BART)),
    Case("the lightest rows, for experts", lambda: fitted(sample_weight=ONES * 1e-15, model=EM)),
    Case("rows of all weights", lambda: fitted(sample_weight=np.logspace(-15, 15, ROWS), model=bt.Subset())),
    Case("rows of all weights, for experts", lambda: fitted(sample_weight=np.logspace(-15, 15, ROWS), model=EM)),
    Case(
        "weights for chains of experts",
        lambda: fitted(sample_weight=ONES * 2, model=GIBBS),
        InputError,
        "takes no weights",
    ),
    Case(
        "weights that are no whole numbers, for two classes",
        lambda: fitted(y=TWO, sample_weight=ONES * 1.5, model=BART),
        InputError,
        "weight",
    ),
    # ---- offsets --------------------------------------------------------------------------------------------------
    Case(
        "an offset that is missing", lambda: trees(offset=put(ONES, 2, np.nan)), InputError, "offset nan at row index 2"
    ),
    Case("an infinite offset", lambda: trees(offset=put(ONES, 2, np.inf)), InputError, "infinite value"),
    Case("offsets of text", lambda: trees(offset=["up"] * ROWS), InputError, "offsets must be numbers"),
    Case("too many offsets", lambda: trees(offset=np.ones(ROWS + 1)), InputError, "one offset for each row"),
    Case("offsets for a tree", lambda: fitted(offset=ONES), InputError, "offset"),
    Case(
        "offsets at the end of the floats",
        lambda: drawn(trees(offset=ONES * 1e308), BART).predict(X, offset=ONES * 1e308),
        InputError,
        "-1e+308",
    ),
    Case(
        "new offsets at the end of the floats",
        lambda: drawn(trees(offset=ONES), BART).predict(X, offset=ONES * 1.7e308),
    ),
    Case("new rows without their offsets", lambda: drawn(trees(offset=ONES), BART).predict(X), InputError, "offset"),
    Case("offsets for a model without", lambda: drawn(model=BART).predict(X, offset=ONES).shape == (ROWS,)),
    Case(
        "too few new offsets",
        lambda: drawn(trees(offset=ONES), BART).predict(X, offset=[1.0]),
        InputError,
        "one offset for each row",
    ),
    # ---- groups and sequences -------------------------------------------------------------------------------------
    Case(
        "groups that do not lie together", lambda: steps(groups=np.arange(ROWS) % 2), InputError, "do not lie together"
    ),
    Case("groups of another length", lambda: steps(groups=[1, 2]), InputError, "give one for each"),
    Case("missing groups", lambda: steps(groups=[None] * ROWS), InputError, "some are missing"),
    Case("groups of lists", lambda: steps(groups=[[1]] * ROWS), InputError, "give one for each"),
    Case("groups in a matrix", lambda: steps(groups=np.ones((ROWS, 2))), InputError, "give one for each"),
    Case(
        "groups for lists of sequences",
        lambda: steps([X, X], [Y, Y], groups=[0, 1]),
        InputError,
        "a list of sequences already",
    ),
    Case("sequences of unequal width", lambda: steps([X, X[:, :1]], [Y, Y]), InputError, "columns"),
    Case(
        "sequences of frames with other names",
        lambda: steps([column(B), pl.DataFrame({"z": A})], [Y, Y]),
        InputError,
        "columns",
    ),
    Case("a sequence without rows", lambda: steps([X, X[:0]], [Y, Y[:0]]), InputError, "sequence 1 has no rows"),
    Case(
        "a response too few for a sequence",
        lambda: steps([X, X], [Y, Y[1:]]),
        InputError,
        "sequence 1: X has 30 rows and y 29",
    ),
    Case("one response for two sequences", lambda: steps([X, X], Y), InputError, "give one y for each"),
    Case("an empty list of sequences", lambda: steps([], []), InputError, "2D array"),
    Case("a row in every sequence", lambda: remembered(groups=np.arange(ROWS))),
    Case(
        "new classes in new sequences",
        lambda: drawn(steps(y=THREE, task="classification"), HMDT).predict(X, y=["z"] * ROWS),
        InputError,
        "is no class of the fit",
    ),
    Case(
        "text for numbers in new sequences",
        lambda: drawn(steps(), HMDT).predict(X, y=["z"] * ROWS),
        InputError,
        "must be numbers",
    ),
    Case(
        "infinity in new sequences",
        lambda: drawn(steps(), HMDT).predict(X, y=np.full(ROWS, np.inf)),
        InputError,
        "infinite value",
    ),
    Case("too few responses in new sequences", lambda: drawn(steps(), HMDT).predict(X, y=Y[:3]), InputError, "rows"),
    Case(
        "responses at the end of the floats in new sequences",
        lambda: drawn(steps(), HMDT).predict(X, y=Y * 1e307),
        InputError,
        "too far from the responses",
    ),
    Case("no rows in a new sequence", lambda: drawn(steps(), HMDT).predict(X[:0]).shape == (0,)),
    # ---- frames that hold all -------------------------------------------------------------------------------------
    Case("a target that is no column", lambda: bt.read(read(), "Y"), InputError, "Did you mean 'y'?"),
    Case("a target by its position", lambda: bt.read(read(), 1), InputError, "no column 1"),
    Case("a target for an array", lambda: bt.read(X, "x0"), InputError, "give arrays to an estimator's fit"),
    Case("a weight that is no column", lambda: bt.read(read(), "y", weight="w"), InputError, "no column 'w'"),
    Case(
        "a weight that is the target",
        lambda: bt.read(read(), "y", weight="y"),
        InputError,
        "cannot be both target and weight",
    ),
    Case(
        "a weight that is the offset",
        lambda: bt.read(read(w=ONES), "y", weight="w", offset="w"),
        InputError,
        "both weight and offset",
    ),
    Case("the target dropped", lambda: bt.read(read(), "y", drop="y"), InputError, "drop names 'y'"),
    Case(
        "the weight declared categorical",
        lambda: bt.read(read(w=ONES), "y", weight="w", categorical="w"),
        InputError,
        "categorical names 'w'",
    ),
    Case("every predictor dropped", lambda: bt.read(read(), "y", drop=["a"]), InputError, "0 feature(s)"),
    Case("a dropped column that is not there", lambda: bt.read(read(), "y", drop=["b"]), InputError, "no column 'b'"),
    Case(
        "numbers of columns to drop",
        lambda: bt.read(read(), "y", drop=[0]),
        InputError,
        "drop=[0]: give a list of text",
    ),
    Case(
        "a number of a column to drop", lambda: bt.read(read(), "y", drop=0), InputError, "drop=0: give a list of text"
    ),
    Case(
        "a number of a categorical column",
        lambda: bt.read(read(), "y", categorical=5),
        InputError,
        "categorical=5: give a",
    ),
    Case(
        "an interaction of the target",
        lambda: bt.read_linear(read(b=B), "y", interactions=[("a", "y")]),
        InputError,
        "no column 'y'",
    ),
    Case(
        "draws that never saw the table",
        lambda: bt.extend(drawn(), trees(y=-Y, task="regression"), draws=2, progress=False),
        InputError,
        "not the data that the draws came from",
    ),
    Case(
        "chains that go on from another design",
        lambda: bt.extend(drawn(), lines(), draws=2, progress=False),
        InputError,
        "LinearDesign",
    ),
    Case("a run of no design", lambda: bt.sample(bt.CART(), X, **SHORT), InputError, "ndarray"),
]
