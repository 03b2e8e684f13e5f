"""Monotone trees as their users meet them: every draw's predictions, the trees shown, the files."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import baytree as bt
from baytree.data.response import Task
from baytree.knowledge import Monotone

SIZES = [-2.0, -1.0, -0.4, 0.0, 0.3, 0.9, 2.0]
LOADS = [0.0, 2.0, 5.0, 9.0]


def table(rows: int = 250) -> tuple[pl.DataFrame, np.ndarray]:
    """Missing values in two of the columns; the response rises with size on the whole and falls with load."""
    generator = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "size": np.where(generator.random(rows) < 0.15, np.nan, generator.normal(size=rows)).round(1),
            "colour": generator.choice(["red", "green", "blue", None], rows).tolist(),
            "load": generator.integers(0, 10, rows).astype(float),
            "smoker": generator.random(rows) < 0.5,
        }
    )
    size = np.nan_to_num(frame["size"].to_numpy())
    is_red = (frame["colour"] == "red").fill_null(False).to_numpy()
    mean = np.sin(2 * size) + size - 0.1 * frame["load"].to_numpy() + is_red
    return frame, mean + generator.normal(scale=0.7, size=rows)


def grid() -> pl.DataFrame:
    """Every combination, with missing values and a level that training did not have; size and load ascend fastest."""
    points = itertools.product(
        ["red", "green", "blue", "black", None], [True, False, None], [None, *LOADS], [None, *SIZES]
    )
    names = ["colour", "smoker", "load", "size"]
    return pl.DataFrame(list(points), schema=names, orient="row").select(["size", "colour", "load", "smoker"])


def steps(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Differences of predictions at the grid's last axis as size grows, and as load grows."""
    shaped = values.reshape(*values.shape[:-1], 15, 1 + len(LOADS), 1 + len(SIZES))
    return np.diff(shaped[..., 1:], axis=-1), np.diff(shaped[..., 1:, :], axis=-2)


def fit(prior: Any, task: Task) -> bt.Posterior:
    frame, y = table()
    response = y if task == "regression" else np.where(y > 0, "yes", "no")
    design = bt.make_design(frame, response, task=task)
    return bt.sample(bt.CART(prior), design, warmup=500, draws=150, thin=3, chains=2, seed=4, progress=False)


PRIORS = {
    "native": lambda: bt.GrowTree(beta=0.5) & Monotone(size=1, load=-1),
    "program": lambda: bt.slp.Program(
        bt.slp.load("growtree.slp").text + "monotone(size, 1).\nmonotone(load, -1).", semantics="reject"
    ),
}


