"""Posteriors drawn for the terminal, as rich renderables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..bart.posterior import BARTPosterior
from ..bart.summary import BARTSummary
from ..cart.summary import Summary
from ..diagnostics.convergence import Diagnostic
from ..hme.summary import HMESummary
from ..knowledge import Knowledge
from ..posterior.summary import BaseSummary
from ..subset.summary import SubsetSummary
from ..text import counted, percent
from ..trees.template import Template
from ..trees.tree import Tree

if TYPE_CHECKING:
    from ..cart.posterior import TopTree
    from ..trees.diff import Edits

TreeSummary = Summary | BARTSummary
AnySummary = BaseSummary

CLASS_COLOURS = ("green", "red", "blue", "yellow", "magenta", "cyan")
# From low to high.
VALUE_COLOURS = ("blue", "cyan", "green", "yellow", "red")
BAR_WIDTH = 24
BAR_PARTS = " ▏▎▍▌▋▊▉█"
LISTED_CHAINS = 8
# Comments behind commands up to this length are aligned.
ALIGNED = 60


def heading(text: str) -> Text:
    """A title with an empty line above it."""
    return Text(f"\n{text}", style="bold")


def indented(part: RenderableType) -> RenderableType:
    """A part moved to the right, below its heading."""
    if isinstance(part, Text):
        # Padding would cut long lines.
        return Text("\n").join(Text.assemble("  ", line) for line in part.split("\n"))
    return Padding(part, (0, 0, 0, 2), expand=False)


# ---- trees ----------------------------------------------------------------------------------------------------------


def draw_tree(tree: Tree) -> Text:
    """A tree with lines and colours; at each question *yes* comes first.

    Parameters
    ----------
    tree : Tree
        Its leaves are coloured by their class, or from low to high values.
    """

    def branch(answer: str, lines: list[Text], last: bool) -> list[Text]:
        corner, bar = ("└─ ", "   ") if last else ("├─ ", "│  ")
        first = Text.assemble((f"{corner}{answer} ", "dim"), lines[0])
        return [first, *(Text.assemble((bar, "dim"), line) for line in lines[1:])]

    def split(node: int, left: list[Text], right: list[Text]) -> list[Text]:
        rule = tree.rules[node]
        assert rule is not None
        name = tree.schema.names[rule.feature]
        question = Text.assemble((name, "bold"), tree.question(rule).removeprefix(name), "?")
        return [question, *branch("yes:", left, False), *branch("no: ", right, True)]

    def leaf(node: int, place: int) -> list[Text]:
        says, bracket, rows = tree.leaf_text(node, place).partition(" (")
        return [Text.assemble((says, _leaf_style(tree, place)), (bracket + rows, "dim"))]

    return Text("\n").join(tree.walk(split, leaf))


def _leaf_style(tree: Tree, place: int) -> str:
    if not tree.values:
        return ""
    value = tree.values[place]
    if isinstance(value, Mapping):
        shares = list(value.values())
        return CLASS_COLOURS[int(np.argmax(shares)) % len(CLASS_COLOURS)]
    low, high = min(tree.values), max(tree.values)
    height = (value - low) / (high - low) if high > low else 0.5
    return VALUE_COLOURS[min(int(height * len(VALUE_COLOURS)), len(VALUE_COLOURS) - 1)]


def tree_table(top: Sequence[TopTree]) -> Table:
    """The most probable trees: their share of the draws, over all chains and in each.

    Parameters
    ----------
    top : sequence of TopTree
        As `Posterior.top_trees` gives them.
    """
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 3, 0, 0))
    for title in ("probability", "in each chain", "leaves"):
        table.add_column(title, justify="right" if title != "in each chain" else "left")
    table.add_column("asks about", overflow="fold")
    for tree, probability, per_chain in top:
        shares = per_chain if len(per_chain) <= LISTED_CHAINS else [per_chain.min(), per_chain.max()]
        listed = (" " if len(per_chain) <= LISTED_CHAINS else " to ").join(f"{percent(share):>5}" for share in shares)
        table.add_row(percent(probability), listed, str(tree.n_leaves), Text(", ".join(tree.features) or "nothing"))
    return table


def draw_edits(edits: Edits) -> Text:
    """What became of a given tree, place by place."""
    text = Text(str(edits))
    text.highlight_regex(r"\[.*\]", "cyan")
    return text


# ---- figures --------------------------------------------------------------------------------------------------------


def bar_chart(shares: Mapping[str, float], most: int = 10, full: float = 1.0) -> Table:
    """Shares between 0 and 1 as bars, in the order given.

    Parameters
    ----------
    shares : mapping of str to float
        The bars.
    most : int
        How many are drawn; the rest is counted in a last line.
    full : float
        The share of a bar of full length.
    """
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for name, share in islice(shares.items(), most):
        table.add_row(Text(name), Text(_bar(share / full), style="cyan"), percent(share))
    if len(shares) > most:
        rest = list(shares.values())[most:]
        table.add_row(Text(f"{len(rest)} more", style="dim"), Text(f"at most {percent(max(rest))} each", style="dim"))
    return table


def _bar(share: float) -> str:
    eighths = round(share * BAR_WIDTH * 8)
    return ("█" * (eighths // 8) + BAR_PARTS[eighths % 8].strip()).ljust(BAR_WIDTH)


def use_chart(summary: TreeSummary, most: int = 10) -> list[RenderableType]:
    """Which columns are asked about: by how many trees or, of sums of trees, by which share of all questions."""
    if isinstance(summary, Summary):
        title, chart = "How likely a tree asks about a column", bar_chart(summary.inclusion, most)
    else:
        full = max(summary.variable_use.values()) or 1.0
        title, chart = "Of all questions, how many are about a column", bar_chart(summary.variable_use, most, full)
    return [heading(title), indented(chart)]


def diagnostic_table(summary: AnySummary) -> Table:
    """Mean, spread, R-hat and effective sample sizes of what is monitored."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 3, 0, 0))
    table.add_column("")
    for title in ("mean", "sd", "R-hat", "ESS bulk", "ESS tail"):
        table.add_column(title, justify="right")
    for figures in summary.diagnostics.quantities:
        rhat = Text(figures.rhat_text, style="green" if figures.agrees else "yellow")
        moments = (figures.mean, figures.sd) if isinstance(figures, Diagnostic) else (None, None)
        mean, sd = ("" if moment is None else f"{moment:,.2f}" for moment in moments)
        table.add_row(figures.quantity, mean, sd, rhat, *map(_ess, (figures.ess_bulk, figures.ess_tail)))
    return table


