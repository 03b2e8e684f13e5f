"""Small named tables of linear models, and every pair of priors for them."""

from __future__ import annotations

import numpy as np

from reference.subset.linear_models import (
    Floats,
    GPrior,
    HyperG,
    Independent,
    Ints,
    LinearModels,
    ModelPrior,
    Ridge,
    SizePrior,
    Slab,
    Table,
    beta_binomial,
)


def normals(seed: int, rows: int, columns: int) -> Floats:
    return np.random.default_rng(seed).standard_normal((rows, columns))


def indicators(bins: Ints) -> Floats:
    """Of every level but the first."""
    return (bins[:, None] == np.unique(bins)[1:]).astype(float)


def plain() -> Table:
    x = normals(1, 12, 4) * [1, 1e6, 1e-6, 30] + [0, 3e6, 0, -200]
    return Table("plain", x, x[:, 0] + x[:, 1] / 2e6 + 0.7 * normals(2, 12, 1)[:, 0], (0, 1, 2, 3))


def without_intercept() -> Table:
    x = normals(3, 9, 3) + np.arange(3)
    return Table("no intercept", x, 1 + x[:, 2] + 0.8 * normals(4, 9, 1)[:, 0], (0, 1, 2), intercept=False)


def weighted() -> Table:
    x = normals(5, 14, 4)
    x[:, 3] += x[:, 2]
    weight = np.random.default_rng(6).uniform(0.2, 4.0, 14)
    return Table("weighted", x, 0.6 * x[:, 3] + normals(7, 14, 1)[:, 0] / np.sqrt(weight), (0, 1, 2, 3), weight)


def factors() -> Table:
    """A factor of three levels, one of four and two numbers."""
    rng = np.random.default_rng(8)
    three, four = rng.permutation(np.arange(18) % 3), rng.permutation(np.arange(18) % 4)
    x = np.column_stack([normals(9, 18, 1), indicators(three), indicators(four), normals(10, 18, 1)])
    y = 0.8 * (three == 2) + 0.5 * x[:, -1] + 0.8 * normals(11, 18, 1)[:, 0]
    return Table("factors", x, y, (0, 1, 1, 2, 2, 2, 3))


def collinear() -> Table:
    """A column twice, a sum of two, a constant, and a factor one of whose indicators is a column of its own."""
    x = normals(12, 13, 2)
    bins = np.arange(13) % 3
    matrix = np.column_stack([x, x[:, 0], x.sum(axis=1), np.full(13, 7.0), indicators(bins), bins == 2])
    y = x[:, 0] + 0.4 * (bins == 2) + 0.9 * normals(13, 13, 1)[:, 0]
    return Table("collinear", matrix, y, (0, 1, 2, 3, 4, 5, 5, 6))


def wide() -> Table:
    """More columns than rows: with an intercept, at most four columns are independent."""
    x = normals(14, 5, 6)
    return Table("wide", x, x[:, 1] + 0.5 * normals(15, 5, 1)[:, 0], tuple(range(6)))


def always() -> Table:
    """A number and a factor that are always in, the latter in the middle."""
    bins = np.arange(16) % 3
    x = np.column_stack([normals(16, 16, 2), indicators(bins), normals(17, 16, 2)])
    y = 0.7 * x[:, 0] + 0.6 * x[:, 4] + 0.8 * (bins == 1) + normals(18, 16, 1)[:, 0]
    return Table("always", x, y, (0, 1, 2, 2, 3, 4), always=(1, 2))


def interactions() -> Table:
    """Two numbers and a factor, and the products of all pairs, of which two matter."""
    x = normals(19, 24, 2)
    factor = indicators(np.arange(24) % 3)
    products = np.column_stack([x[:, 0] * x[:, 1], *(x[:, [j]] * factor for j in (0, 1))])
    matrix = np.column_stack([x, factor, products])
    y = 0.2 * x[:, 0] + 0.45 * products[:, 0] + 0.3 * products[:, 1] + 0.8 * normals(20, 24, 1)[:, 0]
    parents = {3: (0, 1), 4: (0, 2), 5: (1, 2)}
    return Table("interactions", matrix, y, (0, 1, 2, 2, 3, 4, 4, 5, 5), parents=parents)


def one_sided() -> Table:
    """Interactions of which one main effect is always in."""
    given = interactions()
    return Table("one sided", given.matrix, given.y, given.unit, parents=given.parents, always=(0,))


def insisted() -> Table:
    """An interaction that is always in: with heredity, so are its main effects, or one of them."""
    given = interactions()
    return Table("insisted", given.matrix, given.y, given.unit, parents=given.parents, always=(3,))


PLAIN, NO_INTERCEPT, WEIGHTED, FACTORS = plain(), without_intercept(), weighted(), factors()
COLLINEAR, WIDE, ALWAYS = collinear(), wide(), always()
INTERACTIONS, ONE_SIDED, INSISTED = interactions(), one_sided(), insisted()
TABLES = [PLAIN, NO_INTERCEPT, WEIGHTED, FACTORS, COLLINEAR, WIDE, ALWAYS, INTERACTIONS, ONE_SIDED, INSISTED]

SLABS: dict[str, Slab] = {
    "c": GPrior(7.5),
    "unit": GPrior("unit"),
    "eb": GPrior("eb"),
    "hyper-g": HyperG(3.0),
    "hyper-g 4": HyperG(4.0),
    "hyper-g/n": HyperG(3.0, per_row=True),
    "ridge": Ridge(0.8),
}


def model_priors(table: Table) -> dict[str, ModelPrior]:
    """Of each kind one that is not even."""
    free = len(table.free)
    return {
        "half": Independent((0.5,) * free),
        "independent": Independent(tuple(np.linspace(0.15, 0.7, free))),
        "beta-binomial": beta_binomial(free, 1.0, 2.5),
        "sizes": SizePrior((0.1, 0.5, 0.3, 0.1)),
        "not empty": SizePrior((0.0, 0.6, 0.4)),
    }


def heredities(table: Table) -> list[str | None]:
    return [None, "weak", "strong"] if table.parents else [None]


def models(
    table: Table, slab: str = "unit", prior: str = "half", heredity: str | None = None, nu: float = 3.0
) -> LinearModels:
    return LinearModels(
        table=table, slab=SLABS[slab], prior=model_priors(table)[prior], heredity=heredity, nu=nu, lam=0.3
    )
