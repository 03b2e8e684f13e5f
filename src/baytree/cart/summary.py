"""The posterior over single trees in a page."""

from __future__ import annotations

from dataclasses import dataclass

from ..posterior.summary import BaseSummary, share_table
from ..text import counted

TOP_TREES = 5


@dataclass(frozen=True)
class EveryTree:
    """What is certain because every tree was counted.

    Attributes
    ----------
    log_evidence : float
        log P(y | x).
    highest_log_likelihood : float
        log P(y | T, x) of the tree T of highest likelihood, certified.
    sets : int
        How many sets of rows were added up.
    listed : int
        How many of the most probable trees are listed.
    held : float
        Their probability, all together.
    """

    log_evidence: float
    highest_log_likelihood: float
    sets: int
    listed: int
    held: float

    def __str__(self) -> str:
        listed = f"the {self.listed:,} most probable trees hold {self.held:.1%}"
        most = f"no tree has a log likelihood above {self.highest_log_likelihood:.5f} (certified)"
        return f"log evidence {self.log_evidence:.5f}, by {self.sets:,} sets of rows\n{listed}; {most}"


@dataclass(frozen=True, repr=False)
class Summary(BaseSummary):
    """The figures that describe a posterior over trees.

    Attributes
    ----------
    inclusion : dict of str to float
        The inclusion probability of each column, that a tree asks about it, largest first.
    top_trees : tuple of (float, int)
        Of the most probable trees: probability and number of leaves.
    every_tree : EveryTree or None
        What is certain, where every tree was counted.
    """

    inclusion: dict[str, float]
    top_trees: tuple[tuple[float, int], ...]
    every_tree: EveryTree | None

    @property
    def verdict(self) -> str:
        """Whether the chains agree, in a sentence, and what to try where they do not."""
        if self.every_tree is None:
            return super().verdict
        return "Exact: every tree counted, and the draws are independent."

    @property
    def agree(self) -> bool:
        """Whether the chains agree, or there was nothing to agree on."""
        return self.every_tree is not None or super().agree

    @property
    def how(self) -> str:
        """How it was drawn, in words."""
        if self.every_tree is None:
            return super().how
        return f"{counted(self.chains * self.draws, 'independent draw')}; seed {self.seed}"

    def drawn(self) -> list[str]:
        """How it was drawn, in lines."""
        how, *rest = super().drawn()
        return [how, *([] if self.every_tree is None else str(self.every_tree).splitlines()), *rest]

    def compared(self) -> list[list[str]]:
        """How the chains compare, in paragraphs of lines."""
        return [] if self.every_tree is not None else super().compared()

    def found(self) -> list[list[str]]:
        """What the posterior says, in paragraphs of lines."""
        trees = [f"  {share:>6.2%}  {counted(leaves, 'leaf', 'leaves')}" for share, leaves in self.top_trees]
        return [
            share_table("probability that a tree asks about a column", self.inclusion),
            ["trees drawn most often" if self.every_tree is None else "most probable trees", *trees],
        ]
