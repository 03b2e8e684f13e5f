"""The shipped programs over trees: their priors, tree by tree, against enumerations that share no code with them."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from exact.edit_process import EditProcess, Shape, preorder
from exact.enumeration import Column, GrowTree, Rows, Rule, Table, Tree, choices, leaves
from exact.spaces import SPACES, Space

from baytree import InputError, datasets, slp
from baytree.data import Design, make_design
from baytree.slp.kernels import Semantics
from baytree.slp.program import SHIPPED

EXACT = 1e-12
BOTH = ("backtrack", "reject")
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


# ---- the prior under local constraints, by brute force ---------------------------------------------------------------


class Step(NamedTuple):
    """One rule on the way from the root, and the side that the way takes."""

    rule: Rule
    left: bool


Path = tuple[Step, ...]
Allowed = Callable[[Path, Rule], bool]


def table_of(design: Design) -> Table:
    columns = tuple(
        Column(
            "categorical" if column.kind == "categorical" else "numeric",
            column.observed,
            column.has_missing,
            tuple(codes.tolist()),
        )
        for column, codes in zip(design.columns, design.codes, strict=True)
    )
    return Table(columns, (0.0,) * design.rows)


def restricted(table: Table, prior: GrowTree, allowed: Allowed, weight: Callable[[int], float]) -> Prior:
    """The prior whose nodes choose a feature, by its weight, among those with an allowed rule, and then such a rule."""

    def grow(rows: Rows, path: Path) -> Iterator[tuple[Tree, float]]:
        ways = [way for way in choices(table, prior, rows) if allowed(path, way.rule)]
        by_feature = defaultdict(list)
        for way in ways:
            by_feature[way.rule.feature].append(way)
        split = prior.split_probability(len(path)) if ways else 0.0
        yield (None,), 1 - split
        for feature, its_ways in by_feature.items():
            share = split * weight(feature) / sum(map(weight, by_feature)) / len(its_ways)
            for way in its_ways:
                lefts = list(grow(way.left, (*path, Step(way.rule, True))))
                rights = list(grow(way.right, (*path, Step(way.rule, False))))
                for (left, p), (right, q) in product(lefts, rights):
                    yield (way.rule, *left, *right), share * p * q

    return dict(grow(table.all_rows, ()))


def used(path: Path) -> set[int]:
    return {step.rule.feature for step in path}


def paths(tree: Tree) -> Iterator[tuple[Path, Rule]]:
    """Every rule of a tree with the way to it."""
    rules = iter(tree)

    def walk(path: Path) -> Iterator[tuple[Path, Rule]]:
        rule = next(rules)
        if rule is not None:
            yield path, rule
            yield from walk((*path, Step(rule, True)))
            yield from walk((*path, Step(rule, False)))

    return walk(())


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
    agree(prior_of(grown(space.prior), space.design), expected)


@pytest.mark.parametrize("space", SPACES[:6], ids=lambda space: space.name)
def test_leaves_hold_the_rows_that_the_rules_send_there(space: Space):
    program = slp.Program(grown(space.prior) + SIZES)
    for answer in program.sample("cart(T), sizes(T, Sizes)", n=200, seed=4, data=space.design):
        tree = tree_of(space.design, answer["T"])
        assert answer["Sizes"] == [len(rows) for rows in space.table.leaf_rows(tree)]


LOCAL: dict[str, tuple[Allowed, Callable[[int], float]]] = {
    "max_depth(1).": (lambda path, rule: len(path) < 1, lambda feature: 1),
    "max_depth(0).": (lambda path, rule: False, lambda feature: 1),
    "forbid(a). forbid(d).": (lambda path, rule: rule.feature not in (A, D), lambda feature: 1),
    "forbid_below(b, 1).": (lambda path, rule: rule.feature != B or not path, lambda feature: 1),
    "forbid_below(a, d).": (lambda path, rule: rule.feature != A or D not in used(path), lambda feature: 1),
    "interaction([a, b]). interaction([b, d]).": (
        lambda path, rule: any({rule.feature, *used(path)} <= group for group in ({A, B}, {B, D}, {C})),
        lambda feature: 1,
    ),
    "weight(a, 3.0). weight(d, 0.5).": (lambda path, rule: True, lambda feature: {A: 3, D: 0.5}.get(feature, 1)),
    "weight(x2, 4). forbid_below(x1, x2). max_depth(2).": (
        lambda path, rule: len(path) < 2 and (rule.feature != A or B not in used(path)),
        lambda feature: 4 if feature == B else 1,
    ),
}


@pytest.mark.parametrize("facts", LOCAL)
@pytest.mark.parametrize("semantics", BOTH)
def test_a_local_constraint_restricts_what_each_node_chooses_from(facts, semantics):
    allowed, weight = LOCAL[facts]
    found = prior_of(f"{grown(SMALL_PRIOR)}{facts}\n", small(), semantics=semantics)
    assert all(allowed(path, rule) for tree in found for path, rule in paths(tree))
    agree(found, restricted(table_of(small()), SMALL_PRIOR, allowed, weight))


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
    free = restricted(table_of(small()), SMALL_PRIOR, lambda path, rule: True, lambda feature: 1)
    kept = {tree: probability for tree, probability in free.items() if holds(tree)}
    assert 0 < len(kept) < len(free)
    assert found.keys() == kept.keys()
    if semantics == "reject":
        total = math.fsum(kept.values())
        agree(found, {tree: probability / total for tree, probability in kept.items()})
    assert abs(math.fsum(found.values()) - 1) < EXACT


# ---- boxes.slp -------------------------------------------------------------------------------------------------------

Box = dict[int, tuple[float, float]]
FIGURE_1: tuple[Box, ...] = (
    {1: (-math.inf, 127), 7: (-math.inf, 28)},
    {1: (128, math.inf), 5: (-math.inf, 29.8)},
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


def keeps_boxes(design: Design, boxes: tuple[Box, ...]) -> Allowed:
    """Whether a rule leaves every box that the node holds on one side."""

    def side(box: Box, rule: Rule) -> str:
        low, high = box.get(rule.feature, (-math.inf, math.inf))
        cut = design.columns[rule.feature].cuts[rule.cut]
        return "left" if high <= cut else "right" if low > cut else "both"

    def holds(path: Path, box: Box) -> bool:
        return all(side(box, step.rule) == ("left" if step.left else "right") for step in path)

    return lambda path, rule: all(side(box, rule) != "both" for box in boxes if holds(path, box))


def leaf_of(design: Design, tree: Tree, point: list[float]) -> int:
    """Which leaf, counted from the left, a point of predictor space lies in."""
    rules, place = iter(tree), 0

    def skip() -> int:
        return 1 if next(rules) is None else skip() + skip()

    while (rule := next(rules)) is not None:
        if point[rule.feature] > design.columns[rule.feature].cuts[rule.cut]:
            place += skip()
    return place


def corners(box: Box) -> Iterator[list[float]]:
    far = 1e9
    sides = [box.get(feature, (-far, far)) for feature in range(8)]
    for corner in product(*({max(low, -far), min(high, far)} for low, high in sides)):
        yield list(corner)


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
    design, boxes = eight_columns(), tuple(FIGURE_1[number] for number in which)
    prior = GrowTree(0.95, 1.0, 2, "variable")
    text = grown(prior, BOXES)
    for number, name in enumerate(("box28", "box26")):
        if number not in which:
            text = re.sub(rf"const_class_probs\({name},.*\n", "", text)
    found = prior_of(text, design)
    agree(found, restricted(table_of(design), prior, keeps_boxes(design, boxes), lambda feature: 1))
    assert max(map(leaves, found)) > 2
    for tree in found:
        for box in boxes:
            assert len({leaf_of(design, tree, corner) for corner in corners(box)}) == 1
    if which == (0, 1):
        assert {(tree[0].feature, design.columns[1].cuts[tree[0].cut]) for tree in found if tree[0]} == {(1, 127.5)}


def test_no_drawn_tree_cuts_a_box():
    rng = np.random.default_rng(1)
    values = rng.normal([0, 127, 0, 0, 0, 30, 0, 28], [1, 20, 1, 1, 1, 3, 1, 9], (400, 8)).round(1)
    design = make_design(values, rng.integers(2, size=400), task="classification", names=list("abcdefgh"))
    drawn = slp.load("boxes.slp").sample("cart(T)", n=300, seed=2, data=design)
    for term in drawn:
        tree = tree_of(design, term)
        for box in FIGURE_1:
            assert len({leaf_of(design, tree, corner) for corner in corners(box)}) == 1
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
    assert program.explain("cart(T)").startswith("kernel: address")
