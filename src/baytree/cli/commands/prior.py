"""``baytree prior``: what a prior means, before any fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.text import Text

from ...sampling.memory import require_room
from ...text import counted, percent
from ...trees.prior_samples import PriorDraws
from ..declaring import SAMPLING, Command
from ..files import require_file
from ..options import AsJson, Seed, require_numbers
from ..output import Output, session
from ..reading import say_read
from ..terminal import bar_chart, next_steps, section
from ..tree_drawing import draw_tree, leaves, size_line
from ..tree_prior import TreePriorOptions, read_bins, tree_prior

# What a drawn tree takes in memory, in bytes, at the least.
TREE = 100


@dataclass(kw_only=True)
class PriorOptions(TreePriorOptions):
    """What to draw from a prior."""

    draws: Annotated[int, typer.Option(help="Trees to draw.", rich_help_panel=SAMPLING)] = 1000
    seed: Seed = None
    trees: Annotated[int, typer.Option(min=0, help="How many of the drawn trees to show.")] = 2
    as_json: AsJson = False


class PriorCommand(Command):
    """The command."""

    options = PriorOptions


def command(context: typer.Context) -> None:
    """Draw trees from a prior, and say how large they are and what they ask about.

    The response is never looked at: this is what the prior says before any data speak. The options are those of
    [bold]baytree fit[/bold].
    """
    asked: PriorOptions = context.obj
    with session(json=asked.as_json) as output:
        # Whatever can be refused is refused before the table is read.
        prior = tree_prior(asked, output)
        require_numbers(asked, asked.seed, draws=1)
        require_file(asked.file)
        require_room(TREE * asked.draws, f"--draws {asked.draws}", "draw fewer; 1,000 say as much")
        design = read_bins(asked)
        if output.chatty:
            say_read(asked, design, output)
        drawn = prior.sample(design, asked.draws, asked.seed)
        if output.chatty:
            _say(asked, drawn, prior.describe(), output)
        output.result(
            {
                "file": str(asked.file),
                "rows": design.rows,
                "columns": len(design.columns),
                "prior": prior.to_dict(),
                **drawn.to_dict(),
                "trees": [tree.to_dict() for tree in drawn.trees[: asked.trees]],
            }
        )


def _say(asked: PriorOptions, drawn: PriorDraws, prior: str, output: Output) -> None:
    record, total = drawn.to_dict(), len(drawn)
    output.say(
        Text(prior),
        Text(f"{counted(total, 'tree')} drawn; seed {drawn.seed}"),
        *section("How many leaves a tree has", bar_chart(_shares(record["leaves"]["counts"], total, leaves))),
        size_line(drawn.n_leaves),
        Text(f"{percent(drawn.single_leaf)} of the trees are a single leaf: they ask nothing."),
        *section("How deep it is", bar_chart(_shares(record["depth"]["counts"], total, "depth {}".format))),
        *section("How likely a tree asks about a column", bar_chart(record["inclusion"])),
    )
    for number, tree in enumerate(drawn.trees[: asked.trees], 1):
        output.say(*section(f"Tree {number} of {total:,}", draw_tree(tree)))
    again = asked.fit_again({}, without=("draws", "seed", "trees", "as_json"))
    output.say(next_steps([(again, "let the data speak")]))


def _shares(counts: dict[str, int], total: int, name: Callable[[int], str]) -> dict[str, float]:
    """A histogram: how many of each in parts of all."""
    return {name(int(value)): count / total for value, count in counts.items()}
