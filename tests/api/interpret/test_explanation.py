"""One row explained: paths and effects add up to the prediction, and changes are the smallest that change it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from families import CASES, EVERY, OFFSET, THREE, WEIGHT, X, bins, drawn

ROWS = (0, 4, 17)
TREES = [f"cart: {name}" for name in CASES["cart"]]
SUMS = ["bart: numbers", "bart: two classes", "bart: three classes", "bart: soft classes"]


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("row", ROWS)
def test_paths_add_up_to_the_prediction(name: str, row: int) -> None:
    """Each draw's path ends at the leaf that predicts, and no path is told twice."""
    posterior = drawn(name)
    found = posterior.explain(X[row])
    paths = found.reasons.paths
    assert sum(path.share for path in paths) == pytest.approx(1)
    exact = posterior.summed is not None
    if not exact:
        assert sum(path.share * path.value for path in paths) == pytest.approx(found.mean)
    assert len({path.rules for path in paths}) == len(paths)
    assert [path.share for path in paths] == sorted((path.share for path in paths), reverse=True)


def test_rules_hold_of_the_row_and_of_no_other_leaf() -> None:
    """Rows that meet all rules of a path share its leaf; the rules of each column are said once."""
    X = pd.DataFrame({"a": [1.0, 2, 3, 4, 5, 6, 7, 8] * 5, "b": ["x", "y"] * 20, "c": [True, True, False, False] * 10})
    y = 10 * (X["a"] > 4) + 5 * (X["b"] == "x") + 3 * X["c"] + 0.01 * np.arange(40)
    design = bt.make_design(X, y, task="regression")
    posterior = bt.sample(bt.CART(), design, warmup=200, draws=50, seed=0, progress=False)
    found = posterior.explain({"a": 6.0, "b": "x", "c": False})
    said = {rule for path in found.reasons.paths for rule in path.rules}
    # What is said of numbers holds of 6, and of labels there is but one thing to say.
    assert {rule for rule in said if " a " not in f" {rule} "} == {"b is x", "c is false"}
    assert all(eval(rule, {"a": 6.0}) for rule in said if " a " in f" {rule} ")
    effect = found.reasons.effects[0]
    assert (effect.column, effect.value) == ("a", "6") and effect.share == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("name", SUMS)
def test_effects_of_sums_add_up(name: str) -> None:
    posterior = drawn(name)
    found = posterior.explain(X[4])
    fits = posterior.prediction.blocks(posterior.schema.encode(X[4:5]))(slice(0, 1), ("draws",)).fits
    place = 0 if fits.shape[1] == 1 else int(np.argmax(posterior.predict(X[4:5])[0]))
    moved = found.reasons.base + sum(effect.mean for effect in found.reasons.effects)
    assert moved == pytest.approx(fits[:, place, 0].mean(), abs=1e-4)
    assert [abs(effect.mean) for effect in found.reasons.effects] == sorted(
        (abs(effect.mean) for effect in found.reasons.effects), reverse=True
    )


@pytest.mark.filterwarnings("ignore:column 'x0'")
@pytest.mark.parametrize("name", ["enumerated", "sampled", "heredity"])
def test_terms_of_linear_models_add_up(name: str) -> None:
    found = drawn(f"subset: {name}").explain(X[4])
    assert found.reasons.base + sum(effect.mean for effect in found.reasons.effects) == pytest.approx(found.mean)


@pytest.mark.filterwarnings("ignore:column 'x0'")
@pytest.mark.parametrize("name", ["one tree", "two classes", "numbers"])
def test_ways_through_gates_add_up_to_the_best_tree(name: str) -> None:
    posterior = drawn(f"hme: {name}")
    found = posterior.explain(X[4])
    paths = found.reasons.paths
    best = posterior.prediction.tree(*posterior.best).means(posterior.inputs.matrix(X[4:5]))[0]
    place = 1 if posterior.schema.response.classes is not None else 0
    expected = best[place] if place else posterior.outputs.original(best[None])[0, 0]
    assert sum(path.share for path in paths) == pytest.approx(1)
    assert sum(path.share * path.value for path in paths) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["cart: three classes", "cart: numbers", "bart: two classes"])
