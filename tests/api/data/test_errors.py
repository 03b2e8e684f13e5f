"""Bad input is refused in words: what is wrong, the value, the remedy."""

from __future__ import annotations

import datetime
import gzip
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from baytree.data.design import make_design, read
from baytree.errors import FileError, InputError
from baytree.validation import did_you_mean, unknown_choice

X = np.arange(12.0).reshape(6, 2)
Y = np.arange(6.0)
FRAME = pl.DataFrame({"glucose": [1.0, 2, 3], "mass": [4.0, 5, 6], "weight": [1.0, 1, 2], "age": [30.0, 40, 50]})


def with_cell(value, dtype=float):
    """X with one cell replaced."""
    changed = X.astype(dtype)
    changed[2, 1] = value
    return changed


class TestNames:
    def test_did_you_mean(self):
        assert did_you_mean("Glucos", ["age", "glucose"]) == " Did you mean 'glucose'?"
        assert did_you_mean("zzz", ["age", "glucose"]) == ""

    def test_long_lists_are_cut(self):
        message = str(unknown_choice("column", "q", [f"c{i}" for i in range(100)]))
        assert "c19, …" in message
        assert "c20" not in message

    @pytest.mark.parametrize("option", ["weight", "categorical", "drop"])
    def test_unknown_column_in_an_option(self, option):
        misspelt: dict[str, Any] = {option: "glucos"}
        with pytest.raises(InputError, match=r"no column 'glucos'\. Did you mean 'glucose'\? Choose from: glucose,"):
            read(FRAME, "age", **misspelt)

    def test_unknown_target(self):
        with pytest.raises(InputError, match=r"no column 'Age'\. Did you mean 'age'\?"):
            read(FRAME, "Age")

    def test_unknown_categorical_feature(self):
        with pytest.raises(InputError, match=r"no column 'mas'\. Did you mean 'mass'"):
            make_design(FRAME, [1.0, 2.0, 3.0], task="regression", categorical_features=["mas"])

    @pytest.mark.parametrize("features", [[5], [-1], [True]])
    def test_categorical_features_out_of_range(self, features):
        with pytest.raises(InputError, match="categorical_features"):
            make_design(X, Y, task="regression", categorical_features=features)

    def test_unknown_task(self):
        with pytest.raises(InputError, match=r"no task 'regresion'\. Did you mean 'regression'"):
            make_design(X, Y, task="regresion")  # type: ignore[arg-type]

    def test_duplicates_among_given_names(self):
        with pytest.raises(InputError, match="duplicate column names: 'a'"):
            make_design(X, Y, task="regression", names=["a", "a"])

    def test_wrong_number_of_names(self):
        with pytest.raises(InputError, match="1 name for 2 columns"):
            make_design(X, Y, task="regression", names=["a"])

    @pytest.mark.parametrize(
        "frame",
        [pd.DataFrame(X, columns=["a", "a"]), pa.table([X[:, 0], X[:, 1]], names=["a", "a"])],
        ids=["pandas", "pyarrow"],
    )
    def test_duplicates_in_a_frame(self, frame):
        with pytest.raises(InputError, match="duplicate column names: 'a'"):
            make_design(frame, Y, task="regression")

    def test_one_column_cannot_play_two_parts(self):
        with pytest.raises(InputError, match="both target and weight"):
            read(FRAME, "age", weight="age")
        with pytest.raises(InputError, match="drop names 'age'"):
            read(FRAME, "age", drop=["age", "mass"])
        with pytest.raises(InputError, match="categorical names 'weight'"):
            read(FRAME, "age", weight="weight", categorical=["weight"])


