"""Running baytree on a space, and its draws as positions in the enumeration."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import baytree as bt
from exact.agreement import Disagreement, assert_agrees
from exact.constraints import Constraints, broken
from exact.enumeration import Dirichlet, Tree
from exact.moves import MEETING_POINTS, classes
from exact.spaces import Space

ProposalSpec = str | Mapping[str, float]
Prior = bt.GrowTree | bt.slp.Program


def native_prior(space: Space) -> bt.GrowTree:
    """The space's prior as baytree has it."""
    prior = space.prior
    return bt.GrowTree(prior.alpha, prior.beta, prior.min_leaf, prior.rule) & known(
        prior.constraints, space.design.schema.names
    )


def growtree(space: Space, semantics: str) -> bt.slp.Program:
    """The shipped program with the space's parameters."""
    prior, text = space.prior, bt.slp.load("growtree.slp").text
    text = re.sub(r"min_leaf\(5\)", f"min_leaf({prior.min_leaf})", text)
    text = re.sub(
        r"S is 0\.95 \* exp\(1 \+ Depth, -1\.0\)", f"S is {prior.alpha} * exp(1 + Depth, -{prior.beta})", text
    )
    if prior.rule == "uniform":
        text = text.replace("    choose_feature(Node, Feature),\n", "")
    return bt.slp.Program(text, semantics=semantics)


def known(constraints: Constraints, names: Sequence[str]) -> bt.Knowledge:
    """The constraints in a person's words."""

    def bound(value: float) -> float | None:
        return value if math.isfinite(value) else None

    def called(features: Sequence[int]) -> list[str]:
        return [names[feature] for feature in features]

    stated: list[Any] = [bt.Forbid(names[feature]) for feature in constraints.forbidden]
    stated += [bt.Forbid(names[feature], below=depth) for feature, depth in constraints.below_depth]
    stated += [bt.Forbid(names[feature], below=names[above]) for feature, above in constraints.below_feature]
    stated += [bt.Only(depth, called(features)) for depth, features in constraints.only]
    stated += [
        bt.Box({names[feature]: (bound(low), bound(high)) for feature, low, high in box}) for box in constraints.boxes
    ]
    if constraints.interacting:
        stated.append(bt.Interact([called(group) for group in constraints.interacting]))
    if constraints.weights:
        stated.append(bt.Weights(dict(zip(names, constraints.weights, strict=True))))
    if constraints.max_depth is not None:
        stated.append(bt.MaxDepth(constraints.max_depth))
    if constraints.max_leaves is not None:
        stated.append(bt.MaxLeaves(constraints.max_leaves))
    return bt.Knowledge(tuple(stated))


def model(space: Space, proposal: ProposalSpec, power: float = 1.0, prior: Prior | None = None) -> bt.CART:
    """The space's prior, or what is said to be the same, and its leaf model, as baytree has them."""
    leaf = space.leaf
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
    proposal: ProposalSpec,
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
        space.design,
        warmup=1000,
        draws=draws,
        thin=thin,
        chains=chains,
        seed=seed,
        progress=False,
        init=None if start is None else bt.Tree(space.design.schema, start),
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


def moves_of(proposal: ProposalSpec) -> list[str]:
    """The names in a proposal."""
    return [proposal] if isinstance(proposal, str) else list(proposal)


def check(space: Space, proposal: ProposalSpec, power: float, states: NDArray[np.int64]) -> int:
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
