"""Running baytree's chains over subsets on small tables, and their draws as models of the enumeration."""

from __future__ import annotations

import numpy as np
from scipy import special

from baytree import _core
from baytree.mcmc.mixtures import MixtureSpec
from reference.agreement import Disagreement, assert_agrees
from reference.subset.linear_models import HyperG, Independent, Ints, LinearModels, Ridge, Slab

ONE_RUNG = _core.Tempering([1.0], 1, False, False)


def evidence(slab: Slab, rows: float, freedom: float, total: float) -> _core.Evidence:
    """What baytree calls a prior of coefficients."""
    kinds = _core.CoefficientPrior
    if isinstance(slab, HyperG):
        kind, parameter = kinds.hyper_gn if slab.per_row else kinds.hyper_g, slab.a
    elif isinstance(slab, Ridge):
        kind, parameter = kinds.ridge, slab.c
    elif slab.c == "eb":
        kind, parameter = kinds.empirical, 0.0
    else:
        kind, parameter = kinds.fixed, rows if isinstance(slab.c, str) else slab.c
    return _core.Evidence(kind, parameter, rows, freedom, total)


def problem(models: LinearModels) -> _core.SubsetProblem:
    """The same models as the core takes them."""
    table, free = models.table, len(models.table.free)
    x, y = table.columns, table.response
    log_odds = np.zeros(table.units)
    with np.errstate(divide="ignore"):
        if isinstance(models.prior, Independent):
            probability = np.array(models.prior.probability)
            log_odds[table.free] = special.logit(probability)
            log_size = np.full(free + 1, np.log1p(-probability).sum())
        else:
            h = np.zeros(free + 1)
            h[: len(models.prior.probability)] = models.prior.probability
            log_size = np.log(h / special.comb(free, np.arange(free + 1)))
    return _core.SubsetProblem(
        np.ascontiguousarray(x.T @ x),
        np.ascontiguousarray(x.T @ y),
        evidence(models.slab, table.rows, len(y) + models.nu, models.nu * models.lam + float(y @ y)),
        np.searchsorted(table.unit, np.arange(table.units + 1)).tolist(),
        [unit not in table.always for unit in range(table.units)],
        [list(table.parents.get(unit, ()) if models.heredity else ()) for unit in range(table.units)],
        models.heredity == "weak",
        log_size.tolist(),
        log_odds.tolist(),
    )


def numbers_of(models: LinearModels, unit: Ints, begin: Ints) -> Ints:
    """The numbers of models that are given one after the other by their units, which must be ascending."""
    table = models.table
    assert begin[0] == 0 and begin[-1] == len(unit) and np.all(np.diff(begin) >= 0)
    model = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
    members = np.zeros((len(begin) - 1, table.units), dtype=bool)
    members[model, unit] = True
    np.testing.assert_array_equal(np.nonzero(members)[1], unit)
    assert members[:, list(table.always)].all(), "a model lacks a unit that is always in"
    return members[:, table.free] @ (1 << np.arange(len(table.free)))


def shares(proposal: MixtureSpec) -> list[_core.SubsetShare]:
    """Of each move, how many turns an iteration makes."""
    given = {proposal: 1.0} if isinstance(proposal, str) else proposal
    return [_core.SubsetShare(_core.SubsetProposal[name], number) for name, number in given.items()]


def run(
    models: LinearModels,
    proposal: MixtureSpec,
    power: float = 1.0,
    *,
    chains: int = 4,
    draws: int = 2500,
    thin: int = 5,
    tempering: _core.Tempering = ONE_RUNG,
) -> tuple[Ints, list[_core.SubsetChain], list[dict[str, np.ndarray]]]:
    """Draws as numbers of models, (chains, draws), the chains, and what they recorded.

    Every draw must exist, and have the log prior and log likelihood that the enumeration gives.
    """
    given, parts, ran = problem(models), [], []
    for number in range(chains):
        chain = _core.SubsetChain(given, shares(proposal), power, tempering, 1, number)
        chain.warm_up(500, 1)
        chain.end_warm_up()
        chain.draw(draws, thin)
        ran.append(chain)
        parts.append(chain.take())
    states = np.stack([numbers_of(models, part["unit"], part["begin"])[part["model"]] for part in parts])
    if not models.exists[states].all():
        raise Disagreement("models of probability zero were visited")
    for part, state in zip(parts, states, strict=True):
        np.testing.assert_allclose(part["log_prior"], models.log_prior[state], rtol=0, atol=1e-9)
        np.testing.assert_allclose(part["log_likelihood"], models.log_likelihood[state], rtol=1e-9, atol=1e-9)
    return states, ran, parts


def check(models: LinearModels, proposal: MixtureSpec, power: float, thin: int = 5) -> None:
    """The draws have the enumerated distribution."""
    states, _, _ = run(models, proposal, power, thin=thin)
    assert_agrees(states, models.target(power), models.groupings)


def check_by_size(models: LinearModels, proposal: MixtureSpec, power: float) -> None:
    """The draws of proposals that keep the size have the enumerated distribution given the size."""
    states, _, _ = run(models, proposal, power, chains=16, draws=1000)
    assert np.all(models.sizes[states] == models.sizes[states[:, :1]]), "the size changed"
    several = 0
    for size in np.unique(models.sizes[states[:, 0]]):
        inside = np.where(models.sizes == size, models.target(power), 0.0)
        given = states[models.sizes[states[:, 0]] == size]
        assert_agrees(given, inside / inside.sum(), models.groupings)
        several += (inside > 0).sum() > 1
    assert several, "every chain was of a size that has one model"
