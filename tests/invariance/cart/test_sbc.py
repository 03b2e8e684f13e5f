"""Simulation-based calibration: where tree and response come from the model, the truth ranks uniformly among the draws
of the posterior, for any function of tree, parameters and response."""

import numpy as np
import pytest
from scipy import stats

import baytree as bt
from baytree.mcmc.mixtures import MixtureSpec
from exact.cart.chains import model
from faults import injected
from invariance.cart.simulation import LEAF, SPACE, Floats, Forward, log_marginal, with_response
from reference.agreement import Disagreement
from reference.trees.enumeration import NormalInverseGamma

pytestmark = pytest.mark.slow

REPLICATES = 1600
DRAWS = 63
BINS = 16
LEAST_P = 1e-4
STATISTICS = ("log likelihood", "leaves", "f at the first row", "f at the last row")


def rank(truth: float, draws: Floats, generator: np.random.Generator) -> int:
    """How many draws lie below the truth; ties, of which trees give many, are broken at random."""
    equal = np.isclose(draws, truth, rtol=0, atol=1e-8)
    return int(np.sum((draws < truth) & ~equal) + generator.integers(np.sum(equal) + 1))


def replicate(proposal: MixtureSpec, forward: Forward, reader: Forward, seed: int) -> list[int]:
    """The ranks of one simulated data set; ``forward`` simulates, ``reader`` draws leaf means given the responses."""
    truth = forward.tree()
    mu, sigma = forward.means(truth)
    y = forward.response(mu, sigma)
    post = bt.sample(
        model(SPACE, proposal), with_response(y), warmup=300, draws=DRAWS, thin=40, chains=1, seed=seed, progress=False
    )
    trees = [SPACE.index[post.tree(0, draw).rules] for draw in range(DRAWS)]
    f = np.array([reader.means(tree, given=y)[0] for tree in trees])
    pairs = [
        (log_marginal(truth, y, reader), post.log_likelihood[0]),
        (SPACE.leaves[truth], SPACE.leaves[trees]),
        (mu[0], f[:, 0]),
        (mu[-1], f[:, -1]),
    ]
    return [rank(float(true), np.asarray(drawn, dtype=float), forward.generator) for true, drawn in pairs]


def check(proposal: MixtureSpec, leaf: NormalInverseGamma = LEAF) -> None:
    forward = Forward(leaf, np.random.default_rng(1))
    reader = Forward(LEAF, np.random.default_rng(2))
    ranks = np.array([replicate(proposal, forward, reader, seed) for seed in range(REPLICATES)])
    counts = [np.bincount(column * BINS // (DRAWS + 1), minlength=BINS) for column in ranks.T]
    p_values = dict(zip(STATISTICS, (float(stats.chisquare(count).pvalue) for count in counts), strict=True))
    if min(p_values.values()) <= LEAST_P:
        raise Disagreement(f"ranks are not uniform: {p_values}")


@pytest.mark.parametrize("proposal", ["uc", "auto"])
def test_truth_ranks_uniformly(proposal: str) -> None:
    check(proposal)


def test_wrong_kernel_is_caught() -> None:
    with injected("uc"), pytest.raises(Disagreement):
        check("uc")


def test_wrong_simulation_is_caught() -> None:
    """Responses noisier than the sampler's prior says."""
    with pytest.raises(Disagreement):
        check("uc", NormalInverseGamma(LEAF.mean, LEAF.kappa, LEAF.nu, 1.5 * LEAF.scale))
