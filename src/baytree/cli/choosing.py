"""The families of models: which options each of them has, and the model that the options describe."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from ..text import listed
from .families import bart, hme, subset
from .knowledge import PARAMETERS
from .options import MODEL, SAMPLING, given, option, read_design, tree_prior
from .values import weights_text

if TYPE_CHECKING:
    from ..data.design import AnyDesign
    from ..mcmc.contract import AnyModel as Model
    from .output import Output


class MethodChoice(StrEnum):
    """How a linear model or a soft tree is found."""

    AUTO = "auto"
    ENUMERATE = "enumerate"
    SAMPLE = "sample"
    EM = "em"
    EM2 = "em2"
    ONLINE = "online"
    GIBBS = "gibbs"
    VARIATIONAL = "variational"


class Family(StrEnum):
    """The models that can be fitted."""

    CART = "cart"
    BART = "bart"
    SUBSET = "subset"
    HME = "hme"


ModelOption = Annotated[
    Family,
    typer.Option(
        help="cart: one tree; bart: a sum of many trees; subset: a linear model of some of the columns; "
        "hme: a tree of soft decisions over simple models.",
        rich_help_panel=MODEL,
    ),
]
BetaOption = Annotated[
    float | None,
    typer.Option(
        help="How fast that falls with depth: alpha / (1 + depth)^beta.",
        show_default="1.0; of bart 2.0",
        rich_help_panel=MODEL,
    ),
]
NuOption = Annotated[
    float,
    typer.Option(help="Of bart, subset and hme: degrees of freedom of the prior of the noise.", rich_help_panel=MODEL),
]
MovesOption = Annotated[
    str,
    typer.Option(
        help="Of bart: auto, or proposals at a visit of a tree: birth_death=1,change=0.25; of subset: auto, or turns "
        "in an iteration: gibbs=1,replace=1",
        rich_help_panel=SAMPLING,
    ),
]

MethodOption = Annotated[
    MethodChoice,
    typer.Option(
        help="Of subset: enumerate every model, by itself up to 25 columns, or sample; of hme: em, em2 (gates by least "
        "squares), online (one row at a time), gibbs (chains) or variational (a mean field, with draws).",
        rich_help_panel=SAMPLING,
    ),
]

PLURALS = {
    Family.CART: "single trees",
    Family.BART: "sums of trees",
    Family.SUBSET: "linear models",
    Family.HME: "mixtures of experts",
}
# The options that not all families have.
OWNERS: dict[str, tuple[Family, ...]] = {
    **dict.fromkeys(("max_cuts", "prior", "semantics", "alpha", "beta", "min_leaf"), (Family.CART, Family.BART)),
    **dict.fromkeys(PARAMETERS, (Family.CART, Family.BART)),
    **dict.fromkeys(("edit", "edits", "rule", "proposal"), (Family.CART,)),
    **dict.fromkeys((*bart.SETTINGS, "offset", "sparse"), (Family.BART,)),
    **dict.fromkeys(subset.SETTINGS, (Family.SUBSET,)),
    **dict.fromkeys(hme.SETTINGS, (Family.HME,)),
    **dict.fromkeys(("temperatures", "ladder"), (Family.CART, Family.SUBSET, Family.HME)),
    "moves": (Family.BART, Family.SUBSET),
    "nu": (Family.BART, Family.SUBSET, Family.HME),
    **dict.fromkeys(("interaction", "method", "scale"), (Family.SUBSET, Family.HME)),
}

_GROWN = "sums of trees have the built-in prior or that of a program, and options such as --box say what is known"
_UNTEMPERED = "chains of sums of trees are not tempered; --until-converged goes on until they agree"
# What to do instead in a family that has no such option.
INSTEAD = {
    Family.BART: {
        "edit": _GROWN,
        "edits": _GROWN,
        "rule": "sums of trees always choose a column and then its question",
        "proposal": "the proposals of sums of trees are named by --moves",
        "temperatures": _UNTEMPERED,
        "ladder": _UNTEMPERED,
    },
    Family.SUBSET: {
        "prior": "the prior over linear models is named by --model-prior",
        "proposal": "the moves between linear models are named by --moves",
        "interact": "the columns of a linear model that may interact are named by --interaction",
        "forbid": "--drop leaves a column out of a linear model",
        "sparse": "--model-prior says how many columns matter",
        "sigma": "a guess at the variance of a linear model's noise is given by --scale",
        "offset": "what is added to a linear model can be taken from the response before",
    },
    Family.HME: {
        "prior": "soft trees are not grown; --ridge says how simple they are",
        "trees": "a soft tree has one tree; --depth and --branching say how large it is",
        "max_depth": "all leaves of a soft tree are at --depth",
        "forbid": "--drop leaves a column out of a soft tree",
    },
}


def family_of(model: Model) -> Family:
    """The family that a model belongs to."""
    from ..posterior.registry import family_of as family

    return Family(family(model).name)


def build_model(context: typer.Context, family: Family, output: Output) -> Model:
    """The model that the options of a command describe; those of other families are refused."""
    from ..cart.model import CART

    for name, owners in OWNERS.items():
        if family not in owners and given(context, name):
            raise _foreign(name, owners, family)
    if family is Family.SUBSET:
        return subset.build(context)
    if family is Family.HME:
        return hme.build(context)
    if family is Family.BART:
        return bart.build(context, output)
    return CART(prior=tree_prior(context, output), proposal=context.params["proposal"])


def _foreign(name: str, owners: tuple[Family, ...], family: Family) -> InputError:
    """The error of an option that a family does not have."""
    what = f"{option(name)} is for {listed([PLURALS[owner] for owner in owners])}"
    if name in INSTEAD.get(family, {}):
        return InputError(f"{what}: {INSTEAD[family][name]}; leave {option(name)} out")
    models = " or ".join(f"--model {owner}" for owner in owners)
    return InputError(f"{what}; choose {models}, or leave {option(name)} out")


def read_data(context: typer.Context, family: Family) -> AnyDesign:
    """The table that the options of a command describe, as a family takes it."""
    if family in (Family.SUBSET, Family.HME):
        return subset.read_design(context, "regression" if family is Family.SUBSET else str(context.params["task"]))
    design = read_design(context)
    if family is Family.BART:
        bart.require_noise(context, design)
    return design


def settings_of(model: Any) -> dict[str, Any]:
    """What a run that is resumed goes on with, by parameter of the command; of trees, all that their prior says too."""
    from ..bart.model import BART
    from ..hme.model import HME
    from ..subset.model import Subset

    if isinstance(model, Subset):
        return subset.settings(model)
    if isinstance(model, HME):
        return hme.settings(model)
    prior = model.prior.to_dict()
    of_prior = prior | {"prior": prior.get("text", "the built-in one")}
    if isinstance(model, BART):
        return of_prior | bart.settings(model)
    return of_prior | {
        "edit": getattr(model.prior, "tree", None),
        "proposal": weights_text(model.shares()),
    }
