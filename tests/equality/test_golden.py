"""The draws of every family on every machine: the golden fingerprints, for all widths of registers and threads."""

import json
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree import _core
from baytree.data.to_core import native_columns
from equality import fingerprints
from equality.fingerprints import EVERYWHERE, GOLDEN, fingerprint, golden_of, rounded

KEPT = json.loads(GOLDEN.read_text())
OF_REGISTERS = [name for name in EVERYWHERE if name.startswith("bart")]
CHANGED = (
    "draws under a fixed seed have changed. If they were meant to, say so in CHANGELOG.md and write the fingerprints "
    "anew: python tests/equality/fingerprints.py keep"
)


def test_every_golden_case_is_kept() -> None:
    assert list(KEPT) == list(EVERYWHERE)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", EVERYWHERE)
def test_golden_draws(name: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for run in (fingerprints.RUN, fingerprints.SUMS):
        monkeypatch.setitem(run, "threads", threads)
    assert golden_of(name) == KEPT[name], CHANGED


@pytest.mark.parametrize("simd", ["plain", "avx2", "avx512"])
def test_golden_draws_of_registers(simd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of sums of trees, which alone have kernels of several widths."""
    design = fingerprints.design()
    trees = bt.GrowTree().sample(design, 1, seed=1).forest.arrays()
    if _core.SumPredictor(native_columns(design.schema), trees, _core.Simd[simd]).simd != _core.Simd[simd]:
        pytest.skip(f"this machine has no {simd}")
    monkeypatch.setenv("BAYTREE_SIMD", simd)
    assert {name: golden_of(name) for name in OF_REGISTERS} == {name: KEPT[name] for name in OF_REGISTERS}, CHANGED


def test_what_machines_round_otherwise_makes_no_difference() -> None:
    """The last digits of a number; but the fourth does, and whole numbers and words all do."""

    def golden(value: Any) -> str:
        return fingerprint([rounded(value)])

    numbers = np.array([0.1, -2.0, 1 / 3, np.nan, 0.0, 1.0])
    usual = golden(numbers)
    assert golden(np.nextafter(numbers, np.inf)) == golden(numbers * (1 + 1e-12)) == usual
    assert golden(numbers + 0.001 * (numbers == 1 / 3)) != usual
    assert golden(np.array([1, 2])) != golden(np.array([1, 3]))
    assert golden({"a": [0.5, 1.0]}) == golden({"a": [0.5 + 1e-16, 1.0]}) != golden({"a": [0.5, 2.0]})
    assert golden("[h, t]") != golden("[t, h]")
