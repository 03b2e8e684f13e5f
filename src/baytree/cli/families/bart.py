"""Sums of trees: the options that only they have, and the model that the options describe."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import InputError
from ..options import MODEL, SAMPLING, given, option, tree_prior
from ..values import number_or_word, weights_text

if TYPE_CHECKING:
    from ...bart.model import BART
    from ...data.design import Design
    from ..output import Output


class StartChoice(StrEnum):
    """Where the chains of a sum of trees begin."""

    ROOT = "root"
    GROW = "grow"


class VarianceChoice(StrEnum):
    """Whether the noise of a sum of trees is the same everywhere."""

    CONSTANT = "constant"
    FOREST = "forest"


class SplitChoice(StrEnum):
    """Whether a row goes one way at a rule."""

    HARD = "hard"
    SOFT = "soft"


TreesOption = Annotated[
    int, typer.Option(help="Of bart: trees in the sum; of several classes, for each.", rich_help_panel=MODEL)
]
KOption = Annotated[
    str,
    typer.Option(
        metavar="NUMBER|learned",
        help="Of bart: how many sd of the sum reach to the ends of the response; learned draws it as well.",
        rich_help_panel=MODEL,
    ),
]
QOption = Annotated[
    float, typer.Option(help="Of bart: the probability that the noise is less than --sigma.", rich_help_panel=MODEL)
]
SigmaOption = Annotated[
    str,
    typer.Option(
        metavar="linear|naive|NUMBER",
        help="Of bart: a guess at the noise, by a linear fit, by the response alone, or as it is given.",
        rich_help_panel=MODEL,
    ),
]
VarianceOption = Annotated[
    VarianceChoice,
    typer.Option(help="Of bart: noise that is the same everywhere, or that trees learn.", rich_help_panel=MODEL),
]
VarianceTreesOption = Annotated[int, typer.Option(help="Of --variance forest: its trees.", rich_help_panel=MODEL)]
SplitOption = Annotated[
    SplitChoice,
    typer.Option(help="Of bart: whether a row goes one way at a question, or both in part.", rich_help_panel=MODEL),
]
BandwidthOption = Annotated[
    float, typer.Option(help="Of --split soft: the mean bandwidth of the questions.", rich_help_panel=MODEL)
]
StartOption = Annotated[
    StartChoice,
    typer.Option(help="Of bart: begin with trees of one leaf, or grown to the data.", rich_help_panel=SAMPLING),
]

NOISE = ("nu", "q", "sigma", "variance", "variance_trees")
# The parameters of `BART` that are options of the same name.
SETTINGS = ("trees", "k", *NOISE, "split", "bandwidth", "moves", "start")
# What `BART()` has where `GrowTree()` has another.
BETA = 2.0


def build(context: typer.Context, output: Output) -> BART:
    """The model that the options of a command describe."""
    from ...bart.model import BART

    asked = context.params
    if given(context, "variance_trees") and asked["variance"] != VarianceChoice.FOREST:
        raise InputError("--variance-trees is for --variance forest; add that, or leave --variance-trees out")
    if given(context, "bandwidth") and asked["split"] != SplitChoice.SOFT:
        raise InputError("--bandwidth is for --split soft; add that, or leave --bandwidth out")
    choices = {name: str(asked[name]) for name in ("variance", "split", "start")}
    stated = {name: asked[name] for name in SETTINGS} | choices
    stated["init"] = stated.pop("start")
    stated |= {name: number_or_word(asked[name]) for name in ("sigma", "k")}
    prior: Any = tree_prior(context, output, BETA)
    return BART(prior=prior, **stated)


def require_noise(context: typer.Context, design: Design) -> None:
    """Refuse what is said about the noise of classes, which is known."""
    for name in NOISE:
        if design.classes is not None and given(context, name):
            raise InputError(
                f"{option(name)} is about the noise of numbers, and {design.response.name!r} has classes; leave it out"
            )


def settings(model: BART) -> dict[str, Any]:
    """What a run that is resumed goes on with, besides the prior, by parameter of the command."""
    named = {name: getattr(model, "init" if name == "start" else name) for name in SETTINGS}
    return named | {"moves": weights_text(model.shares())}
