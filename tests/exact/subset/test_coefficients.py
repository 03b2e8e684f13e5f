"""Coefficients, noise and shrinkage, which are drawn given the subset, against their exact distributions.

Each draw is put through the distribution function that it should have, given its model and what was drawn before it, so
that draws of all models together must be uniform.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import linalg, stats

from baytree import _core
from exact.subset.chains import numbers_of, problem, run
from reference.agreement import FALSE_ALARM, Disagreement
from reference.subset.linear_models import Floats, Given, GPrior, HyperG, LinearModels, Ridge, SizePrior, Student
from reference.subset.spaces import ALWAYS, COLLINEAR, FACTORS, NO_INTERCEPT, PLAIN, WEIGHTED, models

SPACES = [
    models(PLAIN, "c", "half"),
    models(NO_INTERCEPT, "hyper-g 4", "half"),
    models(WEIGHTED, "eb", "half"),
    models(FACTORS, "hyper-g", "half"),
    models(COLLINEAR, "ridge", "half"),
    models(ALWAYS, "hyper-g/n", "half"),
]


@dataclass(frozen=True)
class Drawn:
    """Draws, each with the number of its model and, of that, the mean that was given."""

    number: int
    mean: Floats
    coefficient: Floats
    sigma: float
    level: float
    shrinkage: float


def cut(values: Floats, lengths: Floats) -> list[Floats]:
    return np.split(values, np.cumsum(lengths)[:-1])


def drawn(found: dict[str, np.ndarray], number: np.ndarray, means: list[Floats], width: np.ndarray) -> Iterator[Drawn]:
    coefficients = cut(found["coefficient"], width)
    single = (found["sigma"], found["level"], found["shrinkage"])
    return map(Drawn, number, means, coefficients, *single)


def widths(space: LinearModels) -> np.ndarray:
    """The columns of each model."""
    return space.table.members[:, list(space.table.unit)].sum(axis=1)


def of_enumeration(space: LinearModels, draws: int = 2000) -> list[Drawn]:
    found = _core.enumerate_subsets(problem(space), 1, (np.arange(draws) + 0.5) / draws, 1)
    number = numbers_of(space, found["drawn_unit"], found["drawn_begin"])
    width = widths(space)[number]
    return list(drawn(found, number, cut(found["mean"], width), width))


def of_chain(space: LinearModels) -> list[Drawn]:
    states, _, parts = run(space, "gibbs", chains=1, draws=2000, thin=1)
    found = parts[0]
    stored = widths(space)[numbers_of(space, found["unit"], found["begin"])]
    means = cut(found["mean"], stored)
    return list(drawn(found, states[0], [means[model] for model in found["model"]], widths(space)[states[0]]))


@cache
def shape(space: LinearModels, number: int) -> tuple[Floats, Student]:
    """The columns of a model, and the responses along their eigenvectors."""
    x = space.table.columns[:, space.table.members[number][list(space.table.unit)]]
    return x, Student.of(x @ np.linalg.pinv(x), space.table.response, space.nu, space.lam)


@cache
def distribution_of_g(space: LinearModels, number: int) -> tuple[Floats, Floats]:
    """Values of log g and their distribution function."""
    grid = np.linspace(-30, 50, 2001)
    _, y = shape(space, number)
    assert isinstance(space.slab, HyperG)
    log_density = np.array([space.slab.log_density(y, space.table.rows, log_g) for log_g in grid])
    cumulative = np.cumsum(np.exp(log_density - log_density.max()))
    return grid + (grid[1] - grid[0]) / 2, cumulative / cumulative[-1]


@cache
def given(space: LinearModels, number: int, g: float) -> Given:
    x, _ = shape(space, number)
    prior = g * (np.eye(x.shape[1]) if isinstance(space.slab, Ridge) else np.linalg.inv(x.T @ x))
    return Given.of(x, space.table.response, prior, space.nu, space.lam)


def spread_of(space: LinearModels, draw: Drawn) -> float:
    """The c or g of a draw."""
    if isinstance(space.slab, HyperG):
        return draw.shrinkage / (1 - draw.shrinkage)
    if isinstance(space.slab, Ridge):
        return space.slab.c
    return space.slab.spread(shape(space, draw.number)[1], space.table.rows)


def assert_uniform(values: Floats, what: str) -> None:
    p_value = stats.kstest(values, "uniform").pvalue
    if not p_value > FALSE_ALARM:
        raise Disagreement(f"{what}: p = {p_value:.1e}")


def agrees(space: LinearModels, draws: list[Drawn]) -> None:
    freedom = len(space.table.response) + space.nu
    g, noise, level, standard, ratio, columns = ([] for _ in range(6))
    for draw in draws:
        spread = spread_of(space, draw)
        exact = given(space, draw.number, spread)
        noise.append(exact.rest / draw.sigma**2)
        level.append(draw.level / draw.sigma)
        if isinstance(space.slab, HyperG):
            g.append(np.interp(np.log(spread), *distribution_of_g(space, draw.number)))
        if not exact.spread.any():
            assert not draw.coefficient.any()
            continue
        root = linalg.cholesky(exact.spread, lower=True)
        deviation = linalg.solve_triangular(root, draw.coefficient - exact.mean, lower=True)
        standard += (deviation / draw.sigma).tolist()
        columns.append(len(deviation))
        ratio.append(deviation @ deviation / len(deviation) / (exact.rest / freedom))
    assert_uniform(stats.chi2.cdf(noise, freedom), "σ")
    assert_uniform(stats.norm.cdf(level), "level")
    assert_uniform(stats.norm.cdf(standard), "each coefficient")
    # Together with σ they are Student.
    assert_uniform(stats.f.cdf(ratio, columns, freedom), "all coefficients")
    if g:
        assert_uniform(np.array(g), "g")


def name(space: LinearModels) -> str:
    return f"{space.table.name} {space.slab}"


@pytest.mark.parametrize("source", [of_enumeration, of_chain])
@pytest.mark.parametrize("space", SPACES, ids=name)
def test_draws(space: LinearModels, source) -> None:
    agrees(space, source(space))


@pytest.mark.parametrize("source", [of_enumeration, of_chain])
@pytest.mark.parametrize("space", SPACES, ids=name)
def test_means(space: LinearModels, source) -> None:
    """The mean of each model's coefficients, for which g is integrated out; the best c is found to half its digits."""
    for draw in {draw.number: draw for draw in source(space)}.values():
        if isinstance(space.slab, HyperG):
            log_g, _ = distribution_of_g(space, draw.number)
            log_g = log_g - (log_g[1] - log_g[0]) / 2
            _, y = shape(space, draw.number)
            density = np.exp([space.slab.log_density(y, space.table.rows, one) for one in log_g])
            shrinkage = np.sum(density / (1 + np.exp(-log_g))) / density.sum()
            exact = shrinkage * given(space, draw.number, 1.0).mean * 2
        else:
            exact = given(space, draw.number, spread_of(space, draw)).mean
        np.testing.assert_allclose(draw.mean, exact, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("other", ["slab", "nu", "lam"])
def test_another_model_is_caught(other: str) -> None:
    """The draws of one model against the reference of another that differs in one part."""
    changed = {"slab": GPrior(5.0), "nu": 4.0, "lam": 1.0}
    right: dict[str, Any] = {"table": PLAIN, "slab": GPrior(7.5), "prior": SPACES[0].prior, "nu": 3.0, "lam": 0.3}
    another = LinearModels(**right | {other: changed[other]})
    with pytest.raises(Disagreement):
        agrees(another, of_enumeration(SPACES[0]))


def test_another_prior_of_g_is_caught() -> None:
    with pytest.raises(Disagreement, match="g"):
        agrees(models(FACTORS, "hyper-g 4", "half"), of_enumeration(SPACES[3]))


@pytest.mark.parametrize("per_row", [False, True])
def test_the_empty_model_leaves_g_its_prior(per_row: bool) -> None:
    """P(g > x) = (1 + x/scale)^(1 − a/2)."""

    def shrinkage(a: float) -> Floats:
        empty = LinearModels(table=PLAIN, slab=HyperG(a, per_row=per_row), prior=SizePrior((1.0,)), nu=3.0, lam=0.3)
        found = _core.enumerate_subsets(problem(empty), 1, np.linspace(0, 0.999, 2000), 1)
        assert not found["coefficient"].size and not found["mean"].size
        return found["shrinkage"]

    drawn = shrinkage(2.6)
    beyond = 1 + drawn / (1 - drawn) / (PLAIN.rows if per_row else 1)
    assert_uniform(beyond ** (1 - 2.6 / 2), "g")
    with pytest.raises(Disagreement):
        assert_uniform(beyond ** (1 - 2.8 / 2), "g")
    # Near 2 the tail has no end that could be walked to: nearly every g is beyond what numbers can tell from infinity.
    assert np.all(shrinkage(2 + 1e-9) == 1)
