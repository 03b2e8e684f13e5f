"""What people know, in words: reading, joining, contradictions, facts, records, and that every draw keeps to it."""

import json
import math
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree import _core
from baytree.data.design import Schema
from baytree.data.response import Task
from baytree.knowledge import Constraint
from baytree.knowledge.joined import MOST_BOXES
from baytree.knowledge.sklearn import from_scikit_learn
from baytree.slp import check

ALL = (
    bt.Box({"body mass": "18..25"}, age="<=28", glucose=">=100"),
    bt.Monotone(age=+1, glucose=-1),
    bt.Interact([["age", "glucose"], ["body mass"]]),
    bt.Forbid("Insulin"),
    bt.Forbid("glucose", below=2),
    bt.Forbid("glucose", "body mass", below="age"),
    bt.Only(depth=1, features=["age", "glucose"]),
    bt.MaxDepth(4),
    bt.MaxLeaves(8),
    bt.Weights(age=3, glucose=0.1),
)
IDS = [constraint.describe() for constraint in ALL]


def design(task: Task = "classification", classes: int = 2) -> bt.Design:
    """Four numbers and a kind, with a response that depends on them."""
    rng = np.random.default_rng(1)
    rows = 150
    frame = {name: rng.integers(0, 40, rows).astype(float) for name in ("age", "glucose", "body mass", "Insulin")}
    frame["kind"] = rng.choice(["a", "b", "c"], rows)
    score = frame["age"] + frame["glucose"] + rng.normal(0, 5, rows)
    y = (
        score
        if task == "regression"
        else np.array(["no", "yes", "often"])[np.searchsorted([40, 60][: classes - 1], score)]
    )
    return bt.make_design(pl.DataFrame(frame), y, task=task, target="ill")


SCHEMA = design().schema


def refused(build: Callable[[], Any]) -> str:
    with pytest.raises(bt.InputError) as error:
        build()
    return str(error.value)


def warned(known: Any, schema: Schema = SCHEMA) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (bt.Knowledge() & known).check(schema)
    return [str(warning.message) for warning in caught]


# ---- sides of boxes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("side", "low", "high"),
    [
        ("<=127", -math.inf, 127),
        (">= 128", 128, math.inf),
        (" <5", -math.inf, math.nextafter(5, 0)),
        (">-5", math.nextafter(-5, 0), math.inf),
        ("==3", 3, 3),
        ("128..200", 128, 200),
        ("-2.5 .. -1e-3", -2.5, -1e-3),
        ((None, 127), -math.inf, 127),
        ([128, None], 128, math.inf),
        ((-math.inf, 1.5), -math.inf, 1.5),
        ((np.float32(0.5), np.int64(2)), 0.5, 2),
    ],
)
def test_sides(side: Any, low: float, high: float) -> None:
    [(column, read)] = bt.Box(age=side).by_column
    assert (column, tuple(read)) == ("age", (low, high))
    # As it is written it is read again, to the bit.
    assert bt.Box(age=str(read)) == bt.Box(age=side)


def test_every_side_is_written_as_it_is_read() -> None:
    rng = np.random.default_rng(0)
    for low, high in np.sort(rng.normal(0, 10.0 ** rng.integers(-8, 18, 200), (2, 200)).T, axis=1).tolist():
        for side in ((low, high), (low, None), (None, high), (math.nextafter(high, 0), None)):
            [(_, read)] = bt.Box(age=side).by_column
            assert bt.Box(age=str(read)) == bt.Box(age=side)


REMEDY = "write '<=127', '>=128', '<5', '>5', '==3' or '128..200', or give (low, high) with None for no bound"


@pytest.mark.parametrize(
    ("side", "said"),
    [
        ("127", f"Box: age='127' is no side of a box; {REMEDY}"),
        ("<=", f"Box: age='<=' is no side of a box; {REMEDY}"),
        ("<=nan", f"Box: age='<=nan' is no side of a box; {REMEDY}"),
        ("<=inf", f"Box: age='<=inf' is no side of a box; {REMEDY}"),
        ("1..2..3", f"Box: age='1..2..3' is no side of a box; {REMEDY}"),
        (3, f"Box: age=3 is no side of a box; {REMEDY}"),
        (True, f"Box: age=True is no side of a box; {REMEDY}"),
        ((1, 2, 3), f"Box: age=(1, 2, 3) is no side of a box; {REMEDY}"),
        (("a", True), f"Box: age=('a', True) is no side of a box; {REMEDY}"),
        ((None, None), f"Box: age=(None, None) has no bound; leave age out, or {REMEDY}"),
        ("5..3", "Box: age='5..3': the box is empty, as no number lies in it; exchange the two ends"),
    ],
)
def test_wrong_sides(side: Any, said: str) -> None:
    assert refused(lambda: bt.Box(age=side)) == said


