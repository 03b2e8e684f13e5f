"""Posteriors over linear models drawn for the terminal, as rich renderables."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ..subset.posterior import SubsetPosterior
from ..subset.priors import ExpectedSize
from ..subset.ranking import Coefficients, Inclusion, RankedModel, RankedModels
from ..text import counted, percent
from . import drawing
from .families.subset import settings

# How many columns of the matrix are listed.
MOST_COEFFICIENTS = 15


def draw(posterior: SubsetPosterior, models: int) -> list[RenderableType]:
    """All there is to see of a posterior, with so many of its most probable models."""
    summary = posterior.summary()
    return [
        drawing.fit_title(summary),
        drawing.draws_line(summary),
        *drawing.tempered_lines(summary),
        model_line(posterior),
        *inclusion_chart(summary.inclusion),
        drawing.heading("The most probable models"),
        drawing.indented(model_table(top := posterior.top_models(models))),
        Text(str(top.normalised)),
        Text(f"Columns that are more likely in than out: {', '.join(summary.median_model) or 'none'}"),
        drawing.heading("Coefficients, averaged over the models"),
        drawing.indented(coefficient_table(summary.coefficients)),
        noise_line(posterior),
        *(drawing.agreement(summary) if not summary.enumerated else [Text(""), drawing.verdict(summary)]),
    ]


def inclusion_chart(inclusion: Inclusion, most: int = 10) -> list[RenderableType]:
    """How likely each column is in the model."""
    shares = dict(zip(inclusion.units, inclusion.best.tolist(), strict=True))
    chart = drawing.bar_chart(dict(sorted(shares.items(), key=lambda item: -item[1])), most)
    return [drawing.heading("How likely a column is in the model"), drawing.indented(chart)]


def best_line(top: RankedModels) -> Text:
    """The most probable model in a sentence."""
    probability = f", of probability {percent(top[0].probability)}" if top.normalised.known else ""
    return Text.assemble("The most probable model: ", (_terms(top[0]), "bold"), probability)


def model_table(top: RankedModels) -> Table:
    """The most probable models: their probability, the odds against the best, and their share of the draws."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 3, 0, 0))
    for title in ("probability", "odds", "of the draws"):
        table.add_column(title, justify="right")
    table.add_column("columns", overflow="fold")
    for model in top.models:
        probability = percent(model.probability) if top.normalised.known else "–"
        table.add_row(probability, f"{model.odds:.3g}", percent(model.frequency), Text(_terms(model)))
    return table


def coefficient_table(coefficients: Coefficients) -> Table:
    """Mean, spread and interval of the coefficients, 0 where a model lacks the column."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 3, 0, 0))
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


def model_line(posterior: SubsetPosterior) -> Text:
    """What is assumed of the models."""
    model, stated = posterior.model, settings(posterior.model)
    noise = f"nu = {model.nu:g}" + (f", scale = {model.calibrated.scale:.4g}" if model.nu else "")
    more = [
        *(["no intercept"] if stated["no_intercept"] else []),
        *([f"always {', '.join(map(str, model.always))}"] if model.always else []),
        *([f"{model.heredity} heredity"] if model.heredity else []),
    ]
    size = "expected size " if isinstance(model.model_prior, ExpectedSize) else ""
    return Text(
        f"Prior: models {size}{stated['model_prior']}; coefficients {stated['coefficients']}; noise {noise}"
        + "".join(f"; {part}" for part in more)
    )


def noise_line(posterior: SubsetPosterior) -> Text:
    """How many columns a model has, and how large its noise is."""
    columns = f"{posterior.n_columns.mean():.1f} of {counted(posterior.schema.width, 'column')}"
    noise = f"the noise has a standard deviation of about {posterior.sigma.mean():.4g}"
    return Text(f"A model has {columns} on average; {noise}.")


def _terms(model: RankedModel) -> str:
    return " + ".join(model.units) or "(no column)"
