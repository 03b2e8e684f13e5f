"""Tables become matrices of linear models, and new tables are encoded by the same levels and means."""

from __future__ import annotations

import hashlib
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from baytree.data.binning import MAX_LEVELS, OTHER
from baytree.data.design import make_design
from baytree.data.matrix import LinearSchema, make_linear_design, read_linear
from baytree.data.standardise import standardise
from baytree.errors import InputError

NAN = float("nan")


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [30.0, NAN, 50.0, 70.0, NAN, 20.0],
            "sex": ["m", "f", "f", "m", "f", "m"],
            "smoker": [True, False, False, True, True, False],
            "town": ["b", "c", None, "a", "a", "c"],
            "y": [1.0, 2.0, 4.0, 3.0, 5.0, 0.5],
        }
    )


def design_of(frame, **options):
    return make_linear_design(frame.drop(columns="y"), frame["y"], **options)


class TestMatrix:
    def test_units_and_columns(self, frame):
        design = design_of(frame)
        assert design.schema.matrix_names == (
            *("age", "age missing", "sex=m", "smoker"),
            *("town=b", "town=c", "town missing"),
        )
        assert [(unit.name, unit.kind, unit.begin, unit.end) for unit in design.units] == [
            ("age", "numeric", 0, 2),
            ("sex", "categorical", 2, 3),
            ("smoker", "boolean", 3, 4),
            ("town", "categorical", 4, 7),
        ]
        mean = (30 + 50 + 70 + 20) / 4
        expected = [
            [30, mean, 50, 70, mean, 20],
            [0, 1, 0, 0, 1, 0],
            [1, 0, 0, 1, 0, 1],
            [1, 0, 0, 1, 1, 0],
            [1, 0, 0, 0, 0, 0],
            [0, 1, 0, 0, 0, 1],
            [0, 0, 1, 0, 0, 0],
        ]
        assert design.matrix.T.tolist() == expected
        assert design.y.tolist() == frame["y"].tolist()
        assert design.weight is None

    def test_an_interaction_has_all_products_of_columns_less_their_means(self, frame):
        design = design_of(frame, interactions=[("town", "age"), (1, 2)])
        main = design_of(frame).matrix
        assert [(unit.name, unit.kind, unit.begin, unit.end, unit.parents) for unit in design.units[4:]] == [
            ("age:town", "interaction", 7, 13, (0, 3)),
            ("sex:smoker", "interaction", 13, 14, (1, 2)),
        ]
        assert design.schema.matrix_names[7:] == (
            *("age:town=b", "age:town=c", "age:town missing"),
            *("age missing:town=b", "age missing:town=c", "age missing:town missing"),
            "sex=m:smoker",
        )
        centred = main - main.mean(axis=0)
        expected = [centred[:, a] * centred[:, b] for a in (0, 1) for b in (4, 5, 6)] + [centred[:, 2] * centred[:, 3]]
        np.testing.assert_allclose(design.matrix[:, 7:].T, expected, rtol=1e-12, atol=1e-12)
        assert np.array_equal(design.matrix[:, :7], main)

    def test_all_pairs_interact(self, frame):
        design = design_of(frame, interactions="all")
        assert [unit.parents for unit in design.units[4:]] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
        assert design.schema.width == design.matrix.shape[1] == len(design.schema.matrix_names)

    def test_weights_count_as_copies_in_the_means(self, frame):
        weight = np.array([1, 2, 3, 0, 1, 2])
        weighted = design_of(frame, sample_weight=weight, interactions=[("age", "sex")])
        copied = design_of(frame.loc[np.repeat(frame.index, weight)], interactions=[("age", "sex")])
        assert weighted.rows == 5
        assert weighted.weight.tolist() == [1, 2, 3, 1, 2]
        np.testing.assert_allclose(weighted.schema.centres, copied.schema.centres, rtol=1e-14)
        np.testing.assert_allclose(np.repeat(weighted.matrix, [1, 2, 3, 1, 2], axis=0), copied.matrix, rtol=1e-13)

    def test_levels_are_those_of_trees(self):
        labels = [f"level{i // 2}" for i in range(200)] + ["level7"] * 5
        y = np.arange(205.0)
        frame = pd.DataFrame({"c": labels, "k": np.arange(205) % 3})
        with pytest.warns(UserWarning, match="100 levels"):
            linear = make_linear_design(frame, y, categorical_features=["k"])
        with pytest.warns(UserWarning, match="100 levels"):
            tree = make_design(frame, y, task="regression", categorical_features=["k"])
        assert [column.levels for column in linear.schema.columns] == [column.levels for column in tree.columns]
        assert linear.schema.columns[0].pooled == tree.columns[0].pooled
        assert linear.schema.matrix_names[MAX_LEVELS - 2 :] == (f"c={OTHER}", "k=1", "k=2")

    def test_no_cuts_are_kept(self, frame):
        assert all(
            not column["cuts"] and not column["lowest"] for column in design_of(frame).schema.to_dict()["columns"]
        )

    def test_an_array(self):
        design = make_linear_design(np.arange(6.0).reshape(3, 2), [1, 2, 4])
        assert design.names == ("x0", "x1")
        assert not design.schema.named
        assert design.matrix.tolist() == [[0, 1], [2, 3], [4, 5]]
        named = make_linear_design(np.arange(6.0).reshape(3, 2), [1, 2, 4], names=["a", "b"], target="t")
        assert (named.names, named.response.name) == (("a", "b"), "t")