def _ess(size: float | None) -> str:
    return "–" if size is None else f"{size:,.0f}"


def warnings(summary: AnySummary) -> list[Text]:
    """What tells chains apart and is no R-hat."""
    return [Text(remark) for remark in summary.diagnostics.warnings()]


def verdict(summary: AnySummary) -> Text:
    """Whether the chains agree, with a mark in front."""
    good = summary.agree
    return Text.assemble(("✔ ", "bold green") if good else ("! ", "bold yellow"), summary.verdict)


def agreement(summary: TreeSummary | SubsetSummary) -> list[RenderableType]:
    """All that tells whether the chains agree."""
    return [
        heading("Do the chains agree?"),
        indented(diagnostic_table(summary)),
        *warnings(summary),
        moves_line(summary),
        verdict(summary),
    ]


# ---- words ----------------------------------------------------------------------------------------------------------


def fit_title(summary: AnySummary) -> Text:
    """What is predicted, and from what."""
    size = f": {counted(summary.rows, 'row')}, {counted(summary.columns, 'column')}"
    return Text.assemble(f"{summary.task.capitalize()} of ", (summary.response, "bold"), size)


def draws_line(summary: AnySummary) -> Text:
    """How the posterior was drawn."""
    if isinstance(summary, HMESummary) and not summary.has_chains:
        total = summary.chains * summary.draws
        drawn = f"; {counted(total, 'independent draw')}" if total > 1 else ""
        return Text(f"{summary.method}, {counted(summary.epochs, 'epoch')}{drawn}; seed {summary.seed}")
    if isinstance(summary, SubsetSummary) and summary.enumerated:
        return Text(f"{counted(summary.chains * summary.draws, 'independent draw')}; seed {summary.seed}")
    thin = f", every {_ordinal(summary.thin)} kept" if summary.thin > 1 else ""
    return Text(
        f"{counted(summary.chains, 'chain')} × {counted(summary.draws, 'draw')} after a warm-up of "
        f"{summary.warmup:,}{thin}; seed {summary.seed}"
    )


def tempered_lines(summary: AnySummary) -> list[Text]:
    """How tempering went, where there was any."""
    if summary.tempered is None:
        return []
    return [Text(str(summary.tempered))]


def leaves(number: int) -> str:
    """A number of leaves in words."""
    return counted(number, "leaf", "leaves")