# ---- each constraint by itself --------------------------------------------------------------------------------------

POSITIVE = "choose a positive number; to leave a column out, use Forbid"
GROUPS = 'Interact([["a", "b"], ["c"]])'


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: bt.Box(), 'Box() names no column; write Box(age="<=28")'),
        (
            lambda: bt.Box("age<=28"),  # type: ignore[arg-type]
            "Box('age<=28'): give a mapping from columns, or name them: Box(age=\"<=28\")",
        ),
        (lambda: bt.Box({"age": "<=3"}, age=">1"), "Box names age twice; name it once"),
        (lambda: bt.Box({-1: "<=3"}), "Box: column -1: positions go from 0 up"),
        (lambda: bt.Box({2.5: "<=3"}), "Box: 2.5 is no column; give a name, or a position from 0 up"),
        (lambda: bt.Monotone(age=0), "Monotone: age=0: choose +1, growing, or -1, falling"),
        (lambda: bt.Monotone({1: True}), "Monotone: column 1=True: choose +1, growing, or -1, falling"),
        (lambda: bt.Weights(age=0), f"Weights: age=0: {POSITIVE}"),
        (lambda: bt.Weights(age=math.inf), f"Weights: age=inf: {POSITIVE}"),
        (lambda: bt.Interact([]), f"Interact names no group; write {GROUPS}"),
        (lambda: bt.Interact("ab"), f"Interact: 'ab' is no list of groups; write {GROUPS}"),
        (lambda: bt.Interact(["ab"]), f"Interact: 'ab' is no list of columns; write {GROUPS}"),
        (lambda: bt.Interact([["a"], []]), f"Interact names no column; write {GROUPS}"),
        (lambda: bt.Forbid(), 'Forbid names no column; write Forbid("id")'),
        (
            lambda: bt.Forbid(["a", "b"]),  # type: ignore[arg-type]
            "Forbid: ['a', 'b'] is a list; name the columns one by one: Forbid('a', 'b')",
        ),
        (lambda: bt.Forbid("a", below=-1), "Forbid: below=-1: choose a whole number, 0 or more"),
        (lambda: bt.Forbid("a", below=1.5), "Forbid: below=1.5: choose a whole number, 0 or more"),  # type: ignore[arg-type]
        (lambda: bt.Only(-1, ["a"]), "Only: depth=-1: choose a whole number, 0 or more"),
        (lambda: bt.Only(0, "a"), "Only: 'a' is no list of columns; write Only(depth=0, features=[\"age\"])"),
        (lambda: bt.MaxDepth("4"), "MaxDepth: most='4': choose a whole number, 0 or more"),  # type: ignore[arg-type]
        (lambda: bt.MaxLeaves(0), "MaxLeaves: most=0: choose a whole number, 1 or more"),
        (
            lambda: bt.Knowledge(bt.MaxDepth(1)),  # type: ignore[arg-type]
            "Knowledge(MaxDepth(most=1)): give a list of constraints, or join them with &",
        ),
        (
            lambda: bt.Knowledge(["age"]),  # type: ignore[list-item]
            "Knowledge: 'age' is no constraint; choose from Box, Monotone, Interact, Forbid, Only, MaxDepth, "
            "MaxLeaves, Weights, SparseWeights",
        ),
        (
            lambda: bt.GrowTree(knowledge=bt.MaxDepth(1)),  # type: ignore[arg-type]
            "knowledge=MaxDepth(most=1): give a Knowledge, or write GrowTree(...) & constraint",
        ),
        (
            lambda: bt.Interact([["a"]]) & bt.Interact([["b"]]),
            "Interact is given twice; a path lies in one of all groups, so name them in one Interact",
        ),
        (
            lambda: bt.Knowledge([bt.Box(age="<=1")] * (MOST_BOXES + 1)),
            "65 boxes; at most 64 are possible: leave the smallest out",
        ),
    ],
)  # fmt: skip
def test_wrong_constraints(build: Callable[[], Any], said: str) -> None:
    assert refused(build) == said


def test_words() -> None:
    assert IDS == [
        "box: no split inside 18 <= body mass <= 25 and age <= 28 and glucose >= 100",
        "monotone: the prediction never falls as age grows, and never rises as glucose grows",
        "interactions: only among age and glucose; of body mass with none; among all other columns",
        "never asks about Insulin",
        "never asks about glucose at depth 2 or deeper",
        "never asks about glucose or body mass below a split on age",
        "at depth 1 asks about age or glucose only",
        "at most 4 questions on a path",
        "at most 8 leaves",
        "weights: age 3, glucose 0.1, other columns 1",
    ]
    assert str(bt.Knowledge(ALL)) == "\n".join(IDS)
    assert bt.Box(age="<5").describe() == "box: no split inside age < 5"
    assert bt.Box({0: "==3"}).describe() == "box: no split inside column 0 == 3"
    assert bt.Monotone(a=1, b=1).describe() == "monotone: the prediction never falls as a and b grow"
    assert bt.Interact([[i] for i in range(9)]).describe().endswith("; within 5 more groups; among all other columns")
    assert bt.MaxDepth(1).describe() == "at most 1 question on a path"


