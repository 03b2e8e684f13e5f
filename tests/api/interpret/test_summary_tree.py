"""One tree for a posterior: what it says, in draws as well, and what it refuses."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import baytree as bt

SETTINGS: dict[str, Any] = {"warmup": 50, "draws": 40, "chains": 2, "seed": 1, "progress": False}
ROWS = 90


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    """Columns of all kinds, one with missing values."""
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, ROWS).astype(float),
            "dose": [None if row % 9 == 0 else float(row % 7) for row in range(ROWS)],
            "sex": [["f", "m", "x"][row % 3] for row in range(ROWS)],
            "smokes": rng.random(ROWS) < 0.4,
        }
    )


def response(frame: pl.DataFrame) -> np.ndarray:
    noise = np.random.default_rng(4).normal(size=ROWS)
    return frame["age"].to_numpy() / 10 + 2 * frame["smokes"].to_numpy() + (frame["sex"] == "f").to_numpy() + noise


def design_of(frame: pl.DataFrame, task: str, **more: Any) -> bt.Design:
    y: Any = response(frame)
    if task != "regression":
        y = np.digitize(y, [5.0] if task == "two" else [4.0, 6.0])
    return bt.make_design(frame, y, task="regression" if task == "regression" else "classification", **more)


@pytest.mark.parametrize(
    "model", [bt.CART(), bt.CART(bt.GrowTree() & bt.MaxDepth(2), method="exact"), bt.BART(trees=10)]
)
@pytest.mark.parametrize("task", ["regression", "two", "three"])
def test_shares_are_those_of_the_definition(frame: pl.DataFrame, model: Any, task: str) -> None:
    """Worked out anew from predictions, row by row."""
    weight = np.random.default_rng(5).integers(1, 4, ROWS).astype(float)
    design = design_of(frame, task, sample_weight=weight)
    post = bt.sample(model, design, **SETTINGS)
    found = post.summary_tree(design, max_leaves=3)
    assert found.certified
    leaf = np.array([place_of(found.tree, row) for row in frame.iter_rows(named=True)])
    drawn = post.predict(frame, "draws").reshape(2, 40, ROWS, -1)
    average = post.exact_moments()[0] if isinstance(model, bt.CART) and model.method == "exact" else post.predict(frame)
    average = average.reshape(ROWS, -1)
    inside = np.eye(found.tree.n_leaves)[leaf] * weight[:, None]

    def share(values: np.ndarray) -> tuple[float, np.ndarray]:
        means = inside.T @ values / inside.sum(axis=0)[:, None]
        whole = np.average(values, axis=0, weights=weight)
        left, all_of_it = (weight @ (values - at) ** 2 for at in (means[leaf], whole))
        return 1 - left.sum() / all_of_it.sum(), means

    explained, means = share(average)
    assert found.explained == pytest.approx(explained, abs=1e-9)
    assert found.by_leaves[0] == pytest.approx(0, abs=1e-12)
    assert list(found.by_leaves) == sorted(found.by_leaves)
    values = [list(value.values()) if isinstance(value, dict) else [value] for value in found.tree.values]
    np.testing.assert_allclose(values, means, rtol=1e-9)
    varied = [(chain, draw) for chain in range(2) for draw in range(40) if np.ptp(drawn[chain, draw]) > 1e-9]
    for chain, draw in varied[:20]:
        assert found.in_draws[chain, draw] == pytest.approx(share(drawn[chain, draw])[0], abs=1e-8)
    assert all(
        found.in_draws[chain, draw] == 1 for chain in range(2) for draw in range(40) if (chain, draw) not in varied
    )
    expected = np.quantile(np.stack([share(one)[1] for one in drawn.reshape(-1, ROWS, drawn.shape[-1])]), 0.05, axis=0)
    np.testing.assert_allclose(found.leaf_interval[..., 0].reshape(expected.shape), expected, rtol=1e-8, atol=1e-10)


def place_of(tree: bt.Tree, row: dict[str, Any]) -> int:
    """The leaf of a row, by the questions in words."""

    def yes(question: str) -> bool:
        plain, _, missing = question.partition(" or ")
        name, verb, value = plain.split(" ", 2)
        if value == "known":
            return row[name] is not None
        if row[name] is None:
            return bool(missing)
        if verb == "<=":
            return float(row[name]) <= float(value)
        if value == "false":
            return not row[name]
        return row[name] in value.strip("{}").split(", ") if verb == "in" else row[name] == value

    def split(node: int, left: int, right: int) -> int:
        rule = tree.rules[node]
        assert rule is not None
        return left if yes(tree.question(rule)) else right

    return int(tree.walk(split, lambda node, leaf: leaf))


def test_it_is_told_in_words_and_as_json(frame: pl.DataFrame) -> None:
    design = design_of(frame, "regression")
    post = bt.sample(bt.BART(trees=10), design, **SETTINGS)
    found = post.summary_tree(design, max_leaves=3)
    text = str(found)
    assert "at most 3 leaves" in text
    assert "no tree explains more" in text
    assert f"{found.explained_in_draws[0]:.1%}" in text
    assert sum("rows)" in line for line in text.splitlines()) == found.tree.n_leaves
    assert sum(found.tree.rows[node] for node, rule in enumerate(found.tree.rules) if rule is None) == ROWS
    record = json.loads(json.dumps(found.to_dict()))
    assert record["certified"] is True
    assert bt.Tree.from_dict(design.schema, record["tree"]) == found.tree
    again = post.summary_tree(design, max_leaves=3)
    assert again.to_dict() == found.to_dict()


def test_past_its_budget_it_says_what_may_be_missed(frame: pl.DataFrame) -> None:
    design = design_of(frame, "regression")
    post = bt.sample(bt.BART(trees=10), design, **SETTINGS)
    whole, short = post.summary_tree(design, max_leaves=4), post.summary_tree(design, max_leaves=4, budget=5)
    assert not short.certified
    assert short.explained <= whole.explained + 1e-12 <= short.at_most + 2e-12
    assert "a larger budget" in str(short)
    assert short.tree.n_leaves == 4


def test_a_mean_that_varies_nowhere_needs_one_leaf(frame: pl.DataFrame) -> None:
    design = design_of(frame, "two")
    post = bt.sample(bt.CART(bt.GrowTree(alpha=0.0)), design, **SETTINGS)
    found = post.summary_tree(design)
    assert found.tree.n_leaves == 1
    assert found.certified
    assert found.explained == 1
    assert np.all(found.in_draws == 1)


def test_of_a_model_file_the_mean_is_that_of_the_draws(frame: pl.DataFrame, tmp_path: Any) -> None:
    design = design_of(frame, "two")
    post = bt.sample(bt.CART(bt.GrowTree() & bt.MaxDepth(2), method="exact"), design, **SETTINGS)
    post.save(tmp_path / "model.baytree")
    loaded = bt.load(tmp_path / "model.baytree").summary_tree(design)
    assert loaded.explained == pytest.approx(post.summary_tree(design).explained, abs=0.1)


def test_what_it_refuses(frame: pl.DataFrame) -> None:
    design = design_of(frame, "regression")
    post = bt.sample(bt.CART(), design, **SETTINGS)
    for wrong in ({"max_leaves": 0}, {"max_leaves": 65}, {"budget": 0}, {"prob": 1.0}):
        with pytest.raises(bt.InputError, match=next(iter(wrong))):
            post.summary_tree(design, **wrong)
    with pytest.raises(bt.InputError, match="the same design"):
        post.summary_tree(replace(design, schema=design_of(frame, "two").schema))
    with pytest.raises(bt.InputError, match="Design"):
        post.summary_tree(frame)  # type: ignore[arg-type]
