"""The published experiments: each runs, says what it found beside what was published, and repeats."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import baytree as bt
from baytree import studies
from baytree.cli import app
from baytree.datasets import arm_dynamics
from baytree.interpret import Interactions, VariableUse
from baytree.plots import figures
from baytree.studies import (
    agreement,
    arm,
    best_trees,
    boston,
    boxes,
    certified,
    friedman,
    hme_classification,
    holdout,
    kyphosis,
    runs,
    structure,
    trajectories,
)

NAMES = sorted(studies.STUDIES)


def invoke(*arguments: Any, code: int = 0) -> Any:
    """Run a command in this process; it must end with this exit code."""
    result = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module", params=NAMES)
def quick(request: pytest.FixtureRequest) -> tuple[str, studies.Outcome]:
    return request.param, studies.run(request.param, quick=True, seed=3)


def test_help_lists_the_studies() -> None:
    text = invoke("--help").stdout
    assert [name for name in NAMES if name not in text] == []


def cells(tables: Any) -> list[Any]:
    """The titles and rows of tables, without what a clock measured; from an outcome, or from its JSON."""
    kept = []
    for table in tables:
        columns, rows = (table["columns"], table["rows"]) if isinstance(table, dict) else (table.columns, table.rows)
        places = [place for place, title in enumerate(columns) if "second" not in title]
        for row in (columns, *rows):
            kept.append([_plain(row[place]) for place in places])
    return kept


def _plain(cell: Any) -> Any:
    return cell if isinstance(cell, (str, dict)) else vars(cell)


def test_a_study_is_shown_beside_what_was_published(quick: tuple[str, studies.Outcome], tmp_path: Path) -> None:
    name, outcome = quick
    folder = tmp_path / "runs"
    result = invoke(name, "--quick", "--seed", 3, "--out", folder)
    titles = [table.title for table in outcome.tables]
    columns = [title for table in outcome.tables for title in table.columns]
    for text in (outcome.setup, "published", *titles, *columns, *outcome.findings):
        assert text in result.stdout
    for row in (row for table in outcome.tables for row in table.rows):
        assert any(line.strip().startswith(str(row[0])) for line in result.stdout.splitlines())
    assert "too noisy" in result.stderr
    with (folder / f"{name}.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(outcome.runs)
    drawn = {f"{figure.name}.png" for figure in outcome.figures}
    assert {file.name for file in folder.iterdir()} == {f"{name}.csv"} | drawn
    for picture in drawn:
        assert (folder / picture).read_bytes().startswith(b"\x89PNG")


def test_a_study_repeats_and_is_told_as_json(quick: tuple[str, studies.Outcome]) -> None:
    name, outcome = quick
    record = json.loads(invoke(name, "--quick", "--seed", 3, "--json").stdout)
    assert (record["study"], record["quick"], record["seed"]) == (name, True, 3)
    assert record["runs"] == [dict(run) for run in outcome.runs]
    assert record["findings"] == list(outcome.findings)
    assert cells(record["tables"]) == cells(outcome.tables)


def test_tables_and_runs_are_whole(quick: tuple[str, studies.Outcome]) -> None:
    _, outcome = quick
    for table in outcome.tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}
    assert len({tuple(run) for run in outcome.runs}) == 1
    assert len({figure.name for figure in outcome.figures}) == len(outcome.figures)
    for panel in (panel for figure in outcome.figures for panel in figure.panels):
        assert panel.curves or panel.boxes
        assert all(curve.x.shape == curve.y.shape == (curve.x.size,) for curve in panel.curves)
        assert all(curve.x.size > 0 for curve in panel.curves)


def test_without_matplotlib_the_runs_are_written_and_a_note_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "can_draw", lambda: False)
    result = invoke("kyphosis", "--quick", "--out", tmp_path / "runs")
    assert "baytree[plot]" in result.stderr
    assert [file.name for file in (tmp_path / "runs").iterdir()] == ["kyphosis.csv"]


def test_another_seed_gives_other_runs(quick: tuple[str, studies.Outcome]) -> None:
    name, outcome = quick
    assert studies.run(name, quick=True, seed=4).runs != outcome.runs


def test_unknown_studies_are_refused() -> None:
    with pytest.raises(bt.InputError, match="boxes"):
        studies.run("boxs")


def test_a_folder_that_cannot_be_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "absent" / "runs"):
        result = invoke("boxes", "--out", folder, code=3)
        assert str(folder) in result.stderr
        assert "data set" not in result.stderr


# ---- boxes ----------------------------------------------------------------------------------------------------------


def test_the_true_tree_cuts_no_box() -> None:
    pima = bt.datasets.load("pima")
    probabilities = boxes.true_probabilities(boxes.TRUE_TREE, pima.X, pima.y == "pos")
    assert len(np.unique(probabilities)) == 14
    glucose, mass, age = (pima.X[name].to_numpy() for name in ("glucose", "mass", "age"))
    for box in ((glucose <= 127) & (age <= 28), (glucose >= 128) & (mass <= 29.8)):
        assert len(np.unique(probabilities[box])) == 1


def test_the_spread_is_that_between_seeds_not_data_sets() -> None:
    assert boxes.spread(np.array([[70.0, 70.0], [80.0, 80.0]])) == 0
    assert boxes.spread(np.array([74.8, 76.2, 74.4])) == pytest.approx(0.945, abs=0.001)


@pytest.mark.slow
def test_boxes_make_trees_better_and_seeds_matter_less() -> None:
    assert studies.run("boxes").agrees


# ---- kyphosis -------------------------------------------------------------------------------------------------------


def test_training_sets_have_the_published_classes() -> None:
    design = kyphosis.training_set(np.random.default_rng(0))
    assert dict(zip(design.classes, np.bincount(design.y), strict=True)) == kyphosis.TRAINING_ROWS


def test_published_probabilities_are_shares_of_all_iterations() -> None:
    counts = kyphosis.PUBLISHED * kyphosis.FULL.iterations
    assert counts == pytest.approx(np.round(counts))


def test_top_trees_are_those_known_exactly() -> None:
    """The two trees of one question that stand out on all rows; 0.086 each, in earlier chains of ours."""
    trees, shares = kyphosis.top_shares(runs.whole("K"), 20_000, 1)
    assert {kyphosis.in_a_line(tree) for tree in trees[:2]} == {"start <= 12.5", "start <= 8.5"}
    assert shares.mean(axis=1).tolist() == sorted(shares.mean(axis=1), reverse=True)
    assert kyphosis.spread(shares) > 0


# ---- certified ------------------------------------------------------------------------------------------------------


def test_the_evidence_is_the_known_one() -> None:
    outcome = studies.run("certified", quick=True, seed=5)
    [row] = outcome.tables[0].rows
    assert row[0] == "kyphosis"
    assert float(str(row[4])) == certified.KNOWN["kyphosis"]
    assert outcome.agrees


def test_set_sizes_are_counted_or_estimated() -> None:
    """Of probabilities that fall off geometrically, so that sizes are known."""
    log_p = np.log(0.01) + np.log(0.99) * np.arange(5_000)
    exact = np.searchsorted(np.cumsum(np.exp(log_p)), certified.SHARES) + 1
    drawn = log_p[np.random.default_rng(1).geometric(0.01, 200_000) - 1]
    counted, *estimated = certified.set_sizes(log_p[:100], drawn)
    assert (counted.value, counted.error) == (exact[0], None)
    for size, known in zip(estimated, exact[1:], strict=True):
        assert size.value is not None
        assert size.error is not None
        assert abs(size.value - known) < 4 * size.error < 0.1 * known


def test_trees_that_divide_alike_are_counted() -> None:
    """By the leaves of the training rows, of trees that draws hold often enough to hold all of these."""
    design = bt.make_design(
        np.array([[0, 3], [1, 0], [2, 5], [3, 1], [4, 4], [5, 2]]),
        list("aabbab"),
        task="classification",
        max_cuts=None,
    )
    model = bt.CART(bt.GrowTree(min_leaf=1) & bt.MaxDepth(2), method="exact")
    posterior = bt.sample(model, design, draws=20_000, chains=1, seed=1, progress=False)
    leaf = posterior.prediction.leaves_of(posterior.bins_of(design)) - posterior.forest.first_leaf[:, None]
    alike: dict[bytes, set[bytes]] = {}
    names = []
    for tree in range(len(posterior.forest)):
        at = posterior.forest.nodes(tree)
        names.append(posterior.forest.feature[at].tobytes() + leaf[tree].tobytes())
        alike.setdefault(names[-1], set()).add(posterior.forest.key(tree))
    found = np.exp(certified.log_alike(posterior, design))
    assert found == pytest.approx([len(alike[name]) for name in names])
    assert found.max() > 1


def test_distances_are_total_variation() -> None:
    truth = {"a": 0.5, "b": 0.3}
    assert certified.distance(truth, ["a", "b", "c"], np.array([0.5, 0.3, 0.2])) == pytest.approx(0)
    assert certified.distance(truth, ["a", "c", "a"], np.array([0.2, 0.2, 0.6])) == pytest.approx(0.3)
    exact = bt.sample(bt.CART(method="exact"), runs.whole("K"), draws=2_000, chains=4, seed=1, progress=False)
    known = certified.Truth.of(exact)
    found = certified.Score.of(known, "", "", exact, 1.0)
    assert found.trees.mean() == pytest.approx(known.independent(2_000), rel=0.1)
    assert sum(known.questions.values()) == pytest.approx(1)


def test_tables_of_a_folder_are_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, (40, 4))
    text = "\n".join(["class,x1,x2,x3", *(",".join(map(str, row)) for row in rows)])
    folder = tmp_path / "tables"
    folder.mkdir()
    result = invoke("certified", "--quick", "--cp4im", folder, code=2)
    assert "no .csv" in result.stderr
    (folder / "toy.csv").write_text(text)
    record = json.loads(invoke("certified", "--quick", "--cp4im", folder, "--json").stdout)
    assert [row[0] for row in record["tables"][0]["rows"]] == ["kyphosis", "toy"]


CP4IM = Path(__file__).parents[3] / "shared" / "data" / "cp4im"


@pytest.mark.slow
@pytest.mark.skipif(not CP4IM.is_dir(), reason="the CP4IM tables are not bundled")
def test_the_known_evidences_are_found() -> None:
    size = replace(certified.QUICK, draws=10)
    for name, prior, model, design in certified.of_folder(CP4IM):
        if name in certified.KNOWN:
            answer = certified.solve(name, prior, model, design, size, np.random.default_rng(0))
            assert answer.agrees


# ---- trajectories ---------------------------------------------------------------------------------------------------


def test_stretches_are_counted() -> None:
    design = runs.whole("K")
    posterior = bt.sample(bt.CART(proposal="q0"), design, warmup=0, draws=300, chains=1, seed=1, progress=False)
    number = posterior.forest.identity[posterior.tree_index[0]].tolist()
    longest = max(len(list(group)) for _, group in groupby(number))
    assert trajectories.Stretches.of(posterior) == trajectories.Stretches(longest, len(set(number)))
    assert longest > 1


def test_the_first_fall_is_counted_from_one() -> None:
    assert trajectories.first_below(np.array([-1.0, -2.0, -12.0, -1.0]), -11.0) == 3
    assert trajectories.first_below(np.array([-1.0, -2.0]), -11.0) == 2


def test_the_initial_tree_is_rparts() -> None:
    design = runs.whole("BCW")
    given = bt.EditTree(trajectories.RPART_TREE).tree
    assert given.n_leaves == 7
    assert bt.CART().log_likelihood(design, given.on(design.schema).to_dict()) == pytest.approx(-94.970485, abs=1e-5)


# ---- agreement ------------------------------------------------------------------------------------------------------


def test_differences_between_seeds() -> None:
    pairs = agreement.Pairs(np.array([[0.1, 0.5, 0.9]]), np.array([[0.2, 0.5, 0.7]]))
    assert pairs.sd == pytest.approx(np.sqrt(0.05 / 3))
    assert pairs.mean_absolute == pytest.approx(0.1)
    assert pairs.correlation == pytest.approx(np.corrcoef([0.1, 0.5, 0.9], [0.2, 0.5, 0.7])[0, 1])
    assert agreement.Pairs(np.array([[0.5, 0.5]]), np.array([[0.2, 0.7]])).correlation is None


def test_the_density_is_one() -> None:
    at = np.linspace(-1, 1, 20_001)
    found = agreement.density(np.array([[-0.1, 0.0, 0.3]]), at)
    assert np.trapezoid(found, at) == pytest.approx(1)
    assert found.max() == pytest.approx(1 / (3 * agreement.BANDWIDTH * np.sqrt(2 * np.pi)), rel=1e-3)


def test_of_many_classes_all_probabilities_are_compared() -> None:
    data = bt.datasets.load("waveform")
    train, test = slice(0, 200), slice(200, 230)
    design = bt.read(data.X[train, :5].with_columns(y=data.y[train]), "y", task="classification")
    held = runs.Holdout(design, data.X[test, :5], data.y[test], data.X[train, :5], data.y[train])
    pairs = agreement.compare(held, 1.0, 200, 2, "mean", 1, {"temperatures": 3, "ladder": "adaptive"})
    assert pairs.first.shape == pairs.second.shape == (2, 90)
    assert pairs.first.reshape(2, 30, 3).sum(axis=2) == pytest.approx(1)
    assert pairs.sd > 0


# ---- holdout --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "rows"), [("K", 16), ("BCW", 136), ("PIMA", 153)])
def test_a_fifth_is_held_out(name: str, rows: int) -> None:
    data = runs.hold_out(name, None, np.random.default_rng(1))
    whole = bt.datasets.load(runs.DATA[name])
    assert (len(data.y), data.train.rows + rows) == (rows, len(whole.y))
    both = [*data.X.rows(), *data.train_X.rows()]
    assert sorted(both) == sorted(whole.X.rows())


def test_chains_alone_predict_as_all_do_together() -> None:
    data = runs.hold_out("K", None, np.random.default_rng(1))
    tempering = runs.WAYS["mrbayes"]
    posterior = runs.chains(bt.CART(), data.train, 2_000, 3, 1, tempering)
    assert (posterior.chains, posterior.settings.temperatures, posterior.settings.warmup) == (3, 4, 200)
    assert runs.predictions(posterior, data.X).mean(axis=0) == pytest.approx(posterior.predict(data.X))


def test_the_greedy_tree_is_about_as_good_as_rpart() -> None:
    """rpart has 0.950 on random fifths of BCW, with a standard deviation of 0.020."""
    accuracies = [holdout.reference(runs.hold_out("BCW", None, np.random.default_rng(seed))) for seed in range(20)]
    assert np.mean(accuracies) == pytest.approx(95.0, abs=3 * 2.0 / np.sqrt(20))


# ---- best trees -----------------------------------------------------------------------------------------------------


def test_no_tree_beats_the_proven_maxima() -> None:
    outcome = studies.run("best-trees", quick=True, seed=5)
    of_k = [run["highest"] for run in outcome.runs if run["data"] == "K"]
    assert max(of_k) <= best_trees.KNOWN["K"].highest[0] + 0.01
    assert "cannot be" not in " ".join(outcome.findings)


def test_the_best_are_the_best_of_their_size() -> None:
    posterior = bt.sample(bt.CART(), runs.whole("K"), warmup=0, draws=500, chains=2, seed=1, progress=False)
    best = best_trees.Best.of(posterior)
    assert best.value == posterior.log_likelihood.max() == max(best.by_leaves.values())
    assert best.by_leaves[best.leaves] == best.value
    assert set(best.by_leaves) == set(posterior.n_leaves.ravel().tolist())


# ---- friedman and boston --------------------------------------------------------------------------------------------


def shares(kind: Any, columns: tuple[str, ...], mean: list[float]) -> Any:
    return kind(columns, np.array(mean), np.zeros((len(mean), 2)), 0.9)


def test_the_margin_is_that_of_the_least_clear_column() -> None:
    use = shares(VariableUse, tuple("abcdefg"), [0.3, 0.2, 0.1, 0.2, 0.1, 0.05, 0.04])
    assert friedman.margin(use) == pytest.approx(2)


def test_the_printed_function_has_unit_coefficients() -> None:
    """Both are simulated from one seed, so that nothing but x4 and x5 differs."""
    friedmans, printed = (friedman.simulate(np.random.default_rng(1), as_printed=said) for said in (False, True))
    data = bt.datasets.friedman(500, 10, seed=int(np.random.default_rng(1).integers(2**63)))
    assert friedmans.y - printed.y == pytest.approx(9 * data.X["x4"].to_numpy() + 4 * data.X["x5"].to_numpy())


def test_pairs_are_ranked_beside_what_was_published() -> None:
    found = {
        20: shares(Interactions, ("x1", "x2", "x3"), [0.2, 0.1, 0.05]),
        200: shares(Interactions, ("x1", "x2", "x3"), [0.01, 0.02, 0.0]),
    }
    table = structure.pair_table("title", found, {"x1 × x2": "large"})
    assert [[str(cell) for cell in row] for row in table.rows] == [
        ["x1 × x2", "large", "1.00", "1", "0.50", "2"],
        ["x1 × x3", "–", "0.50", "2", "1.00", "1"],
        ["x2 × x3", "–", "0.25", "3", "0.00", "3"],
    ]
    assert friedman.second(found[20]) == pytest.approx(0.5)
    assert friedman.second(found[200]) == pytest.approx(2)


def test_groups_are_corners() -> None:
    X: Any = bt.datasets.load("boston").X
    found = boston.groups()
    assert list(found) == ["dL_lL", "dL_lH", "dH_lL", "dH_lH"]
    assert X[found["dL_lH"]]["dis"].max() < X[found["dH_lL"]]["dis"].min()
    assert X[found["dL_lL"]]["lstat"].max() < X[found["dL_lH"]]["lstat"].min()
    fitted = np.zeros(len(X))
    fitted[found["dL_lL"]], fitted[found["dH_lL"]] = 5, 2
    assert boston.effects(fitted) == (5, 2)


# ---- soft trees -----------------------------------------------------------------------------------------------------


def test_errors_are_relative_to_the_training_mean() -> None:
    data = arm_dynamics.simulate(50, 20, seed=1)
    mean = np.broadcast_to(data.Y_train.mean(axis=0), data.Y_test.shape)
    assert arm.relative_error(data, mean) == pytest.approx(1)
    assert arm.relative_error(data, data.Y_test) == 0
    assert arm.relative_error(data, (mean + data.Y_test) / 2) == pytest.approx(0.25)


def test_the_first_epoch_at_an_error() -> None:
    learned = arm.Learned(np.array([0.3, 0.1, 0.2, 0.1]), np.array([1, 2, 5, 10]))
    assert [learned.first_at(error) for error in (0.5, 0.15, 0.05)] == [1, 2, None]


def test_folds_divide_the_rows_and_keep_the_classes() -> None:
    y = np.repeat(["a", "b"], [60, 30])
    found = list(hme_classification.folds(y, 10, np.random.default_rng(0)))
    assert sorted(np.concatenate(found).tolist()) == list(range(90))
    assert {tuple(np.unique(y[fold], return_counts=True)[1].tolist()) for fold in found} == {(6, 3)}


def test_no_row_of_a_fold_has_a_say_in_its_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Depth and ridge are chosen from the other folds alone."""
    seen: list[tuple[int, ...]] = []

    def remember(X: Any, y: np.ndarray, *others: Any) -> tuple[int, float]:
        seen.append((len(X), len(y)))
        return 1, 5.0

    monkeypatch.setattr(hme_classification, "choose", remember)
    extent = hme_classification.Extent(1, 3, ((1, 5.0),), 2, rows=60)
    found = hme_classification.cross_validate("Heart", extent, np.random.default_rng(0), lambda line: None)
    assert seen == [(40, 40)] * 3
    assert found.wrong["HME"].shape == (1, 60)
    error = found.error("HME")
    share = found.wrong["HME"].mean()
    assert error.value == pytest.approx(share)
    assert error.error == pytest.approx(np.sqrt(share * (1 - share) / 59))


HELD = [
    "kyphosis",
    "certified",
    "agreement",
    "best-trees",
    "friedman",
    "boston",
    "arm",
    "hme-classification",
    "convergence",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*HELD, "learning-curve"])
def test_what_was_published_holds(name: str) -> None:
    assert studies.run(name).agrees
