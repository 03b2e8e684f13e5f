"""Ctrl-C ends whatever the core is doing."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import baytree as bt
from baytree import _core
from baytree.sampling.run import Run
from equality.sameness import assert_same
from families import EVERY, drawn

ENDLESS = Path(__file__).with_name("endless.py")


@pytest.mark.parametrize("family", ["cart", "bart", "subset", "hme", "hmdt", "program"])
def test_endless_work_ends(family: str) -> None:
    """A process beside this one works in the core without end and gets signals; it may hang, but not for ever."""
    run = subprocess.run([sys.executable, ENDLESS, family], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    found = dict(map(json.loads, run.stdout.splitlines()))
    assert len(found) >= 3
    assert set(found.values()) <= {"KeyboardInterrupt", "InterruptedSampling"}, found


@contextmanager
def stopped() -> Iterator[None]:
    """As after a second Ctrl-C; what is inside must end."""
    _core.interrupt(True)
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        _core.interrupt(False)


@pytest.mark.parametrize("name", [name for name, case in EVERY.items() if case.has_chains])
def test_chains_stop_at_once(name: str) -> None:
    posterior, design = drawn(name), EVERY[name].design
    chain = posterior.model.chains(design, 1, 1, posterior.settings)[0]
    chain.advance(1, 1)
    with stopped():
        chain.advance(1, 1)


@pytest.mark.parametrize("name", [name for name in EVERY if not name.startswith(("subset", "hme"))])
def test_predictions_stop_at_once(name: str) -> None:
    """Those of subsets and mixtures are made by NumPy."""
    posterior, case = drawn(name), EVERY[name]
    with stopped():
        posterior.predict(case.rows, **case.options)


def test_a_run_that_was_stopped_at_once_goes_on_from_its_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, path = EVERY["cart: numbers"], tmp_path / "model.baytree"
    usual = Run._next_block

    def next_block(run: Run[Any]) -> int:
        _core.interrupt(run.warmed > 20)
        return usual(run)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "_next_block", next_block)
        with pytest.raises(KeyboardInterrupt, match="stopped at once; it can be resumed from"):
            case.sample(checkpoint=path)
    assert_same(case.sample(), bt.resume(path, case.design, progress=False))
