"""The posterior over subsets in a page."""

from __future__ import annotations

from dataclasses import dataclass

from ..posterior.summary import BaseSummary
from ..text import counted
from .ranking import Coefficients, Inclusion, RankedModels

TOP = 5


@dataclass(frozen=True, repr=False)
class SubsetSummary(BaseSummary):
    """The figures that describe a posterior over subsets.

    Attributes
    ----------
    inclusion, top_models, coefficients
        What the methods of `SubsetPosterior` of these names give.
    median_model : tuple of str
        The columns that are more likely in than out.
    enumerated : bool
        Whether all models were looked at.
    """

    inclusion: Inclusion
    top_models: RankedModels
    coefficients: Coefficients
    median_model: tuple[str, ...]
    enumerated: bool

    unsaid = frozenset({"calibration"})

    @property
    def verdict(self) -> str:
        """Whether the chains agree, in a sentence, and what to try where they do not."""
        if self.enumerated:
            return f"{self.top_models.normalised.all}, and the draws are independent."
        return super().verdict

    @property
    def agree(self) -> bool:
        """Whether the chains agree, or there was nothing to agree on."""
        return self.enumerated or super().agree

    @property
    def what(self) -> str:
        """What was fitted, in words."""
        return "linear model"

    @property
    def how(self) -> str:
        """How it was drawn, in words."""
        if not self.enumerated:
            return super().how
        return f"{counted(self.chains * self.draws, 'independent draw')}; seed {self.seed}"

    def compared(self) -> list[list[str]]:
        """How the chains compare, in paragraphs of lines."""
        return [] if self.enumerated else [self.diagnostics.table()]

    def found(self) -> list[list[str]]:
        """What the posterior says, in paragraphs of lines."""
        return [
            ["probability that a column is in the model", str(self.inclusion)],
            ["most probable models", str(self.top_models)],
            ["coefficients, averaged over models", str(self.coefficients)],
            [f"median-probability model: {' + '.join(self.median_model) or '(no column)'}"],
        ]
