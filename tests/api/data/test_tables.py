"""Tables become designs, and new tables are binned by the same cuts and levels."""

from __future__ import annotations

import datetime
import gzip
import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baytree.data.binning import MAX_LEVELS, OTHER, Column, cut_points
from baytree.data.design import Schema, make_design, read
from baytree.data.files import TAIL, read_file
from baytree.data.response import Response
from baytree.errors import InputError

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
FINITE = st.floats(allow_nan=False, allow_infinity=False)
AWKWARD = st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.0, np.nextafter(1.0, 2), 1.7e308, -1.7e308])


def one_column(values, **options):
    """The design of a single column with an arbitrary response."""
    y = np.arange(len(values)) % 2
    return make_design(pd.DataFrame({"x": values}), y, task="classification", **options)


class TestCuts:
    @given(st.lists(FINITE | AWKWARD, min_size=1, max_size=60), st.integers(1, 12))
    def test_code_rule_and_value_rule_agree(self, values, most):
        values = np.array(values)
        cuts, lowest = cut_points(values, most)
        column = Column("x", "numeric", cuts, lowest=tuple(lowest))
        bins = column.encode(values)
        for c, cut in enumerate(column.cuts):
            assert np.array_equal(bins <= c, values <= cut)

    @given(st.lists(FINITE | AWKWARD, min_size=2, max_size=60), FINITE | AWKWARD)
    def test_a_threshold_finds_the_cut_that_divides_alike(self, values, threshold):
        values = np.array(values)
        cuts, lowest = cut_points(values, 1000)
        column = Column("x", "numeric", cuts, lowest=tuple(lowest))
        if not values.min() <= threshold < values.max():
            with pytest.raises(InputError, match="on one side"):
                column.cut_at(threshold)
        else:
            assert np.array_equal(column.encode(values) <= column.cut_at(threshold), values <= threshold)

    @given(st.lists(FINITE | AWKWARD, min_size=1, max_size=60))
    def test_all_cuts_separate_all_neighbours(self, values):
        distinct = np.unique(values)
        cuts, _ = cut_points(np.array(values), 1000)
        assert len(cuts) == len(distinct) - 1
        assert (distinct[:-1] <= cuts).all()
        assert (cuts < distinct[1:]).all()

    @given(st.lists(st.integers(0, 30) | st.just(7), min_size=2, max_size=300), st.integers(1, 20))
    def test_quantile_cuts_are_as_many_as_allowed_and_different(self, values, most):
        cuts, _ = cut_points(np.array(values, dtype=float), most)
        assert len(cuts) == min(most, len(set(values)) - 1)
        assert (np.diff(cuts) > 0).all()

    def test_quantile_cuts_of_distinct_values_are_evenly_spaced(self):
        assert cut_points(np.arange(12.0), 2)[0].tolist() == [3.5, 7.5]

    def test_a_frequent_value_leaves_the_other_cuts_to_the_other_values(self):
        values = np.concatenate([np.zeros(900), np.arange(1.0, 101.0)])
        assert cut_points(values, 5)[0].tolist() == [0.5, 20.5, 40.5, 60.5, 80.5]
        assert cut_points(-values, 5)[0].tolist() == [-80.5, -60.5, -40.5, -20.5, -0.5]

    def test_midpoints(self):
        assert cut_points(np.array([1.0, 2.0, 4.0, 2.0]), 255)[0].tolist() == [1.5, 3.0]

    def test_midpoint_of_adjacent_floats_is_the_lower_one(self):
        for low in (1.0, -1.0, 5e-324, 1.7e308):
            high = np.nextafter(low, np.inf)
            (cut,), _ = cut_points(np.array([low, high]), 255)
            assert low <= cut < high

    def test_midpoint_does_not_overflow(self):
        big = np.finfo(float).max
        assert cut_points(np.array([-big, big]), 255)[0].tolist() == [0.0]
        assert np.isfinite(cut_points(np.array([big / 1.5, big]), 255)[0]).all()

    def test_constant_column_has_no_cuts(self):
        (column,) = one_column([3.0, 3.0, 3.0]).columns
        assert column.n_bins == 1
        assert column.observed == 1


