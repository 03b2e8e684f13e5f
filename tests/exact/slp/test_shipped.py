"""The shipped programs over trees: their priors, tree by tree, against enumerations that share no code with them."""

import math
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from baytree import InputError, datasets, slp
from baytree.data.design import Design, make_design
from baytree.slp.proposals import Semantics
from baytree.slp.shipped import SHIPPED
from exact.trees.native import read_space
from reference.trees.constraints import Constraints, broken
from reference.trees.edit_process import EditProcess, Shape, preorder
from reference.trees.enumeration import Column, Dirichlet, GrowTree, Rule, Table, Tree, enumerate_trees, leaves
from reference.trees.spaces import CONSTRAINED, SPACES, Space

EXACT = 1e-12
BOTH: tuple[Semantics, ...] = ("backtrack", "reject")
GROWTREE = (SHIPPED / "growtree.slp").read_text(encoding="utf-8")
BOXES = (SHIPPED / "boxes.slp").read_text(encoding="utf-8")
EDITTREE = (SHIPPED / "edittree.slp").read_text(encoding="utf-8")

SIZES = """
sizes(leaf(Node), [Size]) :- node_size(Node, Size).
sizes(split(_, _, Left, Right), Sizes) :- sizes(Left, A), sizes(Right, B), append(A, B, Sizes).
"""

Prior = dict[Tree, float]


def edited(text: str, *changes: tuple[str, str]) -> str:
    """A program with some of its text replaced, each piece of which it must have once."""
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def grown(prior: GrowTree, text: str = GROWTREE) -> str:
    """growtree.slp with other parameters."""
    text = edited(
        text,
        ("min_leaf(5).", f"min_leaf({prior.min_leaf})."),
        ("0.95 * exp(1 + Depth, -1.0)", f"{prior.alpha!r} * exp(1 + Depth, {-prior.beta!r})"),
    )
    return text if prior.rule == "variable" else edited(text, ("    choose_feature(Node, Feature),\n", ""))


# ---- trees as the enumerator writes them ---------------------------------------------------------------------------


def rule_of(design: Design, name: str, value: Any) -> Rule:
    feature = [column.name for column in design.columns].index(name)
    column = design.columns[feature]
    cuts = column.cuts.tolist()
    if value == "observed":
        return Rule(feature, len(cuts), 0, False)
    if isinstance(value, slp.Term):
        assert value.name == "or_missing"
        return Rule(feature, cuts.index(value.args[0]), 0, True)
    if isinstance(value, list):
        levels = [*column.levels, "missing"]
        return Rule(feature, 0, sum(1 << levels.index(level) for level in value), False)
    return Rule(feature, cuts.index(value), 0, False)


def tree_of(design: Design, term: slp.Term) -> Tree:
    if term.name == "leaf":
        return (None,)
    name, value, left, right = term.args
    return (rule_of(design, name, value), *tree_of(design, left), *tree_of(design, right))


def prior_of(text: str, design: Design, goal: str = "cart(T)", semantics: Semantics = "backtrack") -> Prior:
    """The probability of every tree, by the engine."""
    found: Prior = defaultdict(float)
    for answer, probability in slp.Program(text, semantics=semantics).enumerate(goal, data=design):
        found[tree_of(design, answer["T"] if isinstance(answer, dict) else answer)] += probability
    return dict(found)


def agree(found: Prior, expected: Prior) -> None:
    assert found.keys() == expected.keys()
    assert max(abs(found[tree] - expected[tree]) for tree in expected) < EXACT
    assert abs(math.fsum(found.values()) - 1) < EXACT


# ---- the same by brute force ---------------------------------------------------------------------------------------


def table_of(design: Design) -> Table:
    columns = tuple(
        Column(
            "categorical" if column.kind == "categorical" else "numeric",
            column.observed,
            column.has_missing,
            tuple(bins.tolist()),
            tuple(column.cuts.tolist()),
        )
        for column, bins in zip(design.columns, design.bins, strict=True)
    )
    return Table(columns, (0.0,) * design.rows)


def enumerated(table: Table, prior: GrowTree) -> Prior:
    """The probability of every tree, by the enumerator."""
    found = enumerate_trees(table, prior, Dirichlet(1.0, 2))
    total = math.fsum(math.exp(scored.log_prior) for scored in found.values())
    return {tree: math.exp(scored.log_prior) / total for tree, scored in found.items()}


