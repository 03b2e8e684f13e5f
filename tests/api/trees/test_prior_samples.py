"""Trees drawn from a prior, as a person uses them."""

import json
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree import InputError

DESIGN = bt.datasets.load("kyphosis").design()
TREE = {"feature": "start", "threshold": 12.5, "left": {"leaf": True}, "right": {"leaf": True}}
PRIORS: dict[str, Any] = {
    "grow": bt.GrowTree(),
    "edit": bt.EditTree(TREE, edits=2),
    "program": bt.slp.load("growtree.slp"),
}


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_every_prior_draws_trees(prior: Any) -> None:
    drawn = prior.sample(DESIGN, 300, seed=5)
    again = prior.sample(DESIGN, 300, seed=5)
    assert len(drawn) == len(drawn.trees) == 300 and drawn.seed == 5
    assert [tree.rules for tree in drawn.trees] == [tree.rules for tree in again.trees]
    assert drawn.n_leaves.tolist() == [tree.n_leaves for tree in drawn.trees]
    assert drawn.depth.tolist() == [tree.depth for tree in drawn.trees]
    for place, name in enumerate(DESIGN.names):
        assert drawn.asks[:, place].tolist() == [name in tree.features for tree in drawn.trees]
        assert drawn.inclusion()[name] == np.mean([name in tree.features for tree in drawn.trees])
    assert drawn.single_leaf == np.mean([tree.n_leaves == 1 for tree in drawn.trees])
    assert min(min(tree.rows) for tree in drawn.trees) >= prior.min_leaf


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_seeds_and_numbers(prior: Any) -> None:
    first, second = prior.sample(DESIGN), prior.sample(DESIGN)
    assert len(first) == 1000 and first.seed != second.seed
    assert len(prior.sample(DESIGN, 7, seed=np.int64(3))) == 7
    for n in (0, 2.5, True):
        with pytest.raises(InputError, match="choose a whole number, 1 or more"):
            prior.sample(DESIGN, n)
    with pytest.raises(InputError, match="seed=-1"):
        prior.sample(DESIGN, 3, seed=-1)


@pytest.mark.parametrize("prior", [PRIORS["grow"], PRIORS["edit"]], ids=["grow", "edit"])
def test_a_design_is_needed(prior: Any) -> None:
    with pytest.raises(InputError, match="a Design is needed, not list"):
        prior.sample([[1, 2]])


def test_the_response_is_not_looked_at() -> None:
    data = bt.datasets.load("kyphosis")
    numbers = bt.make_design(data.X, np.arange(81.0), task="regression")
    for prior in PRIORS.values():
        drawn = [prior.sample(design, 50, seed=1) for design in (DESIGN, numbers)]
        assert [tree.rules for tree in drawn[0].trees] == [tree.rules for tree in drawn[1].trees]


def test_a_program_draws_models_and_trees_alike() -> None:
    program = bt.slp.load("growtree.slp")
    terms = program.sample("cart(T)", 20, 4, DESIGN)
    trees = program.sample(DESIGN, 20, 4).trees
    assert [str(term).count("leaf") for term in terms] == [tree.n_leaves for tree in trees]


def test_whole_trees_meet_the_conditions_of_a_program() -> None:
    text = bt.slp.load("growtree.slp").text + "max_leaves(3).\n"
    assert bt.slp.Program(text, semantics="reject").sample(DESIGN, 200, seed=1).n_leaves.max() == 3
    with pytest.raises(InputError, match="use semantics 'reject'"):
        bt.slp.Program(text).sample(DESIGN, 2)
    with pytest.raises(InputError, match="must define cart/1"):
        bt.slp.Program("a(1).").sample(DESIGN, 2)
    with pytest.raises(InputError, match="no column"):
        bt.slp.Program(text + "forbid(nope).\n", semantics="reject").sample(DESIGN, 2)


def test_in_words_and_as_json() -> None:
    drawn = bt.GrowTree().sample(DESIGN, 500, seed=1)
    record = json.loads(json.dumps(drawn.to_dict()))
    assert (record["draws"], record["seed"]) == (500, 1)
    assert sum(record["leaves"]["counts"].values()) == sum(record["depth"]["counts"].values()) == 500
    assert record["leaves"]["mean"] == drawn.n_leaves.mean()
    assert record["leaves"]["quantiles"]["0.5"] == np.median(drawn.n_leaves)
    assert list(record["inclusion"].values()) == sorted(drawn.inclusion().values(), reverse=True)
    text = str(drawn)
    assert text.startswith("500 trees from the prior (seed 1)\n")
    assert f"leaves   mean {drawn.n_leaves.mean():.2f}" in text
    assert str(drawn.trees[0]) in text and str(drawn.trees[1]) in text
    assert repr(drawn) == "<PriorDraws: 500 trees, seed 1>"
