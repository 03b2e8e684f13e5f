"""A few of the damaged tables that `make fuzz` makes for a minute; and that the fuzzer sees what is wrong."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from robustness import fuzz_tables
from robustness.fuzz_tables import READ, REFUSED, mutant, outcome


@pytest.fixture(autouse=True)
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(fuzz_tables, "FOUND", tmp_path)
    return tmp_path


def test_damaged_tables_are_refused_or_read(found: Path) -> None:
    assert {outcome(seed) for seed in range(60)} == {READ, REFUSED}
    assert not list(found.iterdir())
    assert mutant(7) == mutant(7) != mutant(8)


@pytest.mark.parametrize("answer", [ZeroDivisionError, np.nan])
def test_what_must_not_be_is_seen(answer: Any, found: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that is no named one, and predictions that are no numbers; the table is left to be looked at."""
    read = next(seed for seed in range(60) if outcome(seed) == READ)

    class Wrong:
        def predict(self, path: Path) -> np.ndarray:
            if answer is ZeroDivisionError:
                raise answer
            return np.array([answer])

    monkeypatch.setattr(fuzz_tables, "fitted", Wrong)
    with pytest.raises(ArithmeticError):
        outcome(read)
    assert [path.name.split(".")[0] for path in found.iterdir()] == [str(read)]
    with pytest.raises(ArithmeticError):
        fuzz_tables.main("0", str(read))


def test_the_whole_table_is_read() -> None:
    assert np.isfinite(fuzz_tables.fitted().predict(fuzz_tables.table())).all()
    assert isinstance(bt.read(fuzz_tables.table(), "y"), bt.Design)
