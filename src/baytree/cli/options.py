"""Options that several commands have: those about the data and about the prior, and what they make."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from .files import require_file
from .knowledge import read_options

if TYPE_CHECKING:
    from ..data.design import AnyDesign, Design
    from ..priors.edit_tree import EditTree
    from ..priors.grow_tree import GrowTree
    from ..slp import Program
    from .output import Output

DATA, MODEL, SAMPLING = "The data", "The model", "Sampling"
MODEL_ENDING = ".baytree"


class TaskChoice(StrEnum):
    """What kind of response it is."""

    AUTO = "auto"
    CLASSIFICATION = "classification"
    REGRESSION = "regression"


class RuleChoice(StrEnum):
    """How the prior chooses a question."""

    VARIABLE = "variable"
    UNIFORM = "uniform"


class SemanticsChoice(StrEnum):
    """What it means that a program's choice leads nowhere."""

    BACKTRACK = "backtrack"
    REJECT = "reject"


TableArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A .csv, .csv.gz, .tsv, .tsv.gz or .parquet file.")]
TargetOption = Annotated[str, typer.Option(metavar="COL", help="The column to predict.")]
TaskOption = Annotated[
    TaskChoice, typer.Option(help="auto: numbers with more than two values are regressed.", rich_help_panel=DATA)
]
WeightOption = Annotated[
    str | None, typer.Option(metavar="COL", help="How many rows each row counts as.", rich_help_panel=DATA)
]
OffsetOption = Annotated[
    str | None, typer.Option(metavar="COL", help="Of bart: added to the sum of trees.", rich_help_panel=DATA)
]
CategoricalOption = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="Numbers that are labels. May be repeated.", rich_help_panel=DATA),
]
DropOption = Annotated[
    list[str] | None, typer.Option(metavar="COL", help="Leave out. May be repeated.", rich_help_panel=DATA)
]
MaxCutsOption = Annotated[
    str, typer.Option(metavar="N|all", help="The most cut points of a numeric column.", rich_help_panel=DATA)
]

PriorOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.slp", help="A logic program as the prior, yours or a shipped one.", rich_help_panel=MODEL
    ),
]
SemanticsOption = Annotated[
    SemanticsChoice, typer.Option(help="Of --prior: what a choice that fails means.", rich_help_panel=MODEL)
]
EditOption = Annotated[
    Path | None,
    typer.Option(
        metavar="TREE",
        help="As the prior, edit a given tree: a .baytree model, whose best tree is taken, a JSON file or text.",
        rich_help_panel=MODEL,
    ),
]
EditsOption = Annotated[float, typer.Option(help="Of --edit: the mean number of edits.", rich_help_panel=MODEL)]
AlphaOption = Annotated[float, typer.Option(help="Probability that the root splits.", rich_help_panel=MODEL)]
BetaOption = Annotated[
    float, typer.Option(help="How fast that falls with depth: alpha / (1 + depth)^beta.", rich_help_panel=MODEL)
]
MinLeafOption = Annotated[int, typer.Option(help="The fewest rows of a leaf.", rich_help_panel=MODEL)]
RuleOption = Annotated[
    RuleChoice,
    typer.Option(help="Choose a column and then its question, or among all questions.", rich_help_panel=MODEL),
]
SeedOption = Annotated[
    int | None,
    typer.Option(help="The same seed gives the same draws.", show_default="random", rich_help_panel=SAMPLING),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def tree_prior(context: typer.Context, output: Output, beta: float = 1.0) -> GrowTree | EditTree | Program:
    """The prior over trees that the options of a command describe, which it must have under these names.

    The built-in one has this beta where they say none.
    """
    return _prior(context, output, beta) & read_options(context)


def _prior(context: typer.Context, output: Output, beta: float) -> GrowTree | EditTree | Program:
    from ..priors.edit_tree import EditTree
    from ..priors.grow_tree import GrowTree
    from ..slp import load

    asked = context.params
    for name, of in (("semantics", "prior"), ("edits", "edit")):
        if given(context, name) and asked[of] is None:
            what = {"prior": "a program", "edit": "a given tree"}[of]
            raise InputError(f"{option(name)} is for {what}; name it by {option(of)}, or leave {option(name)} out")
    if asked["prior"] is not None and asked["edit"] is not None:
        raise InputError("--prior and --edit are two priors; choose one of them")
    if asked["prior"] is not None:
        # The program says itself what the options of the native prior would.
        _refuse(context, ("alpha", "beta", "min_leaf", "rule"), f"with --prior, write it into {asked['prior']}")
        program = load(asked["prior"], SemanticsChoice(asked["semantics"]).value)
        for problem in program.warnings():
            output.note(str(problem))
        return program
    if asked["edit"] is not None:
        _refuse(context, ("alpha", "beta", "rule"), "leave it out with --edit")
        return EditTree(_given_tree(Path(asked["edit"])), asked["edits"], asked["min_leaf"])
    beta = beta if asked["beta"] is None else asked["beta"]
    return GrowTree(asked["alpha"], beta, asked["min_leaf"], RuleChoice(asked["rule"]).value)


def _refuse(context: typer.Context, names: tuple[str, ...], remedy: str) -> None:
    for name in names:
        if given(context, name):
            raise InputError(f"{option(name)} is for the built-in prior; {remedy}")


def _given_tree(path: Path) -> object:
    from ..posterior.registry import load

    return load(path) if path.suffix == MODEL_ENDING else path


def max_cuts_of(text: str) -> int | None:
    """What --max-cuts says."""
    if text == "all":
        return None
    try:
        return int(text)
    except ValueError:
        raise InputError(f"--max-cuts {text}: choose a whole number, or 'all'") from None


def read_design(context: typer.Context) -> Design:
    """The table that the options of a command describe, which it must have under these names."""
    from ..data.design import read

    asked = context.params
    require_file(Path(asked["file"]))
    design = read(
        asked["file"],
        asked["target"],
        task=TaskChoice(asked["task"]).value,
        weight=asked["weight"],
        offset=asked.get("offset"),
        categorical=asked["categorical"] or (),
        drop=asked["drop"] or (),
        max_cuts=max_cuts_of(asked["max_cuts"]),
    )
    if asked["prior"] is not None:
        # The other priors check what they know themselves; a program would find less, and say it as a fact's error.
        read_options(context).check(design.schema)
    return design


def say_read(context: typer.Context, design: AnyDesign, output: Output) -> None:
    """Tell what was read, and what is known about it."""
    from rich.text import Text

    from . import drawing

    file = Path(context.params["file"])
    rows, columns, missing, *others = design.describe().splitlines()
    output.say(Text.assemble("Read ", (file.name, "bold"), f": {rows}, {columns}; {missing}"))
    output.say(*(Text(line[0].upper() + line[1:]) for line in others), *drawing.known_lines(read_options(context)))


def require_count(name: str, number: int) -> None:
    """Refuse fewer than one of something."""
    if number < 1:
        raise InputError(f"{option(name)} {number}: choose a whole number, 1 or more")


def require_seed(seed: int | None) -> None:
    """Refuse a seed that the core does not take."""
    if seed is not None and not 0 <= seed < 2**64:
        raise InputError(f"--seed {seed}: choose a whole number from 0 to 2**64 - 1")


def fit_again(context: typer.Context, changes: Mapping[str, int] | None = None, without: Collection[str] = ()) -> str:
    """The `fit` that has the options of the running command, some of them changed or left out."""
    changes = changes or {}
    words = ["baytree", "fit", str(context.params["file"])]
    for name, value in context.params.items():
        if given(context, name) and name not in ("file", *without, *changes):
            for item in value if isinstance(value, (list, tuple)) else [value]:
                words += [option(name)] if item is True else [option(name), str(item)]
    for name, number in changes.items():
        words += [option(name), str(number)]
    return shlex.join(words)


def given(context: typer.Context, name: str) -> bool:
    """Whether a person wrote this option, rather than leaving it at its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def option(name: str) -> str:
    """How a parameter is written on the command line."""
    return f"--{name.removeprefix('as_').replace('_', '-')}"
