"""``baytree prior``: what a prior means, before any fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import options
from ..knowledge import (
    BoxOption,
    ColumnWeightOption,
    ForbidBelowOption,
    ForbidOption,
    InteractOption,
    KnowledgeOption,
    MaxDepthOption,
    MaxLeavesOption,
    MonotoneOption,
    OnlyOption,
)
from ..options import (
    SAMPLING,
    RuleChoice,
    SemanticsChoice,
    TaskChoice,
    fit_again,
    max_cuts_of,
    read_design,
    require_count,
    require_seed,
    say_read,
    tree_prior,
)
from ..session import session

if TYPE_CHECKING:
    from ...trees.prior_samples import PriorDraws
    from ..output import Output


def command(
    context: typer.Context,
    file: options.TableArgument,
    target: options.TargetOption,
    task: options.TaskOption = TaskChoice.AUTO,
    weight: options.WeightOption = None,
    categorical: options.CategoricalOption = None,
    drop: options.DropOption = None,
    max_cuts: options.MaxCutsOption = "255",
    prior: options.PriorOption = None,
    semantics: options.SemanticsOption = SemanticsChoice.BACKTRACK,
    edit: options.EditOption = None,
    edits: options.EditsOption = 4.0,
    alpha: options.AlphaOption = 0.95,
    beta: options.BetaOption = 1.0,
    min_leaf: options.MinLeafOption = 5,
    rule: options.RuleOption = RuleChoice.VARIABLE,
    box: BoxOption = None,
    monotone: MonotoneOption = None,
    interact: InteractOption = None,
    forbid: ForbidOption = None,
    forbid_below: ForbidBelowOption = None,
    only: OnlyOption = None,
    max_depth: MaxDepthOption = None,
    max_leaves: MaxLeavesOption = None,
    column_weight: ColumnWeightOption = None,
    knowledge: KnowledgeOption = None,
    draws: Annotated[int, typer.Option(help="Trees to draw.", rich_help_panel=SAMPLING)] = 1000,
    seed: options.SeedOption = None,
    trees: Annotated[int, typer.Option(min=0, help="How many of the drawn trees to show.")] = 2,
    as_json: options.JsonOption = False,
) -> None:
    """Draw trees from a prior, and say how large they are and what they ask about.

    The response is never looked at: this is what the prior says before any data speak. The options are those of
    [bold]baytree fit[/bold].
    """
    with session(json=as_json) as output:
        # Whatever can be refused is refused before the table is read.
        asked = tree_prior(context, output)
        max_cuts_of(max_cuts)
        require_count("draws", draws)
        require_seed(seed)
        design = read_design(context)
        say_read(context, design, output)
        drawn = asked.sample(design, draws, seed)
        record = asked.to_dict()
        if output.chatty:
            _say(context, drawn, record, trees, output)
        output.result(
            {"file": str(file), "rows": design.rows, "columns": len(design.columns), "prior": record}
            | drawn.to_dict()
            | {"trees": [tree.to_dict() for tree in drawn.trees[:trees]]}
        )


def _say(context: typer.Context, drawn: PriorDraws, prior: dict[str, Any], trees: int, output: Output) -> None:
    from rich.text import Text

    from ...text import counted, percent
    from .. import drawing

    record = drawn.to_dict()
    output.say(
        drawing.prior_line(prior),
        Text(f"{counted(len(drawn), 'tree')} drawn; seed {drawn.seed}"),
        drawing.heading("How many leaves a tree has"),
        drawing.indented(drawing.bar_chart(_shares(record["leaves"]["counts"], len(drawn), drawing.leaves))),
        drawing.size_line(drawn.n_leaves),
        Text(f"{percent(drawn.single_leaf)} of the trees are a single leaf: they ask nothing."),
        drawing.heading("How deep it is"),
        drawing.indented(drawing.bar_chart(_shares(record["depth"]["counts"], len(drawn), "depth {}".format))),
        drawing.heading("How likely a tree asks about a column"),
        drawing.indented(drawing.bar_chart(record["inclusion"])),
    )
    for number, tree in enumerate(drawn.trees[:trees], 1):
        output.say(drawing.heading(f"Tree {number} of {len(drawn):,}"), drawing.indented(drawing.draw_tree(tree)))
    again = fit_again(context, without=("draws", "seed", "trees", "as_json"))
    output.say(drawing.next_steps([(again, "let the data speak")]))


def _shares(counts: dict[str, int], total: int, name: Callable[[int], str]) -> dict[str, float]:
    """A histogram: how many of each in parts of all."""
    return {name(int(value)): count / total for value, count in counts.items()}