class TestNewRows:
    def test_the_training_table_gives_the_training_matrix(self, frame):
        for options in ({}, {"interactions": "all"}, {"interactions": "all", "sample_weight": [1, 2, 3, 4, 5, 0.5]}):
            design = design_of(frame, **options)
            assert np.array_equal(design.schema.encode(frame), design.matrix)
            assert np.array_equal(design.schema.encode(pl.from_pandas(frame)[:, ::-1]), design.matrix)
            pieces = [design.schema.encode(frame[i : i + 1]) for i in range(len(frame))]
            assert np.array_equal(np.concatenate(pieces), design.matrix)

    def test_an_unseen_level_is_missing_where_training_had_missing_values(self, frame):
        schema = design_of(frame).schema
        new = frame.assign(town=["z", None, "a", "b", "c", "a"])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            matrix = schema.encode(new)
        assert matrix[:, 4:].tolist() == [[0, 0, 1], [0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]]

    def test_else_the_means_take_its_place_and_a_warning_says_so(self, frame):
        schema = design_of(frame, interactions=[("sex", "smoker")]).schema
        with pytest.warns(UserWarning, match="column 'sex': 2 values") as caught:
            matrix = schema.encode(frame.assign(sex=["m", "x", None, "f", "f", "f"]))
        assert len(caught) == 1
        assert matrix[:, 2].tolist() == [1, 0.5, 0.5, 0, 0, 0]
        assert matrix[1:3, 7].tolist() == [0, 0]
        with pytest.warns(UserWarning, match="column 'smoker': 1 value missing"):
            matrix = schema.encode(frame.assign(smoker=pd.array([True, None, False, True, True, False], "boolean")))
        assert matrix[:, 3].tolist() == [1, 0.5, 0, 1, 1, 0]

    def test_wrong_tables(self, frame):
        schema = design_of(frame).schema
        with pytest.raises(InputError, match="no column 'sex'"):
            schema.encode(frame.drop(columns="sex"))
        with pytest.raises(InputError, match="expecting 4 features"):
            schema.encode(np.zeros((2, 3)))
        with pytest.raises(InputError, match="'old' is text, but the column is numeric"):
            schema.encode(frame.assign(age="old"))
        with pytest.raises(InputError, match="infinite"):
            schema.encode(frame.assign(age=np.inf))

    def test_a_file(self, frame, tmp_path):
        path = tmp_path / "table.csv"
        frame.assign(w=[1, 2, 1, 0, 1, 1], note="n").to_csv(path, index=False)
        design = read_linear(path, "y", weight="w", drop="note", interactions=[("sex", "town")])
        assert design.names == ("age", "sex", "smoker", "town")
        assert design.rows == 5
        assert np.array_equal(design.schema.encode(path)[[0, 1, 2, 4, 5]], design.matrix)


