"""Subset selection in the linear model on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Literal

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ...data.matrix import LinearDesign
from ...errors import CellError, InputError
from ...subset.model import Subset
from ...subset.posterior import SubsetPosterior
from ...subset.priors import (
    BetaBinomial,
    ExpectedSize,
    GPrior,
    HyperG,
    HyperGN,
    Independent,
    ModelPrior,
    ParameterPrior,
    Ridge,
    SizePrior,
    model_prior_of,
)
from ...subset.ranking import Coefficients, Inclusion, RankedModel, RankedModels
from ...subset.summary import SubsetSummary
from ...text import counted, percent
from ...validation import number_or_word, unknown_choice
from ..declaring import MODEL, SAMPLING
from ..matrix import MatrixOptions, read_matrix
from ..options import ShowOptions, TemperedFitOptions
from ..output import Output
from ..terminal import bar_chart, plain_table, section
from ..values import weights_text
from .base import Family

# How many columns are shown after a fit, and how many columns of the matrix are listed.
MOST_BARS = 6
MOST_COEFFICIENTS = 15


@dataclass(kw_only=True)
class SubsetFit(MatrixOptions, TemperedFitOptions):
    """What linear models ask for a fit."""

    instead: ClassVar = {
        "prior": "the prior over linear models is named by --model-prior",
        "interact": "the columns of a linear model that may interact are named by --interaction",
        "forbid": "--drop leaves a column out of a linear model",
        "sparse": "--model-prior says how many columns matter",
        "sigma": "a guess at the variance of a linear model's noise is given by --scale",
        "offset": "what is added to a linear model can be taken from the response before",
    }

    model_prior: Annotated[
        str,
        typer.Option(
            metavar="PRIOR",
            help="The prior over models, beta-binomial=A,B, independent=W, sizes=H0,H1,… or an expected size.",
            rich_help_panel=MODEL,
        ),
    ] = "beta-binomial"
    coefficients: Annotated[
        str,
        typer.Option(
            metavar="PRIOR",
            help="The prior of the coefficients, hyper-gn=A, hyper-g=A, g=unit, g=eb, g=C or ridge=C.",
            rich_help_panel=MODEL,
        ),
    ] = "hyper-gn"
    always: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="In every model. May be repeated.", rich_help_panel=MODEL),
    ] = None
    heredity: Annotated[
        Literal["weak", "strong"] | None,
        typer.Option(help="An interaction needs one or both of its columns.", rich_help_panel=MODEL),
    ] = None
    no_intercept: Annotated[
        bool, typer.Option("--no-intercept", help="Leave the intercept out.", rich_help_panel=MODEL)
    ] = False
    nu: Annotated[float, typer.Option(help="Degrees of freedom of the prior of the noise.", rich_help_panel=MODEL)] = (
        3.0
    )
    scale: Annotated[
        str,
        typer.Option(metavar="auto|NUMBER", help="A guess at the variance of the noise.", rich_help_panel=MODEL),
    ] = "auto"
    method: Annotated[
        Literal["auto", "enumerate", "sample"],
        typer.Option(
            help="Enumerate every model, by itself up to 25 columns, or sample (model averaging either way).",
            rich_help_panel=SAMPLING,
        ),
    ] = "auto"
    proposal: Annotated[
        str, typer.Option(help="auto, or turns in an iteration: gibbs=1,replace=1", rich_help_panel=SAMPLING)
    ] = "auto"


@dataclass(kw_only=True)
class SubsetShow(ShowOptions):
    """What linear models ask to be shown."""

    instead: ClassVar = dict.fromkeys(("trees", "tree"), "list them by --models 10")

    models: Annotated[int, typer.Option(min=1, help="Of linear models: how many of the most probable to list.")] = 5


class SubsetFamily(Family[SubsetFit, SubsetPosterior]):
    """Linear models of some of the columns."""

    name, about, plural = "subset", "a linear model of some of the columns", "linear models"
    fit, show = SubsetFit, SubsetShow

    def build(self, asked: SubsetFit, output: Output) -> Subset:
        """The model that the options describe."""
        if asked.task == "classification":
            raise InputError(
                "--task classification: linear models are of numbers; for classes choose --model bart or cart"
            )
        asked.pairs()
        return Subset(
            model_prior=model_prior(asked.model_prior),
            coefficients=coefficients(asked.coefficients),
            always=tuple(asked.always or ()),
            heredity=asked.heredity,
            fit_intercept=not asked.no_intercept,
            nu=asked.nu,
            scale=number_or_word(asked.scale),
            proposal=asked.proposal,
            method=asked.method,
        )

    def read(self, asked: SubsetFit) -> LinearDesign:
        """The table as a matrix, with numbers for its response."""
        try:
            return read_matrix(asked, "regression")
        except CellError as error:
            column, row, value, why = error.cell
            instead = "classify by --model bart, cart or hme"
            raise CellError(column, row, value, why.replace("or classify", f"or {instead}")) from error

    def settings(self, model: Subset) -> Mapping[str, Any]:
        """The priors, the method and the proposals."""
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
            "proposal": weights_text(model.shares),
        }

    def describe(self, posterior: SubsetPosterior, summary: SubsetSummary) -> list[RenderableType]:
        """How likely the columns are, and the most probable model."""
        top = summary.top_models
        probability = f", of probability {percent(top[0].probability)}" if top.normalised.known else ""
        best = Text.assemble("The most probable model: ", (_terms(top[0]), "bold"), probability)
        return [*_inclusion_chart(summary.inclusion, MOST_BARS), Text(""), best]

    def picture(self, posterior: SubsetPosterior, summary: SubsetSummary, asked: SubsetShow) -> list[RenderableType]:
        """How likely the columns are, the most probable models, the coefficients and the noise."""
        top = posterior.top_models(asked.models)
        columns = f"{posterior.n_columns.mean():.1f} of {counted(posterior.schema.width, 'column')}"
        return [
            *_inclusion_chart(summary.inclusion),
            *section("The most probable models", _model_table(top)),
            Text(str(top.normalised)),
            Text(f"Columns that are more likely in than out: {', '.join(summary.median_model) or 'none'}"),
            *section("Coefficients, averaged over the models", _coefficient_table(summary.coefficients)),
            Text(
                f"A model has {columns} on average; the noise has a standard deviation of about "
                f"{posterior.sigma.mean():.4g}."
            ),
        ]

    def record(self, posterior: SubsetPosterior, asked: SubsetShow) -> dict[str, Any]:
        """The summary, with as many of the most probable models as asked."""
        return posterior.summary().to_dict() | {"top_models": posterior.top_models(asked.models).to_dict()}


FAMILY = SubsetFamily()


# ---- priors in a word -----------------------------------------------------------------------------------------------


def model_prior(text: str) -> ModelPrior:
    """The prior over models that a text such as ``beta-binomial=1,1`` names; a number is an expected size."""
    size = number_or_word(text)
    if not isinstance(size, str):
        return ExpectedSize(size)
    choices = {"beta-binomial": BetaBinomial, "independent": Independent, "sizes": SizePrior}
    return _prior("prior over models", text, choices, "an expected size")


def coefficients(text: str) -> ParameterPrior:
    """The prior of the coefficients that a text such as ``hyper-gn=3`` names."""
    choices = {"hyper-gn": HyperGN, "hyper-g": HyperG, "g": GPrior, "ridge": Ridge}
    return _prior("prior of coefficients", text, choices)


def _prior(what: str, text: str, choices: Mapping[str, Any], *others: str) -> Any:
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


def spelt(prior: ModelPrior | ParameterPrior) -> str:
    """The text that names a prior."""
    return prior.describe().removeprefix("expected size ")


# ---- drawing --------------------------------------------------------------------------------------------------------


def _inclusion_chart(inclusion: Inclusion, most: int = 10) -> list[RenderableType]:
    """How likely each column is in the model."""
    shares = dict(zip(inclusion.units, inclusion.best.tolist(), strict=True))
    chart = bar_chart(dict(sorted(shares.items(), key=lambda item: -item[1])), most)
    return section("How likely a column is in the model", chart)


def _model_table(top: RankedModels) -> Table:
    """The most probable models: their probability, the odds against the best, and their share of the draws."""
    table = plain_table()
    for title in ("probability", "odds", "of the draws"):
        table.add_column(title, justify="right")
    table.add_column("columns", overflow="fold")
    for model in top.models:
        probability = percent(model.probability) if top.normalised.known else "–"
        table.add_row(probability, f"{model.odds:.3g}", percent(model.frequency), Text(_terms(model)))
    return table


def _coefficient_table(coefficients: Coefficients) -> Table:
    """Mean, spread and interval of the coefficients, 0 where a model lacks the column."""
    table = plain_table()
    table.add_column("")
    for title in ("included", "mean", "sd", f"{coefficients.prob:.0%} interval"):
        table.add_column(title, justify="right")
    listed = coefficients.order[:MOST_COEFFICIENTS]
    for place in listed:
        low, high = coefficients.interval[place]
        figures = f"{coefficients.mean[place]:.4g}", f"{coefficients.sd[place]:.3g}", f"{low:.4g} to {high:.4g}"
        table.add_row(Text(coefficients.names[place]), percent(coefficients.inclusion[place]), *figures)
    if rest := len(coefficients.names) - len(listed):
        table.add_row(Text(f"{rest} more, less often included", style="dim"))
    return table


def _terms(model: RankedModel) -> str:
    return " + ".join(model.units) or "(no column)"