@pytest.mark.parametrize("constraint", ALL, ids=IDS)
def test_constraints_are_values(constraint: Constraint) -> None:
    names = {name: getattr(bt, name) for name in bt.__all__}
    assert eval(repr(constraint), names) == constraint
    assert hash(eval(repr(constraint), names)) == hash(constraint)
    assert constraint != bt.MaxDepth(17)


def test_columns_that_are_no_python_words() -> None:
    assert repr(bt.Weights({"class": 2, "a b": 3})) == "Weights({'class': 2.0, 'a b': 3.0})"
    assert repr(bt.Weights({"class": 2})) == "Weights({'class': 2.0})"
    assert repr(bt.Weights({0: 2})) == "Weights({0: 2.0})"
    assert repr(bt.Weights({"self": 2}, by_column=3)) == "Weights(self=2.0, by_column=3.0)"


def test_columns_of_numpy_and_sets_become_plain() -> None:
    numbers: list[Any] = [{"b", "a"}, np.array([1, 0])]
    names: list[Any] = [np.array(["b", "a"]), frozenset({2, 0})]
    assert bt.Interact(numbers).groups == (("a", "b"), (1, 0))
    assert json.dumps(bt.Interact(names).to_dict())
    assert bt.Forbid("a", "a", "b").features == ("a", "b")


# ---- joining --------------------------------------------------------------------------------------------------------


def test_joining_keeps_all_and_changes_nothing() -> None:
    box, depth = bt.Box(age="<=28"), bt.MaxDepth(4)
    joined = box & depth
    assert joined == bt.Knowledge((box, depth)) == bt.Knowledge([box]) & depth == bt.Knowledge() & joined
    assert (depth & joined).constraints == (depth, box, depth)
    prior = bt.GrowTree(0.8, 0.5)
    grown = prior & box & depth
    assert grown == prior & joined == bt.GrowTree(0.8, 0.5, knowledge=joined)
    assert prior.knowledge == bt.Knowledge()
    assert (grown.alpha, grown.beta) == (0.8, 0.5)
    pairs: list[tuple[Any, Any]] = [(prior, 3), (box, prior), (joined, "age"), (bt.slp.load("growtree.slp"), 3)]
    for left, right in pairs:
        with pytest.raises(TypeError, match="unsupported operand"):
            left & right


def test_joining_a_program_appends_facts() -> None:
    program = bt.slp.load("growtree.slp", semantics="reject")
    known = bt.Box(age="<=28") & bt.Forbid("id")
    joined = program & known
    assert joined.text == program.text + known.facts()
    assert (joined.file, joined.semantics, joined.limits) == (program.file, program.semantics, program.limits)
    assert program & bt.Box(age="<=28") & bt.Forbid("id") == joined
    assert program & bt.Knowledge() == program
    assert (bt.slp.Program("a.") & bt.MaxDepth(1)).text == "a.\nmax_depth(1).\n"


@pytest.mark.parametrize(
    ("constraint", "name"),
    [(bt.MaxDepth(2), "max_depth"), (bt.MaxLeaves(3), "max_leaves"), (bt.Interact([["a"]]), "interaction")],
)
def test_what_a_program_states_once_is_not_added(constraint: Constraint, name: str) -> None:
    program = bt.slp.load("growtree.slp") & constraint
    assert refused(lambda: program & constraint) == (
        f"growtree.slp: states {name}/1 already; change it there, or leave it out here"
    )


# ---- facts ----------------------------------------------------------------------------------------------------------

FACTS = """const_class_probs('18 <= body mass <= 25 and age <= 28 and glucose >= 100', 'body mass', 18, 25).
const_class_probs('18 <= body mass <= 25 and age <= 28 and glucose >= 100', age, -inf, 28).
const_class_probs('18 <= body mass <= 25 and age <= 28 and glucose >= 100', glucose, 100, inf).
monotone(age, 1).
monotone(glucose, -1).
interaction([age, glucose]).
interaction(['body mass']).
forbid('Insulin').
forbid_below(glucose, 2).
forbid_below(glucose, age).
forbid_below('body mass', age).
only(1, [age, glucose]).
weight(age, 3).
weight(glucose, 0.1).
max_depth(4).
max_leaves(8).
"""