class TestWidths:
    @pytest.mark.parametrize(("distinct", "dtype"), [(256, np.uint8), (257, np.uint16)])
    def test_codes_are_eight_bits_while_they_fit(self, distinct, dtype):
        design = one_column(np.arange(float(distinct)), max_cuts=None)
        assert design.columns[0].n_bins == distinct
        assert design.bins[0].dtype == dtype

    def test_the_missing_bin_counts(self):
        design = one_column([*range(256), None])
        assert design.columns[0].n_bins == 257
        assert design.bins[0].dtype == np.uint16
        assert design.bins[0][-1] == design.columns[0].missing_bin == 256

    def test_every_cut_stops_at_sixteen_bits(self):
        values = np.arange(70_000.0)
        assert len(one_column(values, max_cuts=None).columns[0].cuts) == 65_535
        values[0] = np.nan
        design = one_column(values, max_cuts=None)
        assert len(design.columns[0].cuts) == 65_534
        assert design.bins[0].dtype == np.uint16
        assert design.bins[0][0] == 65_535


class TestKinds:
    @pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
    def test_the_same_table_in_every_library(self, frame):
        table = {
            "age": [50, None, 31, 40],
            "smokes": [True, False, None, True],
            "town": ["b", "a", None, "b"],
            "risk": ["lo", "hi", "hi", "lo"],
        }
        design = read(frame(table), "risk")
        assert [column.kind for column in design.columns] == ["numeric", "boolean", "categorical"]
        assert all(column.has_missing for column in design.columns)
        assert [bins.tolist() for bins in design.bins] == [[2, 3, 0, 1], [1, 0, 2, 1], [1, 0, 2, 1]]
        assert design.columns[0].cuts.tolist() == [35.5, 45.0]
        assert design.columns[2].levels == ("a", "b")
        assert design.y.tolist() == [1, 0, 0, 1]
        assert design.classes.tolist() == ["hi", "lo"]
        assert np.array_equal(design.schema.encode(frame(table)), np.stack(design.bins, axis=1))

    def test_object_columns_of_an_array(self):
        X = np.array([[1, "u", True, 2.5], [None, 3, False, np.nan], [2.5, 3.0, None, 1]], dtype=object)
        design = make_design(X, [0.0, 1.0, 2.0], task="regression")
        assert [column.kind for column in design.columns] == ["numeric", "categorical", "boolean", "numeric"]
        assert design.columns[1].levels == ("3", "u")
        assert design.names == ("x0", "x1", "x2", "x3")

    def test_a_list_keeps_its_numbers(self):
        design = make_design([[1, "a"], [2, "b"]], [0.0, 1.0], task="regression")
        assert [column.kind for column in design.columns] == ["numeric", "categorical"]

    @pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float32", "float64", "bool", "O"])
    def test_any_numeric_type(self, dtype):
        X = np.array([[0], [1], [1]]).astype(dtype)
        design = make_design(X, [0.0, 1.0, 2.0], task="regression")
        assert design.columns[0].cuts.tolist() == [0.5]

    def test_masked_cells_are_missing(self):
        X = np.ma.masked_equal([[1.0], [2.0], [9.0]], 9.0)
        assert make_design(X, [0.0, 1.0, 2.0], task="regression").bins[0].tolist() == [0, 1, 2]

    @pytest.mark.parametrize(
        "frame",
        [
            pd.DataFrame({"x": pd.Categorical(["b", "a", None], categories=["z", "b", "a"], ordered=True)}),
            pl.DataFrame({"x": ["b", "a", None]}, schema={"x": pl.Enum(["z", "b", "a"])}),
        ],
        ids=["pandas", "polars"],
    )
    def test_an_ordered_type_keeps_its_order_and_loses_unused_levels(self, frame):
        design = make_design(frame, [1.0, 2.0, 3.0], task="regression")
        assert design.columns[0].levels == ("b", "a")
        assert design.bins[0].tolist() == [0, 1, 2]

    @pytest.mark.parametrize(
        "frame",
        [
            pd.DataFrame({"x": pd.Categorical(["b", "a", None], categories=["z", "b", "a"])}),
            pl.DataFrame({"x": ["b", "a", None]}, schema={"x": pl.Categorical}),
            pa.table({"x": pa.array(["b", "a", None]).dictionary_encode()}),
        ],
        ids=["pandas", "polars", "pyarrow"],
    )
    def test_an_unordered_type_is_sorted_by_name(self, frame):
        design = make_design(frame, [1.0, 2.0, 3.0], task="regression")
        assert design.columns[0].levels == ("a", "b")
        assert design.bins[0].tolist() == [1, 0, 2]

    def test_categories_that_are_numbers(self):
        frame = pd.DataFrame({"x": pd.Categorical([10, 2, None, 10])})
        (column,) = make_design(frame, [1.0, 2.0, 3.0, 4.0], task="regression").columns
        assert column.kind == "categorical"
        assert column.levels == ("2", "10")

    def test_long_integers_and_decimals_are_numbers(self):
        frame = pl.DataFrame({"a": pl.Series([1, 2, None], dtype=pl.Int128), "b": pl.Series(["1.5", "2.5", "2.5"])})
        frame = frame.with_columns(pl.col("b").cast(pl.Decimal(10, 2)))
        design = make_design(frame, [1.0, 2.0, 3.0], task="regression")
        assert [column.cuts.tolist() for column in design.columns] == [[1.5], [2.0]]

    @pytest.mark.parametrize("values", [[None, None], [np.nan, np.nan], pd.Series([None, None], dtype="Int64")])
    def test_a_column_without_values_is_numeric_and_all_missing(self, values):
        design = one_column(values)
        assert design.columns[0].kind == "numeric"
        assert design.bins[0].tolist() == [1, 1]


