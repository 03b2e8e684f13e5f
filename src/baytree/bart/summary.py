"""The posterior of a sum of trees in a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..posterior.summary import BaseSummary, largest_first, share_table
from ..text import counted

if TYPE_CHECKING:
    from .posterior import BARTPosterior


@dataclass(frozen=True)
class BARTSummary(BaseSummary):
    """The figures that describe a posterior of sums of trees.

    Attributes
    ----------
    offset : bool
        Whether the rows had an offset.
    sums : int
        How many sums of trees a draw has: of several classes one for each.
    trees : int
        Trees in each sum, the size of the ensemble.
    leaves : float
        The mean number of leaves of a tree.
    variable_use : dict of str to float
        The mean share of splitting rules that use each column, its inclusion proportion, largest first.
    """

    offset: bool
    sums: int
    trees: int
    leaves: float
    variable_use: dict[str, float]

    unsaid = frozenset({"tempered"})

    def opening(self) -> list[str]:
        """What was fitted to what, in lines."""
        trees = counted(self.trees, "tree")
        ensemble = f"sum of {trees}" if self.sums == 1 else f"{self.sums} sums of {trees}"
        return [*super().opening(), f"{ensemble}, of {self.leaves:.2f} leaves on average"]

    def found(self) -> list[list[str]]:
        """What the posterior says, in paragraphs of lines."""
        return [share_table("share of the splitting rules that use a column", self.variable_use)]


def summarise(posterior: BARTPosterior) -> BARTSummary:
    """What `BARTPosterior.summary` promises."""
    use = posterior.variable_use()
    return BARTSummary.of(
        posterior,
        offset=posterior.settings.offset,
        sums=len(posterior.model.centre),
        trees=posterior.model.trees,
        leaves=float(posterior.ensemble.leaves.mean()),
        variable_use=largest_first(dict(zip(use.columns, use.mean.tolist(), strict=True))),
    )
