"""Soft trees drawn for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from ..hme.model import BY_CHAINS
from ..text import counted
from .drawing import diagnostic_table, draws_line, fit_title, heading, indented, tempered_lines, verdict, warnings

if TYPE_CHECKING:
    from ..hme.posterior import HMEPosterior
    from ..hme.summary import HMESummary


def draw(posterior: HMEPosterior) -> list[RenderableType]:
    """All that ``baytree show`` says about a posterior of soft trees."""
    summary = posterior.summary()
    return [
        fit_title(summary),
        draws_line(summary),
        *tempered_lines(summary),
        model_line(summary),
        *tree_picture(summary),
        *(agreement(summary) if summary.has_chains else [Text(""), verdict(summary)]),
    ]


def model_line(summary: HMESummary) -> Text:
    """What the tree is made of."""
    model = summary.model
    size = counted(model["branching"] ** model["depth"], "leaf", "leaves")
    has_noise = model["method"] in BY_CHAINS and summary.task == "regression"
    noise = f"; noise nu = {model['nu']:g}, scale = {model['scale']}" if has_noise else ""
    return Text(
        f"Model: a soft tree of depth {model['depth']} with {model['branching']} branches, {size} with "
        f"{model['expert']} experts; ridge {model['ridge']:g}{noise}"
    )


def tree_picture(summary: HMESummary) -> list[RenderableType]:
    """The best tree, with what its gates ask and what its experts say of an average row."""
    gates, _, tree = str(summary.gates).partition("\n")
    picture = Text(tree)
    picture.highlight_regex(r"[├└│─]+", "dim")
    picture.highlight_regex(r"leaf \d+", "bold")
    title = "The tree" if summary.chains * summary.draws == 1 else "The draw of highest posterior density"
    return [heading(title), Text(gates), indented(picture)]


def agreement(summary: HMESummary) -> list[RenderableType]:
    """All that tells whether the chains agree."""
    return [
        heading("Do the chains agree?"),
        indented(diagnostic_table(summary)),
        *warnings(summary),
        verdict(summary),
    ]
