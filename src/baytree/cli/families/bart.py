"""Sums of trees on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
import typer
from rich.console import RenderableType
from rich.text import Text

from ...bart.model import BART
from ...bart.posterior import BARTPosterior
from ...bart.summary import BARTSummary
from ...data.design import Design
from ...data.frames import table_of
from ...data.response import learn_offset
from ...errors import InputError
from ...text import counted
from ...validation import number_or_word
from ..declaring import DATA, MODEL, SAMPLING, option
from ..knowledge import EnsembleKnowledgeOptions
from ..options import FitOptions, PredictOptions, ShowOptions
from ..output import Output
from ..terminal import bar_chart, section
from ..tree_drawing import draw_tree
from ..tree_prior import GrownOptions, grown_prior, prior_settings, read_bins
from ..values import weights_text
from .base import Family

if TYPE_CHECKING:
    import polars as pl

# How many columns are shown after a fit.
MOST_BARS = 6
NOISE = ("nu", "q", "sigma", "noise", "variance", "variance_trees")
# The parameters of `BART` that are options of the same name.
SETTINGS = ("trees", "k", *NOISE, "split", "bandwidth", "init")

GROWN = "sums of trees have the built-in prior or that of a program, and options such as --box say what is known"
UNTEMPERED = "chains of sums of trees are not tempered; --effort thorough goes on until they agree"


@dataclass(kw_only=True)
class BARTFit(GrownOptions, EnsembleKnowledgeOptions, FitOptions):
    """What a sum of trees asks for a fit."""

    instead: ClassVar = {
        "edit": GROWN,
        "edits": GROWN,
        "rule": "sums of trees always choose a column and then its question",
        "temperatures": UNTEMPERED,
        "ladder": UNTEMPERED,
    }

    offset: Annotated[
        str | None, typer.Option(metavar="COL", help="Added to the sum of trees.", rich_help_panel=DATA)
    ] = None
    beta: Annotated[
        float,
        typer.Option(help="How fast that falls with depth: alpha / (1 + depth)^beta.", rich_help_panel=MODEL),
    ] = 2.0
    min_leaf: Annotated[int, typer.Option(help="The fewest rows of a leaf.", rich_help_panel=MODEL)] = 1
    trees: Annotated[
        int, typer.Option(help="Trees in the sum (the ensemble); of several classes, for each.", rich_help_panel=MODEL)
    ] = 200
    k: Annotated[
        str,
        typer.Option(
            metavar="NUMBER|learned",
            help="How many sd of the sum reach to the ends of the response; learned draws it as well.",
            rich_help_panel=MODEL,
        ),
    ] = "2.0"
    nu: Annotated[float, typer.Option(help="Degrees of freedom of the prior of the noise.", rich_help_panel=MODEL)] = (
        3.0
    )
    q: Annotated[
        float, typer.Option(help="The probability that the noise is less than --sigma.", rich_help_panel=MODEL)
    ] = 0.9
    sigma: Annotated[
        str,
        typer.Option(
            metavar="linear|naive|NUMBER",
            help="A guess at the noise, by a linear fit, by the response alone, or as it is given.",
            rich_help_panel=MODEL,
        ),
    ] = "linear"
    noise: Annotated[
        Literal["normal", "student"],
        typer.Option(help="Its distribution; student learns how far outliers lie (robust).", rich_help_panel=MODEL),
    ] = "normal"
    variance: Annotated[
        Literal["constant", "forest"],
        typer.Option(
            help="Noise that is the same everywhere, or that trees learn (heteroscedastic).", rich_help_panel=MODEL
        ),
    ] = "constant"
    variance_trees: Annotated[int, typer.Option(help="Of --variance forest: its trees.", rich_help_panel=MODEL)] = 40
    split: Annotated[
        Literal["hard", "soft"],
        typer.Option(
            help="Whether a row goes one way at a question, or both in part (SoftBART).", rich_help_panel=MODEL
        ),
    ] = "hard"
    bandwidth: Annotated[
        float, typer.Option(help="Of --split soft: the mean bandwidth of the questions.", rich_help_panel=MODEL)
    ] = 0.1
    proposal: Annotated[
        str,
        typer.Option(
            help="auto, or proposals at a visit of a tree: birth_death=1,change=0.1,perturb=0.3",
            rich_help_panel=SAMPLING,
        ),
    ] = "auto"
    init: Annotated[
        Literal["root", "grow"],
        typer.Option(help="Begin with trees of one leaf, or grown to the data.", rich_help_panel=SAMPLING),
    ] = "root"


@dataclass(kw_only=True)
class BARTShow(ShowOptions):
    """What a sum of trees asks to be shown."""

    instead: ClassVar = {
        "trees": "a sum of trees does not come again; see which columns it uses, or draw one tree: --tree 0,0,0"
    }

    tree: Annotated[
        str | None,
        typer.Option(metavar="CHAIN,DRAW,TREE", help="Of sums of trees: one tree to draw, counted from 0."),
    ] = None


@dataclass(kw_only=True)
class BARTPredict(PredictOptions):
    """What a sum of trees asks for predictions."""

    offset: Annotated[
        str | None, typer.Option(metavar="COL", help="Of sums of trees: the column of NEW that is added.")
    ] = None


class BARTFamily(Family[BARTFit, BARTPosterior]):
    """Sums of trees."""

    name, about, plural = "bart", "a sum of many trees", "sums of trees"
    fit, show, predict = BARTFit, BARTShow, BARTPredict

    def build(self, asked: BARTFit, output: Output) -> BART:
        """The model that the options describe."""
        for name, of, needed in (("variance_trees", "variance", "forest"), ("bandwidth", "split", "soft")):
            if name in asked.written and getattr(asked, of) != needed:
                raise InputError(f"{option(name)} is for --{of} {needed}; add that, or leave {option(name)} out")
        stated = {name: getattr(asked, name) for name in SETTINGS}
        stated |= {name: number_or_word(stated[name]) for name in ("sigma", "k")}
        return BART(prior=grown_prior(asked, output), proposal=asked.proposal, **stated)

    def read(self, asked: BARTFit) -> Design:
        """The table in bins."""
        design = read_bins(asked, asked.offset)
        for name in NOISE:
            # That of classes is known.
            if design.classes is not None and name in asked.written:
                raise InputError(
                    f"{option(name)} is about the noise of numbers, and {design.response.name!r} has classes; leave it "
                    "out"
                )
        return design

    def settings(self, model: BART) -> Mapping[str, Any]:
        """The prior, and all else that is an option."""
        stated = {name: getattr(model, name) for name in SETTINGS}
        return prior_settings(model.prior) | stated | {"proposal": weights_text(model.shares)}

    def describe(self, posterior: BARTPosterior, summary: BARTSummary) -> list[RenderableType]:
        """Which columns are asked about, and how large the trees and the noise are."""
        return [*_use_chart(summary, MOST_BARS), Text(""), _size_line(posterior)]

    def picture(self, posterior: BARTPosterior, summary: BARTSummary, asked: BARTShow) -> list[RenderableType]:
        """Which columns are asked about, how large the trees and the noise are, and one tree if asked."""
        place = None if asked.tree is None else _place(posterior, asked.tree)
        offset = [Text("An offset is added to the sum.")] if posterior.settings.offset else []
        parts = [*offset, *_use_chart(summary), _size_line(posterior)]
        if place is not None:
            chain, draw, number = place
            title = f"Tree {number} of draw {draw} of chain {chain}, and what it adds to the sum"
            parts += section(title, draw_tree(posterior.tree(*place)))
        return parts

    def record(self, posterior: BARTPosterior, asked: BARTShow) -> dict[str, Any]:
        """The summary, and one tree if asked."""
        drawn = {} if asked.tree is None else {"tree": posterior.tree(*_place(posterior, asked.tree)).to_dict()}
        return posterior.summary().to_dict() | drawn

    def further(self, posterior: BARTPosterior, table: pl.DataFrame, asked: BARTPredict) -> dict[str, Any]:
        """The offsets of the rows, where they have any."""
        if asked.offset is not None:
            source = table_of(table)
            return {"offset": learn_offset(asked.offset, source.raw(source.position(asked.offset)), source.rows)}
        if posterior.settings.offset and asked.kind != "sigma":
            raise InputError(
                "the model was fitted with an offset, so new rows need theirs: name the column by --offset, 0 in it "
                "adds nothing"
            )
        return {}


FAMILY = BARTFamily()


def _use_chart(summary: BARTSummary, most: int = 10) -> list[RenderableType]:
    full = max(summary.variable_use.values()) or 1.0
    return section("Of all questions, how many are about a column", bar_chart(summary.variable_use, most, full))


def _size_line(posterior: BARTPosterior) -> Text:
    """How many trees there are, how large they are, and how large the noise is."""
    sums, sigma, variance = posterior.ensemble, posterior.sigma, posterior.variance_ensemble
    of_classes = f", {posterior.model.trees:,} for each class" if sums.trees > posterior.model.trees else ""
    size = f"Each draw adds up {counted(sums.trees, 'tree')}{of_classes}, of {sums.leaves.mean():.2f} leaves on average"
    if variance is not None:
        typical = np.exp(variance.mean_over_rows.mean() / 2)
        return Text(f"{size}; the noise depends on the row, with a standard deviation of about {typical:.4g}.")
    noise = "" if sigma is None else f"; the noise has a standard deviation of about {sigma.mean():.4g}"
    if posterior.freedom is not None:
        noise = noise.replace("standard deviation", "scale")
        noise += f" and about {np.median(posterior.freedom):g} degrees of freedom (Student)"
    return Text(f"{size}{noise}.")


def _place(posterior: BARTPosterior, text: str) -> tuple[int, int, int]:
    """Of the tree that --tree names: its chain, its draw and its number in the sum."""
    shape = posterior.ensemble.tree_index.shape
    place = tuple(int(number) if number.strip().isdecimal() else -1 for number in text.split(","))
    if len(place) != 3 or not all(0 <= number < size for number, size in zip(place, shape, strict=True)):
        largest = ",".join(str(size - 1) for size in shape)
        raise InputError(f"--tree {text}: give a chain, a draw and a tree, from 0,0,0 to {largest}")
    return place