class TestShapes:
    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            (np.empty((0, 3)), "0 samples"),
            (np.ones((1, 3)), "1 sample; at least 2 rows are needed"),
            (np.empty((6, 0)), r"0 feature\(s\) \(shape=\(6, 0\)\) while a minimum of 1 is required"),
            (np.ones(6), "Reshape your data"),
            (pd.Series(np.ones(6)), "Reshape your data"),
            (3.0, "Reshape your data"),
            (np.ones((6, 2, 1)), "Found array with dim 3"),
            ([[1, 2], [3]], "every row needs the same number of columns"),
            (X + 1j, "Complex data not supported"),
        ],
    )
    def test_bad_predictors(self, bad, message):
        with pytest.raises(InputError, match=message):
            make_design(bad, Y[: len(np.atleast_1d(bad))] if isinstance(bad, np.ndarray) else Y, task="regression")

    def test_only_the_target(self):
        with pytest.raises(InputError, match=r"0 feature\(s\) \(shape=\(3, 0\)\)"):
            read(FRAME.select("age"), "age")

    def test_sparse(self):
        with pytest.raises(TypeError, match=r"Sparse data was passed.*toarray\(\)"):
            make_design(sparse.csr_array(X), Y, task="regression")

    def test_lazy(self):
        with pytest.raises(TypeError, match=r"LazyFrame is lazy; collect\(\)"):
            read(FRAME.lazy(), "age")

    def test_read_wants_names(self):
        with pytest.raises(InputError, match="data frame with named columns"):
            read(X, "age")

    def test_lengths(self):
        with pytest.raises(InputError, match="inconsistent numbers of samples: 6 and 5"):
            make_design(X, Y[:5], task="regression")

    @pytest.mark.parametrize("max_cuts", [0, -1, 65_536, 2.5, True, "255"])
    def test_max_cuts(self, max_cuts):
        with pytest.raises(InputError, match=r"max_cuts=.*from 1 to 65,535"):
            make_design(X, Y, task="regression", max_cuts=max_cuts)


class TestCells:
    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            (with_cell(np.inf), r"column 'x1', row index 2: inf is an infinite value"),
            (with_cell(-np.inf), "inf"),
            (with_cell(float("inf"), object), "inf"),
            (with_cell(10**400, object), "too large"),
            (with_cell(1j, object), "Complex data not supported"),
            (with_cell({"foo": "bar"}, object), r"argument must be .* string.* number, not 'dict'"),
            (with_cell(datetime.date(2020, 1, 1), object), "column 'x1' holds dates or times; turn it into numbers"),
            (with_cell(b"u", object), "bytes; decode"),
            (np.full((6, 1), "2020-01-01", dtype="M8[D]"), "holds dates"),
            (np.full((6, 1), b"u"), "column 'x0' has type .S1"),
        ],
    )
    def test_in_an_array(self, bad, message):
        with pytest.raises(InputError, match=message):
            make_design(bad, Y, task="regression")

    @pytest.mark.parametrize(
        ("column", "message"),
        [
            ([datetime.date(2020, 1, 1)] * 2, "'x' holds dates or times.*or drop it"),
            ([datetime.datetime(2020, 1, 1)] * 2, "dates"),
            ([datetime.timedelta(1)] * 2, "dates"),
            ([datetime.time(1)] * 2, "dates"),
            ([[1], [2]], "nested"),
            ([{"a": 1}, {"a": 2}], "nested"),
            ([b"u", b"v"], "bytes"),
        ],
    )
    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
    def test_in_a_frame(self, frame, column, message):
        with pytest.raises(InputError, match=message):
            make_design(frame({"x": column}), [1.0, 2.0], task="regression")


class TestResponse:
    @pytest.mark.parametrize(
        ("y", "task", "message"),
        [
            ([1.0, np.nan, np.nan], "regression", r"'age': 2 missing values \(NaN\) in the response; drop these rows"),
            (["a", None, "b"], "classification", r"1 missing value \(NaN\) in the response"),
            (np.array([0, 1, None], dtype=object), "classification", "NaN"),
            ([1.0, np.inf, 2.0], "regression", "inf"),
            ([0.0, np.inf, 1.0], "classification", "inf"),
            ([2.0, 2.0, 2.0], "regression", "the response is 2 in every row"),
            (["a", "a", "a"], "classification", "only one class, a"),
            ([1.0, 1.0, 1.0], "classification", "only one class"),
            (["a", "b", "a"], "regression", "'a' where the response of a regression must be numbers, not text"),
            (["1.5", "2.5", "3.5"], "regression", "'1.5' where the response of a regression must be numbers, not text"),
            ([0.1, 0.5, 0.7], "classification", "Unknown label type"),
            (np.array(["a", 1, 2], dtype=object), "classification", "classes mix text and other types"),
            (np.array([1j, 2, 3]), "regression", "Complex data not supported"),
            (np.array(["2020-01-01"] * 3, dtype="M8[D]"), "regression", "dates"),
            (None, "regression", "requires y to be passed, but the target y is None"),
            (np.ones((3, 2)), "regression", r"y should be a 1d array, got an array of shape \(3, 2\)"),
            (pd.DataFrame(np.ones((3, 2))), "regression", "y should be a 1d array"),
            (1.0, "regression", r"y should be a 1d array, got an array of shape \(\)"),
            ([[1, 2], [3], [4]], "regression", "y should be a 1d array"),
        ],
    )
    def test_bad_response(self, y, task, message):
        with pytest.raises(InputError, match=message):
            make_design(X[:3], y, task=task, target="age")


