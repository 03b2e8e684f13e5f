"""Nulls by permutation: what is permuted, and that fits are made as `sample` makes them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree import InputError, permutation
from baytree.discovery import Interactions, Null, VariableUse

ROWS, COLUMNS = 30, 3
RNG = np.random.default_rng(1)
DESIGN = bt.make_design(
    RNG.normal(size=(ROWS, COLUMNS)),
    np.arange(ROWS, dtype=float),
    task="regression",
    sample_weight=1 + np.arange(ROWS, dtype=float),
    offset=np.arange(ROWS, dtype=float) / 2,
)
MODEL = bt.BART(trees=3)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bt.Design, dict[str, Any]]]:
    """What `sample` was asked for; shares are drawn from the seed it got."""
    asked: list[tuple[bt.Design, dict[str, Any]]] = []

    def sample(model: object, design: bt.Design, **plan: Any) -> Any:
        assert model is MODEL
        asked.append((design, plan))
        rng = np.random.default_rng(plan["seed"])

        def shares(kind: Any, number: int) -> Any:
            return kind(design.names, rng.uniform(size=number), np.zeros((number, 2)), 0.9)

        return SimpleNamespace(
            draws=10,
            plan=SimpleNamespace(draws=plan.get("draws", 10)),
            variable_use=lambda: shares(VariableUse, COLUMNS),
            interactions=lambda: shares(Interactions, COLUMNS * (COLUMNS - 1) // 2),
        )

    monkeypatch.setattr(permutation, "sample", sample)
    return asked


def null(**options: Any) -> Null:
    return permutation.permutation_null(MODEL, DESIGN, **({"progress": False, "seed": 1} | options))


def test_rows_are_permuted_against_responses_and_their_weights(calls: list[tuple[bt.Design, dict[str, Any]]]) -> None:
    found = null(permutations=5, chains=2, warmup=7)
    assert found.use is not None and found.interactions is not None
    assert found.use.shape == found.interactions.shape == (5, 3)
    assert found.columns == DESIGN.names
    rows = {tuple(codes) for codes in np.column_stack(DESIGN.codes)}
    for design, plan in calls:
        assert (plan["chains"], plan["warmup"], plan["progress"]) == (2, 7, False)
        assert design.y is DESIGN.y and design.weight is DESIGN.weight and design.offset is DESIGN.offset
        assert {tuple(codes) for codes in np.column_stack(design.codes)} == rows
    assert len({tuple(design.codes[0]) for design, _ in calls}) == len({plan["seed"] for _, plan in calls}) == 5


def test_columns_are_permuted_one_at_a_time(calls: list[tuple[bt.Design, dict[str, Any]]]) -> None:
    found = null(permute="columns", permutations=2)
    assert len(calls) == 2 * COLUMNS
    for number, (design, plan) in enumerate(calls):
        place = number % COLUMNS
        assert design.y is DESIGN.y
        changed = [(ours != theirs).any() for ours, theirs in zip(design.codes, DESIGN.codes, strict=True)]
        assert changed == [column == place for column in range(COLUMNS)]
        assert sorted(design.codes[place]) == sorted(DESIGN.codes[place])
        drawn = np.random.default_rng(plan["seed"]).uniform(size=COLUMNS)
        assert found.use is not None and found.use[number // COLUMNS, place] == drawn[place]
    pairs = Interactions(DESIGN.names, np.zeros(3), np.zeros((3, 2)), 0.9)
    with pytest.raises(InputError, match="of columns"):
        pairs.against(found)


def test_the_same_seed_gives_the_same_null(calls: list[tuple[bt.Design, dict[str, Any]]]) -> None:
    first, again, other = null(), null(), null(seed=2)
    assert np.array_equal(first.use, again.use) and np.array_equal(first.interactions, again.interactions)
    assert not np.array_equal(first.use, other.use)


def test_progress_is_told(calls: list[tuple[bt.Design, dict[str, Any]]], capsys: pytest.CaptureFixture[str]) -> None:
    null(permutations=2, progress=True)
    assert capsys.readouterr().err.splitlines() == ["fit 1 of 2", "fit 2 of 2"]


def test_an_interrupted_fit_ends_it(calls: list[tuple[bt.Design, dict[str, Any]]]) -> None:
    with pytest.raises(KeyboardInterrupt):
        null(draws=20)


def test_impossible_nulls_are_refused() -> None:
    with pytest.raises(InputError, match="permutations=0"):
        null(permutations=0)
    with pytest.raises(InputError, match="response, columns"):
        null(permute="rows")
    with pytest.raises(InputError, match="Design"):
        permutation.permutation_null(MODEL, DESIGN.y)  # type: ignore[arg-type]
