"""What the data changed of a given tree: `Posterior.edits` on draws that were made by hand."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree import InputError
from baytree.trees.diff import Cut, Edits
from baytree.trees.forest import Forest

LEAF: dict[str, Any] = {"leaf": True}
ROWS = 60
FRAME = pl.DataFrame(
    {
        "age": [20 + row % 20 for row in range(ROWS)],
        "dose": [float(row % 7) for row in range(ROWS)],
        "sex": [["f", "m", "x"][row % 3] for row in range(ROWS)],
        "smokes": [row % 2 == 0 for row in range(ROWS)],
    }
)
DESIGN = bt.make_design(FRAME, [row % 5 < 2 for row in range(ROWS)], task="classification")


def split(feature: str, value: Any, left: Any = LEAF, right: Any = LEAF) -> dict[str, Any]:
    rule = {"levels": value} if isinstance(value, list) else {"threshold": value}
    return {"feature": feature, **rule, "left": left, "right": right}


GIVEN = split("age", 29.5, split("sex", ["f"]), split("dose", 2.5))

# Trees with how many of the 20 draws each makes up.
DRAWN = [
    (GIVEN, 5),
    (split("age", 25.5, split("sex", ["f"]), split("dose", 2.5)), 2),
    (split("age", 27.5, split("sex", ["f", "m"]), LEAF), 1),
    (split("age", 31.5, split("sex", ["f", "x"]), LEAF), 4),
    (split("dose", 1.5, split("sex", ["f"]), split("dose", 2.5, LEAF, split("age", 30.5))), 3),
    (split("smokes", 0.5), 2),
    (LEAF, 3),
]


def posterior(drawn: list[tuple[Any, int]], given: Any = GIVEN) -> bt.Posterior:
    post = bt.sample(
        bt.CART(bt.EditTree(given, min_leaf=2)), DESIGN, warmup=0, draws=10, chains=2, seed=1, progress=False
    )
    forest = Forest.concatenate([bt.Tree.from_dict(DESIGN.schema, tree).forest().arrays() for tree, _ in drawn])
    index = np.repeat(np.arange(len(drawn)), [count for _, count in drawn]).reshape(2, -1)
    return replace(post, forest=forest, tree_index=index)


@pytest.fixture(scope="module")
def edits() -> Edits:
    return posterior(DRAWN).edits()


def test_the_whole_tree(edits: Edits) -> None:
    assert edits.unchanged == 5 / 20
    # 1 each where only the root moved; sex moved, dose gone, root moved: 3; root replaced, one more split: 2; smokes in
    # place of age, and two splits gone: 3; all three gone: 3.
    assert edits.differences == (0 * 5 + 1 * 2 + 3 * 1 + 3 * 4 + 2 * 3 + 3 * 2 + 3 * 3) / 20
    assert edits.tree == bt.Tree.from_dict(DESIGN.schema, GIVEN)
    assert edits.prior is None


def test_splits(edits: Edits) -> None:
    root, left, right = edits.splits
    assert [fate.path for fate in edits.splits] == [(), ("yes",), ("no",)]
    assert [fate.question for fate in edits.splits] == ["age <= 29.5", "sex is f", "dose <= 2.5"]
    assert (root.kept, root.moved, root.replaced, root.removed) == (5 / 20, 7 / 20, 5 / 20, 3 / 20)
    assert root.cut == Cut(median=31.5, lower=25.5, upper=31.5)
    assert root.moved_to == "age <= 31.5"
    assert root.replaced_by == {"dose": 3 / 20, "smokes": 2 / 20}
    assert (left.kept, left.moved, left.replaced, left.removed) == (10 / 20, 5 / 20, 0, 5 / 20)
    assert left.cut is None and left.moved_to == "sex in {f, x}" and left.replaced_by == {}
    assert (right.kept, right.moved, right.replaced, right.removed) == (10 / 20, 0, 0, 10 / 20)
    assert right.cut is None and right.moved_to == ""


def test_leaves(edits: Edits) -> None:
    assert [fate.path for fate in edits.leaves] == [("yes", "yes"), ("yes", "no"), ("no", "yes"), ("no", "no")]
    assert [fate.grown for fate in edits.leaves] == [0, 0, 0, 3 / 20]
    assert edits.leaves[3].grown_by == {"age": 3 / 20}


def test_in_words(edits: Edits) -> None:
    assert str(edits).splitlines() == [
        "unchanged with probability 25%, 1.9 differences on average",
        "age <= 29.5?  [kept 25%, moved 35%: 31.5 (25.5 to 31.5), replaced 25%: mostly dose, removed 15%]",
        "├─ yes: sex is f?  [kept 50%, moved 25%: sex in {f, x}, removed 25%]",
        "│  ├─ yes: leaf",
        "│  └─ no:  leaf",
        "└─ no:  dose <= 2.5?  [kept 50%, removed 50%]",
        "   ├─ yes: leaf",
        "   └─ no:  leaf  [split 15%: age]",
    ]


def test_as_json(edits: Edits) -> None:
    record = json.loads(json.dumps(edits.to_dict()))
    assert record["unchanged"] == 0.25 and record["tree"]["feature"] == "age"
    assert record["splits"][0]["cut"] == {"median": 31.5, "lower": 25.5, "upper": 31.5}
    assert record["splits"][1]["path"] == ["yes"] and record["splits"][1]["cut"] is None
    assert record["leaves"][3]["grown_by"] == {"age": 0.15}


def test_a_given_leaf_that_stays_and_one_that_grows() -> None:
    stays = posterior([(LEAF, 4)], LEAF).edits()
    assert (stays.unchanged, stays.differences, stays.splits) == (1, 0, ())
    grows = posterior([(LEAF, 1), (GIVEN, 3)], LEAF).edits()
    assert (grows.unchanged, grows.differences) == (0.25, 0.75 * 3)
    assert grows.leaves[0].grown_by == {"age": 0.75}


def test_the_prior_beside_it() -> None:
    """With the likelihood off both are independent draws from one distribution."""
    model = bt.CART(bt.EditTree(GIVEN, edits=1, min_leaf=2), power=0, proposal="independent")
    post = bt.sample(model, DESIGN, warmup=0, draws=4000, seed=1, progress=False)
    both = post.edits(DESIGN)
    before = both.prior
    assert before is not None
    pairs = [(both.unchanged, before.unchanged)]
    for name in ("kept", "moved", "replaced", "removed"):
        pairs += [
            (getattr(fate, name), getattr(other, name)) for fate, other in zip(both.splits, before.splits, strict=True)
        ]
    for here, there in pairs:
        share = (here + there) / 2
        assert abs(here - there) < 4 * np.sqrt(2 * share * (1 - share) / post.tree_index.size)
    assert both.unchanged > 0.5  # no edit at all has probability one half
    assert f"(prior {before.differences:.1f})" in str(both).splitlines()[0]
    assert both.to_dict()["prior"]["unchanged"] == before.unchanged


def test_what_has_no_given_tree_or_other_data_is_refused() -> None:
    plain = bt.sample(bt.CART(), DESIGN, warmup=0, draws=5, seed=1, progress=False)
    with pytest.raises(InputError, match="is about an EditTree prior; this posterior has a GrowTree"):
        plain.edits()
    with pytest.raises(InputError, match="not the data that the draws came from"):
        posterior(DRAWN).edits(bt.datasets.load("kyphosis").design())
    with pytest.raises(InputError, match="a Design is needed"):
        posterior(DRAWN).edits(FRAME)  # type: ignore[arg-type]
