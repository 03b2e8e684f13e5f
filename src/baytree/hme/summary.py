"""The posterior of a hierarchical mixture of experts in a page."""

from __future__ import annotations

from dataclasses import dataclass

from ..posterior.summary import BaseSummary
from ..text import counted
from .interpret.expert_words import ExpertWords
from .interpret.gate_directions import GateDirections
from .model import HME

SPELT = {
    "em": "EM",
    "em2": "EM with gates by least squares",
    "online": "Recursive least squares",
    "gibbs": "Gibbs sampling",
    "variational": "The mean field",
}


@dataclass(frozen=True, repr=False)
class HMESummary(BaseSummary):
    """The figures that describe a posterior of soft trees.

    Attributes
    ----------
    has_chains : bool
        Whether the draws come from chains.
    epochs : int
        Passes over the data of a method without chains; 0 of chains.
    converged : bool
        Whether such a method ended by itself.
    live_leaves : int
        Leaves that a mean field has not shut; of other methods all.
    log_likelihood : float
        The mean over the draws.
    gates : GateDirections
        Those of the best tree.
    experts : tuple of ExpertWords
        Likewise.
    """

    model: HME
    has_chains: bool
    epochs: int
    converged: bool
    live_leaves: int
    log_likelihood: float
    gates: GateDirections
    experts: tuple[ExpertWords, ...]

    unsaid = frozenset({"acceptance", "calibration"})

    @property
    def verdict(self) -> str:
        """Whether the chains agree, or the method has converged, in a sentence, and what to try where not."""
        if self.has_chains:
            return super().verdict
        if not self.converged:
            return f"{self.method} has not converged after {counted(self.epochs, 'epoch')}: raise epochs."
        ended = f"{self.method} ended by itself after {counted(self.epochs, 'epoch')}"
        if self.model.method == "variational":
            return f"{ended}; {counted(self.live_leaves, 'leaf is live', 'leaves are live')}."
        return f"{ended}; one tree has no error bars."

    @property
    def agree(self) -> bool:
        """Whether the chains agree, or the method has converged."""
        return super().agree if self.has_chains else self.converged

    @property
    def method(self) -> str:
        """How the tree was found, in words."""
        return SPELT[self.model.method]

    @property
    def what(self) -> str:
        """What was fitted, in words."""
        return "soft tree"

    @property
    def size(self) -> str:
        """The size of the table and of the tree, in words."""
        leaves = counted(self.model.leaves, "leaf", "leaves")
        return f"{super().size}, {leaves} with {self.model.expert} experts"

    @property
    def how(self) -> str:
        """How it was found, in words."""
        if self.has_chains:
            return super().how
        total = self.chains * self.draws
        drawn = f"; {counted(total, 'independent draw')}" if total > 1 else ""
        return f"{self.method}, {counted(self.epochs, 'epoch')}{drawn}; seed {self.seed}"

    def compared(self) -> list[list[str]]:
        """How the chains compare, in paragraphs of lines."""
        return [self.diagnostics.table()] if self.has_chains else []

    def found(self) -> list[list[str]]:
        """What the posterior says, in paragraphs of lines."""
        return [[str(self.gates)]]
