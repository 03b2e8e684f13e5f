"""One loaded posterior that many threads ask at once: the same bits, flat memory, and no thread waits for the core."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree import _core
from baytree.hmdt.tree import markov_tree
from families import EVERY, drawn

THREADS = 8
NAMES = [
    "cart: numbers",
    "cart: three classes",
    "bart: numbers",
    "bart: three classes",
    "bart: variance",
    "bart: soft",
    "subset: enumerated",
    "subset: sampled",
    "hme: one tree",
    "hme: numbers",
    "hmdt: exact",
]
# What the allocator may keep for itself that it did not have after the first third, in bytes.
SLACK = 8 << 20


def resident() -> int:
    """The bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def asked_by_many(name: str, folder: Path, predictions: int) -> tuple[int, int]:
    """Of so many predictions a thread: the growth of memory after the first third, and how many answers were wrong."""
    case, path = EVERY[name], folder / "model.baytree"
    drawn(name).save(path)
    kinds = ("mean", "predictive")
    expected = bt.load(path).predict(case.rows, kinds, **case.options)
    posterior = bt.load(path)  # nobody asked it before: the threads are the first

    def ask(times: int) -> int:
        wrong = 0
        for _ in range(times):
            found = posterior.predict(case.rows, kinds, **case.options)
            wrong += not all(np.array_equal(found[kind], expected[kind]) for kind in kinds)
        return wrong

    with ThreadPoolExecutor(THREADS) as pool:
        wrong = sum(pool.map(ask, [predictions // 3] * THREADS))
        before = resident()
        wrong += sum(pool.map(ask, [predictions - predictions // 3] * THREADS))
    return resident() - before, wrong


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc how much memory there is")
@pytest.mark.parametrize("name", NAMES)
def test_many_threads(name: str, tmp_path: Path) -> None:
    growth, wrong = asked_by_many(name, tmp_path, 30)
    assert wrong == 0
    assert growth < SLACK


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc how much memory there is")
@pytest.mark.parametrize("name", NAMES)
def test_many_threads_for_long(name: str, tmp_path: Path) -> None:
    """10,000 predictions a thread: a leak of 200 bytes in each would show."""
    growth, wrong = asked_by_many(name, tmp_path, 10_000)
    assert wrong == 0
    assert growth < SLACK


# ---- the interpreter's lock ------------------------------------------------------------------------------------------


class Beats:
    """Counts how often this thread comes to work while another is in a function of the core."""

    def __init__(self) -> None:
        self.count, self.most = 0, 0

    def during(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, which notes the most beats that it let pass."""

        def counted(*given: Any, **more: Any) -> Any:
            before = self.count
            found = call(*given, **more)
            self.most = max(self.most, self.count - before)
            return found

        return counted

    def listen(self, work: Callable[..., Any], *given: Any) -> None:
        """Do some work in another thread, and count until it is done."""
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(work, *given)
            while not done.done():
                self.count += 1
                time.sleep(0.0005)
            done.result()


# A thread that holds the lock lets another in before and after a call, but not in between.
RELEASED = 10
SIZES = [2_000, 20_000, 200_000, 2_000_000]


def core_calls() -> dict[str, tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]]]]:
    """What the core does for predictions, and what it takes for so many rows."""
    trees, sums, soft = (drawn(name).prediction for name in ("cart: numbers", "bart: numbers", "bart: soft"))
    table = EVERY["bart: numbers"].design.at(slice(None))
    leaves = trees.leaf_means()

    def bins(rows: int) -> tuple[np.ndarray]:
        return (np.resize(table, (rows, table.shape[1])),)

    return {
        "cart: leaves": (trees.core.apply, bins),
        "cart: means": (lambda codes: trees.core.accumulate(codes, 0, trees.weight, leaves), bins),
        "bart: mean": (sums.mean.mean, bins),
        "bart: draws": (sums.mean.each, bins),
        "bart: soft": (soft.mean.mean, bins),
        "bart: SHAP": (sums.mean.shapley, bins),
        "bart: classes": (_core.class_probabilities, lambda rows: (np.zeros((rows, 5)),)),
    }


def lets_others_work(call: Callable[..., Any], given: Callable[[int], tuple[Any, ...]]) -> bool:
    """Whether some size of work is found during which another thread gets on."""
    for rows in SIZES:
        beats = Beats()
        beats.listen(beats.during(call), *given(rows))
        if beats.most >= RELEASED:
            return True
    return False


@pytest.mark.parametrize(
    "name",
    ["cart: leaves", "cart: means", "bart: mean", "bart: draws", "bart: soft", "bart: SHAP", "bart: classes"],
)
def test_the_core_leaves_the_interpreter_to_others(name: str) -> None:
    assert lets_others_work(*core_calls()[name])


def test_hidden_chains_leave_the_interpreter_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    case, posterior, beats = EVERY["hmdt: exact"], drawn("hmdt: exact"), Beats()
    monkeypatch.setattr(markov_tree, "hmm_filter", beats.during(markov_tree.hmm_filter))
    rows = 60_000
    X, y = np.resize(case.rows, (rows, 3)), np.resize(case.options["y"], rows)
    beats.listen(lambda: posterior.predict(X, y=y))
    assert beats.most >= RELEASED


def test_a_lock_that_is_held_is_noticed() -> None:
    """The saboteur: sorting a list is one call, too, and lets nobody in."""
    assert not lets_others_work(sorted, lambda rows: (list(range(rows, 0, -1)) * 2,))
