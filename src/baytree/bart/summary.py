"""The posterior of a sum of trees in a page."""

from __future__ import annotations

from dataclasses import dataclass

from ..posterior.summary import BaseSummary, share_table
from ..text import counted


@dataclass(frozen=True, repr=False)
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
    freedom : float or None
        Where the noise is Student's: the median of its degrees of freedom.
    variable_use : dict of str to float
        The mean share of splitting rules that use each column, its inclusion proportion, largest first.
    """

    offset: bool
    sums: int
    trees: int
    leaves: float
    freedom: float | None
    variable_use: dict[str, float]

    unsaid = frozenset({"tempered"})

    def opening(self) -> list[str]:
        """What was fitted to what, in lines."""
        trees = counted(self.trees, "tree")
        ensemble = f"sum of {trees}" if self.sums == 1 else f"{self.sums} sums of {trees}"
        said = [f"{ensemble}, of {self.leaves:.2f} leaves on average"]
        if self.freedom is not None:
            said.append(f"Student noise of {self.freedom:g} degrees of freedom (median)")
        return [*super().opening(), *said]

    def found(self) -> list[list[str]]:
        """What the posterior says, in paragraphs of lines."""
        return [share_table("share of the splitting rules that use a column", self.variable_use)]
