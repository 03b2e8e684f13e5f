"""Whatever is done to a run, nothing of it is lost; and what is lost is noticed."""

from pathlib import Path
from typing import Any

import pytest

from families import EVERY
from robustness import report, victims
from robustness.damage import rewrite
from robustness.victims import CASES, FAULTS, RUN, folder_of_victims, inject, require_nothing_lost


@pytest.mark.parametrize("times", [1, pytest.param(len(CASES) * 10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_is_lost(fault: str, times: int) -> None:
    with folder_of_victims() as folder:
        for seed in range(times):
            inject(fault, seed, folder)


def test_a_draw_that_is_another_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "model.baytree"
    EVERY[CASES[0]].sample(checkpoint=path, **RUN)
    require_nothing_lost(CASES[0], path)
    rewrite(path, "log_likelihood", lambda a: a + (a == a[-1]))
    with pytest.raises(AssertionError):
        require_nothing_lost(CASES[0], path)


def test_the_table_says_what_was_lost(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def lose(*_: Any) -> str:
        raise AssertionError("gone")

    monkeypatch.setattr(victims, "FAULTS", {"eaten by a dog": lose})
    [row] = report.faults(2)
    assert str(row) == "| run: eaten by a dog | 2 | 0 survived | 2 |"
    monkeypatch.setattr(report, "files", lambda _: [])
    monkeypatch.setattr(report, "inputs", lambda _: [])
    assert report.main("--short") == 1
    assert "eaten by a dog, seed 2: AssertionError: gone" in capsys.readouterr().out
