"""A learned spread of leaf values against quadrature over it: trees and spread together, for hard and for soft rules.

The saboteurs are references in which the prior of the spread is another one.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

import baytree as bt
from exact.bart.chains import Floats, design_of, model, parted, positions_of
from reference.agreement import Disagreement
from reference.bart.normal_sums import Noise, SumSpace
from reference.bart.soft_sums import SoftSums
from reference.bart.spaces import OFFSET, THREE
from reference.trees.spaces import GAP

POWERS = pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])

# Known noise and drawn, one tree and two, an offset, soft rules.
ALONE = SumSpace(name="gap", space=GAP, noise=Noise(0.4))
DRAWN = SumSpace(name="gap, sigma drawn", space=GAP, noise=Noise(0.5, nu=3.0), offset=OFFSET)
TWO = SumSpace(name="two of three", space=THREE, trees=2, noise=Noise(0.4))
SOFT = SoftSums(name="soft three", space=THREE, noise=Noise(0.4))
EVERY = (ALONE, DRAWN, TWO, SOFT)


@dataclass(frozen=True)
class HalfCauchy:
    """The prior of σ_μ: half-Cauchy between two multiples of its scale, in even steps of the logarithm."""

    scale: float
    least: float = 1 / 1024
    most: float = 8.0

    @property
    def log_grid(self) -> Floats:
        """The middles of cells that fill the range."""
        edges = np.linspace(np.log(self.scale * self.least), np.log(self.scale * self.most), 201)
        return (edges[:-1] + edges[1:]) / 2

    @property
    def log_prior(self) -> Floats:
        log_density = self.log_grid - np.log1p(np.exp(2 * (self.log_grid - np.log(self.scale))))
        return log_density - logsumexp(log_density)


def log_evidence(sums: SumSpace, spread: float, power: float) -> Floats:
    """Of each state, where σ_μ is known."""
    at = replace(sums, k=sums.k * sums.sigma_mu / spread)
    np.testing.assert_allclose(at.sigma_mu, spread)
    if isinstance(at, SoftSums):
        return at.averages(power)[0]
    log_likelihood = at.log_likelihood(np.exp(at.noise.log_grid), power)
    return logsumexp(log_likelihood + at.noise.log_prior, axis=1)


def draw(sums: SumSpace, power: float) -> bt.BARTPosterior:
    proposal = "auto" if isinstance(sums, SoftSums) else {"birth_death": 1, "change": 1}
    bart = replace(model(sums, proposal, power), k="learned")
    settings: dict[str, Any] = {"warmup": 500, "draws": 6000, "thin": 15, "chains": 4, "seed": 1, "progress": False}
    return bt.sample(bart, design_of(sums), **settings)


def check(sums: SumSpace, post: bt.BARTPosterior, prior: HalfCauchy, power: float) -> None:
    """Whether states have their probabilities and, whatever the state, P(σ_μ < its draw) is uniform."""
    grid = prior.log_grid
    evidence = np.stack([log_evidence(sums, spread, power) for spread in np.exp(grid)], axis=1)
    log_joint = sums.log_prior[:, None] + prior.log_prior + evidence
    joint = np.exp(log_joint - log_joint.max())
    joint /= joint.sum()
    below = np.concatenate([np.zeros((len(joint), 1)), np.cumsum(joint, axis=1)], axis=1) / joint.sum(1, keepdims=True)
    states = sums.state(positions_of(sums.space, post.ensemble.forest)[post.ensemble.tree_index])
    assert post.leaf_sd is not None
    place = np.clip((np.log(post.leaf_sd) - grid[0]) / (grid[1] - grid[0]) + 0.5, 0, len(grid) - 1e-9)
    cell = place.astype(np.int64)
    shares = below[states, cell] + (place - cell) * (below[states, cell + 1] - below[states, cell])
    parted(sums, states, shares, joint.sum(axis=1))


@POWERS
@pytest.mark.parametrize("sums", EVERY, ids=lambda sums: sums.name)
def test_the_spread_of_leaf_values(sums: SumSpace, power: float) -> None:
    post = draw(sums, power)
    assert post.model.calibrated.leaf_sd == pytest.approx(sums.sigma_mu)
    check(sums, post, HalfCauchy(sums.sigma_mu), power)


@POWERS
@pytest.mark.parametrize("sums", [ALONE, TWO, SOFT], ids=lambda sums: sums.name)
def test_another_prior_is_caught(sums: SumSpace, power: float) -> None:
    post = draw(sums, power)
    times = 1.15
    with pytest.raises(Disagreement):
        check(sums, post, HalfCauchy(times * sums.sigma_mu, 1 / 1024 / times, 8.0 / times), power)
