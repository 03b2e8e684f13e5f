"""What a person gives, a table and priors by name, against the dense reference of the matrix that it should mean."""

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree import _core
from reference.subset.linear_models import Floats, Ints, LinearModels, Table
from reference.subset.spaces import NO_INTERCEPT, PLAIN, SLABS, WEIGHTED, indicators, model_priors

NU, LAM = 3.0, 0.3
COEFFICIENTS = {
    "c": bt.GPrior(7.5),
    "unit": bt.GPrior("unit"),
    "eb": bt.GPrior("eb"),
    "hyper-g": bt.HyperG(3.0),
    "hyper-g/n": bt.HyperGN(3.0),
    "ridge": bt.Ridge(0.8),
}
MODEL_PRIORS = {
    "half": bt.Independent(0.5),
    "beta-binomial": bt.BetaBinomial(1.0, 2.5),
    "sizes": bt.SizePrior([0.1, 0.5, 0.3, 0.1]),
}


def frame() -> pl.DataFrame:
    """Numbers that are missing here and there, a factor, a flag and a number."""
    rng = np.random.default_rng(21)
    x = rng.standard_normal(26).tolist()
    for row in (3, 11, 20):
        x[row] = None
    colour = np.array(["red", "green", "blue"])[rng.permutation(np.arange(26) % 3)]
    return pl.DataFrame({"x": x, "colour": colour, "flag": rng.random(26) < 0.4, "z": 5 + rng.standard_normal(26)})


def as_matrix(table: pl.DataFrame) -> Floats:
    """By hand: x with the mean where it is missing and whether it is, two colours, the flag, z, and colour by z."""
    x = table["x"].to_numpy()
    missing = np.isnan(x)
    columns = [np.where(missing, np.nanmean(x), x), missing]
    # Levels sort by name, so that blue is the first.
    colour = indicators(np.unique(table["colour"], return_inverse=True)[1])
    z = table["z"].to_numpy()
    products = (colour - colour.mean(axis=0)) * (z - z.mean())[:, None]
    return np.column_stack([*columns, colour, table["flag"], z, products]).astype(float)


FRAME = frame()
RESPONSE = (
    0.6 * FRAME["z"].to_numpy()
    + 0.7 * (FRAME["colour"] == "red").to_numpy()
    + np.random.default_rng(22).normal(size=26)
)
PARENTS = {4: (1, 3)}
MIXED = Table("mixed", as_matrix(FRAME), RESPONSE, (0, 0, 1, 1, 2, 3, 4, 4), parents=PARENTS)
MIXED_ALWAYS = Table("always", MIXED.matrix, RESPONSE, MIXED.unit, parents=PARENTS, always=(2,))


def agrees(given: bt.Subset, design: bt.LinearDesign, exact: LinearModels) -> None:
    """Every model has its likelihood, and the posterior that of the reference."""
    resolved = given.resolve(design)
    found = _core.enumerate_subsets(resolved.native(design), 2 ** len(exact.table.free), np.zeros(0))
    models = np.split(found["unit"], found["begin"][1:-1])
    number: Ints = np.array([exact.table.model(model) for model in models])
    assert sorted(number) == np.flatnonzero(exact.log_prior > -np.inf).tolist()
    np.testing.assert_allclose(found["log_likelihood"], exact.log_likelihood[number], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found["inclusion"], exact.target(1.0) @ exact.table.members, rtol=1e-8, atol=1e-8)
    post = bt.sample(given, design, draws=10, progress=False)
    np.testing.assert_allclose(post.inclusion().best, found["inclusion"], rtol=1e-12)


def reference(table: Table, slab: str, prior: str, heredity: str | None = None) -> LinearModels:
    return LinearModels(
        table=table, slab=SLABS[slab], prior=model_priors(table)[prior], nu=NU, lam=LAM, heredity=heredity
    )


@pytest.mark.parametrize("prior", MODEL_PRIORS)
@pytest.mark.parametrize("slab", COEFFICIENTS)
@pytest.mark.parametrize("table", [PLAIN, WEIGHTED, NO_INTERCEPT], ids=lambda table: table.name)
def test_numbers(table: Table, slab: str, prior: str) -> None:
    design = bt.make_linear_design(table.matrix, table.y, sample_weight=table.weight)
    given = bt.Subset(MODEL_PRIORS[prior], COEFFICIENTS[slab], fit_intercept=table.intercept, nu=NU, scale=LAM)
    agrees(given, design, reference(table, slab, prior))


@pytest.mark.parametrize("heredity", [None, "weak", "strong"])
@pytest.mark.parametrize("slab", COEFFICIENTS)
@pytest.mark.parametrize("table", [MIXED, MIXED_ALWAYS], ids=lambda table: table.name)
def test_columns_of_all_kinds(table: Table, slab: str, heredity: str | None) -> None:
    design = bt.make_linear_design(FRAME, RESPONSE, interactions=[("colour", "z")])
    always = ("flag",) if table.always else ()
    given = bt.Subset(
        MODEL_PRIORS["beta-binomial"], COEFFICIENTS[slab], always=always, heredity=heredity, nu=NU, scale=LAM
    )
    agrees(given, design, reference(table, slab, "beta-binomial", heredity))
