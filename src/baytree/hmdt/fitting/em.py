"""Hidden Markov decision trees by EM, exact or by a mean field."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...hme.fitting.em import Settings
from ...hme.numeric.logit import fit_newton
from ..data.sequences import Sequences
from ..tree.markov_tree import Expected, MarkovTree, smoothed
from ..tree.mean_field import MeanField

# Sweeps of the mean field in one E step; it goes on where the last one ended.
SWEEPS = 3


@dataclass(frozen=True)
class MarkovFit:
    """A tree and how it was reached.

    Attributes
    ----------
    tree : MarkovTree
        The parameters.
    objective : tuple of float
        The penalised log-likelihood, or its bound, before each epoch and after the last.
    log_likelihood : float
        Of the rows, or its bound, at the end.
    converged : bool
        Whether it ended by itself.
    """

    tree: MarkovTree
    objective: tuple[float, ...]
    log_likelihood: float
    converged: bool


def penalty(tree: MarkovTree, ridge: float) -> float:
    """What the ridge takes from the log-likelihood."""
    return 0.5 * ridge * float(np.sum(tree.gates**2)) + float(tree.experts.penalty(ridge))


@dataclass(frozen=True)
class Steps:
    """The steps of a node as rows of a logit model: each row of the table once for every decision before.

    Attributes
    ----------
    matrix : numpy.ndarray
        Inputs, then indicators of the decision before, and of there being none.
    row, before : numpy.ndarray
        Where each step is found among the pairs of an E step.
    """

    matrix: np.ndarray
    row: np.ndarray
    before: np.ndarray

    @classmethod
    def of(cls, sequences: Sequences, branching: int) -> Steps:
        """The steps of all sequences."""
        first = np.flatnonzero(sequences.first)
        later = np.flatnonzero(~sequences.first)
        row = np.concatenate([first, np.repeat(later, branching)])
        decision = np.tile(np.arange(branching), len(later))
        indicator = np.eye(branching + 1)[np.concatenate([np.full(len(first), branching), decision])]
        matrix = np.column_stack([sequences.X[row, :-1], indicator])
        return cls(matrix, row, np.concatenate([np.zeros(len(first), dtype=int), decision]))


def maximise(tree: MarkovTree, sequences: Sequences, steps: Steps, found: Expected, settings: Settings) -> MarkovTree:
    """The M step: each gate fits the steps of its node, each expert the rows that reach it."""
    targets = found.pair[steps.row, :, steps.before].transpose(1, 0, 2)
    ones = np.ones(targets.shape[:2])
    gates = fit_newton(steps.matrix, targets, ones, tree.gates, settings.ridge, settings.steps)
    weight = found.leaf.T * sequences.seen
    experts = tree.experts.fitted(sequences.X, sequences.Y, weight, settings.ridge, settings.steps)
    return MarkovTree(gates, experts)


def expect(
    tree: MarkovTree, sequences: Sequences, exact: bool, last: Expected | None = None, threads: int = 1
) -> Expected:
    """The E step; the mean field goes on from the last one's."""
    if exact:
        return smoothed(tree, sequences, threads)
    return MeanField(tree, sequences, None if last is None else last.decision, threads).run(SWEEPS).expected


def fit(tree: MarkovTree, sequences: Sequences, settings: Settings, exact: bool, threads: int = 1) -> MarkovFit:
    """Run EM.

    With an exact E step the penalised log-likelihood never falls, with the mean field its bound does not.

    Parameters
    ----------
    tree : MarkovTree
        Where to begin.
    sequences : Sequences
        The rows.
    settings : Settings
        How.
    exact : bool
        Whether to sum over the joint states of all nodes, or to fit a chain for each.
    threads : int
        Of the core.
    """
    steps = Steps.of(sequences, tree.branching)
    objective: list[float] = []
    found: Expected | None = None
    converged = False
    for epoch in range(settings.epochs + 1):
        found = expect(tree, sequences, exact, found, threads)
        log_likelihood = float(found.log_likelihood.sum())
        objective.append(log_likelihood - penalty(tree, settings.ridge))
        if not np.isfinite(objective[-1]):
            raise InputError("the log-likelihood is no longer a number; rescale the columns or raise ridge")
        converged = epoch > 0 and objective[-1] - objective[-2] < settings.tolerance * sequences.rows
        if converged or epoch == settings.epochs:
            break
        tree = maximise(tree, sequences, steps, found, settings)
    return MarkovFit(tree, tuple(objective), log_likelihood, converged)