def test_facts() -> None:
    assert bt.Knowledge(ALL).facts() == FACTS
    assert bt.Knowledge().facts() == ""
    assert (bt.MaxDepth(4) & bt.MaxLeaves(9) & bt.MaxDepth(3)).facts() == "max_depth(3).\nmax_leaves(9).\n"
    assert bt.Box(age="<5").facts()[0].endswith(", age, -inf, 4.999999999999999).")


def test_a_program_reads_the_facts() -> None:
    program = bt.slp.load("growtree.slp", semantics="reject") & bt.Knowledge(ALL)
    assert check(program.text) == []
    program.for_trees(design())  # no column unknown, no value wrong
    assert "there is no column" in refused(lambda: (program & bt.Forbid("agee")).for_trees(design()))


@pytest.mark.parametrize(
    "name", ["Age", "cell size", "it's", "back\\slash", "a\nb", "_x", "1st", "é", "is", "[]", "-", ""]
)
def test_any_name_is_quoted_where_it_has_to_be(name: str) -> None:
    named = bt.make_design(np.arange(20.0).reshape(10, 2), np.arange(10) % 2, task="classification", names=[name, "b"])
    known = bt.Box({name: "<=3"}) & bt.Forbid(name, below=1) & bt.Interact([[name], ["b"]]) & bt.Weights({name: 2})
    (bt.slp.load("growtree.slp") & known).for_trees(named)


def test_a_program_knows_no_positions() -> None:
    said = "column 1: a program calls columns by their names; give the name"
    assert refused(lambda: bt.Forbid(1).facts()) == said
    assert refused(lambda: bt.slp.load("growtree.slp") & bt.Box({1: "<=3"})) == said


# ---- records --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "constraint", [*ALL, bt.Box({0: "<5"}), bt.Forbid(1, "a"), bt.Weights({2: 3}), bt.Interact([[0]])]
)
def test_records(constraint: Constraint) -> None:
    prior = bt.GrowTree(beta=0.5) & constraint
    record = json.loads(json.dumps(prior.to_dict(), allow_nan=False))
    assert record == prior.to_dict()
    assert bt.GrowTree.from_dict(record) == prior


def test_a_prior_without_knowledge_is_recorded_as_ever() -> None:
    record = {"kind": "grow_tree", "alpha": 0.95, "beta": 1.0, "min_leaf": 5, "rule": "variable"}
    assert bt.GrowTree().to_dict() == record
    assert bt.GrowTree.from_dict(record) == bt.GrowTree()


def test_the_model_file_keeps_what_was_known(tmp_path: Path) -> None:
    model = bt.CART(bt.GrowTree() & bt.Forbid(3) & bt.MaxDepth(2))
    posterior = bt.sample(model, design(), chains=1, warmup=5, draws=5, seed=1, progress=False)
    posterior.save(tmp_path / "known.baytree")
    found = bt.load(tmp_path / "known.baytree")
    # Positions have become names.
    assert found.model.prior == bt.GrowTree() & bt.Forbid("Insulin") & bt.MaxDepth(2)
    assert "known: never asks about Insulin\nknown: at most 2 questions on a path\n" in str(found.summary())
    assert found.summary().known == found.model.prior.knowledge


# ---- a table --------------------------------------------------------------------------------------------------------


def test_positions_are_named() -> None:
    known = (
        bt.Box({0: "<=3", "glucose": "<=4"}) & bt.Interact([[2, "age"]]) & bt.Forbid(1, below="age") & bt.MaxDepth(3)
    )
    assert known.named(SCHEMA) == (
        bt.Box(age="<=3", glucose="<=4") & bt.Interact([["body mass", "age"]]) & bt.Forbid("glucose", below="age")
        & bt.MaxDepth(3)
    )  # fmt: skip


def test_all_that_fits_a_table_passes() -> None:
    assert warned(bt.Knowledge(ALL[1:])) == []