class TestWeights:
    @pytest.mark.parametrize(
        ("weight", "message"),
        [
            ([1, -1, 1], "weight -1 at row index 1 is negative"),
            ([1, np.nan, 1], r"weight nan at row index 1 is missing \(NaN\)"),
            ([1, np.inf, 1], "inf"),
            ([0, 0, 0], "every weight is zero"),
            ([0, 0, 1], "1 sample of positive weight"),
            ([1, 1], r"has shape \(2,\), but there are 3 rows"),
            (np.ones((3, 2)), r"has shape \(3, 2\)"),
            (["a", "b", "c"], "weights must be numbers"),
        ],
    )
    def test_bad_weights(self, weight, message):
        with pytest.raises(InputError, match=message):
            make_design(X[:3], Y[:3], task="regression", sample_weight=weight)

    def test_one_class_after_trimming(self):
        with pytest.raises(InputError, match="class"):
            make_design(X[:4], [0, 1, 0, 1], task="classification", sample_weight=[0, 1, 0, 1])


class TestPrediction:
    @pytest.fixture
    def schema(self):
        return read(FRAME, "age").schema

    def test_missing_columns_are_all_named(self, schema):
        message = r"no column 'glucose'\. Did you mean 'glucos'\? no column 'mass'\. The table has: glucos, weight, age"
        with pytest.raises(InputError, match=message):
            schema.encode(FRAME.rename({"glucose": "glucos"}).drop("mass"))

    def test_width(self, schema):
        with pytest.raises(InputError, match="X has 2 features, but baytree is expecting 3 features as input"):
            schema.encode(X)

    def test_text_in_a_numeric_column(self, schema):
        with pytest.raises(InputError, match="'heavy' is text, but the column is numeric"):
            schema.encode(FRAME.with_columns(mass=pl.lit("heavy")))

    def test_infinity(self, schema):
        with pytest.raises(InputError, match=r"'mass', row index 0: inf is an infinite value, and 2 further cells"):
            schema.encode(FRAME.with_columns(mass=pl.lit(np.inf)))


@pytest.mark.usefixtures("reader")
class TestFiles:
    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("t.xlsx", b"x", "unknown file type; the name must end in .csv"),
            ("t.csv", b"", "the file is empty"),
            ("t.csv", b"x,y\n", "0 samples"),
            ("t.csv", b"x,y\n1,2,3\n4,5\n", "cannot be read"),
            ("t.csv", b"x,y\n\xff\xfe,1\n", "cannot be read"),
            ("t.csv", b"x,y,x\n1,2,3\n4,5,6\n", "duplicate column names: 'x'"),
            ("t.csv", b"x;y\n1;2\n3;4\n", "separated by ';'"),
            ("t.csv", b"x,y\n2020-01-01,1\n2020-01-02,2\n", "column 'x' holds dates"),
            ("t.csv", b"x,y\ninf,1\n2,2\n", "inf is an infinite value"),
            ("t.csv.gz", gzip.compress(b"x,y\n" + b"1,2\n" * 5000, mtime=0)[:40], "cannot be read"),
            ("t.parquet", b"PAR1 and then nothing", "cannot be read"),
        ],
    )
    def test_bad_file(self, tmp_path, name, content, message):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=message):
            read(tmp_path / name, "y")

    def test_no_such_file(self, tmp_path):
        with pytest.raises(FileError, match=r"nowhere\.csv: no such file"):
            read(tmp_path / "nowhere.csv", "y")

    def test_folder(self, tmp_path):
        with pytest.raises(FileError, match="not a file"):
            read(tmp_path, "y")
