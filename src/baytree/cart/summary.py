"""A posterior in a page: what was fitted, what it says, and whether the chains agree."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..diagnostics.advice import Remedy, advice, verdict
from ..diagnostics.convergence import Diagnostics
from ..knowledge import Knowledge
from ..text import counted

if TYPE_CHECKING:
    from ..diagnostics.evidence import LogEvidence
    from ..mcmc.settings import RunSettings
    from ..mcmc.tempering import Swaps
    from .posterior import Posterior

TOP_TREES = 5


@dataclass(frozen=True)
class Tempered:
    """How tempering went.

    Attributes
    ----------
    temperatures : int
        Rungs of each chain.
    ladder : {"adaptive", "mrbayes"}
        How they were chosen.
    swap_rate : float or None
        The smallest share of swaps between neighbours that was accepted, over the rungs; of each the mean over the
        chains. None where none was tried.
    round_trips : int
        How often a model went from the cold rung to the hottest and back, over all chains.
    log_evidence : tuple of (float, float) or None
        log P(y | x) and its standard error, of trees; None where the ladder does not reach the prior, or trees must be
        monotone.
    """

    temperatures: int
    ladder: str
    swap_rate: float | None
    round_trips: int
    log_evidence: tuple[float, float] | None

    def __str__(self) -> str:
        swaps = "no swaps" if self.swap_rate is None else f"at least {self.swap_rate:.0%} of the swaps accepted"
        trips = counted(self.round_trips, "round trip")
        line = f"{counted(self.temperatures, 'temperature')} ({self.ladder}): {swaps}, {trips}"
        if self.log_evidence is None:
            return line
        value, error = self.log_evidence
        return f"{line}; log evidence {value:.2f} ± {error:.2f}"

    @classmethod
    def of(cls, settings: RunSettings, swaps: Swaps, evidence: LogEvidence | None = None) -> Tempered:
        """How it went by the swaps of the chains."""
        rates = swaps.neighbours[:, ~np.isnan(swaps.neighbours).any(axis=0)].mean(axis=0)
        return cls(
            settings.temperatures,
            settings.ladder,
            float(rates.min()) if len(rates) else None,
            int(swaps.round_trips.sum()),
            (evidence.value, evidence.error) if evidence and np.isfinite(evidence.error) else None,
        )


@dataclass(frozen=True)
class Summary:
    """The figures that describe a posterior.

    Attributes
    ----------
    response : str
        The name of what is predicted.
    task : {"classification", "regression"}
        Classes or numbers.
    rows, columns : int
        The size of the training table.
    chains, draws, warmup, thin, seed : int
        How it was drawn.
    tempered : Tempered or None
        How tempering went, where there was any.
    model : dict
        The prior, leaf model and proposals, with everything that was left open filled in.
    acceptance : dict of str to float
        Of each proposal, the share of its turns that changed the tree.
    diagnostics : Diagnostics
        What tells whether the chains agree.
    remedies : tuple of Remedy
        What to try where they do not, the most promising first.
    inclusion : dict of str to float
        The probability that a tree asks about each column, largest first.
    top_trees : tuple of (float, int)
        Of the most probable trees: probability and number of leaves.
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
    tempered: Tempered | None
    model: dict[str, Any]
    acceptance: dict[str, float]
    diagnostics: Diagnostics
    remedies: tuple[Remedy, ...]
    inclusion: dict[str, float]
    top_trees: tuple[tuple[float, int], ...]

    @property
    def known(self) -> Knowledge:
        """What the built-in prior was told about the trees; a program says it in its text."""
        return Knowledge.from_dict(self.model["prior"].get("knowledge", {"constraints": []}))

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
            f"{counted(self.chains, 'chain')} × {counted(self.draws, 'draw')} "
            f"(warmup {self.warmup:,}, thin {self.thin}, seed {self.seed})",
            *([] if self.tempered is None else [str(self.tempered)]),
            *(f"known: {constraint}" for constraint in self.known.constraints),
            "",
            *self.diagnostics.table(),
        ]
        lines += ["", *warnings] if (warnings := self.diagnostics.warnings()) else []
        lines += ["", "probability that a tree asks about a column"]
        width = max(map(len, self.inclusion))
        lines += [f"  {name:<{width}}  {share:>6.1%}" for name, share in self.inclusion.items()]
        lines += ["", "trees drawn most often"]
        lines += [f"  {share:>6.2%}  {counted(leaves, 'leaf', 'leaves')}" for share, leaves in self.top_trees]
        return "\n".join([*lines, "", self.verdict])


def _tempered(posterior: Posterior) -> Tempered | None:
    """How tempering went for a posterior; None without it."""
    if posterior.rung_log_likelihood is None:
        return None
    has_evidence = posterior.settings.tempering.adapts and posterior.values is None and posterior.model.power == 1
    return Tempered.of(posterior.settings, posterior.swaps(), posterior.log_evidence() if has_evidence else None)


def summarise(posterior: Posterior) -> Summary:
    """What `Posterior.summary` promises."""
    settings, facts = posterior.settings, posterior.facts()
    inclusion = sorted(posterior.inclusion().items(), key=lambda item: -item[1])
    return Summary(
        **facts,
        tempered=_tempered(posterior),
        acceptance=posterior.acceptance,
        remedies=advice(
            facts["diagnostics"], warmup=settings.warmup, draws=posterior.draws, temperatures=settings.temperatures
        ),
        inclusion=dict(inclusion),
        top_trees=tuple((top.probability, top.tree.n_leaves) for top in posterior.top_trees(TOP_TREES)),
    )