COLUMNS = "Choose from: age, glucose, body mass, Insulin, kind"


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (bt.Box(glucse="<=1"), f"Box: no column 'glucse'. Did you mean 'glucose'? {COLUMNS}"),
        (bt.Monotone(Age=1), f"Monotone: no column 'Age'. Did you mean 'age'? {COLUMNS}"),
        (bt.Weights(x=1), f"Weights: no column 'x'. {COLUMNS}"),
        (bt.Interact([["age", "x"]]), f"Interact: no column 'x'. {COLUMNS}"),
        (bt.Forbid("x"), f"Forbid: no column 'x'. {COLUMNS}"),
        (bt.Forbid("age", below="x"), f"Forbid: no column 'x'. {COLUMNS}"),
        (bt.Only(0, ["x"]), f"Only: no column 'x'. {COLUMNS}"),
        (bt.Forbid(5), "Forbid: no column 5; positions go from 0 to 4"),
        (bt.Forbid("ill"), "Forbid: 'ill' is the response, about which a tree does not ask; name other columns"),
        (
            bt.Box(age="<=3", kind="<=1"),
            "Box: kind is categorical and has no sides; leave it out, or give it as numbers",
        ),
        (
            bt.Monotone(kind=1),
            "Monotone: kind is categorical and neither grows nor falls; leave it out, or give it as numbers",
        ),
        (bt.Box({"age": "<=3", 0: ">=1"}), "Box: age has two sides; make one of them, such as '28..35'"),
        (
            bt.Monotone(age=1) & bt.Monotone({0: -1}),
            "Monotone: age is given both as growing, +1, and as falling, -1; keep one",
        ),
        (bt.Weights(age=3) & bt.Weights(age=2.5), "Weights: age is given two weights, 3 and 2.5; keep one"),
        (
            bt.Forbid("age", "glucose", "body mass") & bt.Forbid("Insulin", below=0) & bt.Forbid(4),
            "Forbid: every column is forbidden; leave one to ask about",
        ),
        (
            bt.Only(0, ["age", "glucose"]) & bt.Only(0, ["kind"]),
            "Only: at depth 0 [age, glucose] and [kind] have no column in common; name one in all of them",
        ),
        (
            bt.Only(2, ["glucose", "age"]) & bt.Forbid("age") & bt.Forbid("glucose", below=1),
            "Only: at depth 2 a tree asks about age or glucose only, which Forbid excludes there; take one out of "
            "Forbid, or name another",
        ),
    ],
    ids=str,
)
def test_contradictions(known: Any, said: str) -> None:
    joined = bt.Knowledge() & known
    assert refused(lambda: joined.check(SCHEMA)) == said
    assert refused(lambda: joined.native(SCHEMA)) == said
    assert refused(lambda: joined.named(SCHEMA)) == said
    # Before anything is drawn.
    assert refused(lambda: bt.sample(bt.CART(bt.GrowTree() & known), design(), progress=False)) == said


def test_what_nearly_contradicts_passes() -> None:
    assert warned(bt.Monotone(age=1) & bt.Monotone({0: 1})) == []
    assert warned(bt.Weights(age=1) & bt.Weights(glucose=1)) == []
    assert warned(bt.Only(0, ["age", "kind"]) & bt.Only(0, ["kind"]) & bt.Only(1, ["age"])) == []
    assert warned(bt.Only(1, ["age"]) & bt.Forbid("age", below=2)) == []
    assert warned(bt.Forbid("age", "glucose", "body mass", "Insulin")) == []


def test_monotone_needs_two_classes_or_a_number() -> None:
    assert warned(bt.Monotone(age=1), design("regression").schema) == []
    assert refused(lambda: warned(bt.Monotone(age=1), design(classes=3).schema)) == (
        "Monotone: the response 'ill' has 3 classes; a prediction grows or falls only where there are two, or numbers. "
        "Leave Monotone out"
    )


SINGLE_LEAF = (
    "every tree is a single leaf: any split of all rows would cut a box. A column can split them only if every box "
    "has a side on it; leave a box out, or give it more sides"
)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (bt.MaxDepth(4) & bt.MaxDepth(3), ["MaxDepth(4) and MaxDepth(3): the smaller, 3, holds"]),
        (bt.MaxLeaves(4) & bt.MaxLeaves(4), []),
        (bt.MaxDepth(0), ["MaxDepth(0): every tree is a single leaf; choose 1 or more to let it ask"]),
        (bt.MaxLeaves(1), ["MaxLeaves(1): every tree is a single leaf; choose 2 or more to let it ask"]),
        # A box can be left whole by a cut at its end, or between it and another.
        (bt.Box(age="<=20"), []),
        (bt.Box(age="<=20") & bt.Box(age=">=21"), []),
        (bt.Box(age="<=20") & bt.Box(age=">=20", glucose="<=3"), [SINGLE_LEAF]),
        (bt.Box(age="<=20") & bt.Box(glucose="<=20"), [SINGLE_LEAF]),
        (bt.Box(age="-1..99"), [SINGLE_LEAF]),
        (bt.Box(age="<=20", glucose="-1..99") & bt.Forbid("age"), [SINGLE_LEAF]),
        (bt.Box(age="<=20", glucose="<=20") & bt.Forbid("age"), []),
        (bt.Box(age="<=20") & bt.Only(0, ["kind"]), [SINGLE_LEAF]),
        (bt.Box(age="<=20") & bt.Only(1, ["kind"]), []),
    ],
    ids=str,
)
def test_what_leaves_nothing_to_learn_is_told(known: Any, said: list[str]) -> None:
    assert warned(known) == said


