"""Running baytree's sums of trees on a space, and its draws as states of the enumeration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

import baytree as bt
from baytree.mcmc.mixtures import MixtureSpec
from baytree.trees.forest import Ensemble, Forest, rules_of
from exact.trees.native import native_prior, read_space
from reference.agreement import Disagreement, assert_agrees, assert_means_agree
from reference.bart.normal_sums import SumSpace
from reference.bart.soft_sums import SoftSums
from reference.bart.tuples import Floats, Ints, Tuples
from reference.bart.utilities import UtilitySpace, class_probability
from reference.trees.constraints import broken
from reference.trees.enumeration import Tree
from reference.trees.spaces import Space

# Shares of a distribution are counted in so many parts.
BINS = 4


@dataclass(frozen=True)
class Draws:
    """Draws as the enumeration has them.

    States have the shape (chains, draws), σ too; the values of trees at rows (chains, draws, slots, rows). Where the
    weights of columns are learned, they come with a/(a + p), (chains, draws, columns + 1).
    """

    states: Ints
    at_rows: Floats
    sigma: Floats | None
    weights: Floats | None


def design_of(tuples: SumSpace | UtilitySpace) -> bt.Design:
    offset = None if tuples.offset is None else np.array(tuples.offset)
    return replace(read_space(tuples.space), offset=offset)


def model(tuples: SumSpace | UtilitySpace, proposal: MixtureSpec, power: float = 1.0) -> bt.BART:
    """The space as baytree has it."""
    prior = native_prior(tuples.space)
    if tuples.weights is not None:
        prior = prior & bt.Weights("sparse")
    noise: dict[str, Any] = {}
    if isinstance(tuples, SumSpace):
        noise = {"sigma": tuples.noise.guess, "nu": tuples.noise.nu, "q": tuples.noise.q}
    soft: dict[str, Any] = {"split": "soft", "bandwidth": tuples.bandwidth} if isinstance(tuples, SoftSums) else {}
    return bt.BART(trees=tuples.trees, prior=prior, k=tuples.k, proposal=proposal, power=power, **noise, **soft)


def run(
    tuples: SumSpace | UtilitySpace,
    proposal: MixtureSpec,
    power: float,
    *,
    thin: int,
    chains: int = 4,
    draws: int = 6000,
) -> Draws:
    """Draws from baytree, whose log-likelihoods must be those of their trees, values and σ."""
    bart = model(tuples, proposal, power)
    post = bt.sample(bart, design_of(tuples), warmup=500, draws=draws, thin=thin, chains=chains, seed=1, progress=False)
    np.testing.assert_allclose(post.model.calibrated.leaf_sd, tuples.sigma_mu)
    np.testing.assert_allclose(post.model.centre, tuples.centre)
    weights = None
    if post.concentration is not None:
        share = post.concentration / (post.concentration + len(tuples.space.raw))
        weights = np.concatenate([np.exp(post.log_weights), share[..., None]], axis=-1)
    found = read(tuples, post.ensemble, post.sigma, weights)
    np.testing.assert_allclose(post.log_likelihood, log_likelihood(tuples, found), rtol=0, atol=1e-3)
    return found


def run_from(
    sums: SumSpace, proposal: MixtureSpec, power: float, start: Tree, *, thin: int, draws: int = 6000
) -> Draws:
    """Draws of four chains that start at a given tree, which `bt.sample` does not offer."""
    design = design_of(sums)
    bart = model(sums, proposal, power).resolve(design)
    parts = []
    for chain in bart.chains(design, 1, 4):
        placed = bt.Tree(design.schema, start).forest()
        begin = {
            "trees": {name: array.tolist() for name, array in placed.arrays().items()},
            "values": [0.0] * int(placed.leaves.sum()),
        }
        bart.restore(chain, bart.state_of(chain) | begin)
        chain.draw(draws, thin)
        parts.append(bart.take(chain))
    stored = np.cumsum([0, *(len(part["begin"]) for part in parts[:-1])])
    tree_index = [part["tree"].reshape(draws, 1) + first for part, first in zip(parts, stored, strict=True)]
    values = np.concatenate([part["value"] for part in parts])
    taken = Ensemble(Forest.concatenate(parts), np.stack(tree_index), values)
    return read(sums, taken, np.stack([part["sigma"] for part in parts]))


def log_likelihood(tuples: SumSpace | UtilitySpace, draws: Draws) -> Floats:
    """log P(y | trees, values, σ) of each draw."""
    if isinstance(tuples, SumSpace):
        residual = tuples.response - tuples.centre - draws.at_rows.sum(axis=2)
        assert draws.sigma is not None
        spread = draws.sigma[..., None] / np.sqrt(tuples.row_weights)
        return stats.norm.logpdf(residual, 0, spread).sum(axis=-1)
    utilities = utilities_of(tuples, draws)
    rows = enumerate(zip(map(int, tuples.space.table.response), tuples.row_weights, strict=True))
    return np.sum(
        [weight * np.log(class_probability(utilities[..., row, :], one)) for row, (one, weight) in rows], axis=0
    )


def utilities_of(space: UtilitySpace, draws: Draws) -> Floats:
    """The utilities of each row, (chains, draws, rows, utilities)."""
    chains, number, _, rows = draws.at_rows.shape
    sums = draws.at_rows.reshape(chains, number, space.utilities, space.trees, rows).sum(axis=3)
    offset = np.zeros(rows) if space.offset is None else np.array(space.offset)
    return np.moveaxis(sums, 2, 3) + space.centre + offset[:, None]


def read(tuples: Tuples, sums: Ensemble, sigma: Floats | None, weights: Floats | None = None) -> Draws:
    """The draws as the enumeration has them."""
    trees = positions_of(tuples.space, sums.forest)[sums.tree_index]
    at_rows = sums.values[sums.first[..., None] + tuples.leaf_of[trees]].astype(np.float64)
    return Draws(tuples.state(trees), at_rows, sigma, weights)


def positions_of(space: Space, forest: Forest) -> Ints:
    """Where each stored tree is in the enumeration; it must be there and break no constraint."""
    positions = np.empty(len(forest), dtype=np.int64)
    known: dict[bytes, int] = {}
    for tree in range(len(forest)):
        key = forest.key(tree)
        if key not in known:
            rules = rules_of(forest, tree)
            if rules not in space.index:
                raise Disagreement(f"a tree of prior probability zero was visited: {rules}")
            assert not broken(space.prior.constraints, space.table.columns, rules)
            known[key] = space.index[rules]
        positions[tree] = known[key]
    return positions


def parted(tuples: Tuples, states: Ints, shares: Floats, target: Floats) -> None:
    """Whether states have their probabilities and, whatever the state, shares are uniform."""
    part = np.minimum((shares * BINS).astype(np.int64), BINS - 1)
    groupings = {name: np.repeat(labels, BINS) for name, labels in tuples.groupings.items()}
    groupings["part"] = np.tile(np.arange(BINS), len(target))
    groupings["leaves and part"] = groupings["all leaves"] * BINS + groupings["part"]
    assert_agrees(states * BINS + part, np.repeat(target, BINS) / BINS, groupings)


def check(tuples: SumSpace | UtilitySpace, draws: Draws, power: float) -> None:
    """Compare the draws with their exact distribution."""
    if isinstance(tuples, SumSpace):
        check_sums(tuples, draws, power)
    else:
        check_utilities(tuples, draws, power)
    if tuples.weights is not None:
        assert draws.weights is not None
        means = tuples.weights.means(tuples.space, tuples.parts)
        assert_means_agree(draws.weights, tuples.target(power) @ means)


def check_sums(sums: SumSpace, draws: Draws, power: float) -> None:
    """Compare states, σ, and values of the sum and of its trees with their exact joint distribution."""
    assert draws.sigma is not None
    target, states, sigma = sums.target(power), draws.states.ravel(), draws.sigma.ravel()
    if np.isfinite(sums.noise.nu):
        parted(sums, draws.states, sums.sigma_share(states, sigma, power).reshape(draws.states.shape), target)
    else:
        np.testing.assert_allclose(sigma, sums.noise.guess, rtol=1e-6)
    last = len(sums.response) - 1
    for row, part in [(0, None), (last, None), *((0, slot) for slot in range(sums.slots) if sums.slots > 1)]:
        values = draws.at_rows[..., row].sum(axis=-1) if part is None else draws.at_rows[..., part, row]
        shares = sums.value_share(states, sigma, values.ravel(), power, row, part)
        parted(sums, draws.states, shares.reshape(draws.states.shape), target)


def check_utilities(space: UtilitySpace, draws: Draws, power: float) -> None:
    """Compare states with their probabilities, and class probabilities and utilities with their means."""
    assert draws.sigma is None
    assert_agrees(draws.states, space.target(power), space.groupings)
    utilities = utilities_of(space, draws)
    values, exact = [], []
    for row, *_ in space.cells:
        at = utilities[:, :, row]
        for one in range(max(space.utilities, 2)):
            values.append(class_probability(at, one))
            exact.append(space.expectation(partial(class_probability, one=one), row, power))
        values += [at[..., 0], at[..., 0] ** 2]
        exact += [space.expectation(part, row, power) for part in (lambda u: u[..., 0], lambda u: u[..., 0] ** 2)]
    assert_means_agree(np.stack(values, axis=-1), np.array(exact))