class TestLevels:
    def test_rare_levels_are_pooled_with_a_warning(self):
        names = [f"t{i:03}" for i in range(100)]
        values = names[:50] * 3 + names[50:62] * 2 + names[62:]
        with pytest.warns(UserWarning, match=r"column 'x' has 100 levels; the 62 most frequent stay"):
            (column,) = one_column(values).columns
        assert len(column.levels) == MAX_LEVELS
        assert column.levels == (*names[:62], OTHER)
        assert column.pooled == tuple(names[62:])
        assert column.encode(["t000", "t062", "t099", "new", None]).tolist() == [0, 62, 62, 63, 63]

    def test_a_level_called_other_joins_the_pool(self):
        values = [OTHER] * 500 + [f"t{i}" for i in range(80)]
        with pytest.warns(UserWarning, match="81 levels"):
            (column,) = one_column(values).columns
        assert column.levels.count(OTHER) == 1
        assert column.encode([OTHER, "new"]).tolist() == [62, 63]

    def test_sixty_three_levels_stay(self):
        (column,) = one_column([f"t{i}" for i in range(63)]).columns
        assert len(column.levels) == 63
        assert column.pooled == ()

    def test_numbers_named_categorical(self):
        frame = pl.DataFrame({"thal": [10, 3, 7, None], "y": [1.0, 2.0, 3.0, 4.0]})
        design = read(frame, "y", categorical="thal")
        assert design.columns[0].levels == ("3", "7", "10")
        assert design.columns[0].encode([3.0, 7, 10, 4, None]).tolist() == [0, 1, 2, 3, 3]
        assert design.columns[0].encode(["3", "3.0", "07", "x"]).tolist() == [0, 0, 1, 3]

    def test_a_boolean_named_categorical_stays_boolean(self):
        frame = pl.DataFrame({"x": [True, False], "y": [1.0, 2.0]})
        assert read(frame, "y", categorical=["x"]).columns[0].kind == "boolean"

    @pytest.mark.parametrize("features", [[False, True], [1], ["b"], np.array([1]), "b"])
    def test_categorical_features_as_in_scikit_learn(self, features):
        frame = pd.DataFrame({"a": [1, 2], "b": [1, 2]})
        design = make_design(frame, [0.0, 1.0], task="regression", categorical_features=features)
        assert [column.kind for column in design.columns] == ["numeric", "categorical"]

    @pytest.mark.parametrize("features", [None, "from_dtype", [], [False, False]])
    def test_text_is_categorical_without_saying_so(self, features):
        frame = pd.DataFrame({"a": [1, 2], "b": ["u", "v"]})
        design = make_design(frame, [0.0, 1.0], task="regression", categorical_features=features)
        assert [column.kind for column in design.columns] == ["numeric", "categorical"]


