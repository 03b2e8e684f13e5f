"""Runs that go on by themselves until their chains agree, and end where their effort is spent."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree.data.design import AnyDesign
from baytree.mcmc.effort import usual_effort
from baytree.mcmc.settings import RunSettings
from baytree.posterior.base import BasePosterior
from baytree.sampling import rounds
from baytree.storage import partial_path

KYPHOSIS = bt.datasets.load("kyphosis")
SMALL = KYPHOSIS.design()
HEART = bt.datasets.load("heart").design()
CHAINS = bt.CART(method="chains")


def fit(design: bt.Design = SMALL, **options: Any) -> bt.Posterior:
    return bt.sample(CHAINS, design, **{"seed": 1, "progress": False, "draws": 200} | options)


def same(one: bt.Posterior, other: bt.Posterior) -> bool:
    return one.settings == other.settings and np.array_equal(one.log_likelihood, other.log_likelihood)


def test_a_run_ends_when_its_chains_agree() -> None:
    posterior = fit(effort="unlimited", draws=500)
    assert posterior.diagnostics().is_enough
    assert posterior.settings.effort == "unlimited" and posterior.draws == 500
    assert posterior.settings.warmup == 500 * posterior.settings.thin


def test_an_effort_of_nothing_is_one_round() -> None:
    posterior = fit(HEART, effort=0)
    assert (posterior.settings.warmup, posterior.settings.thin) == (200, 1)
    assert posterior.summary().grade == "not yet"
    assert posterior.summary().remedies[0].options == {"effort": "quick"}


def test_an_effort_bounds_the_work() -> None:
    for effort in (0.02, 0.1, 0.5):
        settings = fit(HEART, effort=effort, temperatures=1).settings
        work = settings.chains * settings.iterations * CHAINS.iteration_work(HEART, 1)
        assert effort / 2 < work <= effort


def test_chains_that_do_not_agree_get_temperatures() -> None:
    """As many as their barrier asks for, near twice as many."""
    posterior = fit(HEART, effort=2)
    temperatures, barrier = posterior.settings.temperatures, posterior.swaps().barrier
    assert temperatures > 1
    assert temperatures / rounds.NEAR_ENOUGH <= 2 * barrier + 3 and 2 * barrier <= temperatures * rounds.NEAR_ENOUGH
    assert fit(HEART, effort=2, temperatures=1).settings.temperatures == 1


def test_chains_that_were_put_somewhere_stay_on_their_ladder() -> None:
    """Those of another would begin elsewhere."""
    put = fit(HEART, effort=1, init={})
    assert put.settings.temperatures == 1 and put.settings.thin > 1


def test_one_temperature_is_enough_where_chains_agree() -> None:
    assert fit(effort="default", draws=500).settings.temperatures == 1


def test_the_bits_depend_on_no_threads() -> None:
    assert same(fit(HEART, effort=1, threads=1), fit(HEART, effort=1, threads=3))


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_run_killed_between_rounds_goes_on_to_the_same_bits(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or in a round, which has begun its own file by then."""
    path, further = tmp_path / "model.baytree", rounds.next_round
    ended = []

    def killed(posterior: BasePosterior, design: AnyDesign) -> RunSettings | None:
        ended.append(posterior)
        if len(ended) == at:
            raise MemoryError
        return further(posterior, design)

    with monkeypatch.context() as context:
        context.setattr(rounds, "next_round", killed)
        with pytest.raises(MemoryError):
            fit(HEART, effort=1, checkpoint=path)
    assert partial_path(path).exists() and not path.exists()
    resumed = bt.resume(path, HEART, progress=False)
    assert same(resumed, fit(HEART, effort=1))
    assert same(bt.load(path), resumed) and not partial_path(path).exists()


def test_a_warm_up_that_was_asked_for_stands() -> None:
    settings = fit(warmup=30).settings
    assert (settings.warmup, settings.thin, settings.effort, settings.temperatures) == (30, 1, None, 1)


def test_numbers_and_an_effort_are_where_the_rounds_begin() -> None:
    settings = fit(HEART, warmup=50, thin=3, temperatures=1, effort=0.2).settings
    assert settings.thin > 3
    assert settings.warmup + settings.draws * settings.thin <= 0.2 / 4 / CHAINS.iteration_work(HEART, 1)


def test_the_exact_engine_answers_first() -> None:
    posterior = bt.sample(bt.CART(), KYPHOSIS.design(), seed=1, progress=False)
    assert not posterior.has_chains and posterior.summary().grade == "agree"
    assert bt.sample(bt.CART(), KYPHOSIS.design(), warmup=10, draws=10, progress=False).has_chains


def test_extended_chains_are_one_round_more() -> None:
    posterior = fit(effort=0)
    assert bt.extend(posterior, KYPHOSIS.design(), draws=50, progress=False).draws == 250


def test_the_environment_says_the_usual_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAYTREE_EFFORT", "quick")
    assert fit(draws=100).settings.effort == "quick"
    monkeypatch.setenv("BAYTREE_EFFORT", "0.1")
    assert usual_effort() == 0.1
    monkeypatch.delenv("BAYTREE_EFFORT")
    assert usual_effort() == "default"
    monkeypatch.setenv("BAYTREE_EFFORT", "much")
    with pytest.raises(bt.InputError, match="BAYTREE_EFFORT='much', which is no effort"):
        fit()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"effort": "much"}, "no effort 'much'. Choose from: quick, default, thorough, unlimited"),
        ({"effort": -1}, "choose 'quick', 'default', 'thorough', 'unlimited', or a number of seconds"),
        ({"effort": float("nan")}, "or a number of seconds of a processor"),
        ({"warmup": "long"}, "warmup='long': choose a whole number, or 'auto'"),
        ({"thin": "far"}, "thin='far': choose a whole number, or 'auto'"),
        ({"temperatures": "hot"}, "temperatures='hot': choose a whole number, or 'auto'"),
        ({"time_limit": 0}, "choose a positive number"),
    ],
)
def test_what_is_no_effort(options: dict[str, Any], message: str) -> None:
    with pytest.raises(bt.InputError, match=message):
        fit(**options)


def test_a_time_limit_before_the_first_draw() -> None:
    with pytest.raises(bt.InputError, match="was over before the first draw"):
        fit(HEART, warmup=10**8, time_limit=1e-6)


def test_estimators_warn_where_chains_do_not_agree() -> None:
    heart = bt.datasets.load("heart")
    model = bt.CARTClassifier(draws=100, effort=0, random_state=0)
    with pytest.warns(bt.ConvergenceWarning, match="do not agree yet: probabilities differ by .*effort='quick'"):
        model.fit(heart.X, heart.y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bt.BARTClassifier(trees=50, effort="default", random_state=0).fit(KYPHOSIS.X, KYPHOSIS.y)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("kyphosis", bt.CART()),
        ("kyphosis", bt.BART()),
        ("heart", bt.BART()),
        ("heart", bt.CART()),
        ("pima", bt.BART()),
    ],
)
def test_default_runs_end_in_agreement(name: str, model: Any) -> None:
    design = bt.datasets.load(name).design()
    posterior: BasePosterior = bt.sample(model, design, seed=1, effort="default", progress=False)
    assert posterior.summary().grade in ("agree", "nearly")
