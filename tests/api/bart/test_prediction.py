"""Predictions from draws of sums of trees, as a posterior makes them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import baytree as bt
from baytree.bart.prediction import SumPrediction, SumPredictor, largest_probabilities
from baytree.data.design import Schema
from baytree.data.response import Task
from baytree.trees.forest import Ensemble
from exact.bart.native import forest_of
from reference.bart.random_sums import Column, RandomSums, random_sums, sums_by_walking

CHAINS, DRAWS = 2, 12
RESPONSES = ("number", "two classes", "four classes")


def frame(rows: int, seed: int = 0) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "size": np.where(generator.random(rows) < 0.2, np.nan, generator.normal(size=rows)).round(1),
            "colour": generator.choice(["red", "green", "blue", None], rows).tolist(),
            "smoker": generator.random(rows) < 0.5,
        }
    )


def columns_of(schema: Schema) -> list[Column]:
    return [Column(column.kind == "categorical", column.observed, column.has_missing) for column in schema.columns]


def random_prediction(response: str, draws: int = DRAWS, soft: bool = False) -> tuple[SumPrediction, RandomSums]:
    """A prediction from random trees over a real table, and the trees for a walk."""
    generator = np.random.default_rng(1)
    y = {
        "number": generator.normal(size=100),
        "two classes": generator.choice(["no", "yes"], 100),
        "four classes": generator.choice(list("abcd"), 100),
    }[response]
    task: Task = "regression" if response == "number" else "classification"
    schema = bt.make_design(frame(100), y, task=task).schema
    outputs = 4 if response == "four classes" else 1
    sizes = [1, 2, 3, 4, 2, 3, 2, 2]
    drawn = random_sums(sizes, CHAINS * draws, generator, columns=columns_of(schema), outputs=outputs, soft=soft)
    mean = Ensemble(forest_of(drawn), drawn.tree_index.reshape(CHAINS, draws, -1), drawn.values, drawn.bandwidths)
    centre = np.array([0.3, -0.2, 0.0, 0.1]) if outputs == 4 else 0.5
    prediction = SumPrediction(schema, SumPredictor.of(schema, mean, outputs), seed=7, centre=centre)
    if response == "number":
        prediction = replace(prediction, sigma=generator.uniform(0.5, 1.5, (CHAINS, draws)))
    return prediction, drawn


def fits(prediction: SumPrediction, drawn: RandomSums, bins: np.ndarray) -> np.ndarray:
    """What f is by walking, shape (all draws, outputs, rows)."""
    return sums_by_walking(drawn, bins) + np.reshape(prediction.centre, (-1, 1))


def with_variance(prediction: SumPrediction) -> SumPrediction:
    """The same with a forest for the variance."""
    columns = columns_of(prediction.schema)
    drawn = random_sums([2, 3, 2], CHAINS * DRAWS, np.random.default_rng(2), columns=columns)
    variance = Ensemble(forest_of(drawn), drawn.tree_index.reshape(CHAINS, DRAWS, -1), drawn.values)
    return replace(prediction, sigma=None, variance=SumPredictor.of(prediction.schema, variance))


def test_numbers() -> None:
    prediction, drawn = random_prediction("number")
    table, offset = frame(150, seed=3), np.linspace(-1, 1, 150)
    bins = prediction.schema.encode(table)
    expected = fits(prediction, drawn, bins)[:, 0] + offset
    assert np.allclose(prediction.predict(bins, offset=offset), expected.mean(axis=0), rtol=0, atol=1e-12)
    draws = prediction.predict(bins, "draws", offset=offset)
    assert np.array_equal(draws, expected.reshape(CHAINS, DRAWS, 150))
    interval = prediction.predict(bins, "interval", 0.5, offset=offset)
    assert np.allclose(interval, np.quantile(expected, [0.25, 0.75], axis=0).T)


@pytest.mark.parametrize("response", RESPONSES[1:])
def test_classes(response: str) -> None:
    prediction, drawn = random_prediction(response)
    bins = prediction.schema.encode(frame(60, seed=3))
    f = fits(prediction, drawn, bins)
    if response == "two classes":
        expected = np.stack([stats.norm.cdf(-f[:, 0]), stats.norm.cdf(f[:, 0])], axis=-1)
    else:
        expected = largest_probabilities(f)
    classes = expected.shape[-1]
    assert np.allclose(prediction.predict(bins), expected.mean(axis=0))
    assert np.allclose(prediction.predict(bins, "draws"), expected.reshape(CHAINS, DRAWS, 60, classes))
    interval = prediction.predict(bins, "interval", 0.8)
    assert np.allclose(interval, np.moveaxis(np.quantile(expected, [0.1, 0.9], axis=0), 0, -1))
    assert interval.shape == (60, classes, 2)


def test_an_offset_moves_two_classes() -> None:
    prediction, drawn = random_prediction("two classes")
    bins = prediction.schema.encode(frame(60, seed=3))
    offset = np.linspace(-2, 2, 60)
    expected = stats.norm.cdf(fits(prediction, drawn, bins)[:, 0] + offset).mean(axis=0)
    assert np.allclose(prediction.predict(bins, offset=offset)[:, 1], expected)


def test_soft_rules_are_soft() -> None:
    soft, _ = random_prediction("number", soft=True)
    hard = replace(soft, mean=replace(soft.mean, sums=replace(soft.mean.sums, bandwidths=None)))
    bins = soft.schema.encode(frame(60))
    assert not np.allclose(soft.predict(bins), hard.predict(bins))


# ---- new responses -----------------------------------------------------------------------------------------------


def standard(prediction: SumPrediction, bins: np.ndarray, deviation: np.ndarray) -> float:
    """How likely the new responses are, standardised, if they are standard normal."""
    new, mean = (prediction.predict(bins, kind).reshape(CHAINS * DRAWS, -1) for kind in ("predictive", "draws"))
    return float(stats.kstest(((new - mean) / deviation).ravel(), "norm").pvalue)


def test_new_numbers_have_the_noise_of_their_draw() -> None:
    prediction, _ = random_prediction("number")
    assert prediction.sigma is not None
    bins, sigma = prediction.schema.encode(frame(2000, seed=4)), prediction.sigma.reshape(-1, 1)
    assert standard(prediction, bins, sigma) > 0.001
    assert standard(prediction, bins, 0.9 * sigma) < 1e-6
    assert standard(prediction, bins, np.roll(sigma, 1, axis=0)) < 1e-6


def test_new_numbers_have_the_variance_of_their_row() -> None:
    prediction = with_variance(random_prediction("number")[0])
    bins = prediction.schema.encode(frame(2000, seed=4))
    assert prediction.variance is not None
    log_variance = prediction.variance.each(bins)[:, 0]
    assert standard(prediction, bins, np.exp(log_variance / 2)) > 0.001
    assert standard(prediction, bins, np.exp(log_variance)) < 1e-6
    assert standard(prediction, bins, np.roll(np.exp(log_variance / 2), 1, axis=1)) < 1e-6


def softmax(f: np.ndarray) -> np.ndarray:
    odds = np.exp(np.moveaxis(f, 1, -1))
    return odds / odds.sum(axis=-1, keepdims=True)


def agreement(probability: np.ndarray, drawn: np.ndarray) -> float:
    """How likely the classes drawn are, given their probabilities: by how often each was drawn where it was likely."""
    statistic, cells = 0.0, 0
    for k in range(probability.shape[-1]):
        p, hit = probability[..., k].ravel(), (drawn == k).ravel()
        for part in np.array_split(np.argsort(p), 5):
            variance = (p[part] * (1 - p[part])).sum()
            statistic += (hit[part].sum() - p[part].sum()) ** 2 / variance
            cells += 1
    return float(stats.chi2.sf(statistic, cells))


@pytest.mark.parametrize("response", RESPONSES[1:])
def test_new_classes_are_as_frequent_as_their_probabilities_say(response: str) -> None:
    prediction, drawn = random_prediction(response, draws=100)
    bins = prediction.schema.encode(frame(300, seed=5))
    new = prediction.predict(bins, "predictive")
    probability = prediction.predict(bins, "draws")
    assert new.shape == (CHAINS, 100, 300)
    assert agreement(probability, new) > 0.001
    wrong: Callable[[np.ndarray], np.ndarray] = softmax
    if response == "two classes":
        wrong = lambda f: np.stack([1 / (1 + np.exp(f[:, 0])), 1 / (1 + np.exp(-f[:, 0]))], axis=-1)  # noqa: E731
    assert agreement(wrong(fits(prediction, drawn, bins)), new.reshape(CHAINS * 100, -1)) < 1e-6


def test_predictive_intervals_cover() -> None:
    prediction, _ = random_prediction("number", draws=400)
    bins = prediction.schema.encode(frame(40, seed=6))
    interval = prediction.predict(bins, "predictive_interval", 0.8)
    new = replace(prediction, seed=8).predict(bins, "predictive")
    inside = ((interval[:, 0] < new) & (new < interval[:, 1])).mean()
    # The ends of each interval come from 800 draws, so 40 rows have a standard error of about 0.0028.
    assert inside == pytest.approx(0.8, abs=0.012)


# ---- blocks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["mean", "interval", "draws", "predictive"])
@pytest.mark.parametrize("response", RESPONSES)
def test_blocks_and_parts_do_not_matter(response: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prediction, _ = random_prediction(response)
    table = frame(70, seed=9)
    bins = prediction.schema.encode(table)
    whole = prediction.predict(bins, kind)
    assert np.array_equal(prediction.predict(bins, kind), whole)
    axis = 2 if kind in ("draws", "predictive") else 0
    parts = list(prediction.stream([table[:1], table[1:40], table[40:40], table[40:]], kind))
    assert [part.shape[axis] for part in parts] == [1, 39, 0, 30]
    assert np.array_equal(np.concatenate(parts, axis=axis), whole)
    monkeypatch.setattr("baytree.posterior.prediction.BLOCK_NUMBERS", 1000)
    assert np.array_equal(prediction.predict(bins, kind), whole)


def test_a_stream_takes_an_offset_for_each_part() -> None:
    prediction, _ = random_prediction("number")
    table, offset = frame(20), np.arange(20.0)
    whole = prediction.predict(prediction.schema.encode(table), offset=offset)
    parts = prediction.stream([table[:5], table[5:]], offsets=[offset[:5], offset[5:]])
    assert np.array_equal(np.concatenate(list(parts)), whole)
    with pytest.raises(ValueError, match="shorter"):
        list(prediction.stream([table[:5], table[5:]], offsets=[offset[:5]]))


# ---- what columns add --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("response", RESPONSES)
def test_what_columns_add_is_what_is_predicted(response: str) -> None:
    prediction, drawn = random_prediction(response)
    bins = prediction.schema.encode(frame(60, seed=3))
    f = fits(prediction, drawn, bins)
    signed: dict[str, Any] = {
        "number": [f[:, 0]],
        "two classes": [-f[:, 0], f[:, 0]],
        "four classes": np.moveaxis(f, 1, 0),
    }
    for place, expected in enumerate(signed[response]):
        values, base = prediction.explain(bins, place)
        assert values.shape == (CHAINS * DRAWS, 60, 3)
        assert np.allclose(values.sum(axis=-1) + base[:, None], expected)


# ---- some of the draws -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
@pytest.mark.parametrize("response", RESPONSES)
def test_some_of_the_draws(response: str, soft: bool) -> None:
    prediction, _ = random_prediction(response, soft=soft)
    bins = prediction.schema.encode(frame(30))
    chosen = np.array([7, 0, 11])
    some, whole = prediction.take(chosen), prediction.predict(bins, "draws")
    assert np.array_equal(some.predict(bins, "draws"), whole[:, chosen])
    assert np.array_equal(some.take(np.array([1])).predict(bins, "draws"), whole[:, [0]])
    if response == "number":
        assert some.predict(bins, "predictive").shape == (CHAINS, 3, 30)
        varied = with_variance(prediction)
        assert varied.variance is not None
        both = varied.variance.each(bins).reshape(CHAINS, DRAWS, 30)[:, chosen]
        assert np.array_equal(varied.variance.take(chosen).each(bins).reshape(CHAINS, 3, 30), both)


def test_what_is_refused() -> None:
    prediction, _ = random_prediction("number")
    bins = prediction.schema.encode(frame(4))
    with pytest.raises(bt.InputError, match="predictive_interval"):
        prediction.predict(bins, "median")
    with pytest.raises(bt.InputError, match="between 0 and 1"):
        prediction.predict(bins, "interval", 1.0)
    with pytest.raises(bt.InputError, match="one offset for each row"):
        prediction.predict(bins, offset=[1.0])
    with pytest.raises(bt.InputError, match="row index 2 is missing"):
        prediction.predict(bins, offset=[1.0, 2.0, np.nan, 3.0])
    with pytest.raises(bt.InputError, match="offsets must be numbers"):
        prediction.predict(bins, offset=["a", "b", "c", "d"])
    classes, _ = random_prediction("four classes")
    with pytest.raises(bt.InputError, match="leave it out"):
        classes.predict(bins, offset=np.zeros(4))
    with pytest.raises(bt.InputError, match="kind of prediction"):
        classes.predict(bins, "predictive_interval")
