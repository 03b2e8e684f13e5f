"""The posterior of a hierarchical mixture of experts in a page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..cart.summary import Tempered
from ..diagnostics.advice import Remedy, advice, verdict
from ..diagnostics.convergence import Diagnostics
from ..text import counted
from .expert_words import ExpertWords
from .gate_directions import GateDirections

if TYPE_CHECKING:
    from .posterior import HMEPosterior

SPELT = {
    "em": "EM",
    "em2": "EM with gates by least squares",
    "online": "Recursive least squares",
    "gibbs": "Gibbs sampling",
    "variational": "The mean field",
}


@dataclass(frozen=True)
class HMESummary:
    """The figures that describe a posterior of soft trees.

    Attributes
    ----------
    response, task, rows, columns, chains, draws, warmup, thin, seed, model, diagnostics, remedies
        As of a `baytree.cart.summary.Summary`.
    tempered : Tempered or None
        How tempering went.
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
    diagnostics: Diagnostics
    remedies: tuple[Remedy, ...]
    tempered: Tempered | None
    has_chains: bool
    epochs: int
    converged: bool
    live_leaves: int
    log_likelihood: float
    gates: GateDirections
    experts: tuple[ExpertWords, ...]

    @property
    def verdict(self) -> str:
        """Whether the chains agree, or the method has converged, in a sentence, and what to try where not."""
        if self.has_chains:
            return verdict(self.diagnostics, self.remedies)
        if not self.converged:
            return f"{self.method} has not converged after {counted(self.epochs, 'epoch')}: raise epochs."
        ended = f"{self.method} ended by itself after {counted(self.epochs, 'epoch')}"
        if self.model["method"] == "variational":
            return f"{ended}; {counted(self.live_leaves, 'leaf is live', 'leaves are live')}."
        return f"{ended}; one tree has no error bars."

    @property
    def method(self) -> str:
        """How the tree was found, in words."""
        return SPELT[self.model["method"]]

    @property
    def agree(self) -> bool:
        """Whether the chains agree, or the method has converged."""
        return self.diagnostics.agree if self.has_chains else self.converged

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON-safe values."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("gates", "experts")}
        return plain | {
            "model": {name: value for name, value in self.model.items() if name != "calibration"},
            "tempered": None if self.tempered is None else asdict(self.tempered),
            "diagnostics": asdict(self.diagnostics),
            "remedies": [remedy._asdict() for remedy in self.remedies],
            "gates": self.gates.to_dict(),
            "experts": [words.to_dict() for words in self.experts],
            "verdict": self.verdict,
            "agree": self.agree,
        }

    def __str__(self) -> str:
        model = self.model
        size = counted(model["branching"] ** model["depth"], "leaf", "leaves")
        drawn = (
            [
                f"{counted(self.chains, 'chain')} × {counted(self.draws, 'draw')} "
                f"(warmup {self.warmup:,}, thin {self.thin}, seed {self.seed})",
                *([] if self.tempered is None else [str(self.tempered)]),
                "",
                *self.diagnostics.table(),
            ]
            if self.has_chains
            else [f"{self.method}, {counted(self.epochs, 'epoch')} (seed {self.seed})"]
        )
        return "\n".join(
            [
                f"soft tree of {self.response!r}: {counted(self.rows, 'row')}, {counted(self.columns, 'column')}, "
                f"{size} with {model['expert']} experts",
                *drawn,
                "",
                str(self.gates),
                "",
                self.verdict,
            ]
        )


def summarise(posterior: HMEPosterior) -> HMESummary:
    """What `HMEPosterior.summary` promises."""
    settings, facts, swaps = posterior.settings, posterior.facts(), posterior.swaps()
    remedies = advice(
        facts["diagnostics"], warmup=settings.warmup, draws=posterior.draws, temperatures=settings.temperatures
    )
    return HMESummary(
        **facts,
        remedies=remedies if posterior.has_chains else (),
        tempered=None if swaps is None else Tempered.of(settings, swaps),
        has_chains=posterior.has_chains,
        epochs=posterior.epochs,
        converged=posterior.converged,
        live_leaves=int(posterior.live_leaves.sum()),
        log_likelihood=float(posterior.log_likelihood.mean()),
        gates=posterior.gate_directions(),
        experts=posterior.experts(),
    )
