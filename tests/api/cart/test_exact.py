"""Posteriors by adding up every tree: what they know exactly, and what every posterior does."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree.cart import summed
from families import NUMBERS, THREE, bins

SHORT: dict[str, Any] = {"draws": 200, "seed": 3, "progress": False}


@pytest.fixture(scope="module")
def kyphosis() -> bt.Design:
    data = bt.datasets.load("kyphosis")
    return bt.make_design(data.X, data.y, task="classification")


@pytest.fixture(scope="module")
def exact(kyphosis: bt.Design) -> bt.Posterior:
    return bt.sample(bt.CART(method="exact"), kyphosis, **SHORT)


def test_kyphosis(exact: bt.Posterior) -> None:
    """The evidence as three other programs have it."""
    evidence = exact.log_evidence()
    assert evidence.value == pytest.approx(-38.90959, abs=1e-5)
    assert evidence.error == 0.0
    tree, probability, certified = exact.map_tree()
    assert certified
    assert probability == pytest.approx(0.08671, abs=1e-5)
    assert tree == exact.top_trees(1)[0].tree == exact.best_tree()
    top = exact.top_trees(500)
    assert [one.probability for one in top] == sorted((one.probability for one in top), reverse=True)
    # Of its draws, as many as there should be.
    assert top[0].per_chain.mean() == pytest.approx(probability, abs=5 * np.sqrt(0.087 * 0.913 / 800))
    assert exact.leaf_distribution().sum() == pytest.approx(1, abs=1e-10)
    assert sum(share for _, share in exact.root_rules()) + exact.leaf_distribution()[1] == pytest.approx(1, abs=1e-10)


def test_draws_are_those_of_the_numbers(exact: bt.Posterior, kyphosis: bt.Design) -> None:
    """Within five standard errors of independent draws."""
    drawn = replace(exact, summed=None)
    n = drawn.tree_index.size
    for name, share in exact.inclusion().items():
        assert drawn.inclusion()[name] == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / n) + 1e-3)
    mean, sd = exact.exact_moments()
    found = exact.predict(bt.datasets.load("kyphosis").X, kind="draws")
    error = 5 * sd / np.sqrt(n)
    assert np.all(np.abs(found.mean(axis=(0, 1)) - mean) < error)


def test_new_rows(exact: bt.Posterior) -> None:
    rows = bt.datasets.load("kyphosis").X[:4]
    for one, other in zip(exact.exact_moments(rows), exact.exact_moments(), strict=True):
        np.testing.assert_allclose(one, other[:4], rtol=0, atol=1e-12)


def test_summary(exact: bt.Posterior) -> None:
    summary = exact.summary()
    assert summary.verdict.startswith("Exact: every tree counted")
    assert summary.agree
    assert "log evidence -38.90959" in str(summary)
    assert "most probable trees" in str(summary)
    assert summary.to_dict()["every_tree"]["held"] == pytest.approx(0.5, abs=0.2)


def test_a_file_keeps_it(exact: bt.Posterior, tmp_path: Path) -> None:
    exact.save(tmp_path / "exact.baytree")
    for again in (bt.load(tmp_path / "exact.baytree"), pickle.loads(pickle.dumps(exact))):
        assert again.log_evidence() == exact.log_evidence()
        assert again.inclusion() == exact.inclusion()
        assert again.root_rules() == exact.root_rules()
        assert [top.probability for top in again.top_trees(50)] == [top.probability for top in exact.top_trees(50)]
        assert str(again.summary()) == str(exact.summary())
        np.testing.assert_array_equal(again.exact_moments()[0], exact.exact_moments()[0])
        np.testing.assert_array_equal(again.tree_index, exact.tree_index)
        with pytest.raises(bt.InputError, match="sample anew for other rows"):
            again.exact_moments(bt.datasets.load("kyphosis").X)


@pytest.mark.parametrize("y", [THREE, NUMBERS])
def test_weights_labels_and_gaps(y: np.ndarray) -> None:
    design = bins(y, sample_weight=np.linspace(0.5, 2, len(y)))
    post = bt.sample(bt.CART(bt.GrowTree(min_leaf=15), method="exact"), design, **SHORT)
    mean, sd = post.exact_moments()
    assert mean.shape == sd.shape == ((60, 3) if y is THREE else (60,))
    assert np.all(sd > 0)
    assert post.swaps if post.tempered else not post.has_chains


def test_auto(kyphosis: bt.Design, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    auto = bt.CART(method="auto")
    small: dict[str, Any] = {"draws": 5, "seed": 1}
    assert bt.sample(auto, kyphosis, **small).model.method == "exact"
    for post in (
        bt.sample(auto, kyphosis, warmup=5, **small),
        bt.sample(auto, kyphosis, temperatures=3, **small),
        bt.sample(auto, kyphosis, init={}, **small),
        bt.sample(replace(auto, proposal="uc"), kyphosis, **small),
        bt.sample(replace(auto, prior=bt.GrowTree() & bt.MaxLeaves(4)), kyphosis, **small),
    ):
        assert post.model.method == "chains"
        assert post.has_chains
    assert "add up" not in capsys.readouterr().err
    monkeypatch.setattr(summed, "AUTO_SETS", 1000)
    assert bt.sample(auto, kyphosis, **small).model.method == "chains"
    said = capsys.readouterr().err
    assert "more than 1,000 sets of rows" in said
    assert "a limit of depth" in said


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (lambda: bt.CART(method="sums"), {}, "no method 'sums'"),
        (lambda: bt.CART(bt.GrowTree() & bt.Monotone(age=1), method="exact"), {}, "Monotone is about the tree"),
        (lambda: bt.CART(bt.slp.load("growtree.slp"), method="exact"), {}, "needs chains"),
        (lambda: bt.CART(method="exact"), {"temperatures": 3}, "no chains that could have temperatures"),
        (lambda: bt.CART(method="exact"), {"init": {}}, "leave init out"),
    ],
)
def test_what_needs_chains(kyphosis: bt.Design, model: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(bt.InputError, match=message):
        bt.sample(model(), kyphosis, **SHORT | options)


def test_too_many_trees(kyphosis: bt.Design, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summed, "MOST_SETS", 1000)
    with pytest.raises(bt.InputError, match=r"method='exact': there are more than 1,000 sets .* method='chains'"):
        bt.sample(bt.CART(method="exact"), kyphosis, **SHORT)


def test_there_are_no_chains_to_go_on(exact: bt.Posterior, kyphosis: bt.Design) -> None:
    with pytest.raises(bt.InputError, match="no chains that could go on"):
        bt.extend(exact, kyphosis)
    assert bt.converge(exact, kyphosis) is exact


def test_a_classifier(kyphosis: bt.Design) -> None:
    data = bt.datasets.load("kyphosis")
    model = bt.CARTClassifier(method="exact", draws=50, random_state=0).fit(data.X, data.y)
    assert model.posterior_.map_tree().certified
    assert model.predict_proba(data.X).shape == (81, 2)


def test_the_independence_bound_is_certified(exact: bt.Posterior, tmp_path: Path) -> None:
    """By a tree whose posterior probability is so small that it is neither drawn nor listed."""
    bound = exact.independence_bound(50_000)
    assert bound.certified
    assert bound.log_likelihood > exact.log_likelihood.max() + 1
    assert bound.distance == pytest.approx((1 - np.exp(exact.log_evidence().value - bound.log_likelihood)) ** 50_000)
    assert bound.distance == pytest.approx(0.704, abs=1e-3)
    exact.save(tmp_path / "exact.baytree")
    assert bt.load(tmp_path / "exact.baytree").independence_bound(50_000) == bound
    assert f"above {bound.log_likelihood:.5f} (certified)" in str(exact.summary())
