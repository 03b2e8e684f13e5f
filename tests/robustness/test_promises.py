"""Fits and predictions keep within the memory that the documentation promises, under RLIMIT_AS in a process apart."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from robustness.promises import CASES

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RLIMIT_AS holds on Linux")

PROMISES = Path(__file__).with_name("promises.py")
# Otherwise the C library reserves 64 MiB of address space for each thread, which nobody uses.
ENVIRONMENT = os.environ | {"MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1"}
LEAN = ["cart", "bart"]
SLOW = [pytest.param(name, marks=() if name in LEAN else pytest.mark.slow) for name in CASES]


def limited(name: str, action: str, kind: str, rows: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROMISES), name, action, kind, str(rows)]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("name", SLOW)
def test_a_fit_keeps_its_promise(name: str) -> None:
    done = limited(name, "fit", "mean", 40_000 if name not in ("hme", "hmdt") else 10_000)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", SLOW)
def test_a_mean_keeps_its_promise(name: str) -> None:
    done = limited(name, "predict", "mean", 100_000 if name in LEAN else 400_000)
    assert done.returncode == 0, done.stderr


def many(name: str) -> int:
    """So many rows that all draws of them would take more than is promised; of soft trees, which are slow, just so."""
    return 100_000 if name.startswith("hm") else 250_000


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name not in ("hme", "hmdt")])
def test_intervals_keep_their_promise(name: str) -> None:
    done = limited(name, "predict", "interval", many(name))
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.task == "regression"])
def test_intervals_of_new_responses_keep_their_promise(name: str) -> None:
    done = limited(name, "predict", "predictive_interval", many(name))
    assert done.returncode == 0, done.stderr


def test_what_needs_more_is_found() -> None:
    """The saboteur: draws of all rows, which have no such promise, are too many, and say so."""
    done = limited("cart", "predict", "draws", 120_000)
    assert done.returncode != 0
    assert "MemoryError" in done.stderr
