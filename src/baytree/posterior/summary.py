"""A posterior in a page: what was fitted, what it says, and whether the chains agree."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from .. import notebook
from ..diagnostics.convergence import Diagnostics, Grade, Remedy, advice, verdict
from ..knowledge import Knowledge
from ..knowledge.joined import NO_KNOWLEDGE
from ..mcmc.contract import AnyModel
from ..text import counted, ordinal

if TYPE_CHECKING:
    from .base import BasePosterior


# Where the first words of a verdict end.
FIRST = re.compile(r"[:;.] |\.$")


@dataclass(frozen=True)
class Tempered:
    """How tempering, the exchange of replicas between temperatures, went.

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
    warnings : tuple of str
        What went wrong, such as that no swap with the cold rung was accepted.
    """

    temperatures: int
    ladder: str
    swap_rate: float | None
    round_trips: int
    log_evidence: tuple[float, float] | None
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        swaps = "no swaps" if self.swap_rate is None else f"at least {self.swap_rate:.0%} of the swaps accepted"
        trips = counted(self.round_trips, "round trip")
        line = f"{counted(self.temperatures, 'temperature')} ({self.ladder}): {swaps}, {trips}"
        if self.log_evidence is None:
            return line
        value, error = self.log_evidence
        return f"{line}; log evidence {value:.2f} ± {error:.2f}"

    @classmethod
    def of(cls, posterior: BasePosterior) -> Self:
        """How it went for a posterior whose chains were tempered."""
        settings, swaps, evidence = posterior.settings, posterior.swaps(), posterior.known_evidence
        rates = swaps.neighbours[:, ~np.isnan(swaps.neighbours).any(axis=0)].mean(axis=0)
        return cls(
            settings.temperatures,
            settings.ladder,
            float(rates.min()) if len(rates) else None,
            int(swaps.round_trips.sum()),
            (evidence.value, evidence.error) if evidence and np.isfinite(evidence.error) else None,
            tuple(swaps.warnings()),
        )


@dataclass(frozen=True, repr=False)
class BaseSummary(ABC):
    """The figures that describe a posterior, whatever of; ``print`` it.

    Attributes
    ----------
    response : str
        The name of what is predicted.
    task : {"classification", "regression"}
        Classes or numbers.
    rows, columns : int
        The size of the training table.
    chains, draws, warmup, thin, seed : int
        How it was drawn by MCMC: warm-up is what else is called burn-in.
    tempered : Tempered or None
        How tempering went, where there was any.
    model : Model
        What was sampled, with everything that was left open filled in.
    acceptance : dict of str to float
        Of each proposal, the share of its turns that changed the state.
    diagnostics : Diagnostics
        What tells whether the chains agree.
    remedies : tuple of Remedy
        What to try where they do not, the most promising first.
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
    model: AnyModel
    acceptance: dict[str, float]
    diagnostics: Diagnostics
    remedies: tuple[Remedy, ...]

    # Figures, of the posterior or of its model, that `to_dict` leaves out.
    unsaid: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def of(cls, posterior: BasePosterior, **own: Any) -> Self:
        """The figures of a posterior: those that all have, and those of its family."""
        response, settings, found = posterior.schema.response, posterior.settings, posterior.diagnostics()
        chains, draws, acceptance = posterior.chains, posterior.draws, posterior.acceptance
        tempered = Tempered.of(posterior) if posterior.tempered else None
        remedies: tuple[Remedy, ...] = ()
        if posterior.has_chains:
            remedies = advice(found, settings, posterior.model.tempers)
        return cls(
            response=response.name,
            task=response.task,
            rows=settings.rows,
            columns=len(posterior.schema.columns),
            chains=chains,
            draws=draws,
            warmup=settings.warmup,
            thin=settings.thin,
            seed=settings.seed,
            tempered=tempered,
            model=posterior.model,
            acceptance=acceptance,
            diagnostics=found,
            remedies=remedies,
            **own,
        )

    @property
    def known(self) -> Knowledge:
        """What a built-in prior was told about the trees; a program says it in its text."""
        return getattr(getattr(self.model, "prior", None), "knowledge", NO_KNOWLEDGE)

    @property
    def verdict(self) -> str:
        """Whether the chains agree, in a sentence, and what to try where they do not."""
        said = verdict(self.diagnostics, self.remedies, self.task == "classification")
        return " ".join([said, *(self.tempered.warnings if self.tempered else ())])

    @property
    def agree(self) -> bool:
        """Whether the chains agree."""
        return self.diagnostics.agree

    @property
    def grade(self) -> Grade:
        """The verdict in three grades: agree; nearly, which is good enough for decisions; not yet."""
        return "agree" if self.agree else self.diagnostics.grade

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON-safe values."""
        said = [field.name for field in fields(self) if field.name not in self.unsaid]
        figures = {name: _plain(getattr(self, name)) for name in said}
        model = {name: value for name, value in figures["model"].items() if name not in self.unsaid}
        return figures | {"model": model, "verdict": self.verdict, "agree": self.agree, "grade": self.grade}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.what} of {self.response!r}; {FIRST.split(self.verdict)[0]}>"

    def _repr_html_(self) -> str:
        return notebook.boxed(*self.html())

    def html(self) -> list[str]:
        """What a notebook shows: what was fitted, the verdict, and the page itself, folded up."""
        head, *further = [*self.opening(), *self.drawn()]
        return [
            notebook.line(head, strong=True),
            *(notebook.line(line, style=notebook.MUTED) for line in further),
            notebook.verdict(self.grade, self.verdict),
            *(
                notebook.folded(title, *(notebook.preformatted("\n".join(lines)) for lines in paragraphs))
                for title, paragraphs in (("Do the chains agree?", self.compared()), ("What was found", self.found()))
                if any(paragraphs)
            ),
        ]

    # ---- in words -------------------------------------------------------------------------------------------------

    @property
    def what(self) -> str:
        """What was fitted, in words that go on with "of" and the response."""
        return self.task

    @property
    def size(self) -> str:
        """The size of the table, in words."""
        return f"{counted(self.rows, 'row')}, {counted(self.columns, 'column')}"

    def opening(self) -> list[str]:
        """What was fitted to what, in lines."""
        return [f"{self.what} of {self.response!r}: {self.size}"]

    @property
    def how(self) -> str:
        """How it was drawn, in words."""
        drawn = f"{counted(self.chains, 'chain')} × {counted(self.draws, 'draw')} after a warm-up of {self.warmup:,}"
        thin = f", every {ordinal(self.thin)} kept" if self.thin > 1 else ""
        return f"{drawn}{thin}; seed {self.seed}"

    def drawn(self) -> list[str]:
        """How it was drawn, in lines."""
        return [
            self.how,
            *([] if self.tempered is None else [str(self.tempered)]),
            *(f"known: {constraint}" for constraint in self.known.constraints),
        ]

    def compared(self) -> list[list[str]]:
        """How the chains compare, in paragraphs of lines."""
        return [self.diagnostics.table(), self.diagnostics.warnings()]

    @abstractmethod
    def found(self) -> list[list[str]]:
        """What the posterior says, in paragraphs of lines."""

    def __str__(self) -> str:
        paragraphs = [[*self.opening(), *self.drawn()], *self.compared(), *self.found(), [self.verdict]]
        return "\n\n".join("\n".join(lines) for lines in paragraphs if lines)


def share_table(title: str, shares: dict[str, float]) -> list[str]:
    """Shares by name, in lines under a title."""
    width = max(map(len, shares))
    return [title, *(f"  {name:<{width}}  {share:>6.1%}" for name, share in shares.items())]


def largest_first(shares: dict[str, float]) -> dict[str, float]:
    """Shares by name in falling order."""
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _plain(value: Any) -> Any:
    """A figure as JSON-safe values."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Remedy):
        return value._asdict()
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
