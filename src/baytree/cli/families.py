"""The families of models: the options that only one of them has, and the model that the options describe."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from .options import MODEL, SAMPLING, given, option, tree_prior

if TYPE_CHECKING:
    from ..bart_model import BART
    from ..data import Design
    from ..families import Model
    from .output import Output


class Family(StrEnum):
    """The models that can be fitted."""

    CART = "cart"
    BART = "bart"


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


ModelOption = Annotated[Family, typer.Option(help="cart: one tree; bart: a sum of many trees.", rich_help_panel=MODEL)]
BetaOption = Annotated[
    float | None,
    typer.Option(
        help="How fast that falls with depth: alpha / (1 + depth)^beta.",
        show_default="1.0; of bart 2.0",
        rich_help_panel=MODEL,
    ),
]
TreesOption = Annotated[
    int, typer.Option(help="Of bart: trees in the sum; of several classes, for each.", rich_help_panel=MODEL)
]
KOption = Annotated[
    float,
    typer.Option(help="Of bart: how many sd of the sum reach to the ends of the response.", rich_help_panel=MODEL),
]
NuOption = Annotated[
    float, typer.Option(help="Of bart: degrees of freedom of the prior of the noise.", rich_help_panel=MODEL)
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
MovesOption = Annotated[
    str,
    typer.Option(
        help="Of bart: auto, or proposals at a visit of a tree: birth_death=1,change=0.25", rich_help_panel=SAMPLING
    ),
]
StartOption = Annotated[
    StartChoice,
    typer.Option(help="Of bart: begin with trees of one leaf, or grown to the data.", rich_help_panel=SAMPLING),
]

_GROWN = "sums of trees have the built-in prior or that of a program, and options such as --box say what is known"
_UNTEMPERED = "chains of sums of trees are not tempered; --until-converged goes on until they agree"
# The options of one family, with what to do instead in the other.
SINGLE = {
    "edit": _GROWN,
    "edits": _GROWN,
    "rule": "sums of trees always choose a column and then its question",
    "proposal": "the proposals of sums of trees are named by --moves",
    "temperatures": _UNTEMPERED,
    "ladder": _UNTEMPERED,
}
NOISE = ("nu", "q", "sigma", "variance", "variance_trees")
# The parameters of `BART` that are options of the same name.
SETTINGS = ("trees", "k", *NOISE, "split", "bandwidth", "moves", "start")
SUMS = (*SETTINGS, "offset", "sparse")
# What `BART()` has where `GrowTree()` has another.
BETA = 2.0


def family_of(model: Model) -> Family:
    """The family that a model belongs to."""
    from ..bart_model import BART

    return Family.BART if isinstance(model, BART) else Family.CART


def build_model(context: typer.Context, family: Family, output: Output) -> Model:
    """The model that the options of a command describe; those of another family are refused."""
    from ..models import CART

    if family is Family.BART:
        for name, instead in SINGLE.items():
            if given(context, name):
                raise InputError(f"{option(name)} is for single trees: {instead}; leave {option(name)} out")
        return _sum_of_trees(context, output)
    for name in SUMS:
        if given(context, name):
            raise InputError(f"{option(name)} is for sums of trees; add --model bart, or leave {option(name)} out")
    return CART(prior=tree_prior(context, output), proposal=context.params["proposal"])


def _sum_of_trees(context: typer.Context, output: Output) -> BART:
    from ..bart_model import BART

    asked = context.params
    if given(context, "variance_trees") and asked["variance"] != VarianceChoice.FOREST:
        raise InputError("--variance-trees is for --variance forest; add that, or leave --variance-trees out")
    if given(context, "bandwidth") and asked["split"] != SplitChoice.SOFT:
        raise InputError("--bandwidth is for --split soft; add that, or leave --bandwidth out")
    choices = {name: str(asked[name]) for name in ("variance", "split", "start")}
    settings = {name: asked[name] for name in SETTINGS} | choices
    settings["sigma"] = _number_or_word(asked["sigma"])
    prior: Any = tree_prior(context, output, BETA)
    return BART(prior=prior, **settings)


def _number_or_word(text: str) -> float | str:
    """The number; what is none is a word, and refused by the model where it does not know it."""
    try:
        return float(text)
    except ValueError:
        return text


def require_noise(context: typer.Context, design: Design) -> None:
    """Refuse what is said about the noise of classes, which is known."""
    for name in NOISE:
        if design.classes is not None and given(context, name):
            raise InputError(
                f"{option(name)} is about the noise of numbers, and {design.response.name!r} has classes; leave it out"
            )


def settings_of(model: Model) -> dict[str, Any]:
    """What a run that is resumed goes on with, besides the prior's own parameters, by parameter of the command."""
    from ..bart_model import BART

    prior = {"prior": model.prior.to_dict().get("text", "the built-in one")}
    if isinstance(model, BART):
        return prior | {name: getattr(model, name) for name in SETTINGS} | {"moves": _shares(model.shares())}
    return prior | {
        "edit": getattr(model.prior, "tree", None),
        "proposal": _shares({str(part): part.weight for part in model.components()}),
    }


def _shares(weights: dict[str, float]) -> str:
    return ",".join(sorted(f"{name}={weight:g}" for name, weight in weights.items()))
