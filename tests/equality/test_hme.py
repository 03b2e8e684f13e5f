"""Chains over mixtures of experts: the same seed gives the same bits, for any threads, extended and resumed or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree.data.matrix import LinearDesign
from baytree.hme.posterior import HMEPosterior
from baytree.sampling import run as sampling

GENERATOR = np.random.default_rng(3)
X = GENERATOR.normal(size=(40, 2))
Y = np.where(X[:, 0] > 0, X[:, 1], -X[:, 1]) + 0.2 * GENERATOR.normal(size=40)
DESIGNS = {
    "numbers": bt.make_linear_design(X, Y),
    "constant": bt.make_linear_design(X, Y),
    "tempered": bt.make_linear_design(X, Y),
    "two classes": bt.make_linear_design(X, np.where(Y > 0, "a", "b"), task="classification"),
    "three classes": bt.make_linear_design(X, np.digitize(Y, [-0.5, 0.5]), task="classification"),
}
MODELS = {name: bt.HME(depth=2, method="gibbs") for name in DESIGNS} | {
    "constant": bt.HME(depth=1, branching=3, expert="constant", method="gibbs")
}
PLAN: dict[str, Any] = {"warmup": 80, "chains": 2, "seed": 8, "progress": False}
EVERY = pytest.mark.parametrize("kind", DESIGNS)


def drawn(kind: str, draws: int = 40, **options: Any) -> tuple[HMEPosterior, LinearDesign]:
    rungs = {"temperatures": 3} if kind == "tempered" else {}
    return bt.sample(MODELS[kind], DESIGNS[kind], draws=draws, **PLAN | rungs | options), DESIGNS[kind]


def assert_same(a: HMEPosterior, b: HMEPosterior) -> None:
    assert (a.model, a.settings, a.schema) == (b.model, b.settings, b.schema)
    for chain in range(a.chains):
        first, other = (one.part(chain, 0, one.draws) for one in (a, b))
        assert first.keys() == other.keys()
        for name, values in first.items():
            np.testing.assert_array_equal(values, other[name], err_msg=name)
    assert a.states == b.states


@EVERY
def test_threads_and_blocks(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = drawn(kind, threads=1)
    assert_same(whole, drawn(kind, threads=3)[0])
    monkeypatch.setattr(sampling, "BLOCK_SECONDS", 1e-9)
    assert_same(whole, drawn(kind, threads=2)[0])


@EVERY
def test_saved_and_extended(kind: str, tmp_path: Path) -> None:
    whole, design = drawn(kind)
    some, _ = drawn(kind, draws=15)
    some.save(tmp_path / "some.baytree")
    again = bt.load(tmp_path / "some.baytree")
    assert_same(some, again)
    assert_same(whole, bt.extend(again, design, draws=25, progress=False))


@EVERY
def test_killed_and_resumed(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the warm-up and in the draws: whatever the last checkpoint holds is where it goes on."""
    whole, design = drawn(kind)
    monkeypatch.setattr(sampling, "CHECKPOINT_SECONDS", 0)
    monkeypatch.setattr(sampling, "BLOCK_SECONDS", 1e-9)

    class Killed(Exception):
        pass

    for blocks in (3, 45):
        seen: list[int] = []

        def update(
            self: Any, warmed: int, drawn: int, *rest: Any, seen: list[int] = seen, blocks: int = blocks
        ) -> None:
            seen.append(warmed + drawn)
            if len(seen) == blocks:
                raise Killed

        path = tmp_path / f"{blocks}.baytree"
        with monkeypatch.context() as patch:
            patch.setattr(sampling.Progress, "update", update)
            with pytest.raises(Killed):
                drawn(kind, checkpoint=path)
        assert 0 < seen[-1] < 120 and not path.exists()
        assert_same(whole, bt.resume(path, design, progress=False))
        assert_same(whole, bt.load(path))


def test_seeds_and_chains_differ() -> None:
    whole, _ = drawn("numbers")
    assert (whole.gates[0] != whole.gates[1]).any()
    assert (drawn("numbers", seed=9)[0].gates != whole.gates).any()


def test_other_data_are_refused() -> None:
    whole, _ = drawn("numbers", draws=2)
    with pytest.raises(bt.InputError, match="these are not the data"):
        bt.extend(whole, bt.make_linear_design(X, Y + 1))
