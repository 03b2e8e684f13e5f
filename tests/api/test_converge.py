"""Tempering and going on until the chains agree, as people use them."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import baytree as bt
from baytree.cli import app
from baytree.data.design import AnyDesign
from baytree.mcmc.settings import RunSettings
from baytree.posterior.base import BasePosterior
from baytree.sampling import rounds
from baytree.storage import partial_path

KYPHOSIS = bt.datasets.load("kyphosis").design()
PIMA = bt.datasets.load("pima").design()


def short(design: bt.Design = KYPHOSIS, **options: Any) -> bt.Posterior:
    settings = {"warmup": 50, "draws": 200, "seed": 1, "progress": False} | options
    return bt.sample(bt.CART(), design, **settings)


def test_it_goes_on_until_the_chains_agree(tmp_path: Path) -> None:
    first = short(temperatures=4)
    assert not first.diagnostics().agree
    last = bt.converge(first, KYPHOSIS, progress=False, checkpoint=tmp_path / "model.baytree")
    assert last.diagnostics().agree
    assert last.draws == first.draws
    doublings = np.log2(last.settings.thin)
    assert doublings >= 1 and doublings == int(doublings)
    # All before is warm-up: 50 iterations and 200 draws, then 200 draws two iterations apart, and so on.
    assert last.settings.warmup == 50 + 200 * (last.settings.thin - 1)
    assert np.array_equal(bt.load(tmp_path / "model.baytree").log_likelihood, last.log_likelihood)
    assert not partial_path(tmp_path / "model.baytree").exists()


def test_it_is_a_longer_run_to_the_bit() -> None:
    """Without temperatures nothing is tuned, so the same could have been asked for at first."""
    last = bt.converge(short(), KYPHOSIS, progress=False)
    settings = last.settings
    assert settings.thin > 1
    plain = short(warmup=settings.warmup, thin=settings.thin)
    assert np.array_equal(plain.log_likelihood, last.log_likelihood)
    assert np.array_equal(plain.tree_index, last.tree_index)


def test_chains_that_agree_stay_as_they_are() -> None:
    agreed = short(warmup=2000, draws=1000, thin=20)
    assert agreed.diagnostics().agree
    assert bt.converge(agreed, KYPHOSIS, progress=False) is agreed


def test_the_time_limit_keeps_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock jumps beyond the limit as soon as the second round has begun, so less than half of it is drawn."""
    first = short(PIMA)
    began = time.monotonic()
    jumps = iter([0.0, 0.0, 0.0])
    monkeypatch.setattr(time, "monotonic", lambda: began + next(jumps, 1e6))
    kept = bt.converge(first, PIMA, time_limit=10, progress=False, checkpoint=tmp_path / "model.baytree")
    assert kept is first
    assert [path.name for path in tmp_path.iterdir()] == ["model.baytree"]
    assert np.array_equal(bt.load(tmp_path / "model.baytree").log_likelihood, first.log_likelihood)


@pytest.mark.parametrize("limit", [0, -1, "soon", float("nan")])
def test_a_time_limit_must_be_a_time(limit: Any) -> None:
    with pytest.raises(bt.InputError, match="choose a positive number"):
        bt.converge(short(), KYPHOSIS, time_limit=limit)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperatures": 0}, "choose a whole number from 1"),
        ({"temperatures": 2.5}, "choose a whole number from 1"),
        ({"temperatures": 4, "ladder": "steep"}, "adaptive, mrbayes"),
        ({"temperatures": 4, "swap_every": 0}, "1 or more"),
    ],
)
def test_wrong_tempering(options: dict[str, Any], message: str) -> None:
    with pytest.raises(bt.InputError, match=message):
        short(**options)


def test_what_plain_chains_do_not_know() -> None:
    with pytest.raises(bt.InputError, match="not tempered"):
        short().swaps()
    tempered: dict[str, Any] = {"temperatures": 4, "ladder": "mrbayes"}
    for options in ({}, tempered):
        with pytest.raises(bt.InputError, match="reach the prior"):
            short(**options).log_evidence()


@pytest.mark.filterwarnings("ignore:No swap with the cold rung")
def test_the_ladder_is_tuned_in_warm_up() -> None:
    tuned = short(PIMA, temperatures=6, warmup=4000, draws=1000, thin=10).swaps()
    assert np.all(tuned.ladders[:, 0] == 1) and np.all(tuned.ladders[:, -1] == 0)
    assert np.all(np.diff(tuned.ladders, axis=1) < 0)
    # Evenly spaced rates; before any tuning they differ widely.
    rates = tuned.neighbours.mean(axis=0)
    free = short(PIMA, temperatures=6, warmup=0, draws=1000, thin=10).swaps().neighbours.mean(axis=0)
    assert np.ptp(rates) < np.ptp(free) / 2
    assert 0 < tuned.barrier < 5


