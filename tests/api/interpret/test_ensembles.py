"""Structure discovery on sums of trees that were made by hand: shares, thresholds, dependence, SHAP, plots."""

import json
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree import InputError
from baytree.interpret import (
    Null,
    Shap,
    VariableUse,
    ice,
    interactions,
    partial_dependence,
    shap,
    shares,
    two_way_dependence,
    variable_use,
)
from baytree.interpret import null as nulls
from baytree.plots import columns as plots
from baytree.trees.forest import Ensemble, Forest, rules_of

LEAF: dict[str, Any] = {"leaf": True}
ROWS = 60
FRAME = pl.DataFrame(
    {
        "age": [float(20 + row % 20) for row in range(ROWS)],
        "dose": [None if row % 10 == 3 else float(row % 7) for row in range(ROWS)],
        "sex": [["f", "m", "x"][row % 3] for row in range(ROWS)],
        "smokes": [row % 2 == 0 for row in range(ROWS)],
    }
)
DESIGN = bt.make_design(FRAME, np.arange(ROWS) % 5 + np.arange(ROWS) / 10, task="regression")
SCHEMA = DESIGN.schema
CODES = SCHEMA.encode(FRAME)


def split(feature: str, value: Any, left: Any = LEAF, right: Any = LEAF) -> dict[str, Any]:
    rule = {"levels": value} if isinstance(value, list) else {"threshold": value}
    return {"feature": feature, **rule, "left": left, "right": right}


TREES = [
    LEAF,
    split("age", 29.5),
    split("age", 29.5, split("dose", 2.5), split("age", 33.5)),
    split("sex", ["f"], split("smokes", 0.5, split("age", 25.5))),
    split("dose", 1.5, split("dose", 0.5)),
]


def sums_of(tree_index: Any, seed: int = 0) -> Ensemble:
    index = np.asarray(tree_index, dtype=np.int32)
    forest = Forest.concatenate([bt.Tree.from_dict(SCHEMA, tree).forest().arrays() for tree in TREES])
    leaves = int(forest.leaves[index].sum())
    return Ensemble(forest, index, np.random.default_rng(seed).normal(size=leaves).astype(np.float32))


def random_sums(chains: int, draws: int, trees: int, seed: int = 0) -> Ensemble:
    return sums_of(np.random.default_rng(seed).integers(len(TREES), size=(chains, draws, trees)), seed)


def features_of(sums: Ensemble) -> list[list[list[int]]]:
    """Of each draw and tree the columns of its rules, in no hurry."""
    return [
        [[rule.feature for rule in rules_of(sums.forest, tree) if rule] for tree in draw]
        for draw in sums.tree_index.reshape(-1, sums.trees)
    ]


def predictor(sums: Ensemble) -> Callable[[np.ndarray], np.ndarray]:
    """The sum of the leaf values of every draw and row, in no hurry."""

    def leaf_of(rules: tuple[Any, ...], bins: np.ndarray) -> int:
        node = leaf = 0
        while rules[node] is not None:
            rule = rules[node]
            column, code = SCHEMA.columns[rule.feature], int(bins[rule.feature])
            if column.kind == "categorical":
                left = bool(rule.subset >> code & 1)
            else:
                left = rule.missing_left if code == column.missing_bin else code <= rule.cut
            node += 1
            if not left:
                end, pending = node, 1
                while pending:
                    pending += 1 if rules[end] is not None else -1
                    end += 1
                leaf += sum(rule is None for rule in rules[node:end])
                node = end
        return leaf

    trees = [rules_of(sums.forest, tree) for tree in range(len(sums.forest))]
    index, first = (array.reshape(-1, sums.trees) for array in (sums.tree_index, sums.first))

    def predict(bins: np.ndarray) -> np.ndarray:
        leaf = np.array([[leaf_of(rules, row) for row in bins] for rules in trees])
        return sums.values[first[:, :, None] + leaf[index]].astype(float).sum(axis=1)

    return predict


# ---- shares ---------------------------------------------------------------------------------------------------------


