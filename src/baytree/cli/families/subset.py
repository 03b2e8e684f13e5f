"""Subset selection in the linear model: the options that only it has, and what the options describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import InputError
from ...validation import unknown_choice
from ..files import require_file
from ..options import DATA, MODEL, TaskChoice
from ..values import number_or_word, weights_text

if TYPE_CHECKING:
    from ...data.matrix import LinearDesign
    from ...subset.model import Subset
    from ...subset.priors import ModelPrior, ParameterPrior, Prior


class HeredityChoice(StrEnum):
    """How many of its columns an interaction needs in the model."""

    WEAK = "weak"
    STRONG = "strong"


InteractionOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL:COL|all",
        help="Of subset and hme: two columns whose interaction may enter. May be repeated.",
        rich_help_panel=DATA,
    ),
]
ModelPriorOption = Annotated[
    str,
    typer.Option(
        metavar="PRIOR",
        help="Of subset: the prior over models, beta-binomial=A,B, independent=W, sizes=H0,H1,… or an expected size.",
        rich_help_panel=MODEL,
    ),
]
CoefficientsOption = Annotated[
    str,
    typer.Option(
        metavar="PRIOR",
        help="Of subset: the prior of the coefficients, hyper-gn=A, hyper-g=A, g=unit, g=eb, g=C or ridge=C.",
        rich_help_panel=MODEL,
    ),
]
AlwaysOption = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="Of subset: in every model. May be repeated.", rich_help_panel=MODEL),
]
HeredityOption = Annotated[
    HeredityChoice | None,
    typer.Option(help="Of subset: an interaction needs one or both of its columns.", rich_help_panel=MODEL),
]
NoInterceptOption = Annotated[
    bool, typer.Option("--no-intercept", help="Of subset: leave the intercept out.", rich_help_panel=MODEL)
]
ScaleOption = Annotated[
    str,
    typer.Option(
        metavar="auto|NUMBER", help="Of subset and hme: a guess at the variance of the noise.", rich_help_panel=MODEL
    ),
]
# The parameters of a command that describe a model.
SETTINGS = ("model_prior", "coefficients", "always", "heredity", "no_intercept", "nu", "scale", "method", "moves")


def build(context: typer.Context) -> Subset:
    """The model that the options of a command describe."""
    from ...subset.model import Subset

    asked = context.params
    if asked["task"] == TaskChoice.CLASSIFICATION:
        raise InputError("--task classification: linear models are of numbers; for classes choose --model bart or cart")
    _pairs(asked["interaction"])
    return Subset(
        model_prior=model_prior(asked["model_prior"]),
        coefficients=coefficients(asked["coefficients"]),
        always=tuple(asked["always"] or ()),
        heredity=None if asked["heredity"] is None else str(asked["heredity"]),
        fit_intercept=not asked["no_intercept"],
        nu=asked["nu"],
        scale=number_or_word(asked["scale"]),
        moves=asked["moves"],
        method=str(asked["method"]),
    )


def read_design(context: typer.Context, task: str) -> LinearDesign:
    """The table that the options of a command describe, as a matrix with a response of a kind."""
    from ...data.matrix import read_linear

    asked = context.params
    require_file(Path(asked["file"]))
    return read_linear(
        asked["file"],
        asked["target"],
        task=task,  # type: ignore[arg-type]
        weight=asked["weight"],
        categorical=asked["categorical"] or (),
        drop=asked["drop"] or (),
        interactions=_pairs(asked["interaction"]),
    )


def settings(model: Subset) -> dict[str, Any]:
    """What a run that is resumed goes on with, by parameter of the command."""
    from ...subset.priors import model_prior_of

    return {
        "model_prior": spelt(model_prior_of(model.model_prior)),
        "coefficients": spelt(model.coefficients),
        "always": ", ".join(sorted({str(column) for column in model.always})),
        "heredity": model.heredity,
        "no_intercept": not model.fit_intercept,
        "nu": model.nu,
        "scale": model.scale,
        # A run that can be resumed was sampled, whoever chose so.
        "method": "sample" if model.method == "auto" else model.method,
        "moves": weights_text(model.shares()),
    }


# ---- priors in a word -----------------------------------------------------------------------------------------------


def model_prior(text: str) -> ModelPrior:
    """The prior over models that a text such as ``beta-binomial=1,1`` names; a number is an expected size."""
    from ...subset.priors import BetaBinomial, ExpectedSize, Independent, SizePrior

    size = number_or_word(text)
    if not isinstance(size, str):
        return ExpectedSize(size)
    choices = {"beta-binomial": BetaBinomial, "independent": Independent, "sizes": SizePrior}
    return _prior("prior over models", text, choices, "an expected size")


def coefficients(text: str) -> ParameterPrior:
    """The prior of the coefficients that a text such as ``hyper-gn=3`` names."""
    from ...subset.priors import GPrior, HyperG, HyperGN, Ridge

    choices = {"hyper-gn": HyperGN, "hyper-g": HyperG, "g": GPrior, "ridge": Ridge}
    return _prior("prior of coefficients", text, choices)


def _prior(what: str, text: str, choices: Mapping[str, Any], *others: str) -> Any:
    from ...subset.priors import SizePrior

    name, equals, written = text.partition("=")
    if name not in choices:
        raise unknown_choice(what, name, (*choices, *others))
    kind = choices[name]
    numbers: list[Any] = [number_or_word(part) for part in written.split(",")] if equals else []
    if kind is SizePrior:
        return kind(numbers)
    most = [field.name.upper() for field in fields(kind)]
    if len(numbers) > len(most):
        raise InputError(f"{text}: {len(numbers)} numbers are too many; write {name}={','.join(most)}")
    return kind(*numbers)


def spelt(prior: Prior) -> str:
    """The text that names a prior."""
    record = prior.to_dict()
    kind = record.pop("kind")
    if kind == "expected_size":
        return _written(record["k"])
    return f"{kind.replace('_', '-')}={','.join(_written(value) for value in record.values())}"


def _written(value: Any) -> str:
    """A parameter of a prior, to the last digit."""
    if isinstance(value, list):
        return ",".join(map(_written, value))
    if isinstance(value, Mapping):
        return " ".join(f"{name}:{_written(share)}" for name, share in value.items())
    return str(value).removesuffix(".0")


def _pairs(texts: list[str] | None) -> str | list[tuple[str, str]] | None:
    """The interactions that were asked for."""
    if not texts:
        return None
    if "all" in texts:
        if len(texts) > 1:
            raise InputError("--interaction all has every pair already; leave the other ones out")
        return "all"
    pairs = []
    for text in texts:
        first, *rest = (name.strip() for name in text.split(":"))
        if len(rest) != 1 or not first or not rest[0]:
            raise InputError(f"--interaction {text}: give two columns as COL:COL, or all")
        pairs.append((first, rest[0]))
    return pairs