@pytest.mark.parametrize("row", ROWS)
def test_changes_are_the_smallest(name: str, row: int) -> None:
    """Held against every other bin of every column."""
    posterior = drawn(name)
    found = posterior.explain(X[row])
    labels = [*map(str, posterior.schema.response.classes)] if found.probabilities else []
    here = posterior.schema.encode(X[row : row + 1])
    changed = {change.column: change for change in found.changes}
    for place, column in enumerate(posterior.schema.columns):
        others = np.repeat(here, column.observed, axis=0)
        others[:, place] = np.arange(column.observed)
        mean = posterior.prediction.predict(others, "mean")
        now = posterior.prediction.predict(here, "mean")[0]
        if labels:
            differs = mean.argmax(axis=1) != now.argmax()
        else:
            low, high = found.interval
            differs = (mean < low) | (mean > high)
        assert (column.name in changed) == differs.any()
        if column.name not in changed:
            continue
        change, edited = changed[column.name], X[row].copy()
        edited[place] = change.after
        after = posterior.predict(edited[None])[0]
        assert change.mean == pytest.approx(after[labels.index(found.what[6:-1])] if labels else after)
        assert change.label == (labels[int(after.argmax())] if labels else None)
        there = int(posterior.schema.encode(edited[None])[0, place])
        assert differs[there]
        if column.kind == "numeric" and here[0, place] < column.observed:
            # The nearest value of a bin below is the cut above it. One of few digits may be behind a neighbour.
            bins = np.arange(column.observed)
            nearest = np.where(bins < here[0, place], np.append(column.cuts, np.inf), column.lowest)
            distance = np.abs(nearest - X[row, place])
            assert (distance[differs] < distance[there]).sum() <= 1
    distances = [change.distance for change in found.changes]
    assert distances == sorted(distances)


def test_rows_in_every_form_say_the_same() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    posterior = bt.sample(
        bt.CART(), bt.make_design(frame, THREE, task="classification"), draws=20, seed=0, progress=False
    )
    import polars as pl

    forms: list[Any] = [
        frame.iloc[4],
        frame[4:5],
        pl.from_pandas(frame)[4:5],
        X[4],
        X[4:5],
        frame.iloc[4].to_dict(),
        list(X[4]),
    ]
    said = {str(posterior.explain(form)) for form in forms}
    assert len(said) == 1
    assert str(posterior.explain({"a": None, "b": 1, "c": 0.5})) != said.pop()


def test_what_it_gives() -> None:
    found = drawn("cart: two classes").explain(X[4], of="no", prob=0.5)
    assert found.what == "P(y = no)" and found.prob == 0.5
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert record["mean"] == pytest.approx(drawn("cart: two classes").predict(X[4:5])[0, 0])
    assert set(record["values"]) == {"x0", "x1", "x2"} and record["probabilities"].keys() == {"no", "yes"}
    by = drawn("bart: numbers").explain(X[4], by=0.05)
    assert by.wanted == "the mean moves by 0.05 or more"
    assert all(abs(change.mean - by.mean) >= 0.05 for change in by.changes)
    with_offset = drawn("bart: weights and offset").explain(X[4], offset=[OFFSET[4]])
    assert with_offset.mean == pytest.approx(drawn("bart: weights and offset").predict(X[4:5], offset=[OFFSET[4]])[0])


@pytest.mark.parametrize(
    ("name", "row", "options", "said"),
    [
        ("cart: numbers", X[:2], {}, "give one value for each of 3 columns"),
        ("cart: numbers", X[0, :2], {}, "give one value for each of 3 columns"),
        ("cart: numbers", {"x0": 1, "x1": 1, "x3": 2}, {}, "no column 'x2'. It has: x0, x1, x3"),
        ("cart: numbers", pd.DataFrame(X, columns=["x0", "x1", "x2"]), {}, "one row is explained at a time"),
        ("cart: numbers", X[0], {"of": "yes"}, "has no classes"),
        ("cart: numbers", X[0], {"by": 0}, "by=0"),
        ("cart: two classes", X[0], {"by": 1.0}, "leave it out"),
        ("cart: two classes", X[0], {"of": "maybe"}, "Choose from: no, yes"),
        ("bart: weights and offset", X[0], {}, "fitted with an offset"),
        ("hme: two outputs", X[0, 1:], {}, "each row has 2 responses"),
    ],
)
def test_wrong_rows(name: str, row: Any, options: Any, said: str) -> None:
    with pytest.raises(bt.InputError, match=said):
        drawn(name).explain(row, **options)


def test_weights_do_not_matter_to_a_row() -> None:
    design = bins(sample_weight=WEIGHT)
    posterior = bt.sample(bt.CART(), design, warmup=50, draws=20, seed=1, progress=False)
    assert posterior.explain(X[3]).mean == pytest.approx(posterior.predict(X[3:4])[0])


@pytest.mark.filterwarnings("ignore:column 'x0'")
@pytest.mark.parametrize("name", ["cart: numbers", "bart: two classes", "subset: sampled", "hme: two classes"])
def test_it_is_drawn(name: str) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    found = drawn(name).explain(EVERY[name].rows[4])
    ax = found.plot()
    assert ax.get_title(loc="left") == found.said and len(ax.child_axes) == 2
    given = pyplot.figure().subplots()
    assert found.plot(given) is given
    pyplot.close("all")