@cache
def small() -> Design:
    """Ten rows; d has levels, c has missing values."""
    frame = pl.DataFrame(
        {
            "a": [1, 2, 3, 4, 1, 2, 3, 4, 1, 4],
            "b": [0.5, 0.5, 1.5, 1.5, 1.5, 2.5, 2.5, 0.5, 2.5, 1.5],
            "c": [True, None, False, True, False, None, True, False, True, False],
            "d": ["u", "v", "w", "v", "u", "w", "u", "v", "v", "w"],
        }
    )
    return make_design(frame, [0, 1] * 5, task="classification")


A, B, C, D = range(4)
SMALL_PRIOR = GrowTree(0.9, 0.5, 3, "variable")


# ---- all of them -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.slp")), ids=lambda path: path.name)
def test_a_shipped_program_has_no_problem(path):
    assert [str(problem) for problem in slp.check(path.read_text(encoding="utf-8"), file=path.name)] == []
    assert slp.load(path.name).text == path.read_text(encoding="utf-8")


# ---- growtree.slp ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_growtree_is_the_native_prior(space: Space):
    expected = {tree: math.exp(scored.log_prior) for tree, scored in space.trees.items()}
    agree(prior_of(grown(space.prior), read_space(space)), expected)


@pytest.mark.parametrize("space", SPACES[:6], ids=lambda space: space.name)
def test_leaves_hold_the_rows_that_the_rules_send_there(space: Space):
    program = slp.Program(grown(space.prior) + SIZES)
    for answer in program.sample("cart(T), sizes(T, Sizes)", n=200, seed=4, data=read_space(space)):
        tree = tree_of(read_space(space), answer["T"])
        assert answer["Sizes"] == [len(rows) for rows in space.table.leaf_rows(tree)]


@pytest.mark.parametrize("space", CONSTRAINED, ids=lambda space: space.name)
def test_facts_are_the_constraints_of_the_native_prior(space: Space):
    # Where the feature is left open, split/5 counts all rules alike, whatever the weights of the features.
    prior = replace(space.prior, rule="variable") if space.prior.constraints.weights else space.prior
    expected, text = enumerated(space.table, prior), grown(prior)
    with pytest.raises(AssertionError):
        agree(prior_of(text, read_space(space)), expected)
    text += prior.constraints.facts(read_space(space).schema.names)
    # A condition on the whole tree means another distribution where choices are taken back.
    for semantics in BOTH if prior.constraints.max_leaves is None else BOTH[1:]:
        agree(prior_of(text, read_space(space), semantics=semantics), expected)


WHOLE: dict[str, Callable[[Tree], bool]] = {
    "max_leaves(2).": lambda tree: leaves(tree) <= 2,
    "require(a).": lambda tree: any(rule and rule.feature == A for rule in tree),
    "require(x4). require(b). max_leaves(3).": lambda tree: {B, D} == {rule.feature for rule in tree if rule},
}


@pytest.mark.parametrize("facts", WHOLE)
@pytest.mark.parametrize("semantics", BOTH)
def test_a_condition_on_the_whole_tree(facts, semantics):
    text, holds = f"{grown(SMALL_PRIOR)}{facts}\n", WHOLE[facts]
    found = prior_of(text, small(), slp.Program(text).tree_goal, semantics)
    free = enumerated(table_of(small()), SMALL_PRIOR)
    kept = {tree: probability for tree, probability in free.items() if holds(tree)}
    assert 0 < len(kept) < len(free)
    assert found.keys() == kept.keys()
    if semantics == "reject":
        total = math.fsum(kept.values())
        agree(found, {tree: probability / total for tree, probability in kept.items()})
    assert abs(math.fsum(found.values()) - 1) < EXACT


# ---- boxes.slp -------------------------------------------------------------------------------------------------------

FIGURE_1 = (
    ((1, -math.inf, 127.0), (7, -math.inf, 28.0)),
    ((1, 128.0, math.inf), (5, -math.inf, 29.8)),
)