def test_the_single_leaf_that_is_told_comes_true() -> None:
    """Where the warning is given no tree splits, and else some do."""
    table = design()
    for known in (bt.Box(age="<=20"), bt.Box(age="<=20") & bt.Box(age=">=21"), bt.Box(age="-1..99"),
                  bt.Box(age="<=20") & bt.Box(glucose="<=20")):  # fmt: skip
        program = bt.slp.load("growtree.slp") & known
        drawn = bt.sample(bt.CART(program, power=0), table, chains=1, warmup=0, draws=50, seed=1, progress=False)
        assert (drawn.n_leaves.max() == 1) == (warned(known) == [SINGLE_LEAF])


def test_asking_whether_a_value_is_missing_cuts_no_box() -> None:
    x = np.where(np.arange(40) % 3 == 0, np.nan, np.arange(40.0))
    missing = bt.make_design(x[:, None], np.arange(40) % 2, task="classification")
    known = bt.Box(x0="-1..99")
    assert warned(known, missing.schema) == []
    drawn = bt.sample(
        bt.CART(bt.slp.load("growtree.slp") & known, power=0),
        missing,
        chains=1,
        warmup=0,
        draws=50,
        seed=1,
        progress=False,
    )
    assert drawn.n_leaves.max() == 2


def test_what_the_core_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "Knowledge", dict, raising=False)
    told: Any = bt.Knowledge(ALL).native(SCHEMA)
    assert told == {
        "max_depth": 4,
        "max_leaves": 8,
        "forbidden": [3],
        "below_depth": [(1, 2)],
        "below_feature": [(1, 0), (2, 0)],
        "only": [(1, [0, 1])],
        "interacting": [[0, 1], [2]],
        "boxes": [[(2, 18, 25), (0, -math.inf, 28), (1, 100, math.inf)]],
        "weights": [3, 0.1, 1, 1, 1],
        "monotone": [1, -1, 0, 0, 0],
    }
    told = bt.Knowledge().native(SCHEMA)
    assert told == {}


# ---- draws ----------------------------------------------------------------------------------------------------------


def paths(node: dict[str, Any], above: tuple[dict[str, Any], ...] = ()) -> Iterator[tuple[dict[str, Any], ...]]:
    """The splits above each leaf."""
    if node.get("leaf"):
        yield above
        return
    for side in ("left", "right"):
        yield from paths(node[side], (*above, node))


def leaves_holding(node: dict[str, Any], box: dict[str, tuple[float, float]]) -> int:
    """How many leaves hold a part of a box."""
    if node.get("leaf"):
        return 1
    low, high = box.get(node["feature"], (-math.inf, math.inf))
    inside = [low <= node["threshold"], high > node["threshold"]] if "threshold" in node else [True, True]
    return sum(leaves_holding(node[side], box) for side, holds in zip(("left", "right"), inside, strict=True) if holds)


def keeps(tree: bt.Tree, which: str) -> bool:
    """Whether a tree keeps to one of `KEPT`, by the words of its definition."""
    root = tree.to_dict()
    asked = [[split["feature"] for split in path] for path in paths(root)]
    if which == "box":
        return leaves_holding(root, {"age": (-math.inf, 20), "glucose": (-math.inf, 25)}) == 1
    if which == "interact":
        groups = ({"age", "glucose"}, {"kind"}, {"body mass", "Insulin"})
        return all(any(set(path) <= group for group in groups) for path in asked)
    if which == "forbid":
        return not {"age", "kind"} & set(tree.features)
    if which == "below depth":
        return not any("age" in path[1:] for path in asked)
    if which == "below column":
        return not any("glucose" in path[path.index("age") :] for path in asked if "age" in path)
    if which == "only":
        return all(path[1] in ("glucose", "kind") for path in asked if len(path) > 1)
    if which == "depth":
        return all(len(path) <= 2 for path in asked)
    return tree.n_leaves <= 3


KEPT = {
    "box": bt.Box(age="<=20", glucose="<=25"),
    "interact": bt.Interact([["age", "glucose"], ["kind"]]),
    "forbid": bt.Forbid("age", "kind"),
    "below depth": bt.Forbid("age", below=1),
    "below column": bt.Forbid("glucose", below="age"),
    "only": bt.Only(depth=1, features=["glucose", "kind"]),
    "depth": bt.MaxDepth(2),
    "leaves": bt.MaxLeaves(3),
}


PRIORS = [
    pytest.param(bt.GrowTree(), id="native"),
    pytest.param(bt.slp.load("growtree.slp", semantics="reject"), id="program"),
]


