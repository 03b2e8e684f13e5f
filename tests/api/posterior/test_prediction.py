"""What predictions of all families promise: one kind or several, any blocks, some of the draws."""

from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree.bart.prediction import SumPredictor
from baytree.cart.prediction import TreePrediction
from baytree.data.design import Schema
from baytree.data.matrix import LinearSchema
from baytree.hmdt.tree.inference import Inference
from baytree.hme.tree.soft_tree import SoftTree
from baytree.posterior.prediction import Block, interval_of, tails
from families import EVERY, drawn


def kinds_of(name: str) -> tuple[str, ...]:
    """The kinds that there are; one tree has no error bars."""
    prediction = drawn(name).prediction
    return tuple(kind for kind in prediction.kinds if kind != "interval" or prediction.shape != (1, 1))


def predicted(name: str, kind: Any, prob: float = 0.9) -> Any:
    return drawn(name).predict(EVERY[name].rows, kind, prob, **EVERY[name].options)


def assert_equal_bits(one: np.ndarray, other: np.ndarray) -> None:
    assert one.dtype == other.dtype
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("block_numbers", [4_000_000, 2000])
@pytest.mark.parametrize("name", EVERY)
def test_kinds_together_are_those_alone(name: str, block_numbers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("baytree.posterior.prediction.BLOCK_NUMBERS", block_numbers)
    kinds = kinds_of(name)
    together = predicted(name, kinds, 0.8)
    assert tuple(together) == kinds
    for kind in kinds:
        assert_equal_bits(together[kind], predicted(name, kind, 0.8))
        some = predicted(name, [kind, "mean"], 0.8)
        assert_equal_bits(some[kind], together[kind])
        assert_equal_bits(some["mean"], together["mean"])


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often tables are encoded, and how often draws go over their rows."""
    calls = {"encode": 0, "walk": 0}

    def count(owner: type, method: str, what: str) -> None:
        usual = getattr(owner, method)

        def counting(*arguments: Any, **options: Any) -> Any:
            calls[what] += 1
            return usual(*arguments, **options)

        monkeypatch.setattr(owner, method, counting)

    for schema in (Schema, LinearSchema):
        count(schema, "encode", "encode")
    walks: list[tuple[type, str]] = [(TreePrediction, "leaves_of"), (SumPredictor, "each"), (SumPredictor, "mean")]
    for owner, method in [*walks, (SoftTree, "at"), (Inference, "one_step")]:
        count(owner, method, "walk")
    return calls


@pytest.mark.parametrize("name", EVERY)
def test_kinds_together_encode_and_walk_once(name: str, counted: dict[str, int]) -> None:
    posterior = drawn(name)
    predicted(name, kinds_of(name))
    # The variance is a forest of its own, and each soft tree is walked by itself; linear models walk nowhere.
    walks = 2 if name == "bart: variance" else 1
    walks = {"subset": 0, "hme": posterior.chains * posterior.draws}.get(name.split(":")[0], walks)
    assert counted == {"encode": 1, "walk": walks}


@pytest.mark.parametrize("name", EVERY)
def test_what_is_refused(name: str) -> None:
    for kind in ("median", ("mean", "median")):
        with pytest.raises(bt.InputError, match="no kind of prediction 'median'"):
            predicted(name, kind)
    with pytest.raises(bt.InputError, match=r"prob=1\.0: choose a probability between 0 and 1"):
        predicted(name, ("mean", "draws"), 1.0)
    assert predicted(name, ()) == {}


@pytest.mark.parametrize("name", [name for name in EVERY if not name.startswith("cart")])
def test_some_of_the_draws(name: str) -> None:
    prediction = drawn(name).prediction
    rows = drawn(name).schema.encode(EVERY[name].rows)
    if prediction.draws == 1:
        assert prediction.some(1) is prediction
        return
    assert prediction.some(None) is prediction.some(prediction.draws) is prediction
    some, every = prediction.some(5), prediction.predict(rows, "draws")
    assert some.shape == (prediction.chains, 5)
    # A product of matrices may round another way.
    np.testing.assert_allclose(some.predict(rows, "draws"), every[:, [2, 5, 8, 11, 14]], rtol=1e-12)


def test_intervals_have_equal_tails() -> None:
    assert tails(0.5) == (0.25, 0.75)
    draws = np.random.default_rng(0).random((101, 4, 3))
    found = interval_of(draws, 0.8)
    assert found.shape == (4, 3, 2)
    np.testing.assert_allclose(found, np.moveaxis(np.sort(draws, axis=0)[[10, 90]], 0, -1))


def test_a_kind_asks_a_block_for_no_more_than_it_needs() -> None:
    class Three(Block):
        @property
        def draws(self) -> np.ndarray:
            return np.arange(6.0).reshape(3, 2)

        @property
        def predictive(self) -> np.ndarray:
            raise AssertionError("no kind wants it")

        def log_density(self, y: np.ndarray, weight: Any) -> np.ndarray:
            raise AssertionError("no kind wants it")

    block = Three()
    assert block.mean.tolist() == [2, 3]
    assert block.interval("interval", 0.5).tolist() == [[1, 3], [2, 4]]
