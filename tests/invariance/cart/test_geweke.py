"""Geweke's joint-distribution test: alternating tree | y by the sampler and y | tree by simulation leaves the joint
distribution of both as it is, so that trees keep their prior and all functions of (tree, y) their prior mean."""

import numpy as np
import pytest

import baytree as bt
from baytree.mcmc.mixtures import MixtureSpec
from exact.cart.chains import model
from exact.trees.native import read_space
from faults import injected
from invariance.cart.simulation import LEAF, SPACE, Floats, Forward, Ints, log_marginal, with_response
from reference.agreement import Disagreement, assert_agrees
from reference.trees.enumeration import NormalInverseGamma

pytestmark = pytest.mark.slow

STEPS = 12_000
DIRECT = 20_000
BATCHES = 60
LIMIT = 4.0


def functions(tree: int, y: Floats, forward: Forward) -> Floats:
    """Functions of tree and response together; logarithms and bounded ones, because y has heavy tails."""
    leaves = SPACE.leaves[tree]
    spread = np.log(y.var())
    centre = np.tanh(y.mean() - LEAF.mean)
    together = np.log(abs(y[0] - y[1]))
    return np.array([log_marginal(tree, y, forward), spread, centre**2, together, leaves * spread, leaves * together])


def direct(seed: int) -> Floats:
    """Independent draws of (tree, y)."""
    forward = Forward(LEAF, np.random.default_rng(seed))
    values = []
    for _ in range(DIRECT):
        tree = forward.tree()
        values.append(functions(tree, forward.response(*forward.means(tree)), forward))
    return np.array(values)


def successive(proposal: MixtureSpec, leaf: NormalInverseGamma, seed: int) -> tuple[Ints, Floats]:
    """The sampler and the simulation in turn, from a draw of both; one transition of the chain at a time."""
    forward = Forward(leaf, np.random.default_rng(seed))
    cart = model(SPACE, proposal)
    tree = forward.tree()
    y = forward.response(*forward.means(tree))
    trees, values = [], []
    for step in range(STEPS):
        start = bt.Tree(read_space(SPACE).schema, forward.trees[tree])
        post = bt.sample(
            cart, with_response(y), init=start, warmup=0, draws=1, thin=1, chains=1, seed=step, progress=False
        )
        tree = SPACE.index[post.tree(0, 0).rules]
        y = forward.response(*forward.means(tree, given=y))
        trees.append(tree)
        values.append(functions(tree, y, forward))
    return np.array(trees)[None], np.array(values)


def check(proposal: MixtureSpec, leaf: NormalInverseGamma = LEAF) -> None:
    trees, values = successive(proposal, leaf, seed=1)
    independent = direct(seed=2)
    batches = values.reshape(BATCHES, -1, values.shape[1]).mean(axis=1)
    error = np.hypot(batches.std(axis=0, ddof=1) / np.sqrt(BATCHES), independent.std(axis=0, ddof=1) / np.sqrt(DIRECT))
    deviation = (values.mean(axis=0) - independent.mean(axis=0)) / error
    if np.any(np.abs(deviation) > LIMIT):
        raise Disagreement(f"means of the functions off by {np.round(deviation, 1)} standard errors")
    assert_agrees(trees, SPACE.target(0), SPACE.groupings)


@pytest.mark.parametrize("proposal", ["uc", "auto"])
def test_joint_distribution_is_kept(proposal: str) -> None:
    check(proposal)


def test_wrong_kernel_is_caught() -> None:
    with injected("uc"), pytest.raises(Disagreement):
        check("uc")


def test_wrong_simulation_is_caught() -> None:
    """Responses from leaf means that spread more than the sampler's prior says."""
    with pytest.raises(Disagreement):
        check("uc", NormalInverseGamma(LEAF.mean, LEAF.kappa / 2, LEAF.nu, LEAF.scale))