@pytest.mark.parametrize("which", KEPT)
@pytest.mark.parametrize("power", [0, 1])
@pytest.mark.parametrize("prior", PRIORS)
def test_every_draw_keeps_to_what_is_known(prior: Any, power: float, which: str) -> None:
    drawn = bt.sample(
        bt.CART(prior & KEPT[which], power=power), design(), chains=1, warmup=0, draws=400, seed=2, progress=False
    )
    assert all(keeps(tree, which) for tree in drawn.trees)
    assert drawn.n_leaves.max() > 2
    # The saboteur: without the constraint some draws break it.
    free = bt.sample(bt.CART(prior, power=power), design(), chains=1, warmup=0, draws=400, seed=2, progress=False)
    assert not all(keeps(tree, which) for tree in free.trees)


# ---- files ----------------------------------------------------------------------------------------------------------

TOML = """
max_depth = 4
max_leaves = 8
forbid = ["Insulin"]
interact = [["age", "glucose"], ["body mass"]]

[weights]
age = 3
glucose = 0.1

[monotone]
age = 1
glucose = -1

[[box]]
"body mass" = "18..25"
age = "<=28"
glucose = ">=100"

[[box]]
age = [28, 35]

[[only]]
depth = 1
features = ["age", "glucose"]

[[forbid_below]]
features = ["glucose"]
below = 2

[[forbid_below]]
features = ["glucose", "body mass"]
below = "age"
"""


def from_toml(text: str) -> bt.Knowledge:
    Path("known.toml").write_text(text, encoding="utf-8")
    return bt.read_knowledge("known.toml")


@pytest.fixture
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_in_folder")
def test_a_file_says_what_python_says() -> None:
    assert set(from_toml(TOML).constraints) == {*ALL, bt.Box(age="28..35")}
    assert from_toml("") == bt.Knowledge()
    from_toml(TOML).check(SCHEMA)


@pytest.mark.usefixtures("_in_folder")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "max_dept = 4",
            "no entry 'max_dept'. Did you mean 'max_depth'? Choose from: box, monotone, interact, forbid, "
            "forbid_below, only, max_depth, max_leaves, weights",
        ),
        ("max_depth = '4'", "max_depth = '4': give a whole number, such as max_depth = 4"),
        ("max_depth = -1", "MaxDepth: most=-1: choose a whole number, 0 or more"),
        ("max_leaves = 2.0", "max_leaves = 2.0: give a whole number, such as max_leaves = 4"),
        ("forbid = 'id'", "forbid = 'id': give a list of names of columns, such as ['age', 'sex']"),
        ("forbid = [0]", "forbid = [0]: give a list of names of columns, such as ['age', 'sex']"),
        ("interact = ['a', 'b']", "interact = ['a', 'b']: give a list of groups, such as [['a', 'b'], ['c']]"),
        ("interact = [['a', 1]]", "interact = ['a', 1]: give a list of names of columns, such as ['age', 'sex']"),
        ("weights = 3", "weights = 3: give a table, [weights], with a line for each column"),
        ("[weights]\nage = 0", f"[weights]: Weights: age=0: {POSITIVE}"),
        ("[monotone]\nage = 2", "[monotone]: Monotone: age=2: choose +1, growing, or -1, falling"),
        ("[box]\nage = '<=1'", "box = {'age': '<=1'}: give tables, each behind a line [[box]]"),
        ("[[box]]\na = '<=1'\n[[box]]\na = '1'", f"[[box]] 2: Box: a='1' is no side of a box; {REMEDY}"),
        ("[[only]]\ndepth = 0", "[[only]] 1: features is missing; write depth and features"),
        ("[[only]]\ndept = 0", "[[only]] 1: no entry 'dept'. Did you mean 'depth'? Choose from: depth, features"),
        ("[[only]]\ndepth = 'a'\nfeatures = ['a']", "[[only]] 1: Only: depth='a': choose a whole number, 0 or more"),
        ("[[forbid_below]]\nfeatures = ['a']", "[[forbid_below]] 1: below is missing; write features and below"),
        ("max_depth = ", "is not TOML: Invalid value (at end of document); correct it there"),
        (
            "max_depth = 1\nmax_leaves 3",
            "is not TOML: Expected '=' after a key in a key/value pair (at line 2, column 12); correct it there",
        ),
        ("[[box]]\na = '<=1'\n" * 65, "65 boxes; at most 64 are possible: leave the smallest out"),
    ],
)  # fmt: skip
def test_wrong_files(text: str, said: str) -> None:
    assert refused(lambda: from_toml(text)) == f"known.toml: {said}"


