"""Running baytree on a space, and its draws as positions in the enumeration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import baytree as bt
from baytree.mcmc.mixtures import MixtureSpec
from exact.trees.native import native_prior, read_space
from reference.agreement import Disagreement, assert_agrees
from reference.trees.constraints import broken
from reference.trees.enumeration import Dirichlet, Normal, Tree
from reference.trees.moves import MEETING_POINTS, classes
from reference.trees.spaces import Space

Prior = bt.GrowTree | bt.EditTree | bt.slp.Program


def model(space: Space, proposal: MixtureSpec, power: float = 1.0, prior: Prior | None = None) -> bt.CART:
    """The space's prior, or what is said to be the same, and its leaf model, as baytree has them."""
    leaf = space.leaf
    assert not isinstance(leaf, Normal)
    return bt.CART(
        prior=prior or native_prior(space),
        leaf=bt.Categorical(concentration=leaf.concentration)
        if isinstance(leaf, Dirichlet)
        else bt.Gaussian(mean=leaf.mean, kappa=leaf.kappa, nu=leaf.nu, scale=leaf.scale),
        proposal=proposal,
        power=power,
    )


def run(
    space: Space,
    proposal: MixtureSpec,
    power: float,
    *,
    chains: int,
    draws: int,
    thin: int,
    seed: int,
    start: Tree | None = None,
    prior: Prior | None = None,
) -> NDArray[np.int64]:
    """Draws as positions in the enumeration, (chains, draws).

    Every draw must be a tree of the space, break no constraint, and carry the log prior and log likelihood that the
    enumeration gives.
    """
    post = bt.sample(
        model(space, proposal, power, prior),
        read_space(space),
        warmup=1000,
        draws=draws,
        thin=thin,
        chains=chains,
        seed=seed,
        progress=False,
        init=None if start is None else bt.Tree(read_space(space).schema, start),
    )
    return positions(space, post)


def positions(space: Space, post: bt.Posterior) -> NDArray[np.int64]:
    """The draws as positions in the enumeration, checked as `run` says."""
    stored, at = np.unique(post.tree_index, return_inverse=True)
    keys = [post.forest.key(tree) for tree in stored]
    known: dict[bytes, int] = {}
    for tree, key in zip(stored, keys, strict=True):
        if key not in known:
            rules = post.trees[tree].rules
            if rules not in space.index:
                raise Disagreement(f"a tree of prior probability zero was visited: {rules}")
            assert not broken(space.prior.constraints, space.table.columns, rules)
            known[key] = space.index[rules]
    states = np.array([known[key] for key in keys])[at].reshape(post.tree_index.shape)
    np.testing.assert_allclose(post.log_prior, space.log_prior[states], rtol=0, atol=1e-9)
    np.testing.assert_allclose(post.log_likelihood, space.log_likelihood[states], rtol=0, atol=1e-9)
    return states


def moves_of(proposal: MixtureSpec) -> list[str]:
    """The names in a proposal."""
    return [proposal] if isinstance(proposal, str) else list(proposal)


def check(space: Space, proposal: MixtureSpec, power: float, states: NDArray[np.int64]) -> int:
    """Compare each chain with the target on the class of trees that it can reach; the largest such class is returned.

    A proposal that reaches every tree has one class, and then this is the target itself.
    """
    names = moves_of(proposal)
    reducible = all(name in MEETING_POINTS for name in names)
    label = classes(list(space.trees), names) if reducible else np.zeros(len(space.trees), dtype=np.int32)
    exact = space.target(power)
    largest = 0
    for one in np.unique(label[states[:, 0]]):
        inside = np.where(label == one, exact, 0.0)
        assert_agrees(states[label[states[:, 0]] == one], inside / inside.sum(), space.groupings)
        largest = max(largest, int((label == one).sum()))
    return largest
