"""Chains over any model space, with a Python likelihood."""

from typing import Any

import numpy as np
import pytest

import baytree as bt

WORDS = """
0.6 : word([]).
0.4 : word([L|W]) :- letter(L), word(W).
0.5 : letter(a).
0.5 : letter(b).
"""


def short(word: list[str]) -> float:
    return -float(len(word))


def draw(log_likelihood: Any = None, **options: Any) -> bt.slp.ProgramPosterior:
    settings: dict[str, Any] = {"draws": 400, "warmup": 50, "chains": 2, "seed": 1, "progress": False} | options
    return bt.slp.Program(WORDS).posterior("word(W)", log_likelihood, **settings)


def test_shapes_and_reports() -> None:
    post = draw(short)
    assert post.log_likelihood.shape == post.log_prior.shape == (2, 400)
    assert [len(chain) for chain in post.models] == [400, 400]
    assert post.proposals == ("subtree",)
    counts = post.counts()
    assert sum(share for _, share in counts) == pytest.approx(1.0)
    assert counts == sorted(counts, key=lambda pair: -pair[1])
    assert post.share(lambda word: word == []) == {str(word): share for word, share in counts}["[]"]
    for model, log_likelihood in zip(post.models[0], post.log_likelihood[0], strict=True):
        assert log_likelihood == -len(model)


def test_same_seed_same_draws() -> None:
    assert draw(short).models == draw(short).models
    assert draw(short).models != draw(short, seed=2).models


def test_posterior_of_a_geometric_length() -> None:
    """With L = 2^length, P(length = n) ∝ 0.6 · 0.4^n · 2^n: 0.2 · 0.8^n."""
    post = draw(lambda word: len(word) * np.log(2), draws=20_000, thin=5, warmup=500)
    lengths = np.array([[len(word) for word in chain] for chain in post.models])
    batches = lengths.reshape(100, -1).mean(axis=1)
    assert abs(lengths.mean() - 4.0) < 5 * batches.std() / 10


def test_power_zero_is_the_prior() -> None:
    post = draw(lambda word: 100.0 * len(word), power=0.0, draws=8000)
    lengths = np.array([[len(word) for word in chain] for chain in post.models])
    batches = lengths.reshape(80, -1).mean(axis=1)
    assert abs(lengths.mean() - 2 / 3) < 5 * batches.std() / np.sqrt(80)


def test_impossible_models_are_left() -> None:
    post = draw(lambda word: 0.0 if len(word) % 2 else -np.inf, warmup=500)
    assert all(len(word) % 2 for chain in post.models for word in chain)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_likelihood_that_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(bt.InputError, match="log_likelihood gave"):
        draw(lambda _: value)


def test_errors_of_the_likelihood_come_through() -> None:
    def broken(_: object) -> float:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        draw(broken)


def test_ctrl_c_keeps_what_was_drawn() -> None:
    calls = 0

    def interrupted(word: list[str]) -> float:
        nonlocal calls
        calls += 1
        if calls == 700:
            raise KeyboardInterrupt
        return 0.0

    with pytest.warns(bt.InterruptedSampling, match="draws are kept"):
        post = draw(interrupted, draws=10_000)
    kept = post.log_likelihood.shape[1]
    assert 1 <= kept < 10_000
    assert [len(chain) for chain in post.models] == [kept, kept]
    assert post.models == [chain[:kept] for chain in draw(lambda _: 0.0, draws=kept).models]


def test_ctrl_c_before_the_first_draw() -> None:
    def interrupted(_: object) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        draw(interrupted)
