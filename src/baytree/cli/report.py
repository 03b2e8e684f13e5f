"""What is said of every posterior: what was fitted, how it was drawn, and whether the chains agree."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from ..diagnostics.convergence import Diagnostic
from ..knowledge import Knowledge
from ..posterior.base import BasePosterior
from ..posterior.summary import BaseSummary
from ..text import counted, percent
from .spoken import spoken
from .terminal import indented, plain_table, section

MARKS = {"agree": ("✔ ", "bold green"), "nearly": ("≈ ", "bold green"), "not yet": ("! ", "bold yellow")}


def opening(posterior: BasePosterior, summary: BaseSummary) -> list[RenderableType]:
    """What was fitted, how it was drawn, and what was assumed and known."""
    size = f": {counted(summary.rows, 'row')}, {counted(summary.columns, 'column')}"
    return [
        Text.assemble(f"{summary.task.capitalize()} of ", (summary.response, "bold"), size),
        *drawn_lines(summary),
        Text(posterior.model.describe(posterior.schema)),
        *known_lines(summary.known),
    ]


def drawn_lines(summary: BaseSummary) -> list[Text]:
    """How the draws came about, and how tempering went."""
    return [Text(summary.how), *([] if summary.tempered is None else [Text(str(summary.tempered))])]


def known_lines(known: Knowledge) -> list[RenderableType]:
    """What is known about the trees, a line for each constraint; nothing where nothing is."""
    if not known.constraints:
        return []
    return [Text("Known about the trees:"), indented(Text(known.describe()))]


def closing(posterior: BasePosterior, summary: BaseSummary) -> list[RenderableType]:
    """Whether the chains agree, with all that tells."""
    return [*(agreement(summary) if posterior.has_chains else [Text("")]), verdict(summary)]


def agreement(summary: BaseSummary) -> list[RenderableType]:
    """All that tells whether the chains agree, but the verdict."""
    warnings = summary.diagnostics.warnings()
    judged = [(one, one.quantity, one.rhat_text, one.agrees) for one in summary.diagnostics.quantities]
    table = plain_table()
    table.add_column("")
    for title in ("mean", "sd", "R-hat", "ESS bulk", "ESS tail"):
        table.add_column(title, justify="right")
    for figures, quantity, rhat, agrees in judged:
        moments = (figures.mean, figures.sd) if isinstance(figures, Diagnostic) else (None, None)
        mean, sd = ("" if moment is None else f"{moment:,.2f}" for moment in moments)
        sizes = ("–" if size is None else f"{size:,.0f}" for size in (figures.ess_bulk, figures.ess_tail))
        table.add_row(quantity, mean, sd, Text(rhat, style="green" if agrees else "yellow"), *sizes)
    parts = [*section("Do the chains agree?", table), *map(Text, warnings)]
    if shares := summary.acceptance:
        parts.append(Text("Accepted: " + ", ".join(f"{name} {percent(share)}" for name, share in shares.items())))
    return parts


def verdict(summary: BaseSummary) -> Text:
    """Whether the chains agree, with a mark in front."""
    return Text.assemble(MARKS[summary.grade], spoken(summary.verdict))