@pytest.fixture(scope="module", params=["classification", "regression"])
def task(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module", params=PRIORS)
def posterior(request: pytest.FixtureRequest, task: Task) -> bt.Posterior:
    return fit(PRIORS[request.param](), task)


def second(post: bt.Posterior, values: np.ndarray) -> np.ndarray:
    """Predictions, or those of the second class."""
    return values if post.schema.response.classes is None else values[..., 1]


def test_every_draw_is_monotone(posterior: bt.Posterior) -> None:
    draws = second(posterior, posterior.predict(grid(), kind="draws"))
    by_size, by_load = steps(draws)
    assert by_size.min() >= 0 and by_load.max() <= 0
    assert (by_size > 0).any() and (by_load < 0).any()


def test_free_draws_are_not_monotone(task: Task) -> None:
    """The same question of trees that need not be monotone."""
    post = fit(bt.GrowTree(beta=0.5), task)
    by_size, by_load = steps(second(post, post.predict(grid(), kind="draws")))
    assert by_size.min() < 0 < by_load.max()


def test_means_votes_and_intervals_are_monotone(posterior: bt.Posterior) -> None:
    new = grid()
    by_size, by_load = steps(second(posterior, posterior.predict(new)))
    assert by_size.min() >= 0 and by_load.max() <= 0
    interval = posterior.predict(new, kind="interval")
    interval = interval if posterior.schema.response.classes is None else interval[:, 1]
    for end in interval.T:
        by_size, by_load = steps(end)
        assert by_size.min() > -1e-12 and by_load.max() < 1e-12  # interpolation between draws rounds
    if posterior.schema.response.classes is not None:
        by_size, by_load = steps(posterior.predict(new, kind="vote")[:, 1])
        assert by_size.min() >= 0 and by_load.max() <= 0


def test_the_mean_is_that_of_the_draws(posterior: bt.Posterior) -> None:
    new = grid()
    np.testing.assert_allclose(posterior.predict(new), posterior.predict(new, kind="draws").mean(axis=(0, 1)))


def test_trees_show_the_values_of_their_draw(posterior: bt.Posterior) -> None:
    assert posterior.values is not None
    classes = posterior.schema.response.classes
    for chain, draw in [(0, 0), (1, 99)]:
        index = posterior.tree_index[chain, draw]
        first, leaves = posterior.forest.first_leaf[index], posterior.forest.leaves[index]
        shown = [value if classes is None else value["yes"] for value in posterior.tree(chain, draw).values]
        assert shown == posterior.values[first : first + leaves].tolist()


def test_top_trees_show_averages(posterior: bt.Posterior) -> None:
    assert posterior.values is not None
    forest, index = posterior.forest, posterior.tree_index.ravel()
    for top in posterior.top_trees(3):
        same = [i for i in index if posterior.trees[i].rules == top.tree.rules]
        values = [posterior.values[forest.first_leaf[i] : forest.first_leaf[i] + forest.leaves[i]] for i in same]
        shown = [v["yes"] if isinstance(v, dict) else v for v in top.tree.values]
        np.testing.assert_allclose(shown, np.mean(values, axis=0))
        assert top.probability == len(same) / index.size
    assert posterior.best_tree().rules in {tree.rules for tree in posterior.trees}


def test_new_responses(posterior: bt.Posterior) -> None:
    """New responses scatter around the values of their draw."""
    new = grid()
    drawn = posterior.predict(new, kind="predictive")
    mean = second(posterior, posterior.predict(new))
    spread = drawn.std(axis=(0, 1)) / np.sqrt(300)
    assert np.mean(np.abs(drawn.mean(axis=(0, 1)) - mean) < 4 * spread) > 0.95


def test_the_variance_given_the_mean() -> None:
    """σ² given μ and the rows, against the density of the normal–inverse-gamma posterior on a grid."""
    leaf = bt.Gaussian(mean=0.2, kappa=0.7, nu=3.0, scale=0.4)
    y, value = np.array([0.3, 1.9, -0.4, 0.8]), 1.1
    statistics = np.array([[len(y), (y - 0.2).sum(), ((y - 0.2) ** 2).sum()]])
    many = np.repeat(statistics, 20_000, axis=0)
    drawn = leaf.draw(many, np.random.default_rng(1), np.full(20_000, value))
    assert (drawn[:, 0] == value).all()
    sigma = np.linspace(0.01, 20, 200_000)
    log_density = stats.norm.logpdf(value, 0.2, sigma / np.sqrt(0.7)) + stats.norm.logpdf(y[:, None], value, sigma).sum(
        axis=0
    )
    log_density += stats.invgamma.logpdf(sigma**2, 1.5, scale=0.6) + np.log(sigma)
    cdf = np.cumsum(np.exp(log_density - log_density.max()))
    assert stats.kstest(drawn[:, 1], lambda x: np.interp(x, sigma, cdf / cdf[-1])).pvalue > 1e-4
    wrong = leaf.draw(many, np.random.default_rng(1))[:, 1]
    assert stats.kstest(wrong, lambda x: np.interp(x, sigma, cdf / cdf[-1])).pvalue < 1e-4


def test_files_without_their_values_are_refused(posterior: bt.Posterior, tmp_path: Path) -> None:
    assert posterior.values is not None
    for values in (None, posterior.values[:-1]):
        damaged = dataclasses.replace(posterior, values=values, monitored=None, recorded=posterior.diagnostics())
        damaged.save(tmp_path / "damaged.baytree")
        with pytest.raises(bt.FileError, match="leaf values are missing"):
            bt.load(tmp_path / "damaged.baytree")


def test_states_of_other_trees_are_refused(posterior: bt.Posterior) -> None:
    """A saved chain whose values are not monotone, or not as many as its leaves, does not go on."""
    frame, y = table()
    is_number = posterior.schema.response.classes is None
    design = bt.make_design(
        frame, y if is_number else np.where(y > 0, "yes", "no"), task="regression" if is_number else "classification"
    )
    wrong: list[tuple[Any, str]] = [([], "0 values for"), (None, "not monotone")]
    for values, message in wrong:
        states = []
        for state in posterior.states:
            [rung] = state["rungs"]
            ramp = [float(i) for i in range(len(rung["values"]))]
            broken = ramp[::-1] if values is None else values
            states.append({**state, "rungs": [{**rung, "values": broken}]})
        with pytest.raises(bt.InputError, match=message):
            bt.extend(dataclasses.replace(posterior, states=tuple(states)), design, draws=1, progress=False)


def test_a_noisy_line() -> None:
    """Where it is known that the mean rises, the prediction does; free trees follow the noise down as well."""
    new = np.column_stack([np.linspace(0, 1, 101), np.full(101, 0.5)])
    falls: dict[str, list[bool]] = {"free": [], "rising": []}
    for seed in range(3):
        generator = np.random.default_rng(seed)
        X = generator.random((80, 2))
        y = 2.0 * X[:, 0] + generator.normal(scale=0.8, size=80)
        for name, prior in {"free": bt.GrowTree(), "rising": bt.GrowTree() & Monotone(x0=1)}.items():
            predicted = bt.CARTRegressor(prior=prior, draws=500, random_state=1).fit(X, y).predict(new)
            falls[name].append(bool((np.diff(predicted) < 0).any()))
            # The overall mean, the best that ignores the column, is 2/sqrt(12) = 0.58 away.
            assert np.sqrt(np.mean((predicted - 2.0 * new[:, 0]) ** 2)) < 0.5
    assert falls == {"free": [True] * 3, "rising": [False] * 3}
