"""The prior over trees and the table that they divide: the options, and what they describe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .. import slp
from ..data.design import Design, read
from ..errors import InputError
from ..posterior.registry import load
from ..priors.edit_tree import EditTree
from ..priors.grow_tree import GrowTree
from ..slp.proposals import Semantics
from .declaring import DATA, MODEL, option
from .knowledge import KnowledgeOptions
from .options import TableOptions
from .output import Output

MODEL_ENDING = ".baytree"


@dataclass(kw_only=True)
class GrownOptions(KnowledgeOptions, TableOptions):
    """A prior that grows trees, built in or a program, and the table that they divide."""

    max_cuts: Annotated[
        str, typer.Option(metavar="N|all", help="The most cut points of a numeric column.", rich_help_panel=DATA)
    ] = "255"
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.slp", help="A logic program as the prior, yours or a shipped one.", rich_help_panel=MODEL
        ),
    ] = None
    semantics: Annotated[
        Semantics,
        typer.Option(help="Of --prior: what a choice that fails means.", rich_help_panel=MODEL),
    ] = "backtrack"
    alpha: Annotated[float, typer.Option(help="Probability that the root splits.", rich_help_panel=MODEL)] = 0.95
    beta: Annotated[
        float,
        typer.Option(help="How fast that falls with depth: alpha / (1 + depth)^beta.", rich_help_panel=MODEL),
    ] = 1.0
    min_leaf: Annotated[int, typer.Option(help="The fewest rows of a leaf.", rich_help_panel=MODEL)] = 5


@dataclass(kw_only=True)
class TreePriorOptions(GrownOptions):
    """The prior of a single tree, which may also be one to edit."""

    edit: Annotated[
        Path | None,
        typer.Option(
            metavar="TREE",
            help="As the prior, edit a given tree: a .baytree model, whose best tree is taken, a JSON file or text.",
            rich_help_panel=MODEL,
        ),
    ] = None
    edits: Annotated[float, typer.Option(help="Of --edit: the mean number of edits.", rich_help_panel=MODEL)] = 4.0
    rule: Annotated[
        Literal["variable", "uniform"],
        typer.Option(help="Choose a column and then its question, or among all questions.", rich_help_panel=MODEL),
    ] = "variable"


def grown_prior(asked: GrownOptions, output: Output, rule: str = "variable") -> GrowTree | slp.Program:
    """The prior that the options describe, with what is known."""
    if asked.prior is None:
        if "semantics" in asked.written:
            raise InputError("--semantics is for a program; name it by --prior, or leave --semantics out")
        return GrowTree(asked.alpha, asked.beta, asked.min_leaf, rule, asked.known)
    # The program says itself what the options of the built-in prior would.
    _refuse(asked, ("alpha", "beta", "min_leaf", "rule"), f"with --prior, write it into {asked.prior}")
    program = slp.load(asked.prior, asked.semantics)
    for problem in program.warnings():
        output.note(str(problem))
    return program & asked.known


def tree_prior(asked: TreePriorOptions, output: Output) -> GrowTree | EditTree | slp.Program:
    """The prior that the options describe, with what is known."""
    if asked.edit is None:
        if "edits" in asked.written:
            raise InputError("--edits is for a given tree; name it by --edit, or leave --edits out")
        return grown_prior(asked, output, asked.rule)
    if asked.prior is not None:
        raise InputError("--prior and --edit are two priors; choose one of them")
    _refuse(asked, ("alpha", "beta", "rule"), "leave it out with --edit")
    tree = load(asked.edit) if asked.edit.suffix == MODEL_ENDING else asked.edit
    return EditTree(tree, asked.edits, asked.min_leaf) & asked.known


def _refuse(asked: GrownOptions, names: tuple[str, ...], remedy: str) -> None:
    for name in names:
        if name in asked.written:
            raise InputError(f"{option(name)} is for the built-in prior; {remedy}")


def prior_settings(prior: GrowTree | EditTree | slp.Program) -> dict[str, Any]:
    """What a run that is resumed goes on with, by option."""
    numbers = ("alpha", "beta", "min_leaf", "rule", "edits", "semantics")
    text = getattr(prior, "text", None)
    return {name: getattr(prior, name, None) for name in numbers} | {
        "prior": text or "the built-in one",
        "edit": getattr(prior, "tree", None),
        # What is known is a part of a program's text.
        "knowledge": text or getattr(prior, "knowledge", None),
    }


def read_bins(asked: GrownOptions, offset: str | None = None) -> Design:
    """The table that the options describe, in bins."""
    design = read(
        asked.file,
        asked.target,
        task=asked.task,
        weight=asked.weight,
        offset=offset,
        categorical=asked.categorical or (),
        drop=asked.drop or (),
        max_cuts=_most_cuts(asked.max_cuts),
    )
    if asked.prior is not None:
        # The other priors check what they know themselves; a program would find less, and say it as a fact's error.
        asked.known.check(design.schema)
    return design


def _most_cuts(text: str) -> int | None:
    if text == "all":
        return None
    try:
        return int(text)
    except ValueError:
        raise InputError(f"--max-cuts {text}: choose a whole number, or 'all'") from None
