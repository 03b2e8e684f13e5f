"""Where EM for hidden Markov decision trees begins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...hme.data.inputs import Inputs
from ...hme.fitting.initialisation import initial_trees
from ...hme.tree.experts import Experts, first_experts
from ...hme.tree.soft_tree import SoftTree
from ..data.sequences import Sequences
from ..tree.markov_tree import MarkovTree

if TYPE_CHECKING:
    from ..model import HMDT

# By how much a node begins to favour its last decision, in log odds against each other one.
LOYALTY = 2.0
# Stretches of time that are tried as the beginning of an expert, and the rows of one for each coefficient.
STRETCHES, ROWS_FOR_EACH = 50, 5


def with_memory(soft: SoftTree) -> MarkovTree:
    """The tree whose nodes decide as those of a soft tree, but tend to stay with their last decision.

    Parameters
    ----------
    soft : SoftTree
        Gates with their level in the last column, and experts.
    """
    gates = np.concatenate([np.asarray(gates) for gates in soft.gates])
    level = gates[:, :, -1:]
    stay = LOYALTY * np.eye(soft.branching)
    before = level + (stay[:-1] - stay[-1:])  # the last branch has scores 0
    return MarkovTree(np.concatenate([gates[:, :, :-1], before, level], axis=2), soft.experts)


def initial_markov_trees(
    model: HMDT, sequences: Sequences, inputs: Inputs, generator: np.random.Generator
) -> Iterator[MarkovTree]:
    """The trees at which EM begins.

    Parameters
    ----------
    model : HMDT
        What to fit, resolved.
    sequences : Sequences
        The rows.
    inputs : Inputs
        How rows of the table became inputs.
    generator : numpy.random.Generator
        Of what is random.
    """
    if model.by_stretches:
        for _ in range(model.n_init):
            yield from_stretches(model.expert, sequences, model.depth, model.branching, generator)
        return
    rows = sequences.X[sequences.seen], sequences.Y[sequences.seen], np.ones(int(sequences.seen.sum()))
    for soft in initial_trees(model.without_memory, rows, inputs, generator):
        yield with_memory(soft)


def from_stretches(
    family: str, sequences: Sequences, depth: int, branching: int, generator: np.random.Generator
) -> MarkovTree:
    """Undecided gates over experts that were each fitted to a short stretch of time.

    Decisions last, so a stretch is often of one expert, whatever the inputs say. The first is drawn at random, each
    further one with a probability proportional to what its own expert explains better than those that are there, as
    the centres of k-means++ (Arthur & Vassilvitskii 2007).

    Parameters
    ----------
    family : str
        Of the experts.
    sequences : Sequences
        The rows.
    depth, branching : int
        The tree's.
    generator : numpy.random.Generator
        Of the stretches.
    """
    alike = first_experts(family, sequences.X, sequences.Y, sequences.seen.astype(float), 1)
    rows, stretch = _stretches(sequences, ROWS_FOR_EACH * alike.coefficients[0].size, generator)
    X, Y = sequences.X[rows], sequences.Y[rows]
    within = (np.arange(STRETCHES)[:, None] == stretch).astype(float)
    # A ridge keeps experts of few rows near the average.
    tried = _at(alike, [0] * STRETCHES).fitted(X, Y, within, 1.0, 5)
    fit = within @ np.asarray(tried.log_density(X, Y)).T  # of the stretches, by the experts
    chosen = [int(generator.integers(STRETCHES))]
    while len(chosen) < branching**depth:
        better = np.maximum(fit.diagonal() - fit[:, chosen].max(axis=1), 0) + np.finfo(float).tiny
        chosen.append(int(generator.choice(STRETCHES, p=better / better.sum())))
    gates = tuple(np.zeros((branching**level, branching - 1, X.shape[1])) for level in range(depth))
    return with_memory(SoftTree(gates, _at(tried, chosen)))


def _stretches(sequences: Sequences, length: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of stretches of time whose outputs were seen, and the number of the stretch of each."""
    begin = generator.choice(np.flatnonzero(sequences.seen), size=STRETCHES)
    end = sequences.begin[np.searchsorted(sequences.begin, begin, side="right")]
    spans = [np.arange(first, min(first + length, last)) for first, last in zip(begin, end, strict=True)]
    rows = np.concatenate(spans)
    stretch = np.repeat(np.arange(STRETCHES), [len(span) for span in spans])
    return rows[sequences.seen[rows]], stretch[sequences.seen[rows]]


def _at(experts: Experts, leaves: list[int]) -> Experts:
    """The experts of some leaves."""
    of_leaves = {name: vars(experts)[name][leaves] for name in ("coefficients", "variance") if name in vars(experts)}
    return replace(experts, **of_leaves)
