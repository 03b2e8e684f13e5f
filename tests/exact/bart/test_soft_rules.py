"""Soft rules against quadrature over their bandwidths: trees, bandwidths, fits and weights of columns together.

Each move has its saboteur, and each part of the model another value that the same check must reject.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree.mcmc.mixtures import MixtureSpec
from exact.bart.chains import model, positions_of
from exact.trees.native import read_space
from faults import injected
from reference.agreement import Disagreement, assert_agrees, assert_means_agree
from reference.bart.normal_sums import Noise
from reference.bart.soft_sums import NODES, SoftSums
from reference.bart.spaces import BLOCKED, THREE
from reference.trees.constraints import Constraints
from reference.trees.dirichlet_weights import DirichletWeights
from reference.trees.spaces import GAP, MISSING, WEIGHTED_REAL, Space

FIXED = Noise(0.4)
WITHOUT_CHANGES: MixtureSpec = {"birth_death": 1, "bandwidth": 1}

POWERS = pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])


def small(space: Space, most: int) -> Space:
    """The space with trees of so many leaves at most."""
    return replace(space, prior=replace(space.prior, constraints=Constraints(max_leaves=most)))


# Two columns; missing values that go either way, or are asked for, below and above soft rules; level sets and weights.
SEVERAL_SPLITS = SoftSums(name="several splits", space=GAP, noise=FIXED)
MISSING_VALUES = SoftSums(name="missing values", space=small(MISSING, 4), noise=FIXED, bandwidth=0.4)
WEIGHTED_LEVELS = SoftSums(name="weighted levels", space=WEIGHTED_REAL, noise=Noise(0.6))
TWO = SoftSums(name="two of three", space=THREE, trees=2, noise=FIXED, k=1.0)
SPARSE = SoftSums(name="sparse", space=small(BLOCKED, 4), noise=FIXED, weights=DirichletWeights())
EVERY = (SEVERAL_SPLITS, MISSING_VALUES, WEIGHTED_LEVELS, TWO, SPARSE)


def name(value: object) -> str:
    return "+".join(value) if isinstance(value, dict) else str(getattr(value, "name", value))


def draw(sums: SoftSums, proposal: MixtureSpec, power: float, draws: int = 4000) -> bt.BARTPosterior:
    thin = 30 if sums.weights is not None or "change" not in proposal else 15
    settings: dict[str, Any] = {"warmup": 500, "draws": draws, "thin": thin, "chains": 4, "seed": 1, "progress": False}
    return bt.sample(model(sums, proposal, power), read_space(sums.space), **settings)


def check(sums: SoftSums, post: bt.BARTPosterior, power: float) -> None:
    """Compare draws with their exact distribution."""
    states = sums.state(positions_of(sums.space, post.ensemble.forest)[post.ensemble.tree_index])
    assert_agrees(states, sums.target(power), sums.groupings)
    fits = post.prediction.predict(post.bins_of(read_space(sums.space)), "draws") - sums.centre
    bandwidths, widths = post.ensemble.bandwidths, np.float32(sums.bandwidth)
    assert bandwidths is not None
    splits = (post.ensemble.leaves - 1).sum(axis=2)
    ends = splits.cumsum().reshape(splits.shape)
    series = [fits, fits**2]
    for one in (bandwidths, np.where(bandwidths > 0, np.exp(-bandwidths / widths), 0)):
        total = np.concatenate([[0.0], one.cumsum(dtype=np.float64)])
        series.append((total[ends] - total[ends - splits])[..., None])
    assert_means_agree(np.concatenate(series, axis=-1), sums.means(power))
    if sums.weights is not None:
        share = post.concentration / (post.concentration + len(sums.space.raw))
        weights = np.concatenate([np.exp(post.log_weights), share[..., None]], axis=-1)
        assert_means_agree(weights, sums.target(power) @ sums.weights.means(sums.space, sums.parts))


@POWERS
@pytest.mark.parametrize("sums", EVERY, ids=name)
def test_soft_rules(sums: SoftSums, power: float) -> None:
    check(sums, draw(sums, "auto", power), power)


@POWERS
@pytest.mark.parametrize("sums", [SEVERAL_SPLITS, TWO], ids=name)
def test_without_changes(sums: SoftSums, power: float) -> None:
    check(sums, draw(sums, WITHOUT_CHANGES, power), power)


@pytest.mark.parametrize("sums", [WEIGHTED_LEVELS, TWO, SPARSE], ids=name)
def test_the_quadrature_has_nodes_enough(sums: SoftSums) -> None:
    """More of them change probabilities and means by far less than a Monte Carlo error."""
    finer = replace(sums, nodes=tuple(number * 3 // 2 for number in NODES))
    np.testing.assert_allclose(finer.target(1.0), sums.target(1.0), atol=2e-5)
    np.testing.assert_allclose(finer.means(1.0), sums.means(1.0), atol=2e-5)


# ---- saboteurs -------------------------------------------------------------------------------------------------------


@POWERS
@pytest.mark.parametrize("fault", ["sum_birth_death", "sum_change", "sum_bandwidth"])
@pytest.mark.parametrize("sums", [SEVERAL_SPLITS, WEIGHTED_LEVELS], ids=name)
def test_wrong_moves_are_caught(sums: SoftSums, fault: str, power: float) -> None:
    proposal = {"birth_death": 1.0, "change": 1.0, "bandwidth": 1.0}
    with injected(fault), pytest.raises(Disagreement):
        check(sums, draw(sums, proposal, power), power)


ANOTHER: dict[str, tuple[SoftSums, dict[str, Any]]] = {
    "bandwidth": (SEVERAL_SPLITS, {"bandwidth": 0.22}),
    "sigma": (SEVERAL_SPLITS, {"noise": Noise(0.44)}),
    "k": (WEIGHTED_LEVELS, {"k": 2.2}),
    "weights of rows": (
        WEIGHTED_LEVELS,
        {"space": replace(WEIGHTED_REAL, weight=(1.0,) * 4 + (0.0,) + (1.0,) * 4)},
    ),
    "even weights": (SPARSE, {"weights": None}),
}


@pytest.mark.parametrize("part", ANOTHER)
def test_another_model_is_caught(part: str) -> None:
    sums, other = ANOTHER[part]
    post = draw(sums, "auto", 1.0)
    with pytest.raises(Disagreement):
        check(replace(sums, **other), post, 1.0)