class TestResponse:
    @pytest.mark.parametrize(
        ("y", "kind"),
        [
            (["a", "b", "c"], "categorical"),
            ([True, False, True], "categorical"),
            ([0, 1, 1], "categorical"),
            ([2.0, 7.0, 7.0], "categorical"),
            ([0, 1, 2], "numeric"),
            (pd.Categorical(["u", "v", "w"]), "categorical"),
            (pd.Categorical([1, 2, 3]), "categorical"),
        ],
    )
    def test_auto(self, y, kind):
        assert read(pd.DataFrame({"x": [1, 2, 3], "y": y}), "y").response.kind == kind

    @pytest.mark.parametrize(
        "labels",
        [
            np.array(["b", "a", "b"]),
            np.array(["b", "a", "b"], dtype=object),
            np.array([2, -1, 2]),
            np.array([2, -1, 2], dtype=np.int16),
            np.array([1.0, 0.0, 1.0]),
            np.array([True, False, True]),
        ],
        ids=lambda labels: labels.dtype.str,
    )
    def test_classes_keep_their_type(self, labels):
        design = make_design([[1], [2], [3]], labels, task="classification")
        assert design.classes.dtype == labels.dtype
        assert np.array_equal(design.classes[design.y], labels)
        assert design.y.dtype == np.int32
        record = json.loads(json.dumps(design.response.to_dict()))
        assert Response.from_dict(record) == design.response
        assert Response.from_dict(record).classes.dtype == labels.dtype

    def test_objects_that_are_numbers(self):
        labels = np.array([2, 1, 2], dtype=object)
        assert make_design([[1], [2], [3]], labels, task="classification").classes.dtype == np.int64

    def test_regression(self):
        design = make_design([[1], [2], [3]], pd.Series([1, 5, 3]), task="regression", target="price")
        assert design.y.dtype == np.float64
        assert design.y.tolist() == [1, 5, 3]
        assert design.response == Response("price", "numeric")
        assert design.classes is None

    @pytest.mark.parametrize("y", [np.array([[0.0], [1.0], [2.0]]), pd.DataFrame({"y": [0.0, 1.0, 2.0]})])
    def test_column_vector_is_ravelled_with_a_warning(self, y):
        from sklearn.exceptions import DataConversionWarning

        with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
            assert make_design([[1], [2], [3]], y, task="regression").y.tolist() == [0, 1, 2]


class TestWeight:
    def test_rows_of_weight_zero_are_dropped(self):
        frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 9.0], "y": ["a", "b", "a", None], "w": [1.0, 2.5, 1.0, 0.0]})
        design = read(frame, "y", weight="w")
        assert design.rows == 3
        assert design.names == ("x",)
        assert design.columns[0].cuts.tolist() == [1.5, 2.5]
        assert design.weight.tolist() == [1.0, 2.5, 1.0]

    def test_equal_to_a_table_without_those_rows(self):
        rng = np.random.default_rng(0)
        X, y, weight = rng.normal(size=(40, 3)), rng.normal(size=40), rng.integers(0, 3, 40)
        weighted = make_design(X, y, task="regression", sample_weight=weight)
        shorter = make_design(X[weight > 0], y[weight > 0], task="regression")
        assert weighted.schema == shorter.schema
        assert all(map(np.array_equal, weighted.bins, shorter.bins))
        assert np.array_equal(weighted.y, shorter.y)

    @pytest.mark.parametrize("weight", [[1, 1, 1], [1, 0, 1], np.ones(3, dtype=np.float32), [True, True, False]])
    def test_unit_weights_are_no_weights(self, weight):
        assert make_design([[1], [2], [3]], [0.0, 1.0, 2.0], task="regression", sample_weight=weight).weight is None

    def test_the_caller_keeps_its_arrays(self):
        y, weight = np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
        design = make_design([[1], [2], [3]], y, task="regression", sample_weight=weight)
        design.y[:], design.weight[:] = 9, 9
        assert y.tolist() == [0, 1, 2]
        assert weight.tolist() == [1, 2, 3]


