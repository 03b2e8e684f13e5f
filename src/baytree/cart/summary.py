"""The posterior over single trees in a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..posterior.summary import BaseSummary, largest_first, share_table
from ..text import counted

if TYPE_CHECKING:
    from .posterior import Posterior

TOP_TREES = 5


@dataclass(frozen=True)
class Summary(BaseSummary):
    """The figures that describe a posterior over trees.

    Attributes
    ----------
    inclusion : dict of str to float
        The inclusion probability of each column, that a tree asks about it, largest first.
    top_trees : tuple of (float, int)
        Of the most probable trees: probability and number of leaves.
    """

    inclusion: dict[str, float]
    top_trees: tuple[tuple[float, int], ...]

    def found(self) -> list[list[str]]:
        """What the posterior says, in paragraphs of lines."""
        trees = [f"  {share:>6.2%}  {counted(leaves, 'leaf', 'leaves')}" for share, leaves in self.top_trees]
        return [
            share_table("probability that a tree asks about a column", self.inclusion),
            ["trees drawn most often", *trees],
        ]


def summarise(posterior: Posterior) -> Summary:
    """What `Posterior.summary` promises."""
    return Summary.of(
        posterior,
        inclusion=largest_first(posterior.inclusion()),
        top_trees=tuple((top.probability, top.tree.n_leaves) for top in posterior.top_trees(TOP_TREES)),
    )
