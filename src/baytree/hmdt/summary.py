"""The posterior of a hidden Markov decision tree in a page."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..hme.interpret.expert_words import ExpertWords
from ..plots.soft_trees import text_tree
from ..posterior.summary import BaseSummary
from ..text import counted, listed
from .model import HMDT

SPELT = {"exact": "EM by forward–backward", "mean_field": "EM under a mean field"}


@dataclass(frozen=True, repr=False)
class HMDTSummary(BaseSummary):
    """The figures that describe a hidden Markov decision tree.

    Attributes
    ----------
    sequences, seen : int
        Numbers of sequences, and of rows whose response was seen.
    epochs : int
        Passes over the data.
    converged : bool
        Whether EM ended by itself.
    log_likelihood : float
        log P(y | x) of the training rows, in the units of y; by a mean field its lower bound (ELBO).
    stays : tuple of tuple of float
        Of each node and branch, P(decision | the same one before), where all inputs are average.
    experts : tuple of ExpertWords
        What the leaves say, from left to right.
    """

    model: HMDT
    sequences: int
    seen: int
    epochs: int
    converged: bool
    log_likelihood: float
    stays: tuple[tuple[float, ...], ...]
    experts: tuple[ExpertWords, ...]

    unsaid = frozenset({"acceptance", "calibration"})

    @property
    def verdict(self) -> str:
        """Whether EM has converged, in a sentence."""
        if not self.converged:
            return f"{self.method} has not converged after {counted(self.epochs, 'epoch')}: raise epochs."
        return f"{self.method} ended by itself after {counted(self.epochs, 'epoch')}; one tree has no error bars."

    @property
    def agree(self) -> bool:
        """Whether EM has converged."""
        return self.converged

    @property
    def method(self) -> str:
        """How the tree was found, in words."""
        return SPELT[self.model.method]

    @property
    def what(self) -> str:
        """What was fitted, in words."""
        return "hidden Markov decision tree"

    @property
    def size(self) -> str:
        """The size of the table and of the tree, in words."""
        unseen = f" ({self.rows - self.seen:,} without a response)" if self.seen < self.rows else ""
        leaves = counted(self.model.branching**self.model.depth, "leaf", "leaves")
        return (
            f"{counted(self.rows, 'row')} in {counted(self.sequences, 'sequence')}{unseen}, "
            f"{counted(self.columns, 'column')}, {leaves} with {self.model.expert} experts"
        )

    @property
    def how(self) -> str:
        """How it was found, in words."""
        return f"{self.method}, {counted(self.epochs, 'epoch')}; seed {self.seed}"

    def drawn(self) -> list[str]:
        """How it was found, in lines."""
        bound = "at least " if self.model.method == "mean_field" else ""
        return [self.how, f"log-likelihood {bound}{self.log_likelihood:,.2f}"]

    def compared(self) -> list[list[str]]:
        """How chains compare: there are none."""
        return []

    def found(self) -> list[list[str]]:
        """What the posterior says, in paragraphs of lines."""
        title = "Nodes: how many rows the decision for each branch lasts, where inputs are average"
        return [[title, text_tree(self.model.depth, self.model.branching, self._line)]]

    def _line(self, level: int, place: int) -> str:
        if level == self.model.depth:
            return f"leaf {place + 1}: {self.experts[place]}"
        branching = self.model.branching
        node = (branching**level - 1) // (branching - 1) + place
        return listed([f"{length:,.{1 if length < 10 else 0}f}" for length in lengths_of(np.array(self.stays[node]))])


def lengths_of(stays: np.ndarray) -> np.ndarray:
    """How many rows a decision lasts on average that is made again with such a probability."""
    with np.errstate(divide="ignore"):
        return 1 / (1 - stays)