class TestSchema:
    def test_to_dict_is_exact(self, frame):
        rng = np.random.default_rng(1)
        design = design_of(frame.assign(z=rng.normal(size=6) * 1e-300, u=rng.normal(size=6) / 3), interactions="all")
        record = json.loads(json.dumps(design.schema.to_dict()))
        again = LinearSchema.from_dict(record)
        assert again == design.schema
        assert again.units == design.schema.units
        assert np.array_equal(
            again.encode(frame.assign(z=0.1, u=0.2)), design.schema.encode(frame.assign(z=0.1, u=0.2))
        )

    def test_words(self, frame):
        design = design_of(frame, interactions=[("age", "sex")], sample_weight=[1, 1, 1, 1, 1, 3])
        assert repr(design) == "<LinearDesign: 6 rows, 5 units, response 'y'>"
        lines = design.describe().splitlines()
        assert lines[:3] == [
            "6 rows, total weight 8",
            "4 columns: 1 numeric, 2 categorical, 1 boolean",
            "missing values: age 2, town 1",
        ]
        assert lines[4] == "matrix: 9 columns in 5 units, of which 1 interaction"


class TestFingerprint:
    def test_everything_counts(self, frame):
        base = design_of(frame)
        others = [
            design_of(frame, interactions=[(0, 1)]),
            design_of(frame, sample_weight=[1, 1, 1, 1, 1, 2]),
            design_of(frame.assign(y=frame["y"] + 1)),
            design_of(frame.assign(age=frame["age"].iloc[::-1].to_numpy())),
            design_of(frame.rename(columns={"age": "Age"})),
        ]
        assert base.fingerprint() == design_of(frame.copy()).fingerprint()
        assert len({design.fingerprint() for design in (base, *others)}) == 6

    def test_that_of_trees_is_what_model_files_hold(self, frame):
        weight = [1, 1, 1, 1, 1, 2]
        design = make_design(
            frame.drop(columns="y"), frame["y"], task="regression", sample_weight=weight, offset=weight
        )
        digest = hashlib.blake2b(json.dumps(design.schema.to_dict()).encode(), digest_size=8)
        for array in (*design.bins, design.y, design.weight, design.offset):
            digest.update(array.tobytes())
        assert design.fingerprint() == digest.hexdigest()