def test_shares_of_two_draws_by_hand() -> None:
    sums = sums_of([[[1, 2]], [[3, 4]]])
    use = variable_use(sums, SCHEMA, prob=0.5)
    # age, dose, sex, smokes: 3, 1, 0, 0 of four rules, then 1, 2, 1, 1 of five.
    first, second = np.array([3, 1, 0, 0]) / 4, np.array([1, 2, 1, 1]) / 5
    assert use.mean == pytest.approx((first + second) / 2)
    assert use.interval == pytest.approx(np.quantile([first, second], [0.25, 0.75], axis=0).T)
    both = interactions(sums, SCHEMA)
    assert dict(zip(both.pairs, both.mean, strict=True)) == {
        ("age", "dose"): 1 / 4,
        ("age", "sex"): 1 / 4,
        ("age", "smokes"): 1 / 4,
        ("dose", "sex"): 0,
        ("dose", "smokes"): 0,
        ("sex", "smokes"): 1 / 4,
    }


@pytest.mark.parametrize("trees", [1, 2, 30])
@pytest.mark.parametrize("block", [1, 50, 10**6])
def test_shares_are_those_counted_one_by_one(trees: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "TREES_PER_BLOCK", block)
    sums = random_sums(3, 17, trees)
    features = features_of(sums)
    use = np.array([
        [sum(tree.count(column) for tree in draw) / max(sum(map(len, draw)), 1) for column in range(4)]
        for draw in features
    ])  # fmt: skip
    pairs = np.array([
        [np.mean([first in tree and second in tree for tree in draw]) for first, second in combinations(range(4), 2)]
        for draw in features
    ])  # fmt: skip
    for found, expected in ((variable_use(sums, SCHEMA), use), (interactions(sums, SCHEMA), pairs)):
        assert found.mean == pytest.approx(expected.mean(axis=0))
        assert found.interval == pytest.approx(np.quantile(expected, [0.05, 0.95], axis=0).T)


def test_draws_without_any_rule_have_share_zero() -> None:
    sums = sums_of([[[0, 0], [1, 0]]])
    assert variable_use(sums, SCHEMA).mean.tolist() == [0.5, 0, 0, 0]
    nothing = sums_of([[[0, 0], [0, 0]]])
    assert not variable_use(nothing, SCHEMA).mean.any()
    assert not interactions(nothing, SCHEMA).interval.any()


def test_one_column_has_no_pairs() -> None:
    design = bt.make_design(FRAME[["age"]], DESIGN.y, task="regression")
    forest = bt.Tree.from_dict(design.schema, split("age", 29.5)).forest()
    sums = Ensemble(forest, np.zeros((1, 1, 1), dtype=np.int32), np.zeros(2, dtype=np.float32))
    assert variable_use(sums, design.schema).mean.tolist() == [1]
    assert interactions(sums, design.schema).names == ()


def test_shares_read_as_a_table_and_as_json() -> None:
    use = variable_use(random_sums(2, 10, 5), SCHEMA)
    lines = str(use).splitlines()
    assert "90% interval" in lines[0]
    assert [line.split()[0] for line in lines[1:]] == [use.names[place] for place in np.argsort(-use.mean)]
    record = json.loads(json.dumps(use.to_dict()))
    assert record["shares"]["age"]["mean"] == use.mean[0]
    both = interactions(random_sums(2, 10, 5), SCHEMA)
    assert both.matrix[0, 1] == both.matrix[1, 0] == both.mean[0]
    assert both.matrix[2, 3] == both.mean[-1]
    assert "age × dose" in str(both)


def test_many_columns_are_cut_short() -> None:
    mean = np.arange(30) / 100
    use = VariableUse(tuple(f"x{i}" for i in range(30)), mean, np.stack([mean, mean], axis=1), 0.9)
    assert str(use).splitlines()[-1].strip() == "10 others, at most 0.090 each"


def test_an_impossible_probability_is_refused() -> None:
    for share in (variable_use, interactions):
        with pytest.raises(InputError, match="prob=1"):
            share(random_sums(1, 1, 1), SCHEMA, 1.0)


# ---- thresholds -----------------------------------------------------------------------------------------------------


def test_thresholds_by_hand() -> None:
    drawn = np.array([[i / 100, (19 - i) / 10] for i in range(1, 20)])
    assert nulls.thresholds(drawn, "local", 0.95).tolist() == [0.19, 1.8]
    assert nulls.thresholds(drawn, "local", 0.5).tolist() == [0.1, 0.9]
    assert nulls.thresholds(drawn, "global_max", 0.95).tolist() == [1.8, 1.8]
    mean, sd = drawn.mean(axis=0), drawn.std(axis=0, ddof=1)
    assert nulls.thresholds(drawn, "global_se", 0.95) == pytest.approx(mean + (0.19 - mean[0]) / sd[0] * sd)


