"""Whether chains agree: figures held to ArviZ, to counting by hand, and to posteriors made to agree or not."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arviz_stats.base import array_stats

import baytree as bt
from baytree import _core
from baytree.data.to_core import native_columns
from baytree.diagnostics import comparison
from baytree.diagnostics.comparison import Rows, diagnose, diagnose_rows, distinct_rows, ess_of, rhat_of, training_rows
from baytree.diagnostics.convergence import (
    LARGEST_RHAT_LIMIT,
    NEAR_RHAT,
    RHAT_LIMIT,
    Diagnostic,
    Diagnostics,
    PredictionDiagnostic,
    SplitDiagnostic,
    advice,
    verdict,
)
from baytree.mcmc.settings import RunSettings
from baytree.trees.forest import Forest

FIXTURES = Path(__file__).parents[2] / "fixtures"
LEAF: dict[str, Any] = {"leaf": True}


def made(
    design: bt.Design, trees: Sequence[Mapping[str, Any]], index: Any, model: bt.CART | None = None
) -> bt.Posterior:
    """A posterior whose draws are these trees, `index` saying which, in every chain and draw."""
    model = (model or bt.CART(bt.GrowTree(min_leaf=1))).resolve(design)
    forest = Forest.concatenate([bt.Tree.from_dict(design.schema, tree).forest().arrays() for tree in trees])
    bins = np.column_stack(design.bins).astype(np.uint32)
    leaf = _core.Predictor(native_columns(design.schema), forest.arrays()).apply(bins)
    statistics = np.zeros((int(forest.leaves.sum()), len(design.classes)))
    np.add.at(statistics, (leaf, np.tile(design.y, len(trees))), 1)
    index, kinds = np.asarray(index), len(model.components)
    scores = np.array([model.log_likelihood(design, tree) for tree in trees])
    return bt.Posterior(
        model=model,
        schema=design.schema,
        settings=RunSettings(
            chains=len(index), warmup=0, draws=index.shape[1], thin=1, seed=0, rows=design.rows, data=""
        ),
        forest=forest,
        statistics=statistics,
        tree_index=index,
        log_likelihood=scores[index],
        log_prior=np.zeros(index.shape),
        states=({"rungs": [{"turns": [1] * kinds, "accepted": [0] * kinds}]},) * len(index),
        monitored=training_rows(design),
    )


def line() -> bt.Design:
    """Eight rows on a line."""
    return bt.make_design(np.arange(8.0)[:, None], [0, 0, 0, 1, 0, 1, 1, 1], task="classification", names=["x"])


def split(threshold: float, left: Any = LEAF, right: Any = LEAF, feature: str = "x") -> dict[str, Any]:
    return {"feature": feature, "threshold": threshold, "left": left, "right": right}


# Five trees on the line that differ in likelihood, number of leaves and every prediction.
TREES = [LEAF, split(3.5), split(2.5), split(3.5, LEAF, split(5.5)), split(4.5, split(2.5), LEAF)]


def three_classes() -> bt.Design:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(50, 2)).round(1)
    return bt.make_design(X, (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5), task="classification")


DESIGNS = {
    "two classes": lambda: bt.datasets.load("kyphosis").design(),
    "three classes": three_classes,
    "numbers": lambda: bt.datasets.friedman(40, seed=1).design(),
}


# ---- figures --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[(name, thin) for name in DESIGNS for thin in (3, 2000)], ids=str)
def fitted(request: pytest.FixtureRequest) -> tuple[bt.Design, bt.Posterior]:
    """Posteriors of chains that are far from each other, and near."""
    name, thin = request.param
    design = DESIGNS[name]()
    return design, bt.sample(bt.CART(), design, warmup=100, draws=61, thin=thin, chains=3, seed=1, progress=False)


def test_chains_are_far_and_near(fitted: tuple[bt.Design, bt.Posterior]) -> None:
    """What the next tests rest on."""
    design, posterior = fitted
    assert (posterior.diagnostics(design, draws=None).predictions.rhat < NEAR_RHAT) == (posterior.settings.thin == 2000)


def leaf_values(posterior: bt.Posterior, chain: int, draw: int, row: np.ndarray) -> list[float]:
    """What the leaf of one row predicts, found by following the tree in Python."""
    tree = posterior.tree(chain, draw)
    node = 0
    while (rule := tree.rules[node]) is not None:
        right = node + 1
        open_splits = 1
        while open_splits:
            open_splits += 1 if tree.rules[right] is not None else -1
            right += 1
        node = node + 1 if row[rule.feature] <= rule.cut else right
    value = tree.values[sum(rule is None for rule in tree.rules[:node])]
    return list(value.values())[:-1] if isinstance(value, Mapping) else [value]


def test_predictions_against_arviz(fitted: tuple[bt.Design, bt.Posterior]) -> None:
    design, posterior = fitted
    bins = np.column_stack(design.bins)
    values = np.array([[[leaf_values(posterior, c, d, row) for row in bins] for d in range(61)] for c in range(3)])
    axes = {"chain_axis": 0, "draw_axis": 1}
    with np.errstate(invalid="ignore"):
        rhat = np.nan_to_num(array_stats.rhat(values, **axes), nan=1.0).max(axis=1)
    bulk = array_stats.ess(values, **axes).min(axis=1)
    tail = array_stats.ess(values, method="tail", prob=(0.05, 0.95), **axes).min(axis=1)
    found = posterior.diagnostics(design, draws=None).predictions
    distinct = np.sort(np.unique(bins, axis=0, return_index=True)[1])
    rhat, bulk, tail, values = rhat[distinct], bulk[distinct], tail[distinct], values[:, :, distinct]
    if found.rhat >= NEAR_RHAT:
        far = np.argsort(-rhat, kind="stable")[: math.ceil(len(rhat) / 10)]
        bulk, tail = (np.where(np.isin(np.arange(len(rhat)), far), size, np.inf) for size in (bulk, tail))
    assert (found.rows, found.draws) == (len(np.unique(bins, axis=0)), 61)
    assert found.largest_rhat == pytest.approx(rhat.max(), rel=1e-12)
    assert found.worst_row == distinct[rhat.argmax()]
    assert found.smallest_ess_bulk == pytest.approx(bulk.min(), rel=1e-12)
    assert found.smallest_ess_tail == pytest.approx(tail.min(), rel=1e-12)
    spread = values.mean(axis=1).std(axis=0, ddof=1)
    assert found.between_chain_sd == pytest.approx(spread.mean(), rel=1e-12)
    assert np.mean(rhat <= found.rhat) >= 0.95 >= np.mean(rhat < found.rhat)
    for size, sizes in ((found.ess_bulk, bulk), (found.ess_tail, tail)):
        assert np.mean(sizes >= size * (1 - 1e-12)) >= 0.95 >= np.mean(sizes > size * (1 + 1e-12))
    assert found == diagnose_rows(posterior.prediction, distinct_rows(bins.astype(np.uint32)))


def test_log_likelihood_and_leaves_against_arviz(fitted: tuple[bt.Design, bt.Posterior]) -> None:
    _, posterior = fitted
    found = posterior.diagnostics()
    for figures, values in ((found.log_likelihood, posterior.log_likelihood), (found.leaves, posterior.n_leaves)):
        assert figures.rhat == pytest.approx(float(array_stats.rhat(values)))
        assert figures.ess_bulk == pytest.approx(float(array_stats.ess(values)))
        assert figures.ess_tail == pytest.approx(float(array_stats.ess(values, method="tail", prob=(0.05, 0.95))))
        assert (figures.mean, figures.sd) == pytest.approx((values.mean(), values.std()))


def test_blocks_of_rows_change_nothing(fitted: tuple[bt.Design, bt.Posterior], monkeypatch: pytest.MonkeyPatch) -> None:
    design, posterior = fitted
    whole = posterior.diagnostics(design)
    monkeypatch.setattr("baytree.posterior.prediction.BLOCK_NUMBERS", 1000)
    again = posterior.diagnostics(design)
    # Ensemble may run in another order.
    spread = again.predictions.between_chain_sd
    assert spread == pytest.approx(whole.predictions.between_chain_sd, rel=1e-12)
    again_but_for_it, but_for_it = (
        dataclasses.replace(one, predictions=dataclasses.replace(one.predictions, between_chain_sd=0))
        for one in (again, whole)
    )
    assert again_but_for_it == but_for_it


def test_a_prediction_that_never_changes_agrees() -> None:
    """The rows left of both cuts are never told apart, and their leaf is the same in both trees."""
    design = line()
    trees = [split(3.5, LEAF, split(5.5)), split(3.5, LEAF, split(6.5))]
    posterior = made(design, trees, np.tile([0, 1, 1, 0], (2, 10)))
    constant = diagnose_rows(posterior.prediction, Rows(posterior.monitored.bins[:4], np.arange(4)))
    assert (constant.rhat, constant.largest_rhat, constant.between_chain_sd) == (1, 1, 0)
    assert constant.ess_bulk == constant.smallest_ess_tail == 80


def test_chains_that_stand_still_at_different_trees() -> None:
    posterior = made(line(), TREES, [[1] * 50, [3] * 50])
    found = posterior.diagnostics()
    assert found.predictions.largest_rhat > 1e3
    assert not found.agree
    assert {one.quantity for one in found.apart} == {"predictions", "log-likelihood", "leaves"}
    assert found.shared_trees == 0
    assert "R-hat > 100" in posterior.summary().verdict
    json.dumps(posterior.summary().to_dict(), allow_nan=False)


def test_chains_that_stand_still_at_one_tree_are_not_judged() -> None:
    posterior = made(line(), TREES, [[1] * 50] * 2)
    found = posterior.diagnostics()
    assert (found.log_likelihood.rhat, found.leaves.rhat, found.predictions.rhat) == (None, None, 1.0)
    assert found.shared_trees == 1
    assert "cannot be judged" in posterior.summary().verdict
    assert not found.agree


def test_independent_draws_agree_and_other_ones_do_not() -> None:
    """And the saboteur: one chain of four with other probabilities."""
    generator = np.random.default_rng(1)
    share = np.array([0.1, 0.3, 0.2, 0.2, 0.2])
    index = generator.choice(5, size=(4, 2000), p=share)
    found = made(line(), TREES, index).diagnostics()
    assert found.agree
    assert found.apart == [] and found.scarce == []
    assert found.shared_trees == 1
    chance = math.sqrt(0.25 / comparison.DRAWS)
    assert found.splits.average_sd < 2 * chance
    index[3] = generator.choice(5, size=2000, p=[0.6, 0.1, 0.1, 0.1, 0.1])
    apart = made(line(), TREES, index).diagnostics()
    assert not apart.agree
    assert "predictions" in {one.quantity for one in apart.apart}
    assert apart.splits.average_sd > 2 * chance
    assert apart.predictions.between_chain_sd > 3 * found.predictions.between_chain_sd


def test_few_effective_draws() -> None:
    """Every half of every chain spends the same time in both trees, but seldom changes."""
    posterior = made(line(), TREES, np.tile(np.repeat([1, 3], 50), (4, 4)))
    found = posterior.diagnostics()
    assert not found.apart
    assert {one.quantity for one, _ in found.scarce} == {"predictions", "log-likelihood", "leaves"}
    [remedy] = posterior.summary().remedies
    assert set(remedy.options) == {"effort"}
    assert "effective sample size is not 400" in posterior.summary().verdict


@pytest.mark.parametrize("draws", [1, 3])
def test_few_draws(draws: int) -> None:
    posterior = made(line(), TREES, [[1, 3, 4][:draws]] * 2)
    found = posterior.diagnostics()
    assert (found.predictions.rhat, found.predictions.worst_row) == (None, None)
    assert "cannot be judged" in posterior.summary().verdict


def test_one_chain() -> None:
    posterior = made(line(), TREES, np.tile([0, 1, 3, 4], (1, 50)))
    found = posterior.diagnostics()
    assert found.predictions.rhat is None and found.predictions.between_chain_sd is None and found.splits is None
    assert found.predictions.ess_bulk > 0
    assert not found.agree
    assert posterior.summary().verdict == "One chain has none to agree with: take two or more."


def test_an_only_change_in_the_middle_of_an_odd_number_of_draws() -> None:
    """ArviZ leaves out that draw, and finds nothing that changes."""
    found = made(line(), TREES, [[1, 1, 3, 1, 1]] * 2).diagnostics()
    assert found.predictions.largest_rhat == 1


# ---- splits and trees -----------------------------------------------------------------------------------------------


def test_split_frequencies_by_hand() -> None:
    """Tree 1 splits {0-3}; tree 3 splits {0-3}, {4-5} and {6-7}. Both edges of a root are one split."""
    found = made(line(), TREES, [[1, 1, 1, 1], [1, 1, 3, 3]]).diagnostics().splits
    half = np.std([0, 0.5], ddof=1)
    assert found.splits == 3
    assert found.average_sd == pytest.approx(2 * half / 3)
    assert found.largest_sd == pytest.approx(half)


def test_rare_splits_do_not_count() -> None:
    index = np.ones((2, 20), dtype=int)
    index[0, 0] = 3
    assert made(line(), TREES, index).diagnostics().splits == SplitDiagnostic(1, 0, 0)
    index[0, 1] = 3
    assert made(line(), TREES, index).diagnostics().splits.splits == 3


def test_trees_without_splits() -> None:
    assert made(line(), TREES, np.zeros((2, 10), dtype=int)).diagnostics().splits == SplitDiagnostic(0, None, None)


def test_splits_are_of_rows_whatever_is_asked_and_in_which_order() -> None:
    """Four corners, asked about in both orders, and by cuts between which no row lies."""
    X = np.array([[0, 0], [0, 9], [9, 0], [9, 9], [0, 0], [0, 9], [9, 0], [9, 9], [5, 5]])
    design = bt.make_design(X, [0, 1, 1, 0, 0, 1, 1, 0, 1], task="classification", names=["x", "y"])

    def corners(first: str, then: str, low: float, high: float) -> dict[str, Any]:
        below = split(high, feature=then)
        return split(low, below, below, feature=first)

    low, high = design.schema.columns[0].cuts
    same = made(design, [corners("x", "y", low, low), corners("y", "x", low, low)], [[0] * 4, [1] * 4])
    found = same.diagnostics().splits
    # The corners are the same four splits in both; the two of the root's edges are one each, and differ.
    assert found.splits == 6
    assert found.largest_sd == pytest.approx(np.std([0, 1], ddof=1))
    assert found.average_sd == pytest.approx(found.largest_sd * 2 / 6)
    # Only the row in the middle tells the two cuts of a column apart.
    cuts = made(design, [corners("x", "y", low, low), corners("x", "y", high, high)], [[0] * 4, [1] * 4])
    assert cuts.diagnostics().splits.largest_sd > 0
    blind = dataclasses.replace(cuts, monitored=distinct_rows(design_codes(design)[:4]))
    assert blind.diagnostics().splits == SplitDiagnostic(5, 0, 0)


def design_codes(design: bt.Design) -> np.ndarray:
    return np.column_stack(design.bins).astype(np.uint32)


def test_shared_trees_by_hand() -> None:
    """Trees 1 and 2 are visited by all three chains, stored twice or not; 7 of 12 draws are theirs."""
    trees = [TREES[1], TREES[2], TREES[3], TREES[4], TREES[1]]
    posterior = made(line(), trees, [[0, 1, 2, 2], [1, 4, 3, 3], [1, 4, 1, 2]])
    assert posterior.diagnostics().shared_trees == pytest.approx(7 / 12)
    assert posterior.top_trees(1)[0].probability == pytest.approx(4 / 12)


def test_forests_know_their_subtrees() -> None:
    design = bt.datasets.load("kyphosis").design()
    forest = bt.sample(bt.CART(), design, warmup=50, draws=50, chains=2, seed=1, progress=False).forest
    for tree in range(len(forest)):
        nodes = range(*forest.nodes(tree).indices(len(forest.feature)))
        for node in nodes:
            end, open_nodes = node, 1
            while open_nodes:
                open_nodes += 1 if forest.feature[end] >= 0 else -1
                end += 1
            assert forest.below[node] == end
    chosen = np.array([7, 3, 3])
    taken = forest.take(chosen)
    assert [taken.key(i) for i in range(3)] == [forest.key(i) for i in chosen]
    expected = [leaf for i in chosen for leaf in range(forest.first_leaf[i], forest.first_leaf[i] + forest.leaves[i])]
    assert forest.leaves_of(chosen).tolist() == expected


# ---- which rows and draws -------------------------------------------------------------------------------------------


def test_watched_rows_are_few_distinct_and_always_the_same() -> None:
    generator = np.random.default_rng(0)
    X = generator.integers(0, 40, size=(20_000, 2)).astype(float)
    design = bt.make_design(X, generator.integers(0, 2, 20_000), task="classification")
    rows = training_rows(design)
    assert len(rows.bins) == len(np.unique(rows.bins, axis=0)) == comparison.ROWS
    assert (np.diff(rows.number) > 0).all()
    np.testing.assert_array_equal(rows.bins, design_codes(design)[rows.number])
    np.testing.assert_array_equal(training_rows(design).number, rows.number)
    classes = bt.make_design(X, generator.integers(0, 5, 20_000), task="classification")
    assert len(training_rows(classes).bins) == comparison.ROWS // 4
    many = bt.make_design(X, generator.integers(0, 30, 20_000), task="classification")
    assert len(training_rows(many).bins) == comparison.FEWEST_ROWS


def test_all_rows_of_a_small_table_are_watched() -> None:
    design = bt.datasets.load("kyphosis").design()
    np.testing.assert_array_equal(
        training_rows(design).number, np.sort(np.unique(design_codes(design), axis=0, return_index=True)[1])
    )


@pytest.mark.parametrize(("there", "most"), [(500, 500), (501, 500), (999, 500), (10_000, 500), (7, None)])
def test_draws_are_evenlyspaced(there: int, most: int | None) -> None:
    taken = comparison.spaced(np.arange(there)[None], most)[0]
    assert len(taken) == min(there, most or there)
    assert taken[-1] == there - 1
    gaps = np.diff(taken)
    assert gaps.min() >= 1 and gaps.max() <= math.ceil(there / len(taken))


def test_long_runs_are_looked_at_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    posterior = made(line(), TREES, np.random.default_rng(0).choice(5, size=(2, 300)))
    whole = posterior.diagnostics(line(), draws=None)
    monkeypatch.setattr(comparison, "LONG", 100)
    part = posterior.diagnostics(line())
    third = diagnose("log-likelihood", posterior.log_likelihood[:, 2::3])
    assert (part.log_likelihood.rhat, part.log_likelihood.ess_tail) == (third.rhat, third.ess_tail)
    assert part.leaves != whole.leaves
    assert posterior.diagnostics(line(), draws=None) == whole


def test_rows_of_the_users_choice() -> None:
    data = bt.datasets.load("kyphosis")
    posterior = bt.sample(bt.CART(), data.design(), draws=100, seed=1, progress=False)
    assert posterior.diagnostics(data.X) == posterior.diagnostics(data.design())
    assert posterior.diagnostics(data.X[5:6]).predictions.rows == 1
    assert posterior.diagnostics(data.X[[5, 5, 7]]).predictions.worst_row in (0, 2)
    assert posterior.diagnostics(draws=50).predictions.draws == 50
    with pytest.raises(bt.InputError, match="not the columns and cut points"):
        posterior.diagnostics(bt.datasets.load("pima").design())
    with pytest.raises(bt.InputError, match="0 rows"):
        posterior.diagnostics(data.X[:0])


# ---- the verdict ----------------------------------------------------------------------------------------------------


def found_with(
    *, rhat: float = 1.0, largest: float = 1.0, ess: float = 4000, shared: float = 0.9, other: float = 1.0
) -> Diagnostics:
    predictions = PredictionDiagnostic(50, 500, rhat, ess, ess, largest, ess, ess, 3, 0.01, 0.2)
    monitored = {name: Diagnostic(name, 0, 1, other, 4000, 4000) for name in ("log-likelihood", "leaves")}
    splits = SplitDiagnostic(9, 0.01, 0.02)
    return Diagnostics(4, 1000, monitored["log-likelihood"], monitored["leaves"], predictions, splits, shared)


def settings_of(effort: str | float | None, temperatures: int | None) -> RunSettings:
    """Of a run that was asked for so many temperatures, or may choose their number."""
    ladder: Any = {"temperatures": temperatures or 1, "free_ladder": temperatures is None}
    return RunSettings(chains=4, warmup=1, draws=1000, thin=1, seed=0, rows=9, data="", effort=effort, **ladder)


@pytest.mark.parametrize(
    ("found", "effort", "temperatures", "expected"),
    [
        (found_with(), "quick", None, []),
        (found_with(rhat=1.5, largest=1.6), None, None, [{"effort": "default"}]),
        (found_with(rhat=1.5, largest=1.6), "quick", None, [{"effort": "default"}]),
        (found_with(rhat=1.05, largest=1.06), 30.0, None, [{"effort": "default"}]),
        (found_with(ess=150), "default", None, [{"effort": "thorough"}]),
        (found_with(rhat=1.5, largest=1.6), "thorough", 1, [{"effort": "unlimited", "temperatures": "auto"}]),
        (found_with(rhat=1.5, largest=1.6), "unlimited", 12, [{"effort": "unlimited"}]),
        (dataclasses.replace(found_with(), chains=1), "quick", None, [{"chains": 4}]),
    ],
)
def test_advice(
    found: Diagnostics, effort: str | float | None, temperatures: int | None, expected: list[dict[str, Any]]
) -> None:
    given = advice(found, settings_of(effort, temperatures), tempers=True)
    assert all(remedy.what in verdict(found, given, False) for remedy in given)
    assert [remedy.options for remedy in given] == expected


def test_few_draws_that_are_independent_need_no_longer_chains() -> None:
    few = dataclasses.replace(found_with(rhat=1.02, largest=1.03, ess=190), draws=50)
    assert not few.agree and few.is_enough
    [remedy] = advice(few, dataclasses.replace(settings_of("default", None), draws=50), tempers=True)
    assert remedy.options == {"draws": 143}


@pytest.mark.parametrize(
    ("found", "grade", "said"),
    [
        (found_with(), "agree", "The chains agree: predictions differ by 0.01 between chains, 5% of their own"),
        (found_with(rhat=1.03, largest=1.1), "nearly", "nearly agree, enough for decisions"),
        (found_with(ess=150), "nearly", "nearly agree: predictions differ by 0.01"),
        (found_with(rhat=1.03, largest=1.3), "not yet", "do not agree yet"),
        (found_with(other=1.2), "not yet", "do not agree yet"),
        (found_with(ess=30), "not yet", "effective"),
    ],
)
def test_grades(found: Diagnostics, grade: str, said: str) -> None:
    assert found.grade == grade
    assert said in verdict(found, (), of_classes=False)
    assert "probabilities differ by 1 points" in verdict(found, (), of_classes=True)


def test_the_worst_comes_first() -> None:
    apart = "on log-likelihood (R-hat 1.400), leaves (R-hat 1.400) and predictions (R-hat 1.200)"
    assert apart in verdict(found_with(rhat=1.2, largest=1.3, other=1.4), (), False)


def test_one_row_far_off_is_no_agreement() -> None:
    assert found_with(rhat=1.005, largest=1.049).agree
    off = found_with(rhat=1.005, largest=1.3)
    assert not off.agree
    assert "predictions (R-hat 1.300)" in verdict(off, (), False)


def test_unknown_predictions_are_said() -> None:
    unknown = dataclasses.replace(found_with(), predictions=None, splits=None)
    assert unknown.agree
    assert "Predictions were not compared" in verdict(unknown, (), False)


def test_the_largest_of_many_does_not_forbid_agreement_by_chance() -> None:
    """200 independent autoregressive series of an effective size of 1000 in all; a rule on the maximum would refuse."""
    noise = np.random.default_rng(0).normal(size=(4, 2250, 200))
    values = noise.copy()
    for draw in range(1, values.shape[1]):
        values[:, draw] += 0.8 * values[:, draw - 1]
    rhat, (bulk, _) = rhat_of(values), ess_of(values[..., :20])
    assert np.median(bulk) == pytest.approx(9_000 * 0.2 / 1.8, rel=0.1)
    assert rhat.max() > RHAT_LIMIT
    assert np.quantile(rhat, 0.95, method="higher") < RHAT_LIMIT
    assert rhat.max() < LARGEST_RHAT_LIMIT


# ---- files ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kyphosis() -> bt.Posterior:
    design = bt.datasets.load("kyphosis").design()
    return bt.sample(bt.CART(), design, warmup=100, draws=80, chains=3, seed=1, progress=False)


def test_a_file_keeps_the_findings_but_no_rows(kyphosis: bt.Posterior, tmp_path: Path) -> None:
    design = bt.datasets.load("kyphosis").design()
    kyphosis.save(tmp_path / "saved.baytree")
    bt.sample(
        bt.CART(), design, warmup=100, draws=80, chains=3, seed=1, progress=False, checkpoint=tmp_path / "run.baytree"
    )
    for name in ("saved", "run"):
        again = bt.load(tmp_path / f"{name}.baytree")
        assert again.monitored is None
        assert again.diagnostics() == kyphosis.diagnostics()
        assert again.summary().verdict == kyphosis.summary().verdict
    again.save(tmp_path / "again.baytree")
    assert bt.load(tmp_path / "again.baytree").diagnostics() == kyphosis.diagnostics()
    assert again.diagnostics(design) == kyphosis.diagnostics(design)


def test_extended_draws_are_compared_anew(kyphosis: bt.Posterior, tmp_path: Path) -> None:
    design = bt.datasets.load("kyphosis").design()
    kyphosis.save(tmp_path / "m.baytree")
    longer = bt.extend(bt.load(tmp_path / "m.baytree"), design, draws=40, progress=False)
    at_once = bt.sample(bt.CART(), design, warmup=100, draws=120, chains=3, seed=1, progress=False)
    assert longer.diagnostics() == at_once.diagnostics()
    assert longer.diagnostics().draws == 120


def test_findings_about_other_draws_are_not_used(kyphosis: bt.Posterior, tmp_path: Path) -> None:
    kyphosis.save(tmp_path / "m.baytree")
    loaded = bt.load(tmp_path / "m.baytree")
    fewer = dataclasses.replace(
        loaded,
        tree_index=loaded.tree_index[:2],
        log_likelihood=loaded.log_likelihood[:2],
        log_prior=loaded.log_prior[:2],
        states=loaded.states[:2],
    )
    assert fewer.diagnostics().chains == 2
    assert fewer.diagnostics().predictions is None


def test_files_from_before_there_were_findings() -> None:
    posterior = bt.load(FIXTURES / "cart-0.1.0.baytree")
    found = posterior.diagnostics()
    assert found.predictions is None and found.splits is None
    assert found.log_likelihood == diagnose("log-likelihood", posterior.log_likelihood)
    assert "Predictions were not compared" in posterior.summary().verdict
    X = json.loads((FIXTURES / "cart-0.1.0.json").read_text())["X"]
    assert posterior.diagnostics(X).predictions.rows == len(X)