@cache
def eight_columns() -> Design:
    """Twelve rows around the corners of figure 1's boxes; the other columns could be split anywhere."""
    values = {
        "pregnant": [0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1],
        "glucose": [90, 126, 127, 127, 128, 128, 140, 150, 127, 128, 126, 150],
        "mass": [25.0, 31.0, 29.8, 35.0, 25.0, 29.8, 31.0, 35.0, 25.0, 31.0, 35.0, 40.0],
        "age": [21, 28, 29, 40, 21, 28, 28, 40, 29, 40, 41, 29],
    }
    names = ["pregnant", "glucose", "pressure", "triceps", "insulin", "mass", "pedigree", "age"]
    frame = pl.DataFrame({name: values.get(name, [7] * 12) for name in names})
    return make_design(frame, [0, 1] * 6, task="classification")


def test_boxes_is_growtree_with_the_facts_of_figure_1():
    facts = """const_class_probs(box28,x2,-inf,127).
const_class_probs(box28,x8,-inf,28).
const_class_probs(box26,x2,128,inf).
const_class_probs(box26,x6,-inf,29.8).
"""
    assert statements(BOXES) == facts + statements(GROWTREE)


def statements(text: str) -> str:
    return "".join(line + "\n" for line in text.splitlines() if line and not line.startswith("%"))


@pytest.mark.parametrize("which", [(0, 1), (0,), (1,)], ids=str)
def test_no_tree_cuts_a_box_and_else_all_is_as_before(which):
    design, table = eight_columns(), table_of(eight_columns())
    constraints = Constraints(boxes=tuple(FIGURE_1[number] for number in which))
    prior = GrowTree(0.95, 1.0, 2, "variable", constraints)
    text = grown(prior, BOXES)
    for number, name in enumerate(("box28", "box26")):
        if number not in which:
            text = re.sub(rf"const_class_probs\({name},.*\n", "", text)
    found = prior_of(text, design)
    agree(found, enumerated(table, prior))
    assert max(map(leaves, found)) > 2
    assert not any(broken(constraints, table.columns, tree) for tree in found)
    if which == (0, 1):
        assert {(tree[0].feature, design.columns[1].cuts[tree[0].cut]) for tree in found if tree[0]} == {(1, 127.5)}


def test_no_drawn_tree_cuts_a_box():
    rng = np.random.default_rng(1)
    values = rng.normal([0, 127, 0, 0, 0, 30, 0, 28], [1, 20, 1, 1, 1, 3, 1, 9], (400, 8)).round(1)
    design = make_design(values, rng.integers(2, size=400), task="classification", names=list("abcdefgh"))
    drawn = slp.load("boxes.slp").sample("cart(T)", n=300, seed=2, data=design)
    columns = table_of(design).columns
    for term in drawn:
        assert not broken(Constraints(boxes=FIGURE_1), columns, tree_of(design, term))
    assert len({tree_of(design, term) for term in drawn}) > 100


# ---- edittree.slp ----------------------------------------------------------------------------------------------------

EDIT_LEAF = 2
INITIAL = "split(a, 2.5, split(b, 1.0, leaf, leaf), leaf)"


def edittree(initial: str, *changes: tuple[str, str]) -> str:
    text, count = re.subn(r"^initial\(\n.*?\.\n\n", f"initial({initial}).\n\n", EDITTREE, flags=re.M | re.S)
    assert count == 1
    return edited(text, ("min_leaf(5).", f"min_leaf({EDIT_LEAF})."), *changes)


@cache
def edit_process() -> EditProcess:
    return EditProcess(
        table_of(small()), tuple(tuple(column.cuts.tolist()) for column in small().columns), min_leaf=EDIT_LEAF
    )


@cache
def first() -> Shape:
    """INITIAL, on the small design."""
    return rule_of(small(), "a", 2.5), (rule_of(small(), "b", 1.0), None, None), None


@cache
def by_edits() -> list[Prior]:
    """What no, one and two edits make of the initial tree."""
    stages = [{first(): 1.0}]
    for _ in range(2):
        stages.append(edit_process().after(stages[-1]))
    return [{preorder(shape): probability for shape, probability in stage.items()} for stage in stages]


@pytest.mark.parametrize("edits", [0, 1, 2])
@pytest.mark.parametrize("semantics", BOTH)
def test_edits_one_by_one(edits, semantics):
    goal = "initial(S), root(N), lay(S, N, T0), "
    goal += "".join(f"[0.4, 0.3, 0.3] : edit(T{number}, T{number + 1}), " for number in range(edits))
    agree(prior_of(edittree(INITIAL), small(), f"{goal}plain(T{edits}, T)", semantics), by_edits()[edits])