def test_a_threshold_is_seldom_exceeded_where_nothing_matters() -> None:
    """One more draw exceeds the local threshold with probability 1/20 exactly; the largest of ten, the global one."""
    rng = np.random.default_rng(1)
    runs = 4000
    exceeded = {"local": 0, "global_max": 0}
    for _ in range(runs):
        drawn, here = rng.normal(size=(19, 10)), rng.normal(size=10)
        exceeded["local"] += bool(here[0] > nulls.thresholds(drawn, "local", 0.95)[0])
        exceeded["global_max"] += bool((here > nulls.thresholds(drawn, "global_max", 0.95)).any())
    tolerance = 4 * np.sqrt(0.05 * 0.95 / runs)
    for count in exceeded.values():
        assert count / runs == pytest.approx(0.05, abs=tolerance)
    # The plain quantile is exceeded too often, and would be found.
    plain = [bool(rng.normal() > np.quantile(rng.normal(size=19), 0.95)) for _ in range(runs)]
    assert np.mean(plain) > 0.05 + tolerance


def test_a_global_threshold_of_columns_that_never_change() -> None:
    assert nulls.thresholds(np.full((19, 2), 0.5), "global_se", 0.95).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("kind", "level", "says"), [("lokal", 0.95, "local"), ("local", 1.5, "between"), ("local", 0.99, "99 or more")]
)
def test_thresholds_that_cannot_be(kind: str, level: float, says: str) -> None:
    with pytest.raises(InputError, match=says):
        nulls.thresholds(np.zeros((19, 2)), kind, level)


def test_what_is_large_is_marked() -> None:
    use = variable_use(sums_of([[[1, 2, 1, 1]]]), SCHEMA)
    with pytest.raises(InputError, match="against"):
        _ = use.large
    null = Null(SCHEMA.names, np.full((19, 4), 0.25), np.full((19, 6), 0.1))
    judged = use.against(null)
    assert judged.large.tolist() == [True, False, False, False]
    assert [line.endswith("*") for line in str(judged).splitlines()[1:]] == [True, False, False, False]
    assert judged.to_dict()["shares"]["age"]["large"] is True
    both = interactions(sums_of([[[1, 2, 1, 1]]]), SCHEMA).against(null, "global_max")
    assert [pair for pair, large in zip(both.pairs, both.large, strict=True) if large] == [("age", "dose")]
    with pytest.raises(InputError, match="columns"):
        use.against(Null(("a",), np.zeros((19, 1)), np.zeros((19, 0))))


# ---- dependence -----------------------------------------------------------------------------------------------------

SUMS = random_sums(2, 6, 4, seed=3)
PREDICT = predictor(SUMS)


def test_dependence_is_the_average_with_the_column_set() -> None:
    found = partial_dependence(PREDICT, SCHEMA, CODES, "age", grid=[22, 31.0, 39], prob=0.8, response="y")
    assert found.grid.values == (22, 31.0, 39)
    for place, value in enumerate(found.grid.values):
        average = PREDICT(SCHEMA.encode(FRAME.with_columns(age=pl.lit(value)))).mean(axis=1)
        assert found.mean[place] == pytest.approx(average.mean())
        assert found.interval[place] == pytest.approx(np.quantile(average, [0.1, 0.9]))
    assert json.loads(json.dumps(found.to_dict()))["column"] == "age"


def test_grids_are_of_observed_values() -> None:
    age = partial_dependence(PREDICT, SCHEMA, CODES, "age", grid=5).grid
    assert age.values == (20, 24, 29, 34, 39)
    assert SCHEMA.columns[0].encode(np.array(age.values)).tolist() == age.bins.tolist()
    every = partial_dependence(PREDICT, SCHEMA, CODES, "age", grid=100).grid
    assert every.values == tuple(range(20, 40))
    dose = partial_dependence(PREDICT, SCHEMA, CODES, "dose").grid
    assert dose.values == tuple(range(7))
    assert len(dose.observed) == 54
    assert partial_dependence(PREDICT, SCHEMA, CODES, "sex").grid.values == ("f", "m", "x")
    assert partial_dependence(PREDICT, SCHEMA, CODES, "smokes").grid.values == ("false", "true")


