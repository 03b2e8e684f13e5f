"""Nulls: what is permuted or drawn, and that fits are made as `sample` makes them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree import InputError
from baytree.bart import null as nulls
from baytree.interpret import Interactions, Null, VariableUse

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

    def sample(model: object, design: bt.Design, **settings: Any) -> Any:
        assert model is MODEL
        asked.append((design, settings))
        rng = np.random.default_rng(settings["seed"])

        def shares(kind: Any, number: int) -> Any:
            return kind(design.names, rng.uniform(size=number), np.zeros((number, 2)), 0.9)

        return SimpleNamespace(
            draws=10,
            settings=SimpleNamespace(draws=settings.get("draws", 10)),
            variable_use=lambda: shares(VariableUse, COLUMNS),
            interactions=lambda: shares(Interactions, COLUMNS * (COLUMNS - 1) // 2),
        )

    monkeypatch.setattr(nulls, "sample", sample)
    return asked


def null(**options: Any) -> Null:
    return nulls.permutation_null(MODEL, DESIGN, **({"progress": False, "seed": 1} | options))


def test_rows_are_permuted_against_responses_and_their_weights(calls: list[tuple[bt.Design, dict[str, Any]]]) -> None:
    found = null(permutations=5, chains=2, warmup=7)
    assert found.use is not None and found.interactions is not None
    assert found.use.shape == found.interactions.shape == (5, 3)
    assert found.columns == DESIGN.names
    rows = {tuple(bins) for bins in np.column_stack(DESIGN.bins)}
    for design, settings in calls:
        assert (settings["chains"], settings["warmup"], settings["progress"]) == (2, 7, False)
        assert design.y is DESIGN.y and design.weight is DESIGN.weight and design.offset is DESIGN.offset
        assert {tuple(bins) for bins in np.column_stack(design.bins)} == rows
    assert len({tuple(design.bins[0]) for design, _ in calls}) == len({settings["seed"] for _, settings in calls}) == 5


def test_columns_are_permuted_one_at_a_time(calls: list[tuple[bt.Design, dict[str, Any]]]) -> None:
    found = null(permute="columns", permutations=2)
    assert len(calls) == 2 * COLUMNS
    for number, (design, settings) in enumerate(calls):
        place = number % COLUMNS
        assert design.y is DESIGN.y
        changed = [(ours != theirs).any() for ours, theirs in zip(design.bins, DESIGN.bins, strict=True)]
        assert changed == [column == place for column in range(COLUMNS)]
        assert sorted(design.bins[place]) == sorted(DESIGN.bins[place])
        drawn = np.random.default_rng(settings["seed"]).uniform(size=COLUMNS)
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
    for either in (nulls.permutation_null, nulls.additive_null):
        with pytest.raises(InputError, match="give a BART"):
            either(bt.CART(), DESIGN)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Design"):
        nulls.permutation_null(MODEL, DESIGN.y)  # type: ignore[arg-type]


# ---- without interactions -------------------------------------------------------------------------------------------

PLAN: dict[str, Any] = {"warmup": 50, "draws": 40, "chains": 2, "seed": 1, "progress": False}


def test_trees_without_interactions_ask_about_one_column() -> None:
    prior = bt.GrowTree(beta=0.5) & bt.MaxDepth(3) & bt.Interact([["x0", "x1"]])
    additive = nulls.without_interactions(prior, DESIGN.names)
    assert isinstance(additive, bt.GrowTree)
    assert [type(known) for known in additive.knowledge.constraints] == [bt.MaxDepth, bt.Interact]
    fit = bt.sample(bt.BART(trees=5, prior=additive), DESIGN, **PLAN)
    assert not fit.interactions().mean.any()
    assert fit.variable_use().mean.all()


def test_replicates_have_the_noise_of_their_rows() -> None:
    """Rows of weight 100 have a tenth of the standard deviation of the others."""
    rng = np.random.default_rng(2)
    weight = np.where(np.arange(200) < 100, 1.0, 100.0)
    design = bt.make_design(
        rng.normal(size=(200, 2)), rng.normal(size=200) / np.sqrt(weight), task="regression", sample_weight=weight
    )
    fit = bt.sample(bt.BART(trees=5), design, **PLAN)
    drawn = nulls.replicates(fit, design, 80)
    assert drawn.shape == (80, 200)
    noise = drawn - fit.prediction.some(40).predict(fit.bins_of(design), "draws").reshape(80, 200)
    assert fit.sigma is not None
    # 8,000 numbers each: a standard deviation is known to 1%.
    assert noise[:, :100].std() == pytest.approx(np.sqrt(np.mean(fit.sigma**2)), rel=0.05)
    assert noise[:, 100:].std() == pytest.approx(np.sqrt(np.mean(fit.sigma**2)) / 10, rel=0.05)


def test_replicates_of_classes_are_classes() -> None:
    design = bt.make_design(RNG.normal(size=(60, 2)), np.arange(60) % 3 > 0, task="classification")
    fit = bt.sample(bt.BART(trees=5), design, **PLAN)
    drawn = nulls.replicates(fit, design, 7)
    assert drawn.shape == (7, 60) and drawn.dtype == design.y.dtype
    assert set(np.unique(drawn)) <= {0, 1}


def test_the_additive_null_repeats() -> None:
    settings: dict[str, Any] = {"warmup": 5, "draws": 5, "chains": 2, "progress": False}
    first, again, other = (bt.additive_null(MODEL, DESIGN, repeats=3, seed=seed, **settings) for seed in (1, 1, 2))
    assert first.use is None and first.interactions is not None and first.interactions.shape == (3, 3)
    assert np.array_equal(first.interactions, again.interactions)
    assert not np.array_equal(first.interactions, other.interactions)
    with pytest.raises(InputError, match="of pairs"):
        VariableUse(DESIGN.names, np.zeros(3), np.zeros((3, 2)), 0.9).against(first)


def test_a_pair_that_interacts_is_told_from_columns_that_matter() -> None:
    """All five columns matter; where their pairs are only held against permuted responses, most look large."""
    design = bt.datasets.friedman(n=200, p=5, seed=1).design()
    settings: dict[str, Any] = {"warmup": 200, "draws": 200, "chains": 2, "progress": False}
    found = bt.sample(bt.BART(trees=20), design, seed=1, **settings).interactions()
    null = bt.additive_null(bt.BART(trees=20), design, repeats=19, seed=1, **settings)
    judged = found.against(null, "global_max")
    assert judged.large[judged.names.index("x1 × x2")]
    assert judged.large.sum() <= 2