class TestEncode:
    @pytest.fixture
    def design(self):
        frame = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["u", "v", "u"], "c": [True, False, True], "y": [1.0, 2, 3]})
        return read(frame, "y")

    def test_frames_are_matched_by_name(self, design):
        frame = pl.DataFrame({"extra": [datetime.date(2020, 1, 1)], "c": [False], "b": ["v"], "a": [2.4]})
        bins = design.schema.encode(frame)
        assert bins.tolist() == [[1, 1, 0]]
        assert bins.dtype == np.uint32
        assert bins.flags.c_contiguous

    def test_arrays_are_matched_by_position(self, design):
        assert design.schema.encode(np.array([[2.6, "u", True]], dtype=object)).tolist() == [[2, 0, 1]]

    def test_missing_and_unseen_where_training_had_neither(self, design):
        frame = pl.DataFrame({"a": [None, 1.0, 1.0], "b": ["new", None, "u"], "c": [None, True, True]})
        assert design.schema.encode(frame).tolist() == [[3, 2, 2], [0, 2, 1], [0, 0, 1]]

    def test_no_rows(self, design):
        assert design.schema.encode(pl.DataFrame({"a": [], "b": [], "c": []})).shape == (0, 3)

    def test_a_table_without_names_matches_any_frame_by_position(self):
        design = make_design(np.array([[1.0, 5.0], [2.0, 6.0]]), [0.0, 1.0], task="regression")
        assert design.schema.encode(pd.DataFrame({"u": [9.0], "v": [0.0]})).tolist() == [[1, 0]]
        numbered = make_design(pd.DataFrame([[1.0, 5.0], [2.0, 6.0]]), [0.0, 1.0], task="regression")
        assert numbered.schema == design.schema

    def test_given_names_count_as_names(self):
        design = make_design([[1.0, 5.0], [2.0, 6.0]], [0.0, 1.0], task="regression", names=["u", "v"])
        assert design.schema.encode(pl.DataFrame({"v": [9.0], "u": [0.0]})).tolist() == [[0, 1]]

    @given(st.lists(st.none() | FINITE, min_size=3, max_size=40).filter(lambda xs: len(set(xs)) > 1))
    @settings(max_examples=50)
    def test_schema_survives_json_bit_for_bit(self, values):
        design = one_column(np.array([np.nan if x is None else x for x in values]))
        copy = Schema.from_dict(json.loads(json.dumps(design.schema.to_dict())))
        assert copy == design.schema
        assert copy.columns[0].cuts.tobytes() == design.columns[0].cuts.tobytes()
        assert np.array_equal(copy.encode(pd.DataFrame({"x": values}))[:, 0], design.bins[0])

    def test_schemas_differ_where_anything_differs(self, design):
        record = design.schema.to_dict()
        record["columns"][0]["cuts"][0] = np.nextafter(1.5, 2)
        assert Schema.from_dict(record) != design.schema


def rows_of(path):
    """The rows of a file, None for what is missing, whoever reads it."""
    return [tuple(None if cell != cell else cell for cell in row) for row in read_file(path).rows()]