def test_at_most_one_edit_and_the_probability_of_none():
    once = edittree(INITIAL, ("    [Stop] : edits(Next, Last).", "    Last = Next."))
    found = {semantics: prior_of(once, small(), semantics=semantics) for semantics in BOTH}
    none, one, _ = by_edits()
    (initial,) = none
    expected = {tree: 0.2 * none.get(tree, 0.0) + 0.8 * one.get(tree, 0.0) for tree in none | one}
    for semantics in BOTH:
        agree(found[semantics], expected)
        assert found[semantics][initial] == pytest.approx(0.2 + 0.8 * one[initial], abs=EXACT)


def test_trees_stay_near_the_initial_one_where_edits_are_rare():
    rare = edittree(INITIAL, ("stop(0.2).", "stop(0.9)."))
    n = 4000
    drawn = [tree_of(small(), term) for term in slp.Program(rare).sample("cart(T)", n=n, seed=3, data=small())]
    (initial,) = by_edits()[0]
    exact = sum(0.9 * 0.1**edits * prior.get(initial, 0.0) for edits, prior in enumerate(by_edits()))
    share = drawn.count(initial) / n
    assert abs(share - exact) < 0.001 + 4 * math.sqrt(exact * (1 - exact) / n)
    near = set().union(*by_edits()[:2])
    assert sum(tree in near for tree in drawn) / n > 0.985


def test_edited_trees_are_admissible_and_know_their_rows():
    many = slp.Program(edittree(INITIAL, ("stop(0.2).", "stop(0.1).")) + SIZES)
    answers = many.sample("cart(T), sizes(T, Sizes)", n=500, seed=5, data=small())
    trees = [tree_of(small(), answer["T"]) for answer in answers]
    for tree, answer in zip(trees, answers, strict=True):
        rows = [len(rows) for rows in table_of(small()).leaf_rows(tree)]
        assert answer["Sizes"] == rows
        assert min(rows) >= EDIT_LEAF
    assert len(set(trees)) > 100


@pytest.mark.parametrize(
    ("initial", "laid"),
    [
        ("split(a, 2.9, leaf, leaf)", "split(a, 2.5, leaf, leaf)"),
        ("split(a, -100, leaf, split(a, 3, leaf, leaf))", "split(a, 1.5, leaf, split(a, 2.5, leaf, leaf))"),
        ("split(d, [u], leaf, leaf)", "split(d, [u], leaf, leaf)"),
        ("split(c, or_missing(0.5), leaf, leaf)", "split(c, or_missing(0.5), leaf, leaf)"),
        ("split(c, or_missing(9), leaf, leaf)", "split(c, or_missing(0.5), leaf, leaf)"),
        ("split(c, observed, split(c, observed, leaf, leaf), leaf)", "split(c, observed, leaf, leaf)"),
        ("leaf", "leaf"),
    ],
)
def test_the_initial_tree_is_laid_on_the_rows(initial, laid):
    never = edittree(initial, ("stop(0.2).", "stop(1)."))
    ((term, probability),) = slp.Program(never).enumerate("cart(T)", data=small())
    assert re.sub(r"leaf\(node\(\d+\)\)", "leaf", str(term)) == laid.replace(" ", "")
    assert probability == 1


def test_a_misspelt_feature_of_the_initial_tree_is_named():
    with pytest.raises(InputError, match="nope is no feature of the table"):
        slp.Program(edittree("split(nope, 1, leaf, leaf)")).sample("cart(T)", data=small())


def test_edittree_begins_with_the_tree_in_its_file():
    design = datasets.load("breast_cancer").design()
    (written,) = re.findall(r"^initial\(\n(.*?)\)\.\n", EDITTREE, flags=re.M | re.S)
    program = slp.load("edittree.slp", semantics="reject")
    drawn = [
        re.sub(r"leaf\(node\(\d+\)\)", "leaf", str(term))
        for term in program.sample("cart(T)", n=400, seed=6, data=design)
    ]
    assert 0.2 <= drawn.count(re.sub(r"\s", "", written)) / len(drawn) < 0.35
    assert program.explain("cart(T)").startswith("proposal: address")