class TestEdges:
    def test_columns_that_say_nothing(self):
        frame = pd.DataFrame(
            {"one": 0.1, "level": "a", "none": [None] * 3, "never": [True, None, None], "x": [1.0, 2.0, 4.0]}
        )
        design = make_linear_design(frame, [1.0, 3.0, 2.0], interactions="all", categorical_features=["none"])
        assert [unit.end - unit.begin for unit in design.units[:5]] == [1, 0, 1, 2, 1]
        assert design.schema.matrix_names[:5] == ("one", "none missing", "never", "never missing", "x")
        assert design.matrix[:, :4].T.tolist() == [[0.1] * 3, [1] * 3, [1] * 3, [0, 1, 1]]
        # What is constant is exactly so after centring, and so are its products.
        constant = [unit for unit in design.units if unit.name in ("one:x", "one:none", "none:never", "level:x")]
        assert all(not design.matrix[:, unit.columns].any() for unit in constant)
        assert np.array_equal(design.schema.encode(frame), design.matrix)

    def test_huge_and_tiny_numbers(self):
        x = np.array([1e308, -1.5e308, 1.7e308, 1.6e308])
        design = make_linear_design(np.column_stack([x, x * 1e-310, x * 1e-320]), [1.0, 2.0, 3.0, 5.0])
        np.testing.assert_allclose(design.schema.centres[0], 0.7e308)
        np.testing.assert_allclose(design.schema.centres[1], 0.7e-2, rtol=1e-6)
        assert np.isfinite(design.matrix).all()
        with pytest.raises(InputError, match=r"interaction 'x0:x1': products of its values exceed float64; rescale"):
            make_linear_design(np.column_stack([x, x]), [1.0, 2.0, 3.0, 5.0], interactions="all")

    def test_more_columns_than_rows(self):
        X = np.random.default_rng(3).normal(size=(3, 50))
        assert make_linear_design(X, [1, 2, 4], interactions="all").matrix.shape == (3, 50 + 50 * 49 // 2)

    @pytest.mark.parametrize(
        ("interactions", "message"),
        [
            ("some", "no choice of interactions 'some'. Choose from: all, pairs of columns"),
            (3, "no choice of interactions 3"),
            (["ab"], "'ab' is no pair; give two columns, such as"),
            ([("a", "b", "c")], "is no pair"),
            ([3], "3 is no pair"),
            ([("a", "z")], "no column 'z'. Choose from: a, b, a:b"),
            ([(0, 3)], "interactions: no column 3; positions go from 0 to 2"),
            ([(0, True)], "no column True"),
            ([("a", 0)], "'a' cannot interact with itself"),
            ([("a", "a:b"), (2, 0)], "two columns or interactions are called 'a:a:b'; name each pair once"),
            ([("b", "a")], "two columns or interactions are called 'a:b'"),
        ],
    )
    def test_wrong_interactions(self, interactions, message):
        frame = pd.DataFrame({"a": [1, 2, 3], "b": [1, 3, 2], "a:b": [2, 1, 3]})
        with pytest.raises(InputError) as caught:
            make_linear_design(frame, [1, 2, 4], interactions=interactions)
        assert message in str(caught.value)

    def test_too_many_columns(self):
        with pytest.raises(InputError, match="would have 19,904,895 columns"):
            make_linear_design(np.zeros((2, 6310)), [1, 2], interactions="all")
        with pytest.raises(InputError, match="would have 20,001 columns"):
            make_linear_design(np.zeros((2, 20_001)), [1, 2])

    @pytest.mark.parametrize(
        ("X", "y", "options", "message"),
        [
            ([[1.0], [2.0]], [1.0, None], {}, "1 missing value (NaN) in the response"),
            ([[1.0], [2.0]], [1.0, 1.0], {}, "the response is 1 in every row"),
            ([[1.0], [2.0]], ["a", "b"], {}, "'a' where the response of a regression must be numbers, not text"),
            ([[1.0], [2.0]], [1.0, 2.0], {"sample_weight": [0, 1]}, "at least 2 rows are needed"),
            ([[1.0]], [1.0], {}, "at least 2 rows are needed"),
            ([[1.0], [np.inf]], [1.0, 2.0], {}, "infinite"),
            ([[1.0], [2.0]], [1.0, 2.0, 3.0], {}, "inconsistent numbers of samples"),
            (np.zeros((2, 0)), [1.0, 2.0], {}, "0 feature(s)"),
        ],
    )
    def test_errors_are_those_of_trees(self, X, y, options, message):
        for make in (make_linear_design, lambda *data, **more: make_design(*data, task="regression", **more)):
            with pytest.raises(InputError) as caught:
                make(X, y, **options)
            assert message in str(caught.value)


def test_predictors_that_lack_the_same_rows_share_an_indicator() -> None:
    generator = np.random.default_rng(4)
    X = generator.normal(size=(60, 3))
    X[::5, :2] = np.nan
    X[::7, 2] = np.nan
    design = make_linear_design(X, generator.normal(size=60))
    assert standardise(design).kept.tolist() == [True, True, True, False, True, True]
