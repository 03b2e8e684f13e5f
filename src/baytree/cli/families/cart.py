"""Single trees on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ...cart import proposals
from ...cart.model import CART
from ...cart.posterior import Posterior, TopTree
from ...cart.summary import Summary
from ...cart.summed import is_small
from ...data.design import Design
from ...mcmc.mixtures import offered
from ...priors.edit_tree import EditTree
from ...slp import proposals as of_proofs
from ...text import percent
from ..declaring import SAMPLING
from ..options import ShowOptions, TemperedFitOptions
from ..output import Output
from ..terminal import bar_chart, plain_table, section
from ..tree_drawing import draw_tree, leaves, size_line
from ..tree_prior import TreePriorOptions, prior_settings, read_bins, tree_prior
from ..values import weights_text
from .base import Family

# How many columns are shown after a fit, and of how many chains each one's share of a tree.
MOST_BARS = 6
LISTED_CHAINS = 8


@dataclass(kw_only=True)
class CARTFit(TreePriorOptions, TemperedFitOptions):
    """What a single tree asks for a fit."""

    proposal: Annotated[
        str,
        typer.Option(
            help=f"{offered(proposals.NAMES)}, or several with weights: uc=2,change=1; with --prior or --edit: "
            f"{offered(of_proofs.NAMES)}",
            rich_help_panel=SAMPLING,
        ),
    ] = "auto"
    method: Annotated[
        Literal["auto", "exact", "chains"],
        typer.Option(
            help="Add up every tree, which takes a small table, for exact answers, or draw by chains.",
            rich_help_panel=SAMPLING,
        ),
    ] = "auto"


@dataclass(kw_only=True)
class CARTShow(ShowOptions):
    """What a single tree asks to be shown."""

    instead: ClassVar = {"tree": "list them by --trees 10"}

    trees: Annotated[int, typer.Option(min=0, help="Of single trees: how many of the most probable to list.")] = 3


class CARTFamily(Family[CARTFit, Posterior]):
    """Single trees."""

    name, about, plural = "cart", "one tree", "single trees"
    fit, show = CARTFit, CARTShow

    def build(self, asked: CARTFit, output: Output) -> CART:
        """The model that the options describe."""
        return CART(tree_prior(asked, output), proposal=asked.proposal, method=asked.method)

    def read(self, asked: CARTFit) -> Design:
        """The table in bins."""
        return read_bins(asked)

    def is_summed(self, design: Design, threads: int) -> bool:
        """Whether every tree of so small a table can be added up."""
        return is_small(design, threads)

    def settings(self, model: CART) -> Mapping[str, Any]:
        """The prior and the proposals."""
        # A run that can be resumed is one of chains, whoever chose so.
        method = "chains" if model.method == "auto" else model.method
        return prior_settings(model.prior) | {"proposal": weights_text(model.shares), "method": method}

    def describe(self, posterior: Posterior, summary: Summary) -> list[RenderableType]:
        """Which columns are asked about, and how large the trees are."""
        return [*_use_chart(summary, MOST_BARS), Text(""), size_line(posterior.n_leaves)]

    def picture(self, posterior: Posterior, summary: Summary, asked: CARTShow) -> list[RenderableType]:
        """The best tree, which columns are asked about, and the most probable trees."""
        best = posterior.best_tree()
        found = "best tree found, of highest posterior" if posterior.summed is None else "tree of highest"
        title = f"The {found} probability ({leaves(best.n_leaves)})"
        parts = [
            *section(title, draw_tree(best)),
            *_use_chart(summary),
            size_line(posterior.n_leaves),
        ]
        if isinstance(posterior.model.prior, EditTree):
            edits = Text(str(posterior.edits()))
            edits.highlight_regex(r"\[.*\]", "cyan")
            parts += section("What became of the given tree", edits)
        if asked.trees:
            title = "The trees drawn most often" if posterior.summed is None else "The most probable trees"
            parts += section(title, tree_table(posterior.top_trees(asked.trees)))
        return parts

    def record(self, posterior: Posterior, asked: CARTShow) -> dict[str, Any]:
        """The summary, the best tree and the most probable trees."""
        listed = [
            {
                "probability": top.probability,
                "per_chain": top.per_chain.tolist(),
                "leaves": top.tree.n_leaves,
                "tree": top.tree.to_dict(),
            }
            for top in posterior.top_trees(asked.trees)
        ]
        found = posterior.summary().to_dict() | {"best_tree": posterior.best_tree().to_dict(), "trees": listed}
        return found | ({"edits": posterior.edits().to_dict()} if isinstance(posterior.model.prior, EditTree) else {})


FAMILY = CARTFamily()


def _use_chart(summary: Summary, most: int = 10) -> list[RenderableType]:
    return section("How likely a tree asks about a column", bar_chart(summary.inclusion, most))


def tree_table(top: list[TopTree]) -> Table:
    """The most probable trees: their share of the draws, over all chains and in each.

    Parameters
    ----------
    top : list of TopTree
        As `Posterior.top_trees` gives them.
    """
    table = plain_table()
    for title, justify in (("probability", "right"), ("in each chain", "left"), ("leaves", "right")):
        table.add_column(title, justify=justify)  # type: ignore[arg-type]
    table.add_column("asks about", overflow="fold")
    for tree, probability, per_chain in top:
        shares = per_chain if len(per_chain) <= LISTED_CHAINS else [per_chain.min(), per_chain.max()]
        listed = (" " if len(per_chain) <= LISTED_CHAINS else " to ").join(f"{percent(share):>5}" for share in shares)
        table.add_row(percent(probability), listed, str(tree.n_leaves), Text(", ".join(tree.features) or "nothing"))
    return table
