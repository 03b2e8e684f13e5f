"""EditTree: a given tree from any source, laid on a table, in models, estimators and files."""

import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text

import baytree as bt
from baytree import InputError
from baytree.priors.edit_tree import MARK
from baytree.slp import SHIPPED
from baytree.trees.template import template_of

LEAF: dict[str, Any] = {"leaf": True}
RNG = np.random.default_rng(7)
ROWS = 120
FRAME = pl.DataFrame(
    {
        "age": RNG.integers(20, 60, ROWS),
        "Blood Pressure": [None if i % 9 == 0 else float(v) for i, v in enumerate(RNG.integers(80, 160, ROWS))],
        "colour": [["red", "blue", "green", "it's", None][v] for v in RNG.integers(0, 5, ROWS)],
        "smokes": RNG.integers(0, 2, ROWS).astype(bool),
    }
)
CLASSES = ["ill" if value else "well" for value in RNG.integers(0, 2, ROWS)]
DESIGN = bt.make_design(FRAME, CLASSES, task="classification")

# Every kind of question, each with missing values on either side.
RECORD: dict[str, Any] = {
    "feature": "age",
    "threshold": 39.5,
    "left": {
        "feature": "Blood Pressure",
        "threshold": 110.25,
        "missing": "left",
        "left": {"feature": "colour", "levels": ["blue", "it's"], "missing": "left", "left": LEAF, "right": LEAF},
        "right": {"feature": "smokes", "threshold": 0.5, "left": LEAF, "right": LEAF},
    },
    "right": {
        "feature": "Blood Pressure",
        "missing": "asked",
        "left": {"feature": "colour", "levels": ["blue"], "missing": "right", "left": LEAF, "right": LEAF},
        "right": LEAF,
    },
}
TREE = bt.Tree.from_dict(DESIGN.schema, RECORD)


def quick(prior: Any, design: bt.Design = DESIGN, **options: Any) -> bt.Posterior:
    settings = {"warmup": 50, "draws": 100, "chains": 2, "seed": 3, "progress": False} | options
    return bt.sample(bt.CART(prior), design, **settings)


# ---- sources ---------------------------------------------------------------------------------------------------------


def test_every_source_gives_the_same_prior(tmp_path: Path) -> None:
    json_file, text_file = tmp_path / "tree.json", tmp_path / "tree.txt"
    json_file.write_text(json.dumps(RECORD))
    text_file.write_text(TREE.to_text())
    shown = {"verdict": "…", "best_tree": TREE.to_dict()}
    sources = [
        *(RECORD, TREE, TREE.to_dict(), json.dumps(RECORD), json.dumps(RECORD, indent=2), shown),
        *(
            json_file,
            str(json_file),
            text_file,
            str(text_file),
            TREE.to_text(),
            str(template_of(TREE)),
            template_of(TREE),
        ),
        re.sub("[│├└─]", " ", TREE.to_text()),
    ]
    first = bt.EditTree(TREE)
    for source in sources:
        prior = bt.EditTree(source)
        assert prior.tree.on(DESIGN.schema) == first.tree.on(DESIGN.schema)
        assert prior.program(DESIGN.schema) == first.program(DESIGN.schema)
        assert prior.sample(DESIGN, 20, seed=1).forest.key(7) == first.sample(DESIGN, 20, seed=1).forest.key(7)


def test_every_question_survives_into_the_program() -> None:
    laid = bt.EditTree(TREE, min_leaf=1).resolve(DESIGN).laid
    assert bt.Tree.from_dict(DESIGN.schema, laid.to_dict()) == TREE
    text = bt.EditTree(RECORD).program(DESIGN.schema).text
    cut = float(TREE.to_dict()["left"]["threshold"])
    assert f"split('Blood Pressure', or_missing({cut!r}), split(colour, [blue, 'it\\'s', missing], leaf, leaf)" in text
    assert "split('Blood Pressure', observed, split(colour, [blue], leaf, leaf), leaf)" in text


def test_a_posterior_and_a_fitted_estimator_give_their_best_tree() -> None:
    post = quick(bt.GrowTree())
    assert bt.EditTree(post).tree == template_of(post.best_tree())
    model = bt.CARTClassifier(draws=20, warmup=10, random_state=1).fit(FRAME, CLASSES)
    assert bt.EditTree(model).tree == template_of(model.posterior_.best_tree())


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier, DecisionTreeRegressor])
@pytest.mark.parametrize("named", [True, False])
def test_trees_of_scikit_learn(estimator: Any, named: bool) -> None:
    data = bt.datasets.load("kyphosis")
    y = data.y if estimator is DecisionTreeClassifier else (np.asarray(data.y) == "present").astype(float)
    X = data.X.to_pandas() if named else data.X.to_numpy()
    fitted = estimator(max_depth=3, min_samples_leaf=5, random_state=0).fit(X, y)
    design = data.design()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        laid = bt.Tree.from_dict(design.schema, bt.EditTree(fitted).resolve(design).laid.to_dict())
    rows = fitted.tree_.n_node_samples.tolist()
    assert grown_rows(design, laid) == rows
    names = list(data.X.columns) if named else None
    for text in (export_text(fitted, feature_names=names, decimals=6), export_text(fitted, decimals=6, spacing=2)):
        assert bt.EditTree(text).program(design.schema) == bt.EditTree(fitted).program(design.schema)


