"""The posterior of a sum of trees in a page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..diagnostics.advice import Remedy, advice, verdict
from ..diagnostics.convergence import Diagnostics
from ..knowledge import Knowledge
from ..text import counted

if TYPE_CHECKING:
    from .posterior import BARTPosterior


@dataclass(frozen=True)
class BARTSummary:
    """The figures that describe a posterior of sums of trees.

    Attributes
    ----------
    response, task, rows, columns, chains, draws, warmup, thin, seed, model, acceptance, diagnostics, remedies
        As of a `baytree.cart.summary.Summary`.
    offset : bool
        Whether the rows had an offset.
    sums : int
        How many sums of trees a draw has: of several classes one for each.
    trees : int
        Trees in each sum.
    leaves : float
        The mean number of leaves of a tree.
    variable_use : dict of str to float
        The mean share of splitting rules that use each column, largest first.
    """

    response: str
    task: str
    rows: int
    columns: int
    chains: int
    draws: int
    warmup: int
    thin: int
    seed: int
    model: dict[str, Any]
    acceptance: dict[str, float]
    diagnostics: Diagnostics
    remedies: tuple[Remedy, ...]
    offset: bool
    sums: int
    trees: int
    leaves: float
    variable_use: dict[str, float]

    @property
    def known(self) -> Knowledge:
        """What the prior was told about the trees."""
        return Knowledge.from_dict(self.model["prior"].get("knowledge", {"constraints": []}))

    @property
    def _size(self) -> str:
        trees = counted(self.trees, "tree")
        return f"sum of {trees}" if self.sums == 1 else f"{self.sums} sums of {trees}"

    @property
    def verdict(self) -> str:
        """Whether the chains agree, in a sentence, and what to try where they do not."""
        return verdict(self.diagnostics, self.remedies)

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON-safe values."""
        remedies = [remedy._asdict() for remedy in self.remedies]
        return asdict(self) | {"remedies": remedies, "verdict": self.verdict, "agree": self.diagnostics.agree}

    def __str__(self) -> str:
        lines = [
            f"{self.task} of {self.response!r}: {counted(self.rows, 'row')}, {counted(self.columns, 'column')}",
            f"{self._size}, of {self.leaves:.2f} leaves on average",
            f"{counted(self.chains, 'chain')} × {counted(self.draws, 'draw')} "
            f"(warmup {self.warmup:,}, thin {self.thin}, seed {self.seed})",
            *(f"known: {constraint}" for constraint in self.known.constraints),
            "",
            *self.diagnostics.table(),
        ]
        lines += ["", *warnings] if (warnings := self.diagnostics.warnings()) else []
        lines += ["", "share of the splitting rules that use a column"]
        width = max(map(len, self.variable_use))
        lines += [f"  {name:<{width}}  {share:>6.1%}" for name, share in self.variable_use.items()]
        return "\n".join([*lines, "", self.verdict])


def summarise(posterior: BARTPosterior) -> BARTSummary:
    """What `BARTPosterior.summary` promises."""
    settings, sums, facts = posterior.settings, posterior.ensemble, posterior.facts()
    use = posterior.variable_use()
    shares = zip(use.columns, use.mean.tolist(), strict=True)
    return BARTSummary(
        **facts,
        acceptance=posterior.acceptance,
        remedies=advice(facts["diagnostics"], warmup=settings.warmup, draws=posterior.draws, temperatures=None),
        offset=settings.offset,
        sums=len(posterior.model.centre),
        trees=posterior.model.trees,
        leaves=float(sums.leaves.mean()),
        variable_use=dict(sorted(shares, key=lambda item: -item[1])),
    )
