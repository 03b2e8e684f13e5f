"""Choosing hyperparameters by held-out log scores."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold

import baytree as bt
from baytree.sampling.tuning import _parts

DATA = bt.datasets.friedman(120, seed=1)
DESIGN = DATA.design()
QUICK: dict[str, Any] = {"folds": 3, "seed": 1, "progress": False, "warmup": 60, "draws": 60}
FEW = bt.BART(trees=10)


def test_the_best_is_chosen() -> None:
    """Leaf values that may hardly differ from 0 predict worse than those that may."""
    tuning = bt.tune(FEW, DESIGN, grid={"k": [50.0, 2.0], "beta": [1.0, 2.0]}, **QUICK)
    assert len(tuning.trials) == 4 and tuning.parameters["k"] == 2.0
    prior: Any = FEW.prior
    assert tuning.model == replace(FEW, k=2.0, prior=replace(prior, beta=tuning.parameters["beta"]))
    scores = [trial.score for trial in tuning.trials]
    assert scores == sorted(scores, reverse=True)
    first, *others = tuning.trials
    assert first.behind == first.se == 0 and all(trial.behind >= 0 and trial.se > 0 for trial in others)
    np.testing.assert_allclose([trial.behind for trial in tuning.trials], np.subtract(scores[0], scores))
    assert tuning.trials[-1].behind > 2 * tuning.trials[-1].se


def test_a_score_is_what_fits_to_the_other_rows_say() -> None:
    """By hand: from a fit to each part's complement, the mean density of each row in the part."""
    tuning = bt.tune(FEW, DESIGN, grid={"k": [2.0]}, **QUICK)
    part, scores = _parts(DESIGN, 3, 1), np.empty(DESIGN.rows)
    for fold in range(3):
        inside, held = (DESIGN.take(np.flatnonzero(rows)) for rows in (part != fold, part == fold))
        post = bt.sample(FEW, inside, warmup=60, draws=60, chains=2, seed=1, progress=False)
        scores[part == fold] = np.log(np.exp(post.pointwise_log_likelihood(held)).mean(axis=(0, 1)))
    assert tuning.trials[0].score == pytest.approx(scores.mean(), rel=1e-9)


@pytest.mark.parametrize("threads", [1, 3])
def test_the_same_for_any_threads(threads: int) -> None:
    grid = {"trees": [5, 10]}
    assert bt.tune(FEW, DESIGN, grid=grid, threads=threads, **QUICK) == bt.tune(FEW, DESIGN, grid=grid, **QUICK)


def test_parts() -> None:
    """As large as scikit-learn's, every row in one; of classes each with its share."""
    sizes = sorted(len(test) for _, test in KFold(7).split(np.zeros(120)))
    assert sorted(np.bincount(_parts(DESIGN, 7, 5)).tolist()) == sizes
    kyphosis = bt.datasets.load("kyphosis").design()
    part = _parts(kyphosis, 5, 1)
    counts = np.array([np.bincount(kyphosis.y[part == fold], minlength=2) for fold in range(5)])
    assert np.ptp(counts, axis=0).max() <= 1


def test_rows_that_are_taken_keep_all_that_they_have() -> None:
    weight, offset = np.arange(1.0, 121.0), np.linspace(0, 1, 120)
    design = bt.make_design(DATA.X, DATA.y, task="regression", sample_weight=weight, offset=offset)
    some = design.take(np.array([3, 0, 7]))
    assert some.rows == 3 and some.schema is design.schema
    assert np.array_equal(some.at(slice(None)), design.at([3, 0, 7]))
    for name in ("y", "weight", "offset"):
        assert np.array_equal(getattr(some, name), getattr(design, name)[[3, 0, 7]])


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (bt.BART(), ["split", "trees", "k", "beta"]),
        (bt.BART(noise="student", split="soft"), ["trees", "k", "beta"]),
        (bt.BART(prior=bt.GrowTree(beta=2.0) & bt.Monotone(x1=1)), ["trees", "k", "beta"]),
        (bt.BART(prior=bt.slp.load("growtree.slp")), ["trees", "k"]),
        (bt.CART(), ["alpha", "beta", "min_leaf"]),
        (bt.CART(bt.EditTree("x4 <= 0.5?\n├─ yes: 10.0 (20 rows)\n└─ no:  18.0 (20 rows)")), ["edits"]),
    ],
)
def test_what_is_tried(model: Any, names: list[str]) -> None:
    """Each of these is a model, and varies what its family can vary."""
    few = QUICK | {"folds": 2, "warmup": 1, "draws": 2, "chains": 1}
    tuning = bt.tune(model, bt.datasets.friedman(100, seed=1).design(), **few)
    assert list(dict.fromkeys(name for trial in tuning.trials for name in trial.parameters)) == names
    assert len(tuning.trials) == sum(np.prod([len(values) for values in grid.values()]) for grid in model.grids)


def test_classes_by_every_tree() -> None:
    design = bt.datasets.load("kyphosis").design()
    grid: list[dict[str, Any]] = [{"method": ["exact"], "min_leaf": [20]}, {"alpha": [0.5, 0.95], "min_leaf": [20]}]
    tuning = bt.tune(bt.CART(), design, grid=grid, **QUICK)
    assert tuning.trials[0].score == pytest.approx(-0.43, abs=0.05)
    lines = str(tuning).splitlines()
    assert lines[0] == "held-out log score a row, 3 folds of 81 rows, the best first"
    assert set(lines[1].split()) == {"method", "min_leaf", "alpha", "score", "behind", "se"}
    assert len(lines) == 5 and len(set(map(len, lines[1:]))) == 1
    assert len(tuning.to_dict()["trials"]) == 3


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    bt.tune(FEW, DESIGN, grid={"k": [1, 2]}, **QUICK | {"progress": True, "folds": 2})
    assert capsys.readouterr().err.splitlines() == [f"fit {done} of 4" for done in range(1, 5)]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"grid": {"kk": [1]}}, "no hyperparameter 'kk'"),
        ({"grid": {"k": 2}}, "give lists of what to try"),
        ({"grid": {"k": []}}, "nothing to try of 'k'"),
        ({"grid": {}}, "give what to try"),
        ({"grid": "k"}, "give what to try"),
        ({"grid": {"k": [0]}}, "k=0"),
        ({"folds": 1}, "folds=1"),
        ({"folds": 121}, "there are 120 rows"),
    ],
)
def test_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(bt.InputError, match=message):
        bt.tune(FEW, DESIGN, **QUICK | asked)


def test_only_trees() -> None:
    matrix: Any = bt.make_linear_design(DATA.X, DATA.y, task="regression")
    with pytest.raises(bt.InputError, match="give a Design"):
        bt.tune(bt.Subset(), matrix, **QUICK)
    with pytest.raises(bt.InputError, match="nothing says what to try"):
        bt.tune(bt.CART(bt.slp.load("growtree.slp")), DESIGN, **QUICK)
