"""What is certain of a posterior whose trees were not all added up."""

from __future__ import annotations

import pytest

import baytree as bt
from baytree.cart import model


@pytest.fixture(scope="module")
def kyphosis() -> bt.Design:
    return bt.datasets.load("kyphosis").design(max_cuts=8)


@pytest.fixture(scope="module")
def exact(kyphosis: bt.Design) -> bt.Posterior:
    return bt.sample(bt.CART(method="exact"), kyphosis, draws=10, seed=1, progress=False)


def test_too_little_is_looked_at(kyphosis: bt.Design, exact: bt.Posterior) -> None:
    found = bt.bounds(bt.CART(), kyphosis, budget=300)
    assert found.log_evidence.low < exact.log_evidence().value < found.log_evidence.high
    assert not found.certified
    assert found.gap > 0
    assert found.sets <= 600
    assert found.probability.low < found.probability.high
    said = found.describe()
    assert "lies between" in said
    assert "by more than" in said


def test_enough_is_looked_at(kyphosis: bt.Design, exact: bt.Posterior) -> None:
    found = bt.bounds(bt.CART(), kyphosis, budget=100_000)
    assert found.log_evidence.low == pytest.approx(exact.log_evidence().value, abs=1e-9)
    assert found.log_evidence.high == pytest.approx(exact.log_evidence().value, abs=1e-9)
    best = exact.map_tree()
    assert found.certified
    assert found.tree == best.tree
    assert found.probability.low == pytest.approx(best.probability, rel=1e-8)
    assert "no tree is more probable\n" in found.describe()


def test_a_root_that_must_split(kyphosis: bt.Design) -> None:
    found = bt.bounds(bt.CART(bt.GrowTree(alpha=1.0)), kyphosis, budget=1)
    assert found.tree is None
    assert not found.certified
    assert "tree" not in found.describe()


def test_numbers() -> None:
    data = bt.datasets.friedman(60, seed=1)
    design = bt.make_design(data.X, data.y, task="regression", max_cuts=5)
    prior = bt.GrowTree(min_leaf=15)
    truth = bt.sample(bt.CART(prior, method="exact"), design, draws=10, seed=1, progress=False).log_evidence().value
    for budget in (1, 100, 1000):
        low, high = bt.bounds(bt.CART(prior), design, budget=budget).log_evidence
        assert low - 1e-9 <= truth <= high + 1e-9


def test_what_does_not_fit_is_bounded(kyphosis: bt.Design, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("baytree.cart.summed.MOST_SETS", 100)
    monkeypatch.setattr(model, "AUTO_SETS", 100)
    with pytest.raises(bt.InputError, match=r"lies between -\d+\.\d\d and -\d+\.\d\d; bt\.bounds gives more"):
        bt.sample(bt.CART(method="exact"), kyphosis, progress=False)


def test_too_many_levels() -> None:
    labels = [[f"level {row % 40}"] for row in range(200)]
    design = bt.make_design(labels, [row % 2 for row in range(200)], task="classification")
    with pytest.raises(bt.InputError, match="too many levels"):
        bt.bounds(bt.CART(), design)
    with pytest.raises(bt.InputError, match=r"choose method='chains'$"):
        bt.sample(bt.CART(method="exact"), design, progress=False)


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        (bt.BART(), {}, "not a model of single trees"),
        (bt.CART(bt.GrowTree() & bt.MaxLeaves(3)), {}, "MaxLeaves is about the tree as a whole"),
        (bt.CART(), {"budget": 0}, "budget=0"),
        (bt.CART(), {"budget": 1.5}, "budget=1.5"),
    ],
)
def test_what_cannot_be_bounded(kyphosis: bt.Design, given: bt.CART, options: dict[str, int], said: str) -> None:
    with pytest.raises(bt.InputError, match=said):
        bt.bounds(given, kyphosis, **options)
