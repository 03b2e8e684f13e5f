"""The posterior over subsets in a page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..cart.summary import Tempered
from ..diagnostics.advice import Remedy, advice, verdict
from ..diagnostics.convergence import Diagnostics
from ..text import counted
from .ranking import Coefficients, Inclusion, RankedModels

if TYPE_CHECKING:
    from .posterior import SubsetPosterior

TOP = 5


@dataclass(frozen=True)
class SubsetSummary:
    """The figures that describe a posterior over subsets.

    Attributes
    ----------
    response, task, rows, columns, chains, draws, warmup, thin, seed, tempered, model, acceptance, diagnostics, remedies
        As of a `baytree.cart.summary.Summary`.
    inclusion, top_models, coefficients
        What the methods of `SubsetPosterior` of these names give.
    median_model : tuple of str
        The columns that are more likely in than out.
    enumerated : bool
        Whether all models were looked at.
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
    inclusion: Inclusion
    top_models: RankedModels
    coefficients: Coefficients
    median_model: tuple[str, ...]
    enumerated: bool

    @property
    def verdict(self) -> str:
        """Whether the chains agree, in a sentence, and what to try where they do not."""
        if self.enumerated:
            return f"{self.top_models.normalised.all}, and the draws are independent."
        return verdict(self.diagnostics, self.remedies)

    @property
    def agree(self) -> bool:
        """Whether the chains agree, or there was nothing to agree on."""
        return self.enumerated or self.diagnostics.agree

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON-safe values."""
        parts = {name: getattr(self, name).to_dict() for name in ("inclusion", "top_models", "coefficients")}
        plain = {
            name: getattr(self, name)
            for name in self.__dataclass_fields__
            if name not in (*parts, "diagnostics", "remedies")
        }
        model = {name: value for name, value in self.model.items() if name != "calibration"}
        return (
            plain
            | parts
            | {
                "model": model,
                "median_model": list(self.median_model),
                "tempered": None if self.tempered is None else asdict(self.tempered),
                "diagnostics": asdict(self.diagnostics),
                "remedies": [remedy._asdict() for remedy in self.remedies],
                "verdict": self.verdict,
                "agree": self.agree,
            }
        )

    def __str__(self) -> str:
        known = (
            []
            if self.enumerated
            else [
                f"{counted(self.chains, 'chain')} × {counted(self.draws, 'draw')} "
                f"(warmup {self.warmup:,}, thin {self.thin}, seed {self.seed})",
                *([] if self.tempered is None else [str(self.tempered)]),
                "",
                *self.diagnostics.table(),
            ]
        )
        lines = [
            f"linear model of {self.response!r}: {counted(self.rows, 'row')}, {counted(self.columns, 'column')}",
            *known,
            "",
            "probability that a column is in the model",
            str(self.inclusion),
            "",
            "most probable models",
            str(self.top_models),
            "",
            "coefficients, averaged over models",
            str(self.coefficients),
            "",
            f"median-probability model: {' + '.join(self.median_model) or '(no column)'}",
            "",
            self.verdict,
        ]
        return "\n".join(lines)


def summarise(posterior: SubsetPosterior) -> SubsetSummary:
    """What `SubsetPosterior.summary` promises."""
    settings, facts = posterior.settings, posterior.facts()
    enumerated = posterior.enumerated is not None
    swaps = posterior.swaps()
    remedies = advice(
        facts["diagnostics"], warmup=settings.warmup, draws=posterior.draws, temperatures=settings.temperatures
    )
    return SubsetSummary(
        **facts,
        tempered=None if swaps is None else Tempered.of(settings, swaps),
        acceptance=posterior.acceptance,
        remedies=() if enumerated else remedies,
        inclusion=posterior.inclusion(),
        top_models=posterior.top_models(TOP),
        coefficients=posterior.coefficients(),
        median_model=posterior.median_model(),
        enumerated=enumerated,
    )
