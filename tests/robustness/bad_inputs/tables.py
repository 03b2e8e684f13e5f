"""Tables that cannot be used, and odd ones that can."""

# What is given is of a wrong type on purpose.
# mypy: disable-error-code="arg-type,list-item"

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

import baytree as bt

from .case import Case
from .given import BART, EM, GIBBS, ROWS, THREE, A, B, X, Y, column, drawn, fitted, lines, put, steps, trees

InputError = bt.InputError
DAYS = [datetime.date(2026, 1, 1 + day % 28) for day in range(ROWS)]
LABELS = list("pqr" * (ROWS // 3))


def repeated_names() -> pd.DataFrame:
    return pd.DataFrame(np.column_stack([A, B]), columns=["a", "a"])


def unhashable() -> list[Any]:
    return [[{"deep": 1}, 1.0] for _ in range(ROWS)]


def stray(at: int, value: Any) -> np.ndarray:
    """The table with a value of another kind in it."""
    odd = X.astype(object)
    odd[at, 0] = value
    return odd


TABLES = [
    # ---- containers -----------------------------------------------------------------------------------------------
    Case("nothing", lambda: trees(None), InputError, "2D array"),
    Case("a number", lambda: trees(7), InputError, "2D array"),
    Case("a name of no file", lambda: trees("absent.csv"), bt.FileError, "no such file"),
    Case("a list of numbers", lambda: trees(A.tolist()), InputError, "reshape(-1, 1)"),
    Case("a vector", lambda: trees(A), InputError, "2D array"),
    Case("a cube", lambda: trees(np.zeros((ROWS, 2, 2))), InputError, "X must be 2D"),
    Case("rows of unequal length", lambda: trees([[1.0, 2.0], [3.0]] * 15), InputError, "same number of columns"),
    Case("a sparse matrix", lambda: trees(sparse.csr_matrix(X)), InputError, "toarray()"),
    Case("a sparse array", lambda: lines(sparse.coo_array(X)), InputError, "toarray()"),
    Case("a sparse diagonal matrix", lambda: trees(sparse.eye(ROWS)), InputError, "toarray()"),
    Case("a lazy frame", lambda: trees(column(B).lazy()), InputError, "collect()"),
    Case("a set", lambda: trees({1, 2, 3}), InputError, "2D array"),
    Case("a dictionary of columns", lambda: trees({"a": A, "b": B}), InputError, "2D array"),
    Case("a generator", lambda: trees(row for row in X), InputError, "2D array"),
    Case("a string of numbers", lambda: trees(b"1,2,3"), InputError, "2D array"),
    Case("complex numbers", lambda: trees(X + 1j), InputError, "Complex data not supported"),
    Case("a record array", lambda: trees(np.zeros(ROWS, dtype=[("a", float), ("b", float)])), InputError, "2D array"),
    Case("raw bytes as cells", lambda: trees(np.full((ROWS, 2), b"x")), InputError, "has type |S1; convert it"),
    Case("a matrix of void", lambda: trees(np.zeros((ROWS, 2), dtype="V4")), InputError, "convert it to numbers"),
    Case("a polars series", lambda: trees(pl.Series("a", A)), InputError, "2D array"),
    Case("a pandas series", lambda: trees(pd.Series(A)), InputError, "2D array"),
    Case("a type", lambda: trees(list), InputError, "2D array"),
    # ---- sizes ----------------------------------------------------------------------------------------------------
    Case("no rows", lambda: trees(np.empty((0, 2)), np.empty(0)), InputError, "0 samples"),
    Case("no columns", lambda: trees(np.empty((ROWS, 0))), InputError, "0 feature(s)"),
    Case("no rows and no columns", lambda: trees(np.empty((0, 0)), np.empty(0)), InputError, "0 "),
    Case("one row", lambda: trees(X[:1], Y[:1], task="regression"), InputError, "2 rows"),
    Case("one row for linear models", lambda: lines(X[:1], Y[:1], task="regression"), InputError, "2 rows"),
    Case("one row for sequences", lambda: steps(X[:1], Y[:1]), InputError, "2 rows"),
    Case("no row for sequences", lambda: steps(X[:0], Y[:0]), InputError, "at least two rows must be seen"),
    Case("a frame without columns", lambda: trees(pl.DataFrame()), InputError, "0 "),
    Case("a pandas frame of an index alone", lambda: trees(pd.DataFrame(index=range(ROWS))), InputError, "0 feature"),
    Case("two rows are enough", lambda: fitted(X[:2], Y[:2], task="regression")),
    Case("fewer rows than a leaf needs", lambda: fitted(X[:3], Y[:3], task="regression")),
    Case("more columns than rows", lambda: fitted(np.random.default_rng(1).normal(size=(ROWS, 200)))),
    Case(
        "more columns than rows, for linear models",
        lambda: fitted(np.random.default_rng(1).normal(size=(ROWS, 90)), model=bt.Subset(method="sample")),
    ),
    # ---- numbers --------------------------------------------------------------------------------------------------
    Case("an infinite cell", lambda: trees(put(X, (3, 0), np.inf)), InputError, "row index 3: inf"),
    Case("minus infinity", lambda: lines(put(X, (0, 1), -np.inf)), InputError, "infinite value"),
    Case("infinity in a sequence", lambda: steps(put(X, (2, 1), np.inf)), InputError, "infinite value"),
    Case("a number past float64", lambda: trees(stray(0, 10**400)), InputError, "too large for float64"),
    Case("a decimal past float64", lambda: trees(stray(0, Decimal("1e999"))), InputError, "inf"),
    Case("a long double past float64", lambda: trees(np.full((ROWS, 1), np.longdouble("1e4000"))), InputError, "inf"),
    Case("missing cells", lambda: fitted(put(X, (slice(0, 9), 0), np.nan))),
    Case("missing cells for linear models", lambda: fitted(put(X, (slice(0, 9), 0), np.nan), model=EM)),
    Case("a column without any value", lambda: fitted(put(X, (slice(None), 0), np.nan))),
    Case("a column without any value, for linear models", lambda: fitted(put(X, (slice(None), 0), np.nan), model=EM)),
    Case("no value in the whole table", lambda: fitted(np.full((ROWS, 2), np.nan))),
    Case("constant columns", lambda: fitted(np.ones((ROWS, 2)))),
    Case(
        "constant columns for linear models",
        lambda: fitted(np.ones((ROWS, 2)), model=bt.Subset()),
        InputError,
        "no column varies",
    ),
    Case("constant columns for experts", lambda: fitted(np.ones((ROWS, 2)), model=EM)),
    Case("the same column twice", lambda: fitted(np.column_stack([A, A]))),
    Case("the same column twice, for linear models", lambda: fitted(np.column_stack([A, A]), model=bt.Subset())),
    Case("the same column twice, for experts", lambda: fitted(np.column_stack([A, A]), model=EM)),
    Case("the same row everywhere but for y", lambda: fitted(np.tile([1.0, 2.0], (ROWS, 1)))),
    Case("the largest floats", lambda: fitted(X * 1e307)),
    Case("the largest floats for a sum of trees", lambda: fitted(X * 1e307, model=BART)),
    Case("the largest floats for experts", lambda: fitted(X * 1e307, model=EM)),
    Case("the largest floats for linear models", lambda: fitted(X * 1e307, model=bt.Subset())),
    Case("the smallest floats", lambda: fitted(X * 5e-324)),
    Case(
        "the smallest floats for linear models", lambda: fitted(X * 1e-310, model=bt.Subset()), InputError, "rescale it"
    ),
    Case("the smallest floats for experts", lambda: fitted(X * 1e-310, model=EM)),
    Case("minus zero and zero", lambda: fitted(np.where(X > 0, 0.0, -0.0))),
    Case("neighbouring floats", lambda: fitted(np.column_stack([1 + np.arange(ROWS) * 2.3e-16, B]))),
    Case(
        "numbers so far from zero that nothing else is left",
        lambda: fitted(X + 1e18, model=bt.Subset()),
        InputError,
        "no column varies",
    ),
    Case("whole numbers past 2**53", lambda: fitted(np.column_stack([2**62 + np.arange(ROWS), np.arange(ROWS)]))),
    Case("unsigned numbers past 2**63", lambda: fitted(np.full((ROWS, 1), 2**64 - 1, dtype=np.uint64))),
    Case("half floats", lambda: fitted(X.astype(np.float16))),
    Case("big-endian floats", lambda: fitted(X.astype(">f8"))),
    Case("a table that is not contiguous", lambda: fitted(np.repeat(X, 2, axis=1)[:, ::2])),
    Case("a table that runs backwards", lambda: fitted(X[::-1], model=BART)),
    Case("a read-only table", lambda: fitted(np.frombuffer(X.tobytes()).reshape(X.shape))),
    Case("booleans", lambda: fitted(X > 0)),
    Case("fractions", lambda: fitted([[Fraction(row, 7), 1] for row in range(ROWS)])),
    Case("a masked array", lambda: fitted(np.ma.masked_greater(X, 1.5))),
    # ---- cells of other kinds -------------------------------------------------------------------------------------
    Case("dates", lambda: trees(column(DAYS)), InputError, "dates or times"),
    Case("dates for linear models", lambda: lines(column(DAYS)), InputError, "dates or times"),
    Case(
        "times with a zone", lambda: trees(column([datetime.datetime.now(datetime.UTC)] * ROWS)), InputError, "dates or"
    ),
    Case("durations", lambda: trees(column([datetime.timedelta(day) for day in range(ROWS)])), InputError, "dates or"),
    Case(
        "pandas periods", lambda: trees(pd.DataFrame({"p": pd.period_range("2026", periods=ROWS)})), InputError, "dates"
    ),
    Case("pandas intervals are labels", lambda: fitted(pd.DataFrame({"p": pd.interval_range(0, ROWS)}))),
    Case("lists as cells", lambda: trees(column([[1, 2]] * ROWS)), InputError, "nested values"),
    Case("structs as cells", lambda: trees(column([{"x": 1}] * ROWS)), InputError, "nested values"),
    Case("dictionaries as cells", lambda: trees(unhashable()), InputError, "nested values"),
    Case("bytes as cells", lambda: trees(column([b"x"] * ROWS)), InputError, "bytes"),
    Case("sets among numbers", lambda: trees(stray(4, {1})), InputError, "nested values"),
    Case("an object of a class among numbers", lambda: trees(stray(4, object())), InputError, "objects of type object"),
    Case("a function among numbers", lambda: trees(stray(4, len)), InputError, "objects of type builtin"),
    Case("a complex number among numbers", lambda: trees(stray(4, 1j)), InputError, "Complex data not supported"),
    Case("polars objects", lambda: trees(column(pl.Series([object()] * ROWS, dtype=pl.Object))), InputError, "convert"),
    Case("a slip in a column of numbers", lambda: fitted(column([*map(str, range(ROWS - 1)), "x1"])), None, "'x1'"),
    Case("None among numbers", lambda: fitted(stray(4, None))),
    Case("pandas NA among numbers", lambda: fitted(pd.DataFrame({"a": pd.array([pd.NA, *range(1, ROWS)]), "b": B}))),
    Case("pandas NaT among numbers", lambda: fitted(stray(4, pd.NaT))),
    Case("a polars column of nulls", lambda: fitted(column(pl.Series([None] * ROWS)))),
    Case("a pyarrow column of nulls", lambda: fitted(pa.table({"a": A, "c": pa.nulls(ROWS)}))),
    Case(
        "pandas categories with a level that never comes",
        lambda: fitted(pd.DataFrame({"c": pd.Categorical(LABELS, ["z", *"pqr"])})),
    ),
    Case(
        "a polars enum with a level that never comes",
        lambda: fitted(column(pl.Series(LABELS, dtype=pl.Enum(["z", *"pqr"])))),
    ),
    Case(
        "pyarrow dictionaries with nulls",
        lambda: fitted(pa.table({"c": pa.array([None, *LABELS[1:]]).dictionary_encode()})),
    ),
    Case("a label in every row of its own", lambda: fitted(column([f"id{row}" for row in range(ROWS)]))),
    Case(
        "a label of every row, for linear models", lambda: fitted(column([f"id{row}" for row in range(ROWS)]), model=EM)
    ),
    Case("empty text as a label", lambda: fitted(column(["", "x"] * (ROWS // 2)))),
    Case("control characters in labels", lambda: fitted(column(["\x1b[2J", "\x00"] * (ROWS // 2)))),
    Case(
        "labels of right-to-left and joined signs", lambda: fitted(column(["שלום", "👩‍👩‍👧", "e\u0301"] * (ROWS // 3)))
    ),
    Case("lone surrogates as labels", lambda: fitted(put(stray(4, "\ud800"), (5, 0), "y"))),
    Case("labels a megabyte long", lambda: fitted(column(["x" * 10**6, "y"] * (ROWS // 2)))),
    Case("a column of one label", lambda: fitted(column(["same"] * ROWS))),
    Case("labels that differ by a blank", lambda: fitted(column(["p", "p "] * (ROWS // 2)))),
    # ---- names ----------------------------------------------------------------------------------------------------
    Case("two columns of one name", lambda: trees(repeated_names()), InputError, "duplicate column names: 'a'"),
    Case(
        "two columns of one name, in pyarrow",
        lambda: trees(pa.Table.from_arrays([A, B], names=["a", "a"])),
        InputError,
        "duplicate",
    ),
    Case("two columns of one name, for linear models", lambda: lines(repeated_names()), InputError, "duplicate"),
    Case("names that are numbers and text", lambda: fitted(pd.DataFrame({"a": A, 3: B}))),
    Case(
        "names in levels are positions",
        lambda: fitted(pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))),
    ),
    Case("an empty name", lambda: fitted(pl.DataFrame({"": A, "b": B}))),
    Case("fewer names than columns", lambda: trees(names=["a"]), InputError, "give one for each column"),
    Case("the same name given twice", lambda: trees(names=["a", "a"]), InputError, "duplicate column names"),
    Case("numbers as names", lambda: trees(names=[1, 2]), InputError, "names=[1, 2]: give a list of text"),
    Case("a word for names", lambda: trees(names="abc"), InputError, "names='abc': give a list"),
    Case("one word for two names", lambda: trees(names="ab"), InputError, "names='ab': give a list"),
    Case("a number for names", lambda: trees(names=3), InputError, "names=3: give a list"),
    # ---- categorical_features, interactions, max_cuts -------------------------------------------------------------
    Case(
        "a categorical column that is not there",
        lambda: trees(categorical_features=[2]),
        InputError,
        "positions go from 0 to 1",
    ),
    Case(
        "a categorical column by a wrong name", lambda: trees(column(B), categorical_features=["C"]), InputError, "'c'"
    ),
    Case("a mask of another length", lambda: trees(categorical_features=[True]), InputError, "mask"),
    Case("a position alone for the categorical columns", lambda: fitted(categorical_features=1)),
    Case("a negative categorical column", lambda: trees(categorical_features=[-1]), InputError, "positions go from 0"),
    Case("fractions of columns", lambda: trees(categorical_features=[0.5]), InputError, "no column 0.5"),
    Case("no cuts", lambda: trees(max_cuts=0), InputError, "max_cuts"),
    Case("half a cut", lambda: trees(max_cuts=2.5), InputError, "max_cuts"),
    Case("a word for cuts", lambda: trees(max_cuts="many"), InputError, "max_cuts"),
    Case("more cuts than can be counted", lambda: trees(max_cuts=2**40), InputError, "max_cuts"),
    Case("cuts that are true", lambda: trees(max_cuts=True), InputError, "max_cuts"),
    Case("interactions by an unknown word", lambda: lines(interactions="some"), InputError, "interactions"),
    Case("an interaction of three", lambda: lines(interactions=[(0, 1, 1)]), InputError, "interaction"),
    Case("an interaction with itself", lambda: lines(interactions=[(0, 0)]), InputError, "interaction"),
    Case(
        "an interaction of a column that is not there", lambda: lines(interactions=[(0, 5)]), InputError, "no column 5"
    ),
    Case("a number for interactions", lambda: lines(interactions=3), InputError, "interactions"),
    # ---- new rows -------------------------------------------------------------------------------------------------
    Case("new rows with a column too few", lambda: drawn().predict(X[:, :1]), InputError, "expecting 2 features"),
    Case(
        "new rows with a column too many", lambda: drawn().predict(np.ones((3, 3))), InputError, "expecting 2 features"
    ),
    Case("new rows as a vector", lambda: drawn().predict(A), InputError, "2D array"),
    Case("new rows with infinity", lambda: drawn().predict(put(X, (3, 1), np.inf)), InputError, "infinite value"),
    Case(
        "a new frame without a column",
        lambda: drawn(trees(column(B))).predict(pl.DataFrame({"a": A, "c": B})),
        InputError,
        "no column 'b'",
    ),
    Case(
        "a new frame with text for numbers",
        lambda: drawn(trees(column(B))).predict(column(LABELS)),
        InputError,
        "is text, but the column is numeric",
    ),
    Case("new labels that were never seen", lambda: drawn(trees(column(LABELS))).predict(column(["new"] * ROWS))),
    Case("new labels for experts", lambda: drawn(lines(column(LABELS)), EM).predict(column(["new"] * ROWS))),
    Case("missing cells in new rows alone", lambda: drawn().predict(np.full((3, 2), np.nan))),
    Case("missing cells in new rows alone, for experts", lambda: drawn(lines(), EM).predict(np.full((3, 2), np.nan))),
    Case("no new rows", lambda: drawn().predict(X[:0]).shape == (0,)),
    Case("no new rows for a sum of trees", lambda: drawn(model=BART).predict(X[:0]).shape == (0,)),
    Case("no new rows for linear models", lambda: drawn(lines(), bt.Subset()).predict(X[:0]).shape == (0,)),
    Case("no new rows for experts", lambda: drawn(lines(), EM).predict(X[:0]).shape == (0,)),
    Case("no new rows for chains of experts", lambda: drawn(lines(), GIBBS).predict(X[:0], "interval").shape == (0, 2)),
    Case("no new rows for classes", lambda: drawn(trees(y=THREE)).predict(X[:0]).shape == (0, 3)),
    Case("new rows far outside", lambda: drawn(lines(), GIBBS).predict(X * 1e12)),
    Case(
        "new rows at the end of the floats, for experts",
        lambda: drawn(lines(), EM).predict(np.full((2, 2), 1e308)),
        InputError,
        "too large",
    ),
    Case(
        "new rows at the end of the floats, for linear models",
        lambda: drawn(lines(), bt.Subset()).predict(np.full((2, 2), 1e308)),
        InputError,
        "too large",
    ),
]