@pytest.mark.usefixtures("reader")
class TestFiles:
    TEXT = "age,town,when,score,smokes,y\n1,01, x,?,TRUE,a\n,02,NA,2.5,FALSE,b\n 3,10,x,NaN,,a\n"

    @pytest.fixture
    def written(self, tmp_path):
        frame = {"age": [1, None, 3], "y": ["a", "b", "a"]}
        (tmp_path / "t.csv").write_text("age,y\n1,a\n,b\n3,a\n")
        (tmp_path / "t.tsv").write_text("age\ty\n1\ta\n\tb\n3\ta\n")
        (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfage,y\r\n1,a\r\n,b\r\n3,a\r\n"))
        pl.DataFrame(frame).write_parquet(tmp_path / "t.parquet")
        return tmp_path

    @pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet"])
    def test_every_format(self, written, name):
        design = read(written / name, "y")
        assert design.bins[0].tolist() == [0, 2, 1]
        assert design.y.tolist() == [0, 1, 0]
        assert design.schema.encode(str(written / name))[:, 0].tolist() == [0, 2, 1]

    def test_missing_cells_and_blanks(self, tmp_path):
        (tmp_path / "t.csv").write_text(self.TEXT)
        design = read(tmp_path / "t.csv", "y", categorical=["town"])
        kinds = {column.name: column.kind for column in design.columns}
        assert kinds == {
            "age": "numeric",
            "town": "categorical",
            "when": "categorical",
            "score": "numeric",
            "smokes": "boolean",
        }
        assert [column.has_missing for column in design.columns] == [True, False, True, True, True]
        assert design.columns[1].levels == ("01", "02", "10")
        assert design.columns[2].levels == ("x",)

    def test_levels_that_look_like_numbers_in_the_new_file(self, tmp_path):
        (tmp_path / "old.csv").write_text("ward,y\n01,1\nA2,2\n1,3\n")
        (tmp_path / "new.csv").write_text("ward\n01\n1\n")
        schema = read(tmp_path / "old.csv", "y").schema
        assert schema.columns[0].levels == ("01", "1", "A2")
        assert schema.encode(tmp_path / "new.csv").tolist() == [[0], [1]]

    def test_blank_lines_at_the_end_are_no_rows(self, tmp_path):
        (tmp_path / "t.csv").write_text("x,y\n1,2\n3,4\n,6\n\n\n")
        assert read(tmp_path / "t.csv", "y").bins[0].tolist() == [0, 1, 2]
        (tmp_path / "one.csv").write_text("x\n1\n\n3\n\n")
        assert read(tmp_path / "t.csv", "y").schema.encode(tmp_path / "one.csv").tolist() == [[0], [2], [1]]

    @pytest.mark.parametrize("packed", [False, True])
    @pytest.mark.parametrize(
        ("text", "rows"),
        [
            ("a,b\n1,2\n,\n3,4\nNA,NA\n", [(1, 2), (None, None), (3, 4), (None, None)]),
            ("a,b\n1,2\n,", [(1, 2), (None, None)]),
            ("a,b\n1,2\n\n3,4\n\n \t\n  ", [(1, 2), (None, None), (3, 4)]),
            ("a,b\r\n1,2\r\nNA, \r\n\r\n", [(1, 2), (None, None)]),
            ("a\n1\n\n2\n\n", [(1,), (None,), (2,)]),
            ("a\n1\n\n2\n \n\n", [(1,), (None,), (2,)]),
            ("a\n1\nNA\n\n", [(1,), (None,)]),
            ('a\n1\n""\n', [(1,), (None,)]),
            ("a,b\n1,2" + "\n" * (2 * TAIL) + "\n", [(1, 2)]),
            ("a,b\n1,2" + " " * (2 * TAIL) + "\n\n", [(1, 2)]),
            ("a,b\n\n", []),
            ("\n\r\na,b\n1,2", [(1, 2)]),
        ],
    )
    def test_rows_are_told_from_blank_lines_by_the_text(self, tmp_path, text, rows, packed):
        path = tmp_path / ("t.csv.gz" if packed else "t.csv")
        path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
        assert rows_of(path) == rows

    def test_a_line_of_tabs_is_a_row_of_missing_cells(self, tmp_path):
        (tmp_path / "t.tsv").write_text("a\tb\n1\t2\n\t\n\n")
        assert rows_of(tmp_path / "t.tsv") == [(1, 2), (None, None)]

    @pytest.mark.parametrize("cell", ["N/A", "n/a", "#N/A", " N/A "])
    def test_not_available_is_missing(self, tmp_path, cell):
        (tmp_path / "t.csv").write_text(f"x,y\n1,1\n{cell},2\n2,3\n")
        design = read(tmp_path / "t.csv", "y")
        assert design.columns[0].kind == "numeric"
        assert design.bins[0].tolist() == [0, 2, 1]

    def test_drop(self, written):
        design = read(pd.read_csv(written / "t.csv").assign(id="z"), "y", drop="id")
        assert design.names == ("age",)


@pytest.mark.usefixtures("reader")
class TestOddCells:
    """Columns of numbers that a few other cells make categorical."""

    NUMBERS = tuple(str(i) for i in range(49))

    @pytest.fixture
    def path(self, tmp_path):
        rows = [f"{x},{i}" for i, x in enumerate((*self.NUMBERS, "abc", "NA"))]
        (tmp_path / "t.csv").write_text("\n".join(["x,y", *rows]))
        return tmp_path / "t.csv"

    def test_a_file(self, path):
        message = (
            r"^column 'x': 49 of 50 values are numbers, but not 'abc': it is treated as categories; "
            r"correct them, the first at row index \d+, or declare it categorical$"
        )
        with pytest.warns(UserWarning, match=message):
            assert read(path, "y").columns[0].kind == "categorical"

    def test_three_of_them_are_named(self):
        values = [*range(50), "a", "b", "b", "c", "d"]
        with pytest.warns(UserWarning, match=r"50 of 55 values are numbers, but not 'a', 'b', 'c', …:"):
            one_column(values)

    def test_a_response(self, path):
        frame = pd.read_csv(path).dropna()
        with pytest.raises(
            InputError, match=r"'abc' is not a number, as 49 of 50 values are; .* set task='classification'"
        ):
            read(frame, "x")
        assert read(frame, "x", task="classification").response.task == "classification"

    def test_no_warning_if_declared(self, path):
        frame = pd.read_csv(path)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read(path, "y", categorical="x")
            read(frame.astype({"x": "category"}), "y")
            read(frame.dropna(), "x", task="classification")

    @pytest.mark.parametrize("values", [["1"] * 8 + ["a", "b"], ["1", "2"] * 10, ["a", None], [None] * 3 + ["a"]])
    def test_no_warning_of_other_text(self, values):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert one_column(values).columns[0].kind == "categorical"


class TestBooleanLevels:
    @pytest.mark.parametrize("levels", [("False", "True"), ("FALSE", "TRUE"), ("false", "true")])
    def test_booleans_are_the_level_that_differs_in_case(self, levels):
        (column,) = one_column([*levels, "maybe"]).columns
        expected = [column.levels.index(levels[1]), column.levels.index(levels[0]), 3]
        assert column.encode([True, False, None]).tolist() == expected
        assert column.encode(["TRUE", "false", "yes"]).tolist() == expected

    def test_a_level_itself_comes_first(self):
        (column,) = one_column(["TRUE", "True", "true"]).columns
        assert column.encode(["true", "True", "TRUE", "tRUE"]).tolist() == [2, 1, 0, 0]
        assert column.encode([True]).tolist() == [2]

    def test_booleans_written_as_text(self):
        (column,) = one_column([True, False]).columns
        assert column.encode(["True", "FALSE", None, "true"]).tolist() == [1, 0, 2, 1]
        with pytest.raises(InputError, match="'yes' is text, but the column is boolean"):
            column.encode(["True", "yes", "no"])


class TestUnseenLevels:
    def test_a_warning_if_no_value_was_seen(self):
        (column,) = one_column(["Ayr", "Bath"]).columns
        with pytest.warns(UserWarning, match=r"column 'x': none of its values was seen in training, such as 'ayr'"):
            assert column.encode(["ayr", "bath", None]).tolist() == [2, 2, 2]

    @pytest.mark.parametrize("values", [["ayr"], ["ayr", "Bath"], [None, None], []])
    def test_no_warning_otherwise(self, values):
        (column,) = one_column(["Ayr", "Bath"]).columns
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            column.encode(values)


def test_describe():
    frame = pl.DataFrame({"a": [1.0, None, 3.0], "b": ["u", "v", "u"], "y": ["no", "yes", "no"], "w": [1, 2, 3]})
    design = read(frame, "y", weight="w")
    assert design.describe().splitlines() == [
        "3 rows, total weight 6",
        "2 columns: 1 numeric, 1 categorical",
        "missing values: a 1",
        "response 'y' (classification): no 2, yes 1",
    ]
    assert repr(design) == "<Design: 3 rows, 2 columns, response 'y'>"
    regression = make_design([[1], [2]], [1.0, 3.0], task="regression")
    assert repr(regression) == "<Design: 2 rows, 1 column, response 'y'>"
    assert regression.describe().splitlines()[1] == "1 column: 1 numeric"
    assert "response 'y' (regression): mean 2, sd 1.414, 1 to 3" in regression.describe()


def test_describe_at_the_ends_of_the_floats():
    regression = make_design(np.zeros((3, 1)), np.array([1.0, 2.0, 3.0]) * 4e307, task="regression")
    assert "mean 8e+307, sd 4e+307, 4e+307 to 1.2e+308" in regression.describe()


def test_importing_loads_no_table_library():
    code = "import sys, baytree.data; print({'pandas', 'polars', 'pyarrow'} & set(sys.modules) or 'none')"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "none"