def test_missing_values_can_be_asked_for() -> None:
    found = partial_dependence(PREDICT, SCHEMA, CODES, "dose", grid=[1.0, np.nan])
    assert found.grid.bins.tolist() == [1, SCHEMA.columns[1].missing_bin]
    frame = FRAME.with_columns(sex=pl.when(pl.arange(ROWS) == 0).then(None).otherwise(pl.col("sex")))
    schema = bt.make_design(frame, DESIGN.y, task="regression").schema
    labels = partial_dependence(lambda bins: bins[None, :, 2] * 1.0, schema, schema.encode(frame), "sex")
    assert (labels.grid.values, labels.mean.tolist()) == (("f", "m", "x", "(missing)"), [0, 1, 2, 3])


def test_curves_are_those_of_single_rows() -> None:
    found = ice(PREDICT, SCHEMA, CODES, "sex", rows=10, seed=4)
    assert len(found.rows) == 10 and (np.diff(found.rows) > 0).all()
    bins = CODES[found.rows].copy()
    bins[:, 2] = 1
    assert found.mean[:, 1] == pytest.approx(PREDICT(bins).mean(axis=0))
    assert found.interval[:, 1] == pytest.approx(np.quantile(PREDICT(bins), [0.05, 0.95], axis=0).T)
    assert found.mean.mean(axis=0) == pytest.approx(
        partial_dependence(PREDICT, SCHEMA, CODES, "sex", rows=10, seed=4).mean
    )
    again, other = (ice(PREDICT, SCHEMA, CODES, "sex", rows=10, seed=seed).rows.tolist() for seed in (4, 5))
    assert again == found.rows.tolist() != other


def test_centred_curves_begin_at_nothing() -> None:
    found = ice(PREDICT, SCHEMA, CODES, "age", centred=True)
    plain = ice(PREDICT, SCHEMA, CODES, "age")
    assert not found.interval[:, 0].any()
    assert found.mean == pytest.approx(plain.mean - plain.mean[:, :1], abs=1e-9)
    assert found.response == "change of response"


def test_two_columns_are_set_together() -> None:
    found = two_way_dependence(PREDICT, SCHEMA, CODES, ("age", "sex"), grid=([25, 35], 9), prob=0.8)
    assert found.mean.shape == (2, 3)
    for i, age in enumerate((25, 35)):
        for j, sex in enumerate("fmx"):
            frame = FRAME.with_columns(age=pl.lit(float(age)), sex=pl.lit(sex))
            average = PREDICT(SCHEMA.encode(frame)).mean(axis=1)
            assert found.mean[i, j] == pytest.approx(average.mean())
            assert found.interval[i, j] == pytest.approx(np.quantile(average, [0.1, 0.9]))
    assert json.loads(json.dumps(found.to_dict()))["columns"] == ["age", "sex"]


def test_the_given_rows_stay_as_they_are() -> None:
    before = CODES.copy()
    partial_dependence(PREDICT, SCHEMA, CODES, "age")
    two_way_dependence(PREDICT, SCHEMA, CODES, ("age", "sex"), grid=2)
    assert (before == CODES).all()