def grown_rows(design: bt.Design, tree: bt.Tree) -> list[int]:
    """How many rows each node holds, in preorder."""
    bins, rules, rows = design.bins, iter(tree.rules), []

    def walk(here: np.ndarray) -> None:
        rule = next(rules)
        rows.append(int(here.sum()))
        if rule is not None:
            left = bins[rule.feature] <= rule.cut
            walk(here & left)
            walk(here & ~left)

    walk(np.ones(design.rows, dtype=bool))
    return rows


def test_missing_values_go_where_scikit_learn_sends_them() -> None:
    X = FRAME.select("age", "Blood Pressure").to_pandas()
    fitted = DecisionTreeClassifier(max_depth=3, min_samples_leaf=5, random_state=0).fit(X, CLASSES)
    assert fitted.tree_.missing_go_to_left.any()
    design = bt.make_design(X, CLASSES, task="classification")
    laid = bt.Tree.from_dict(design.schema, bt.EditTree(fitted).resolve(design).laid.to_dict())
    expected = [
        None if left < 0 else bool(side)
        for left, side in zip(fitted.tree_.children_left, fitted.tree_.missing_go_to_left, strict=True)
    ]
    asks_pressure = [rule is not None and rule.feature == 1 for rule in laid.rules]
    assert any(asks_pressure)
    for rule, side, asked in zip(laid.rules, expected, asks_pressure, strict=True):
        assert not asked or rule.missing_left == side


# ---- on a table ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"feature": "agee", "threshold": 1}, "no column 'agee'. Did you mean 'age'?"),
        ({"feature": 9, "threshold": 1}, "asks about column 9, counted from 0; the table has 4"),
        (
            {"feature": "colour", "threshold": 1},
            "column 'colour' is categorical, but the tree asks whether colour <= 1.0",
        ),
        ({"feature": "age", "levels": ["x"]}, "column 'age' is numeric, but the tree asks whether age is x"),
        ({"feature": "smokes", "levels": ["x"]}, "column 'smokes' is boolean"),
        ({"feature": "colour", "levels": ["blu"]}, "no level of column 'colour' 'blu'. Did you mean 'blue'?"),
    ],
)
def test_what_does_not_fit_the_table_is_said_before_sampling(record: Any, message: str) -> None:
    prior = bt.EditTree(record | {"left": LEAF, "right": LEAF})
    for use in (lambda: quick(prior), lambda: prior.sample(DESIGN, 2)):
        with pytest.raises(InputError, match=re.escape(message)):
            use()


def test_a_split_that_finds_no_rows_is_left_out_with_a_warning() -> None:
    record = {"feature": "age", "threshold": 39.5, "left": LEAF, "right": LEAF}
    deep = record | {"left": record | {"feature": "smokes", "threshold": 0.5}}
    with pytest.warns(UserWarning, match="1 split of the given tree cannot be laid on this table"):
        post = quick(bt.EditTree(deep, min_leaf=50))
    prior: Any = post.model.prior
    assert (prior.laid.n_leaves, prior.tree.n_leaves) == (2, 3)


@pytest.mark.parametrize(
    "options",
    [
        *({"edits": 0}, {"edits": float("inf")}, {"edits": "4"}, {"min_leaf": 0}, {"min_leaf": 2.5}, {"grow": -1}),
        *({"change": float("nan")}, {"grow": 0, "prune": 0, "change": 0}),
    ],
)
def test_numbers_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"choose|raise one of them"):
        bt.EditTree(RECORD, **options)


def test_numbers_may_be_those_of_numpy() -> None:
    plain = bt.EditTree(RECORD, 2.0, 3, 1.0, 2.0, 5.0)
    numbers: Any = (np.float64(2), np.int64(3), np.float32(1), np.int32(2), np.float64(5))
    given = bt.EditTree(RECORD, *numbers)
    assert given.program() == plain.program()
    assert given.to_dict() == plain.to_dict()


# ---- the program -----------------------------------------------------------------------------------------------------


