"""Trees that belong to no table: read from text and files, and put into the words of a table."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import baytree as bt
from baytree import InputError
from baytree.errors import FileError
from baytree.trees.template import Template, template_of

LEAF: dict[str, Any] = {"leaf": True}

# ---- in the words of a table ----------------------------------------------------------------------------------------


def on(frame: dict[str, list[Any]], record: Any) -> str:
    y = [0.0, 1.5] * (len(next(iter(frame.values()))) // 2)
    design = bt.make_design(pl.DataFrame(frame, strict=False), y, task="regression")
    return str(template_of(record).on(design.schema)).replace("\n", " ")


@pytest.mark.parametrize(
    ("frame", "question", "fitted"),
    [
        ({"a": [0, 10, 11, 12]}, {"threshold": 9.9}, "a <= 5.0? ├─ yes: b1 └─ no:  b2"),
        ({"a": [0, 10, 11, 12]}, {"threshold": 99}, "a <= 99.0? ├─ yes: b1 └─ no:  b2"),
        ({"a": [0, 10, 11, 12]}, {"threshold": 9.9, "missing": "left"}, "a <= 5.0? ├─ yes: b1 └─ no:  b2"),
        ({"a": [0, 10, 11, 12]}, {"missing": "asked"}, "b1"),
        ({"a": [0, 10, None, 12]}, {"missing": "asked"}, "a is known? ├─ yes: b1 └─ no:  b2"),
        ({"a": ["p", "q", "r", "p"]}, {"levels": ["r", "p"]}, "a in {p, r}? ├─ yes: b1 └─ no:  b2"),
        ({"a": ["p", "q", "r", "p"]}, {"levels": ["q", "r"]}, "a is p? ├─ yes: b2 └─ no:  b1"),
        ({"a": ["p", "q", None, "p"]}, {"levels": ["q"]}, "a is p or missing? ├─ yes: b2 └─ no:  b1"),
        ({"a": ["p", "q", None, "p"]}, {"missing": "asked"}, "a in {p, q}? ├─ yes: b1 └─ no:  b2"),
        ({"a": ["p", "q", "p", "p"]}, {"levels": ["p", "q"]}, "b1"),
        ({"a": ["p", "q", "p", "p"]}, {"levels": []}, "b2"),
        ({"a": [True, False, True, False]}, {"levels": ["False"]}, "a <= 0.5? ├─ yes: b1 └─ no:  b2"),
        ({"a": [True, False, True, None]}, {"levels": ["true"]}, "a <= 0.5 or missing? ├─ yes: b2 └─ no:  b1"),
    ],
)
def test_questions_in_the_words_of_a_table(frame: dict[str, list[Any]], question: Any, fitted: str) -> None:
    """The sides are marked by what they ask of b."""
    sides = [{"feature": "b", "threshold": value, "left": LEAF, "right": LEAF} for value in (1.5, 2.5)]
    record = {"feature": "a", **question, "left": sides[0], "right": sides[1]}
    drawn = on(frame | {"b": [1, 2, 3, 4]}, record)
    for number, value in ((1, 1.5), (2, 2.5)):
        drawn = re.sub(rf"b <= {value}\?[ │]+├─ yes: leaf[ │]+└─ no:  leaf", f"b{number}", drawn)
    assert drawn == fitted


def test_columns_by_place() -> None:
    record = {"feature": 1, "threshold": 2.5, "left": LEAF, "right": LEAF}
    assert on({"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]}, record).startswith("b <= 2.5")
    named = {"a": [1, 2, 3, 4], "feature_1": [5, 6, 7, 8], "c": [1, 2, 3, 4]}
    assert on(named, record).startswith("feature_1 <= 2.5")


# ---- text that cannot be read ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age <= 3?\n  yes: leaf", "tree: it ends after line 2, where 'no': the answer to 'age <= 3?', line 1, should"),
        ("age <= x?\n yes: leaf\n no: leaf", "line 1: 'age <= x?' compares with 'x', which is no number"),
        ("age <= inf?\n yes: leaf\n no: leaf", "compares with 'inf', which is no number"),
        ("age < 3?\n yes: leaf\n no: leaf", "line 1: 'age < 3?' is no question; write 'age <= 30?'"),
        ("age <= 3\n yes: leaf\n no: leaf", "line 1: 'age <= 3' has answers below it; end a question with a question"),
        (
            "age <= 3?\n no: leaf\n yes: leaf",
            "line 2: 'no: leaf' stands where 'yes:' should answer 'age <= 3?', line 1",
        ),
        ("age <= 3?\nyes: leaf\nno: leaf", "line 2: 'yes: leaf' answers 'age <= 3?', line 1: it should stand further"),
        (
            "age <= 3?\n yes: leaf\n   no: leaf",
            "line 3: 'no: leaf' answers 'age <= 3?', line 1: it should stand beneath",
        ),
        ("age <= 3?\n yes: leaf\n no: leaf\n no: leaf", "line 4: 'no: leaf' does not belong to any question above it"),
        (" \n\n", "tree: there is no tree in it"),
        (
            "|--- a <= 1.00\n|   |--- class: 0\n|--- b >  1.00\n|   |--- class: 1",
            "line 3: 'b >  1.00' stands where the other",
        ),
        ("|--- a <= 1.00\n|   |--- class: 0\n", "it ends after line 2, where the other answer to 'a <= 1.00', line 1,"),
        ("|--- a <= 1.00\n|--- class: 0\n", "line 2: 'class: 0' has 0 bars before it, where 1 should be"),
        ("|--- a >  1.00\n|   |--- class: 0", "line 1: 'a >  1.00' answers no question above it"),
        (
            "|--- a <= 1.00\n|   |--- truncated branch of depth 3\n|--- a >  1.00\n|   |--- class: 0",
            "a larger max_depth",
        ),
        ("|--- a <= 1.00\nclass: 0", "line 2: 'class: 0' is no line as sklearn.tree.export_text writes them"),
        ('{"feature": "a",\n "threshold": }', "tree: line 2, column 15: not JSON"),
        ('{"feature": "a", "left": {}, "right": {}}', "tree: a split on 'a' needs a threshold, or levels, not None"),
        ('{"feature": "a", "threshold": 1, "left": {"left": 1}, "right": {}}', "tree.left: a split without 'feature'"),
        ('{"feature": "a", "threshold": NaN, "left": {}, "right": {}}', "needs a threshold, or levels, not nan"),
        ('{"feature": "a", "levels": "x", "left": {}, "right": {}}', "levels 'x': give a list of those that go left"),
        ('{"feature": null, "threshold": 1, "left": {}, "right": {}}', "feature None is no column"),
        ('{"feature": "a", "threshold": 1, "missing": "up", "left": {}, "right": {}}', "no place for missing values"),
        ('{"feature": "a", "threshold": 1, "left": 3, "right": {}}', "tree.left: 3 is not a node"),
    ],
)
def test_text_that_is_no_tree(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        bt.EditTree(text)


def nested(depth: int) -> dict[str, Any]:
    record = LEAF
    for place in range(depth):
        record = {"feature": "age", "threshold": 20.5 + place / 10, "left": LEAF, "right": record}
    return record


def test_trees_may_be_deep_but_not_without_end() -> None:
    deep = template_of(nested(300))
    assert template_of(str(deep)) == deep
    assert template_of(json.dumps(deep.to_dict())) == deep
    assert bt.EditTree(deep).program().warnings() == []
    for source in (nested(301), json.dumps(nested(301)), str(Template((deep.nodes[0], None) * 400 + (None,)))):
        with pytest.raises(InputError, match="more than 300 questions deep"):
            bt.EditTree(source)


def test_files_that_are_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be read"):
        bt.EditTree("nowhere.json")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match="is not UTF-8"):
        bt.EditTree(tmp_path / "bytes.txt")


@pytest.mark.parametrize("source", [3, None, DecisionTreeClassifier(), RandomForestClassifier(), bt.CARTClassifier()])
def test_what_is_no_tree(source: Any) -> None:
    with pytest.raises(InputError, match=r"is no tree|has no tree yet, or many"):
        bt.EditTree(source)


# ---- text that can be read -------------------------------------------------------------------------------------------


def test_a_drawing_by_hand() -> None:
    drawing = """
    start <= 12.5?
      yes: Body Mass <= -1e-3 or missing?
         yes: sex in {f, m , x}?
            yes: 0.3 (12 rows)
            no: absent 0.59 (15 rows)
         no: sex is m or missing?
            yes: leaf
            no: leaf
      no: start is known?
          yes: leaf
          no: leaf
    """
    asked = [node and tuple(node) for node in template_of(drawing).nodes]
    assert asked == [
        ("start", 12.5, None, None),
        ("Body Mass", -0.001, None, "left"),
        *(("sex", None, ("f", "m", "x"), None), None, None),
        *(("sex", None, ("m",), "left"), None, None),
        *(("start", None, None, "asked"), None, None),
    ]


def test_a_single_leaf() -> None:
    for source in ("leaf\n", "absent 0.79 (81 rows)\n", "|--- class: 0\n", LEAF, {}):
        assert template_of(source).nodes == (None,)
