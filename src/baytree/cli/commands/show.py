"""``baytree show``: a model file, for people."""

from __future__ import annotations

import typer

from ...posterior.registry import load
from ..declaring import Command, asked_of
from ..families import FAMILIES, family_of
from ..options import ShowOptions
from ..output import session


class ShowCommand(Command):
    """The command, whose family is that of the file."""

    options, families = ShowOptions, FAMILIES


def command(context: typer.Context) -> None:
    """Show what a model learned: its best tree, what it asks about, and whether the chains agree.

    A sum of trees has no best tree: of it, how often the trees use each column. Of linear models, how likely each
    column is, the most probable models and the coefficients. Of a mixture of experts, the gates and experts of its best
    tree.
    """
    first: ShowOptions = context.obj
    with session(json=first.as_json) as output:
        posterior = load(first.model)
        family = family_of(posterior.model, first.model)
        asked = asked_of(context, family, first.model)
        if output.json:
            output.result(family.record(posterior, asked))
        else:
            output.say(*family.draw(posterior, asked))