@pytest.mark.parametrize(
    ("column", "options", "says"),
    [
        ("agee", {}, "Did you mean 'age'"),
        ("age", {"rows": 0}, "rows=0"),
        ("age", {"grid": 0}, "grid=0"),
        ("age", {"grid": []}, "empty grid"),
        ("age", {"prob": 0}, "prob=0"),
        ("sex", {"grid": ["f", "q"]}, "level of column 'sex'"),
    ],
)
def test_dependence_on_what_is_not_there(column: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        partial_dependence(PREDICT, SCHEMA, CODES, column, **options)


def test_rows_are_needed_and_two_columns() -> None:
    with pytest.raises(InputError, match="no rows"):
        ice(PREDICT, SCHEMA, CODES[:0], "age")
    with pytest.raises(InputError, match="twice"):
        two_way_dependence(PREDICT, SCHEMA, CODES, ("age", "age"))


# ---- SHAP -----------------------------------------------------------------------------------------------------------


def explained(bins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The SHAP values of an additive function of the bins, with other weights in each of three draws."""
    values = (bins - CODES.mean(axis=0)) * np.array([1.0, 2.0, 3.0])[:, None, None]
    return values, np.array([1.0, 2.0, 6.0])


def shapes(**options: Any) -> Shap:
    return shap(explained, SCHEMA, CODES, np.arange(ROWS), blocks=[slice(0, 25), slice(25, ROWS)], **options)


def test_shap_values_are_averaged_over_draws() -> None:
    found = shapes(prob=0.5)
    each, _ = explained(CODES)
    assert found.mean == pytest.approx(each.mean(axis=0))
    assert found.interval == pytest.approx(np.moveaxis(np.quantile(each, [0.25, 0.75], axis=0), 0, -1))
    sizes = np.abs(each).mean(axis=1)
    assert found.size == pytest.approx(sizes.mean(axis=0))
    assert found.size_interval == pytest.approx(np.quantile(sizes, [0.25, 0.75], axis=0).T)
    assert found.base == 3.0
    assert found.levels[:, 0].min() == 0 and found.levels[:, 0].max() == 1
    assert np.isnan(found.levels[:, 2]).all()
    assert np.isnan(found.levels[CODES[:, 1] == SCHEMA.columns[1].missing_bin, 1]).all()
    assert str(found).splitlines()[1].split()[0] == "age"
    assert json.loads(json.dumps(found.to_dict()))["base"] == 3.0


# ---- plots ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def pyplot(monkeypatch: pytest.MonkeyPatch) -> Any:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_plots_show_names_and_figures(pyplot: Any) -> None:
    null = Null(SCHEMA.names, np.full((19, 4), 0.25), np.full((19, 6), 0.1))
    use = variable_use(SUMS, SCHEMA)
    ax = use.against(null).plot()
    assert [text.get_text() for text in ax.get_yticklabels()] == list(SCHEMA.names)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), use.mean)
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), [0.25] * 4)
    both = interactions(SUMS, SCHEMA)
    assert len(both.plot(kind="dots").get_yticklabels()) == 6
    shown = both.plot().images[0].get_array()
    assert shown[0, 1] == both.mean[0]
    line = partial_dependence(PREDICT, SCHEMA, CODES, "age").plot()
    assert line.get_xlabel() == "age" and line.get_ylabel() == "average response"
    labels = partial_dependence(PREDICT, SCHEMA, CODES, "sex").plot()
    assert [text.get_text() for text in labels.get_xticklabels()] == ["f", "m", "x"]
    assert len(ice(PREDICT, SCHEMA, CODES, "age").plot().lines) == 1 + ROWS + 1
    assert len(ice(PREDICT, SCHEMA, CODES, "sex").plot().lines) == ROWS + 1
    found = shapes()
    assert found.plot().get_yticklabels()[0].get_text() == "age"
    found.plot(kind="rows").figure.canvas.draw()


@pytest.mark.parametrize("columns", [("age", "dose"), ("age", "sex"), ("smokes", "sex")])
def test_surfaces_are_drawn(columns: tuple[str, str], pyplot: Any) -> None:
    found = two_way_dependence(PREDICT, SCHEMA, CODES, columns, grid=3)
    _, ax = pyplot.subplots()
    assert found.plot(ax) is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == columns
    found.plot(kind="lower").figure.canvas.draw()


def test_of_many_columns_the_largest_are_drawn(pyplot: Any) -> None:
    mean = np.arange(60) / 100
    use = VariableUse(tuple(f"x{i}" for i in range(60)), mean, np.stack([mean, mean], axis=1), 0.9)
    assert [text.get_text() for text in use.plot().get_yticklabels()] == [f"x{i}" for i in range(59, 9, -1)]


def test_kinds_of_plots_are_listed() -> None:
    both = interactions(SUMS, SCHEMA)
    for plot in (
        both.plot,
        two_way_dependence(PREDICT, SCHEMA, CODES, ("age", "dose"), grid=2).plot,
        shapes().plot,
    ):
        with pytest.raises(InputError, match="kind of plot"):
            plot(kind="pie")


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"baytree\[plot\]"):
        plots.axes(None)


def test_points_that_coincide_are_spread() -> None:
    moved = plots._spread(np.array([0.0, 0.0, 0.0, 1.0]))
    assert sorted(moved[:3]) == pytest.approx([-0.4, 0, 0.4]) and moved[3] == 0
