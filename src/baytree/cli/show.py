"""``baytree show``: a model file, for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import session

if TYPE_CHECKING:
    from ..posterior import Posterior
    from .output import Output


def command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that [bold]baytree fit[/bold] wrote.")],
    trees: Annotated[int, typer.Option(min=0, help="How many of the most probable trees to list.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, with the trees in full.")] = False,
) -> None:
    """Show what a model learned: its best tree, what it asks about, and whether the chains agree."""
    with session(json=as_json) as output:
        from ..families import load

        posterior = load(model)
        if as_json:
            output.result(describe(posterior, trees))
        else:
            _draw(posterior, trees, output)


def describe(posterior: Posterior, trees: int) -> dict[str, Any]:
    """The summary, the best tree and the most probable trees as JSON-safe values."""
    listed = [
        {
            "probability": top.probability,
            "per_chain": top.per_chain.tolist(),
            "leaves": top.tree.n_leaves,
            "tree": top.tree.to_dict(),
        }
        for top in posterior.top_trees(trees)
    ]
    edits = {"edits": posterior.edits().to_dict()} if has_edits(posterior) else {}
    return posterior.summary().to_dict() | {"best_tree": posterior.best_tree().to_dict(), "trees": listed} | edits


def has_edits(posterior: Posterior) -> bool:
    """Whether the prior began with a given tree."""
    from ..edit_tree import EditTree

    return isinstance(posterior.model.prior, EditTree)


def _draw(posterior: Posterior, trees: int, output: Output) -> None:
    from . import drawing

    summary, best = posterior.summary(), posterior.best_tree()
    output.say(
        drawing.fit_title(summary),
        drawing.draws_line(summary),
        *drawing.tempered_lines(summary),
        drawing.prior_line(summary.model["prior"]),
        *drawing.known_lines(summary.known),
        drawing.heading(f"The best tree found, of highest posterior probability ({drawing.leaves(best.n_leaves)})"),
        drawing.indented(drawing.draw_tree(best)),
        drawing.heading("How likely a tree asks about a column"),
        drawing.indented(drawing.bar_chart(summary.inclusion)),
        drawing.size_line(posterior.n_leaves),
    )
    if has_edits(posterior):
        output.say(
            drawing.heading("What became of the given tree"), drawing.indented(drawing.draw_edits(posterior.edits()))
        )
    if trees:
        output.say(
            drawing.heading("The trees drawn most often"),
            drawing.indented(drawing.tree_table(posterior.top_trees(trees))),
        )
    output.say(
        drawing.heading("Do the chains agree?"),
        drawing.indented(drawing.diagnostic_table(summary)),
        *drawing.remarks(summary),
        drawing.moves_line(summary),
        drawing.verdict(summary),
    )