def size_line(n_leaves: np.ndarray) -> Text:
    """How large trees of so many leaves are."""
    low, middle, high = np.quantile(n_leaves, [0.05, 0.5, 0.95], method="nearest")
    size = f"{low}" if low == high else f"{low} to {high}"
    return Text(f"A typical tree has {leaves(middle)}, nine in ten have {size}.")


def trees_line(posterior: Any) -> Text:
    """How large the trees of a posterior are; of sums of trees, how many there are and how large the noise is."""
    if not isinstance(posterior, BARTPosterior):
        return size_line(posterior.n_leaves)
    sums, sigma, variance = posterior.ensemble, posterior.sigma, posterior.variance_ensemble
    of_classes = f", {posterior.model.trees:,} for each class" if sums.trees > posterior.model.trees else ""
    size = f"Each draw adds up {counted(sums.trees, 'tree')}{of_classes}, of {sums.leaves.mean():.2f} leaves on average"
    if variance is not None:
        typical = np.exp(variance.mean_over_rows.mean() / 2)
        return Text(f"{size}; the noise depends on the row, with a standard deviation of about {typical:.4g}.")
    noise = "" if sigma is None else f"; the noise has a standard deviation of about {sigma.mean():.4g}"
    return Text(f"{size}{noise}.")


def sum_line(summary: BARTSummary) -> Text:
    """What is assumed of a sum of trees besides the prior of a tree."""
    model = summary.model
    each = " for each class" if summary.sums > 1 else ""
    about = "about " if model["k"] == "learned" else ""
    values = f"leaf values of standard deviation {about}{model['calibration']['leaf_sd']:.4g} (k = {model['k']})"
    freedom = "inf" if model["nu"] is None else f"{model['nu']:g}"
    factors = f"the product of {counted(model['variance_trees'], 'tree')}, " if model["variance"] == "forest" else ""
    noise = f"; noise by {factors}sigma = {model['sigma']}, nu = {freedom}, q = {model['q']:g}"
    soft = f"; soft questions of mean bandwidth {model['bandwidth']:g}" if model["split"] == "soft" else ""
    return Text(
        f"Model: the sum of {counted(model['trees'], 'tree')}{each}{' and an offset' if summary.offset else ''}"
        f"{soft}; {values}{noise if summary.task == 'regression' else ''}"
    )


def prior_line(prior: Mapping[str, Any]) -> Text:
    """The prior over trees in a sentence, from what its `to_dict` says."""
    if prior["kind"] == "edit_tree":
        kinds = ", ".join(f"{name} {prior[name]:g}" for name in ("grow", "prune", "change"))
        given = leaves(Template.from_dict(prior["tree"]).n_leaves)
        return Text(
            f"Prior: edits of a given tree of {given}, {prior['edits']:g} on average ({kinds}); a leaf holds at least "
            f"{counted(prior['min_leaf'], 'row')}"
        )
    if prior["kind"] == "program":
        return Text(f"Prior: the program {prior['file']}; where a choice fails: {prior['semantics']}")
    power = "" if prior["beta"] == 1 else f"^{prior['beta']:g}"
    fall = f" / (1 + depth){power}" if prior["beta"] else ""
    chosen = {"variable": "a column, then a question about it,", "uniform": "one of all questions"}[prior["rule"]]
    return Text(
        f"Prior: a node splits with probability {prior['alpha']:g}{fall}; {chosen} is chosen uniformly; a leaf holds "
        f"at least {counted(prior['min_leaf'], 'row')}"
    )


def known_lines(known: Knowledge) -> list[RenderableType]:
    """What is known about the trees, a line for each constraint; nothing where nothing is."""
    if not known.constraints:
        return []
    return [Text("Known about the trees:"), indented(Text(known.describe()))]


def moves_line(summary: TreeSummary | SubsetSummary) -> Text:
    """Of each proposal, how often it changed anything."""
    return Text("Accepted: " + ", ".join(f"{name} {percent(share)}" for name, share in summary.acceptance.items()))


def next_steps(steps: Sequence[tuple[str, str]]) -> Text:
    """Commands to try, each with what it does as a comment, so that a line can be pasted into a shell."""
    width = max((len(command) for command, _ in steps if len(command) <= ALIGNED), default=0)
    lines = (Text.assemble("  ", (command.ljust(width), "cyan"), (f"  # {what}", "dim")) for command, what in steps)
    return Text("\n").join([heading("Try next"), *lines])


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"
