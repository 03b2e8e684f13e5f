"""Soft trees by EM: posterior decisions as targets, then one generalised linear model at each node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal

import numpy as np

from ...errors import InputError
from ..numeric.arrays import Array, namespace
from ..numeric.logit import fit_least_squares, fit_newton
from ..tree.soft_tree import Responsibilities, SoftTree, responsibilities

Algorithm = Literal["em", "em2"]


@dataclass(frozen=True)
class Settings:
    """How EM runs.

    Attributes
    ----------
    algorithm : {"em", "em2"}
        Gates by IRLS, so that the log-likelihood never falls, or by one least squares on ln h.
    ridge : float
        The penalty of gates and experts.
    steps : int
        The most Newton steps of each M step.
    epochs : int
        The most passes over the data.
    tolerance : float
        EM ends when an epoch gains less than this a row.
    patience : int
        With rows held out, how many epochs may pass without a better fit to them.
    """

    algorithm: Algorithm = "em"
    ridge: float = 1e-3
    steps: int = 2
    epochs: int = 100
    tolerance: float = 1e-5
    patience: int = 5


@dataclass(frozen=True)
class Fit:
    """A soft tree and how it was reached.

    Attributes
    ----------
    tree : SoftTree
        The parameters.
    objective : tuple of float
        The penalised log-likelihood before each epoch, and after the last.
    held_out : tuple of float
        The mean log-likelihood of the rows held out, likewise; empty where there were none.
    converged : bool
        Whether it ended by itself.
    """

    tree: SoftTree
    objective: tuple[float, ...]
    held_out: tuple[float, ...]
    converged: bool


def penalised(tree: SoftTree, log_likelihood: Array, weight: Array, ridge: float) -> float:
    """The log-likelihood of the rows less the penalty."""
    return float(namespace(weight).sum(weight * log_likelihood)) - penalty(tree, ridge)


def penalty(tree: SoftTree, ridge: float) -> float:
    """What the ridge takes from the log-likelihood: half the squares of gates and experts, times the ridge."""
    gates = sum(float(namespace(gate).sum(gate**2)) for gate in tree.gates)
    return 0.5 * ridge * gates + float(tree.experts.penalty(ridge))


def maximise(
    tree: SoftTree,
    X: Array,
    Y: Array,
    weight: Array,
    found: Responsibilities,
    settings: Settings,
    free: tuple[Array, ...] | None = None,
) -> SoftTree:
    """The M step: each gate fits the decisions below it, each expert the rows that reach it.

    All gates are fitted at once, and so are all experts.
    """
    experts = tree.experts.fitted(X, Y, found.node[-1] * weight, settings.ridge, settings.steps)
    if not tree.gates:
        return SoftTree((), experts)
    xp = namespace(X)
    targets = xp.concat(found.branch, axis=0)
    reach = xp.concat(found.node[:-1], axis=0) * weight
    of_gates = None if free is None else xp.concat(free, axis=0)
    if settings.algorithm == "em":
        start = xp.concat(tree.gates, axis=0)
        fitted = fit_newton(X, targets, reach, start, settings.ridge, settings.steps, of_gates)
    else:
        fitted = fit_least_squares(X, targets, reach, settings.ridge, of_gates)
    ends = list(accumulate(gates.shape[0] for gates in tree.gates))
    levels = [fitted[begin:end, ...] for begin, end in pairwise([0, *ends])]
    return SoftTree(tuple(levels), experts)


def fit(
    tree: SoftTree,
    X: Array,
    Y: Array,
    weight: Array,
    settings: Settings,
    held_out: tuple[Array, Array, Array] | None = None,
    after_epoch: Callable[[int, float], bool] | None = None,
    free: tuple[Array, ...] | None = None,
) -> Fit:
    """Run EM.

    Parameters
    ----------
    tree : SoftTree
        Where to begin.
    X, Y, weight : array
        Inputs, outputs and weights.
    settings : Settings
        How.
    held_out : tuple of array, optional
        Inputs, outputs and weights of other rows; the tree that fits them best is the result.
    after_epoch : callable, optional
        Called with the epoch and the objective; what is true ends EM.
    free : tuple of array, each of shape (nodes of the level, columns), optional
        1 for the columns that a gate may use, 0 for those whose coefficients stay 0; by default all.
    """
    xp = namespace(X)
    total = float(xp.sum(weight))
    objective: list[float] = []
    judged: list[float] = []
    best, since = tree, 0
    converged = False
    for epoch in range(settings.epochs + 1):
        found = responsibilities(tree, X, Y)
        objective.append(penalised(tree, found.log_likelihood, weight, settings.ridge))
        if not np.isfinite(objective[-1]):
            raise InputError("the log-likelihood is no longer a number; rescale the columns or raise ridge")
        if held_out is not None:
            judged.append(_mean_log_likelihood(tree, *held_out))
            best, since = (tree, 0) if judged[-1] >= max(judged) else (best, since + 1)
            converged = since >= settings.patience
        if epoch > 0 and settings.algorithm == "em":
            converged = converged or objective[-1] - objective[-2] < settings.tolerance * total
        stopped = after_epoch is not None and after_epoch(epoch, objective[-1])
        if converged or stopped or epoch == settings.epochs:
            break
        tree = maximise(tree, X, Y, weight, found, settings, free)
    return Fit(tree if held_out is None else best, tuple(objective), tuple(judged), converged)


def _mean_log_likelihood(tree: SoftTree, X: Array, Y: Array, weight: Array) -> float:
    xp = namespace(X)
    return float(xp.sum(weight * tree.log_likelihood(X, Y)) / xp.sum(weight))