@pytest.mark.usefixtures("_in_folder")
def test_files_that_cannot_be_read() -> None:
    with pytest.raises(bt.FileError, match=re.escape("no.toml: cannot be read (No such file or directory)")):
        bt.read_knowledge("no.toml")
    Path("latin.toml").write_bytes(b"forbid = ['\xe9']")
    with pytest.raises(bt.FileError, match=re.escape("latin.toml: is not UTF-8 text (byte 11); save it as UTF-8")):
        bt.read_knowledge("latin.toml")


# ---- scikit-learn's words -------------------------------------------------------------------------------------------

NAMES = ("a", "b", "c")


@pytest.mark.parametrize(
    ("monotonic", "interaction", "constraints"),
    [
        (None, None, ()),
        ([0, 0, 0], [], ()),
        ([1, 0, -1], None, (bt.Monotone({0: 1, 2: -1}),)),
        (np.array([0, 1, 0]), None, (bt.Monotone({1: 1}),)),
        ({"b": -1, "a": 0}, None, (bt.Monotone(b=-1),)),
        (None, "pairwise", (bt.Interact([[0, 1], [0, 2], [1, 2]]),)),
        (None, "no_interactions", (bt.Interact([[0], [1], [2]]),)),
        (None, [{0, 1}], (bt.Interact([[0, 1]]),)),
        ([1, 0, 0], (["a", "c"], ["b"]), (bt.Monotone({0: 1}), bt.Interact([["a", "c"], ["b"]]))),
    ],
)
def test_scikit_learns_words(monotonic: Any, interaction: Any, constraints: tuple[Constraint, ...]) -> None:
    assert from_scikit_learn(monotonic, interaction, NAMES).constraints == constraints


def test_pairs_of_one_column_are_none() -> None:
    assert from_scikit_learn(None, "pairwise", ["a"]) == bt.Knowledge()


@pytest.mark.parametrize(
    ("monotonic", "interaction", "said"),
    [
        ([1, 0], None, "monotonic_cst has shape (2,); give one of -1, 0 and 1 for each of 3 columns"),
        ([1, 0, 2], None, "monotonic_cst: 2 for column 2; choose -1, falling, 0, free, or 1, growing"),
        ({"a": True}, None, "monotonic_cst: True for column 'a'; choose -1, falling, 0, free, or 1, growing"),
        (
            None,
            "pairwize",
            "no interaction_cst 'pairwize'. Did you mean 'pairwise'? Choose from: pairwise, no_interactions",
        ),
        (None, 3, "interaction_cst=3: give a list of groups of columns, 'pairwise' or 'no_interactions'"),
        (None, [0, 1], f"Interact: 0 is no list of columns; write {GROUPS}"),
    ],
)  # fmt: skip
def test_wrong_words_of_scikit_learn(monotonic: Any, interaction: Any, said: str) -> None:
    assert refused(lambda: from_scikit_learn(monotonic, interaction, NAMES)) == said


def test_estimators_add_to_what_the_prior_knows() -> None:
    frame = pl.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0)[::-1], "c": np.arange(40) % 7})
    y = np.arange(40) > 20
    known: dict[str, Any] = {"monotonic_cst": [1, 0, 0], "interaction_cst": [["a", "b"], [2]]}
    quick: dict[str, Any] = {"chains": 1, "warmup": 5, "draws": 50, "random_state": 0}
    model = bt.CARTClassifier(prior=bt.GrowTree() & bt.MaxDepth(3), **known, **quick).fit(frame, y)
    assert model.posterior_.model.prior.knowledge == (
        bt.MaxDepth(3) & bt.Monotone(a=1) & bt.Interact([["a", "b"], ["c"]])
    )
    assert model.get_params()["interaction_cst"] is known["interaction_cst"]
    # Arrays have names too, which count from 0 where those of programs count from 1.
    program = bt.slp.load("growtree.slp")
    model = bt.CARTRegressor(prior=program, interaction_cst=[[1]], **quick).fit(frame.to_numpy(), np.arange(40.0))
    assert isinstance(model.posterior_.model.prior, bt.slp.Program)
    assert model.posterior_.model.prior.text == program.text + "interaction([x1]).\n"
    asked = [{split["feature"] for split in path} for tree in model.posterior_.trees for path in paths(tree.to_dict())]
    assert {"x1"} in asked and not any({"x1"} < path for path in asked)
    assert "no column 'd'" in refused(lambda: bt.CARTRegressor(monotonic_cst={"d": 1}, **quick).fit(frame, y))
    assert "has 3 classes" in refused(
        lambda: bt.CARTClassifier(monotonic_cst=[1, 0, 0], **quick).fit(frame, frame["c"] // 3)
    )
    assert "not a tree prior" in refused(
        lambda: bt.CARTClassifier(**quick | {"prior": 3}, monotonic_cst=[1, 0, 0]).fit(frame, y)
    )
