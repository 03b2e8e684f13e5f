"""Hierarchical mixtures of experts: the options that only they have, and what the options describe."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import InputError
from ..options import MODEL, SAMPLING, given, option
from ..values import number_or_word

if TYPE_CHECKING:
    from ...hme.model import HME


class ExpertChoice(StrEnum):
    """The models at the leaves of a soft tree."""

    AUTO = "auto"
    LINEAR = "linear"
    CONSTANT = "constant"
    POISSON = "poisson"
    GAMMA = "gamma"
    LOGISTIC = "logistic"
    MULTINOMIAL = "multinomial"


class InitChoice(StrEnum):
    """Where the fit of a soft tree begins."""

    AUTO = "auto"
    CART = "cart"
    GROW = "grow"
    RANDOM = "random"


DepthOption = Annotated[int, typer.Option(help="Of hme: levels of gates.", rich_help_panel=MODEL)]
BranchingOption = Annotated[int, typer.Option(help="Of hme: children of each gate.", rich_help_panel=MODEL)]
ExpertOption = Annotated[
    ExpertChoice,
    typer.Option(
        help="Of hme: the models at the leaves; auto: linear for numbers, multinomial for classes.",
        rich_help_panel=MODEL,
    ),
]
RidgeOption = Annotated[
    str,
    typer.Option(
        metavar="auto|NUMBER",
        help="Of hme: the penalty on coefficients; auto: 0.1, of classes 5.",
        rich_help_panel=MODEL,
    ),
]
InitOption = Annotated[
    InitChoice,
    typer.Option(
        help="Of hme: begin at the splits of a decision tree, at a tree that grows, or at random.",
        rich_help_panel=SAMPLING,
    ),
]
InitsOption = Annotated[
    int,
    typer.Option(
        "--n-init", help="Of hme: how many random trees to begin at; the best end counts.", rich_help_panel=SAMPLING
    ),
]
EpochsOption = Annotated[int, typer.Option(help="Of hme: the most passes over the rows.", rich_help_panel=SAMPLING)]
EarlyStoppingOption = Annotated[
    bool,
    typer.Option(
        "--early-stopping",
        help="Of hme: hold a tenth of the rows out, and end where they fit best.",
        rich_help_panel=SAMPLING,
    ),
]

# The parameters of `HME` that are options of the same name.
SETTINGS = (
    *("depth", "branching", "expert", "ridge", "nu", "scale"),
    *("method", "init", "n_init", "epochs", "early_stopping"),
)
# What only chains have.
OF_CHAINS = ("chains", "warmup", "thin", "temperatures", "ladder", "until_converged", "threads", "nu", "scale")


def build(context: typer.Context) -> HME:
    """The model that the options of a command describe."""
    from ...hme.model import BY_CHAINS, HME

    asked = context.params
    stated = {name: asked[name] for name in SETTINGS}
    stated |= {name: str(asked[name]) for name in ("expert", "init", "method")}
    stated |= {name: number_or_word(asked[name]) for name in ("ridge", "scale")}
    if stated["method"] == "auto":
        # Only chains leave a run that can be resumed.
        stated["method"] = "gibbs" if asked["resume"] else "em"
    model = HME(**stated)
    refused = {
        "has no chains": () if model.method in BY_CHAINS else OF_CHAINS,
        "ends with one tree": () if model.method in (*BY_CHAINS, "variational") else ("draws",),
        "makes no epochs": ("epochs", "n_init") if model.method in BY_CHAINS else (),
    }
    for why, names in refused.items():
        for name in names:
            if given(context, name):
                raise InputError(f"{option(name)}: --method {model.method} {why}; leave {option(name)} out")
    return model


def settings(model: HME) -> dict[str, Any]:
    """What a run that is resumed goes on with, by parameter of the command."""
    return {name: getattr(model, name) for name in SETTINGS}