def test_the_prior_is_the_shipped_program_with_other_facts() -> None:
    shipped = bt.slp.load("edittree.slp", semantics="reject")
    facts, _, process = shipped.text.partition(MARK)
    assert process and not re.search(r"^[^%\n]*:-|^[\d.]+ :", facts, re.MULTILINE)
    below = [{"feature": name, "threshold": cut, "left": LEAF, "right": LEAF} for name, cut in SHIPPED_BELOW]
    given = {"feature": "cell_size", "threshold": 2.5, "left": below[0], "right": below[1]}
    mine = bt.EditTree(given).program()
    assert mine.semantics == "reject" and mine.text.endswith(MARK + process)
    native = [bt._core.Program(text, "cart(T)", "") for text in (shipped.text, mine.text)]
    assert native[0].predicates == native[1].predicates
    assert mine.warnings() == []
    design = bt.datasets.load("breast_cancer").design()
    drawn = [program.sample("cart(T)", n=50, seed=4, data=design) for program in (shipped, mine)]
    assert drawn[0] == drawn[1]
    assert (SHIPPED / "edittree.slp").read_text().count(MARK) == 1


SHIPPED_BELOW = (("bare_nuclei", 5.5), ("cell_shape", 2.5))


def test_what_is_known_holds_for_every_draw() -> None:
    prior = bt.EditTree(RECORD, edits=8) & bt.Forbid("colour") & bt.MaxDepth(2) & bt.MaxLeaves(3)
    assert isinstance(prior, bt.EditTree) and prior.edits == 8
    for tree in prior.sample(DESIGN, 500, seed=1).trees:
        assert "colour" not in tree.features and tree.depth <= 2 and tree.n_leaves <= 3
    with pytest.warns(UserWarning, match="what is known forbids"):
        post = quick(prior)
    assert all(tree.depth <= 2 and tree.n_leaves <= 3 and "colour" not in tree.features for tree in post.trees)


# ---- models, estimators, files ---------------------------------------------------------------------------------------


def test_to_dict_and_back() -> None:
    prior = bt.EditTree(RECORD, 2.5, 7, grow=1, prune=0, change=3)
    record = json.loads(json.dumps(prior.to_dict()))
    assert bt.EditTree.from_dict(record) == prior
    resolved = prior.resolve(DESIGN)
    again = bt.EditTree.from_dict(json.loads(json.dumps(resolved.to_dict())))
    assert again == prior and again.laid == resolved.laid


def test_a_model_file_keeps_the_prior_and_the_run_goes_on(tmp_path: Path) -> None:
    post = quick(bt.EditTree(RECORD, edits=2))
    post.save(tmp_path / "edited.baytree")
    loaded = bt.load(tmp_path / "edited.baytree")
    prior: Any = post.model.prior
    assert loaded.model.prior == bt.EditTree(RECORD, edits=2) and loaded.model.prior.laid == prior.laid
    assert str(loaded.edits()) == str(post.edits())
    longer = bt.extend(loaded, DESIGN, draws=40, progress=False)
    np.testing.assert_array_equal(longer.log_likelihood, quick(bt.EditTree(RECORD, edits=2), draws=140).log_likelihood)


@pytest.mark.parametrize("estimator", [bt.CARTClassifier, bt.CARTRegressor])
def test_estimators_take_the_prior(estimator: Any) -> None:
    data = bt.datasets.load("kyphosis")
    y = data.y if estimator is bt.CARTClassifier else np.asarray(data.X["start"]) * 1.0
    tree = DecisionTreeClassifier(max_depth=2).fit(data.X.to_pandas(), data.y)
    model = clone(estimator(prior=bt.EditTree(tree, edits=1), draws=50, warmup=50, random_state=1)).fit(data.X, y)
    assert model.predict(data.X).shape == (81,)
    assert 0 <= model.posterior_.edits().unchanged <= 1


@pytest.mark.parametrize(
    "name", ["it's", "back\\slash", "Größe", "_12", "[]", "a b", "new\nline", "leaf", "X", "+", "%"]
)
def test_names_of_any_kind_survive_into_the_program(name: str) -> None:
    levels = [name, "missing", "other", None]
    frame = pl.DataFrame(
        {name: [levels[row % 4] for row in range(40)], "number": [1e-7 * (row % 3) for row in range(40)]}
    )
    design = bt.make_design(frame, [0, 1] * 20, task="classification")
    first, second, _ = design.columns[0].levels
    tree = bt.Tree.from_dict(
        design.schema,
        {
            "feature": name,
            "levels": [first, second],
            "missing": "left",
            "left": {"feature": "number", "threshold": 1e-7, "left": LEAF, "right": LEAF},
            "right": LEAF,
        },
    )
    laid = bt.EditTree(tree, min_leaf=1).resolve(design).laid
    assert laid == template_of(tree)
    assert bt.Tree.from_dict(design.schema, laid.to_dict()) == tree