def test_mrbayes_has_its_own_ladder() -> None:
    swaps = short(temperatures=4, ladder="mrbayes").swaps()
    np.testing.assert_allclose(swaps.ladders, np.tile([1, 1 / 1.2, 1 / 1.4, 1 / 1.6], (4, 1)))
    off_diagonal = ~np.eye(4, dtype=bool)
    assert np.all(np.isfinite(swaps.rates[:, off_diagonal])), "any pair may be swapped"


def test_a_ladder_on_which_the_cold_rung_is_stuck_is_named() -> None:
    message = "No swap with the cold rung was accepted in 4 of 4 chains.*raise temperatures from 2 to about 4"
    with pytest.warns(UserWarning, match=message):
        posterior = short(PIMA, temperatures=2, warmup=100, draws=500)
    assert posterior.swaps().stuck.all() and (posterior.swaps().neighbours == 0).all()
    assert "No swap with the cold rung was accepted" in posterior.summary().verdict


def test_few_swaps_say_nothing_of_a_ladder() -> None:
    posterior = short(PIMA, temperatures=2, warmup=100, draws=100)
    assert (posterior.swaps().neighbours == 0).all() and not posterior.swaps().stuck.any()
    assert posterior.swaps().warnings() == []


@pytest.mark.filterwarnings("ignore:the ladders made")
def test_the_summary_says_how_tempering_went() -> None:
    posterior = short(temperatures=4)
    summary = posterior.summary()
    value, error = posterior.log_evidence()
    assert summary.tempered is not None and summary.tempered.log_evidence == (value, error)
    assert f"log evidence {value:.2f} ± {error:.2f}" in str(summary)
    assert summary.to_dict()["tempered"]["round_trips"] == int(posterior.swaps().round_trips.sum())
    assert short().summary().tempered is None


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = CliRunner()
    assert run.invoke(app, ["data", "kyphosis", "--out", "k.csv"]).exit_code == 0
    fit = ["fit", "k.csv", "--target", "kyphosis", "--seed", "1", "--draws", "200", "--warmup", "50"]
    done = run.invoke(app, [*fit, "--temperatures", "4", "--until-converged"])
    assert done.exit_code == 0 and "The chains agree" in done.stdout and "4 temperatures (adaptive)" in done.stdout
    assert bt.load("k.baytree").settings.thin > 1
    wrong = run.invoke(app, [*fit, "--time-limit", "0"])
    assert wrong.exit_code == 2 and "--time-limit 0: choose a positive number of seconds" in wrong.stderr
    wrong = run.invoke(app, [*fit, "--until-converged", "--effort", "quick"])
    assert wrong.exit_code == 2 and "--until-converged is --effort unlimited" in wrong.stderr
    wrong = run.invoke(app, [*fit, "--temperatures", "0"])
    assert wrong.exit_code == 2 and "--temperatures 0: choose" in wrong.stderr


def test_a_hot_rung_whose_trees_seldom_fit_goes_on() -> None:
    """Nearly all trees of this prior have more leaves than they may."""
    rng = np.random.default_rng(0)
    design = bt.make_design(rng.random((24, 2)), rng.integers(0, 2, 24).astype(str), task="classification")
    prior = bt.GrowTree(alpha=0.99, beta=0, min_leaf=2) & bt.MaxLeaves(2)
    posterior = bt.sample(bt.CART(prior), design, temperatures=2, draws=500, seed=2, progress=False)
    assert posterior.n_leaves.max() <= 2


def test_rungs_that_were_put_at_a_tree_say_so() -> None:
    tree = short(draws=10).best_tree()
    put = short(temperatures=3, warmup=0, draws=5, init=tree)
    assert put.rung_log_likelihood is not None
    expected = bt.CART().log_likelihood(KYPHOSIS, tree)
    np.testing.assert_allclose(put.rung_log_likelihood, expected)


@pytest.mark.usefixtures("_heeds_ctrl_c")
def test_ctrl_c_between_rounds_keeps_what_was_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    import signal

    further = rounds.next_round

    def interrupted(posterior: BasePosterior, design: AnyDesign) -> RunSettings | None:
        signal.raise_signal(signal.SIGINT)
        return further(posterior, design)

    monkeypatch.setattr(rounds, "next_round", interrupted)
    first = short(PIMA)
    assert bt.converge(first, PIMA, progress=False).settings.thin == 2 * first.settings.thin


@pytest.mark.parametrize(
    ("part", "value"),
    [("rungs", []), ("position", {}), ("drawn", 0), ("position", {"ladder": [1.0]}), ("rungs", [{"turns": "many"}])],
)
def test_damaged_states_are_refused(part: str, value: Any, tmp_path: Path) -> None:
    import dataclasses

    posterior = short(temperatures=3)
    broken = value | {**posterior.states[0]["position"], **value} if part == "position" and value else value
    states = tuple({**state, part: broken} for state in posterior.states)
    damaged = dataclasses.replace(posterior, states=states, recorded=posterior.diagnostics(), monitored=None)
    damaged.save(tmp_path / "damaged.baytree")
    with pytest.raises(bt.FileError, match="damaged"):
        bt.load(tmp_path / "damaged.baytree")
