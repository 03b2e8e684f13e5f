"""Programs as priors of sums of trees: what is asked of them, what a person is told, and what a run gives."""

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree import InputError
from baytree.bart.null import without_interactions
from baytree.trees.forest import rules_of

GROWTREE = bt.slp.load("growtree.slp")
FAST: dict[str, Any] = {"warmup": 5, "draws": 4, "chains": 2, "seed": 1, "progress": False}

# Trees of one leaf, or of so many that few are small enough.
BUSHY = """
min_leaf(1).
cart(T) :- root(N), grow(N, T).
0.9 : grow(N, split(F, V, L, R)) | splittable(N) :-
    choose_feature(N, F), split(N, F, V, A, B), grow(A, L), grow(B, R).
0.1 : grow(N, leaf(N)).
"""


@pytest.fixture(scope="module")
def design() -> bt.Design:
    return bt.datasets.friedman(80, seed=2).design()


def test_a_resolved_model_is_written_and_read(design: bt.Design) -> None:
    model = bt.BART(trees=3, prior=GROWTREE, proposal="subtree=2").resolve(design)
    assert model.shares == {"subtree": 2.0}
    assert bt.BART.from_dict(json.loads(json.dumps(model.to_dict()))) == model


@pytest.mark.parametrize("proposal", ["birth_death", "independent", {"subtree": 1, "sequence": 1}])
def test_other_moves_are_refused(proposal: str | dict[str, float]) -> None:
    with pytest.raises(InputError, match="subtree"):
        bt.BART(prior=GROWTREE, proposal=proposal)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": "growtree.slp"}, "give a GrowTree, or a program"),
        ({"prior": GROWTREE, "init": "grow"}, "init='grow' needs a GrowTree"),
        ({"prior": bt.slp.Program("tree(leaf(_)).")}, "must define cart/1"),
        ({"prior": bt.slp.load("edittree.slp", semantics="reject")}, "not for sums of trees"),
    ],
)
def test_what_cannot_be_is_explained(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        bt.BART(**options)


def test_sparse_weights_need_a_native_prior() -> None:
    with pytest.raises(InputError, match="a program cannot state it"):
        _ = GROWTREE & bt.Weights("sparse")


def test_unknown_columns_are_found(design: bt.Design) -> None:
    with pytest.raises(InputError, match="nowhere"):
        bt.sample(bt.BART(trees=2, prior=GROWTREE & bt.Forbid("nowhere")), design, **FAST)


def test_trees_of_one_column_each(design: bt.Design) -> None:
    alone = without_interactions(GROWTREE, design.names)
    post = bt.sample(bt.BART(trees=4, prior=alone, power=0.0), design, **FAST)
    assert post.ensemble.leaves.max() > 2
    for tree in range(len(post.ensemble.forest)):
        asked = {rule.feature for rule in rules_of(post.ensemble.forest, tree) if rule is not None}
        assert len(asked) <= 1


def test_estimators_take_programs() -> None:
    data = bt.datasets.load("kyphosis")
    program = GROWTREE & bt.MaxDepth(1)
    fit = bt.BARTClassifier(trees=5, prior=program, warmup=5, draws=5, chains=2, random_state=1)
    fit.set_params(knowledge=bt.Forbid("age")).fit(data.X, data.y)
    trees = fit.posterior_.ensemble
    assert trees.leaves.max() == 2
    asked = {fit.posterior_.schema.names[feature] for feature in set(trees.forest.feature.tolist()) - {-1}}
    assert asked == {"number", "start"}
    assert fit.predict_proba(data.X).shape == (81, 2)


def test_trees_have_at_most_255_leaves() -> None:
    """Where the likelihood is off the larger half of the trees would be larger than that."""
    generator = np.random.default_rng(1)
    design = bt.make_design(generator.random((600, 2)), generator.random(600), task="regression", max_cuts=None)
    bushy = bt.slp.Program(BUSHY)
    model = bt.BART(trees=2, prior=bushy, power=0.0)
    post = bt.sample(model, design, **FAST | {"draws": 50, "chains": 1})
    assert post.ensemble.leaves.max() <= 255
    always = bt.slp.Program(BUSHY.replace("0.1 : grow(N, leaf(N)).", r"0.1 : grow(N, leaf(N)) | \+ splittable(N)."))
    with pytest.raises(InputError, match="hardly ever have 255 leaves or fewer"):
        bt.sample(replace(model, prior=always), design, **FAST)
