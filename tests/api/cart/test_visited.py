"""The most probable tree that chains were at, against chains that are stepped by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import baytree as bt
from baytree.mcmc.tempering import Tempering
from baytree.trees.forest import Forest, rules_of
from robustness.damage import rewrite_state

SEED, WARMUP, DRAWS, THIN = 5, 300, 2, 150


class Visit(NamedTuple):
    log_target: float
    tree: bt.Tree


@pytest.fixture(scope="module")
def kyphosis() -> bt.Design:
    return bt.datasets.load("kyphosis").design()


def by_hand(model: bt.CART, design: bt.Design, tempering: Tempering) -> Visit:
    """The best of all trees that a lone chain is at, each looked at."""
    resolved = model.resolve(design)
    [chain] = resolved.chains(design, SEED, 1, tempering)
    best = Visit(-np.inf, bt.Tree(design.schema, (None,)))
    for step in range(WARMUP + DRAWS * THIN + 1):
        if step > 0:
            (chain.warm_up if step <= WARMUP else chain.advance)(1, 1)
        if step == WARMUP:
            chain.end_warm_up()
        log_target = chain.log_prior + resolved.power * chain.log_likelihood
        if log_target > best.log_target:
            best = Visit(log_target, bt.Tree(design.schema, rules_of(Forest(**chain.tree()), 0)))
    return best


def sample(model: bt.CART, design: bt.Design, draws: int = DRAWS, **options: Any) -> bt.Posterior:
    asked = {"chains": 1, "warmup": WARMUP, "thin": THIN, "seed": SEED, "progress": False}
    return bt.sample(model, design, draws=draws, **asked | options)


MODELS = {
    "tree": (bt.CART(), 1),
    "power": (bt.CART(power=0.3), 1),
    "tempered": (bt.CART(), 3),
    "program": (bt.CART(bt.slp.load("growtree.slp")), 1),
}


@pytest.mark.parametrize(("model", "temperatures"), MODELS.values(), ids=MODELS)
def test_the_best_tree_visited(model: bt.CART, temperatures: int, kyphosis: bt.Design) -> None:
    expected = by_hand(model, kyphosis, Tempering(temperatures))
    post = sample(model, kyphosis, temperatures=temperatures)
    drawn = (post.log_prior + post.model.power * post.log_likelihood).max()
    assert expected.log_target >= drawn
    [state] = post.states
    assert state["best"]["log_prior"] + post.model.power * state["best"]["log_likelihood"] == expected.log_target
    found = post.map_tree()
    assert not found.certified
    assert found.tree == expected.tree
    assert post.best_tree() == found.tree


@pytest.mark.filterwarnings("ignore:the ladders made")
def test_the_bound_of_independent_proposals_knows_it(kyphosis: bt.Design) -> None:
    """Where it has a higher likelihood than every tree drawn."""
    post = sample(bt.CART(), kyphosis, draws=1, seed=1, temperatures=3, ladder="adaptive")
    [state] = post.states
    assert state["best"]["log_likelihood"] > post.log_likelihood.max()
    assert post.independence_bound(10).log_likelihood == state["best"]["log_likelihood"]


def test_its_leaves_are_those_of_the_exact_tree(kyphosis: bt.Design) -> None:
    found = sample(bt.CART(), kyphosis).map_tree().tree
    every = sample(bt.CART(method="exact"), kyphosis, draws=1).top_trees(1000)
    [listed] = [top.tree for top in every if top.tree == found]
    assert found.to_dict() == listed.to_dict()


def test_without_one_the_best_drawn_is_given(kyphosis: bt.Design) -> None:
    """As from model files of earlier versions."""
    post = sample(bt.CART(), kyphosis)
    old = replace(post, states=tuple({k: v for k, v in state.items() if k != "best"} for state in post.states))
    best = int(np.argmax(post.log_prior + post.log_likelihood))
    assert old.map_tree().tree == post.tree(0, best) != post.map_tree().tree
    assert "best" in bt.extend(old, kyphosis, draws=1, progress=False).states[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"statistics": [1.0]},
        {"log_prior": float("nan")},
        {"log_prior": "x"},
        {"tree": {}},
        {"statistics": [[1], [2, 3]]},
    ],
    ids=str,
)
def test_a_damaged_one_is_refused(wrong: dict[str, Any], kyphosis: bt.Design, tmp_path: Path) -> None:
    path = tmp_path / "m.baytree"
    sample(bt.CART(), kyphosis).save(path)
    rewrite_state(path, lambda state: state | {"best": state["best"] | wrong})
    with pytest.raises(bt.FileError):
        bt.load(path)


@pytest.mark.parametrize(("model", "temperatures"), MODELS.values(), ids=MODELS)
def test_a_chain_that_goes_on_keeps_it(model: bt.CART, temperatures: int, kyphosis: bt.Design, tmp_path: Path) -> None:
    sample(model, kyphosis, draws=1, temperatures=temperatures).save(tmp_path / "short.baytree")
    longer = bt.extend(bt.load(tmp_path / "short.baytree"), kyphosis, draws=1, progress=False)
    assert longer.states == sample(model, kyphosis, temperatures=temperatures).states
