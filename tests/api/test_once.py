"""What a run does once: convert each column, validate the prior, hash the table."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree.data import training
from baytree.data.design import Design
from baytree.data.matrix import LinearDesign
from baytree.priors.grow_tree import GrowTree

SETTINGS: dict[str, Any] = {"warmup": 2, "draws": 4, "chains": 1, "seed": 1, "progress": False}
COUNTED = (
    (training, "column_values"),
    (GrowTree, "__post_init__"),
    (Design, "fingerprint"),
    (LinearDesign, "fingerprint"),
)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each of what is counted was called."""
    found: Counter[str] = Counter()

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def count(*args: Any, **named: Any) -> Any:
            found[name] += 1
            return function(*args, **named)

        return count

    for owner, name in COUNTED:
        monkeypatch.setattr(owner, name, counted(name, getattr(owner, name)))
    return found


def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.random((40, 3))
    return X, X[:, 0] + rng.normal(size=40)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [lambda: bt.CART(bt.GrowTree()), lambda: bt.BART(trees=3, prior=bt.GrowTree())])
def test_a_run_over_trees(calls: Counter[str], model: Callable[[], Any]) -> None:
    posterior = bt.sample(model(), bt.make_design(*table(), task="regression"), **SETTINGS)
    assert calls == {"column_values": 3, "__post_init__": 1, "fingerprint": 1}
    calls.clear()
    posterior.predict(table()[0])
    assert calls == {"column_values": 3}


@pytest.mark.filterwarnings("ignore")
def test_a_run_over_subsets(calls: Counter[str]) -> None:
    bt.sample(bt.Subset(method="sample"), bt.make_linear_design(*table()), **SETTINGS)
    assert calls == {"column_values": 3, "fingerprint": 1}
