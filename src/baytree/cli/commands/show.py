"""``baytree show``: a model file, for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import InputError
from ..options import given, option
from ..session import session

if TYPE_CHECKING:
    from ...bart.posterior import BARTPosterior
    from ...cart.posterior import Posterior
    from ..output import Output


def command(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that [bold]baytree fit[/bold] wrote.")],
    trees: Annotated[int, typer.Option(min=0, help="How many of the most probable trees to list.")] = 3,
    tree: Annotated[
        str | None,
        typer.Option(metavar="CHAIN,DRAW,TREE", help="Of a sum of trees: one tree to draw, counted from 0."),
    ] = None,
    models: Annotated[int, typer.Option(min=1, help="Of linear models: how many of the most probable to list.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, with the trees in full.")] = False,
) -> None:
    """Show what a model learned: its best tree, what it asks about, and whether the chains agree.

    A sum of trees has no best tree: of it, how often the trees use each column. Of linear models, how likely each
    column is, the most probable models and the coefficients. Of a mixture of experts, the gates and experts of its best
    tree.
    """
    with session(json=as_json) as output:
        from ...bart.posterior import BARTPosterior
        from ...hme.posterior import HMEPosterior
        from ...posterior.registry import load
        from ...subset.posterior import SubsetPosterior

        posterior = load(model)
        if isinstance(posterior, SubsetPosterior):
            for name in ("trees", "tree"):
                if given(context, name):
                    raise InputError(f"{option(name)}: {model} holds linear models; list them by --models 10")
            if as_json:
                output.result(posterior.summary().to_dict() | {"top_models": posterior.top_models(models).to_dict()})
            else:
                from .. import linear_drawing

                output.say(*linear_drawing.draw(posterior, models))
        elif isinstance(posterior, HMEPosterior):
            for name in ("trees", "tree", "models"):
                if given(context, name):
                    raise InputError(f"{option(name)}: {model} holds a mixture of experts; leave {option(name)} out")
            if as_json:
                output.result(posterior.summary().to_dict())
            else:
                from .. import soft_drawing

                output.say(*soft_drawing.draw(posterior))
        elif given(context, "models"):
            raise InputError(f"--models is for linear models, and {model} holds trees; leave it out")
        elif isinstance(posterior, BARTPosterior):
            if given(context, "trees"):
                raise InputError(
                    f"--trees: {model} holds sums of {posterior.model.trees} trees, which do not come again; leave it "
                    "out to see which columns they use, or draw one tree: --tree 0,0,0"
                )
            place = None if tree is None else _place(posterior, tree)
            if as_json:
                drawn = {} if place is None else {"tree": posterior.tree(*place).to_dict()}
                output.result(posterior.summary().to_dict() | drawn)
            else:
                _draw_sums(posterior, place, output)
        elif tree is not None:
            raise InputError(f"--tree is for sums of trees, and {model} holds single ones; list them by --trees 10")
        elif as_json:
            output.result(describe(posterior, trees))
        else:
            _draw(posterior, trees, output)


def _place(posterior: BARTPosterior, text: str) -> tuple[int, int, int]:
    """Of the tree that --tree names: its chain, its draw and its number in the sum."""
    shape = posterior.ensemble.tree_index.shape
    place = tuple(int(number) if number.strip().isdecimal() else -1 for number in text.split(","))
    if len(place) != 3 or not all(0 <= number < size for number, size in zip(place, shape, strict=True)):
        largest = ",".join(str(size - 1) for size in shape)
        raise InputError(f"--tree {text}: give a chain, a draw and a tree, from 0,0,0 to {largest}")
    return place


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
    from ...priors.edit_tree import EditTree

    return isinstance(posterior.model.prior, EditTree)


def _draw(posterior: Posterior, trees: int, output: Output) -> None:
    from .. import drawing

    summary, best = posterior.summary(), posterior.best_tree()
    output.say(
        drawing.fit_title(summary),
        drawing.draws_line(summary),
        *drawing.tempered_lines(summary),
        drawing.prior_line(summary.model["prior"]),
        *drawing.known_lines(summary.known),
        drawing.heading(f"The best tree found, of highest posterior probability ({drawing.leaves(best.n_leaves)})"),
        drawing.indented(drawing.draw_tree(best)),
        *drawing.use_chart(summary),
        drawing.trees_line(posterior),
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
    output.say(*drawing.agreement(summary))


def _draw_sums(posterior: BARTPosterior, place: tuple[int, int, int] | None, output: Output) -> None:
    from .. import drawing

    summary = posterior.summary()
    output.say(
        drawing.fit_title(summary),
        drawing.draws_line(summary),
        drawing.sum_line(summary),
        drawing.prior_line(summary.model["prior"]),
        *drawing.known_lines(summary.known),
        *drawing.use_chart(summary),
        drawing.trees_line(posterior),
    )
    if place is not None:
        chain, draw, number = place
        title = f"Tree {number} of draw {draw} of chain {chain}, and what it adds to the sum"
        output.say(drawing.heading(title), drawing.indented(drawing.draw_tree(posterior.tree(*place))))
    output.say(*drawing.agreement(summary))
