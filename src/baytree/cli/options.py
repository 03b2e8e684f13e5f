"""Options that several commands have."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..data.response import Task
from ..errors import InputError
from ..mcmc.effort import AUTO, EFFORTS, UNLIMITED, USUAL_EFFORT, require_effort
from ..mcmc.tempering import Tempering
from .declaring import DATA, MODEL, SAMPLING, Options, option, words

# How a number that may be left to the run is shown, and the seconds that a run without end may take all the same.
NUMBER = "N|auto"
LIMIT = 600.0


def number_or_auto(text: str | int) -> int | str:
    """A whole number, or what leaves it to the run."""
    try:
        return AUTO if text == AUTO else int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a whole number nor {AUTO!r}") from None


def effort_of(text: str) -> str | float:
    """An effort by its name, or as seconds of a processor."""
    try:
        return require_effort(text if text in EFFORTS else float(text))
    except ValueError:
        names = ", ".join(EFFORTS)
        raise typer.BadParameter(f"{text!r}: choose {names}, or a number of seconds of a processor") from None


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Seed = Annotated[
    int | None,
    typer.Option(help="The same seed gives the same draws.", show_default="random", rich_help_panel=SAMPLING),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file that [bold]baytree fit[/bold] wrote.", show_default=False)
]


@dataclass(kw_only=True)
class TableOptions(Options):
    """A table, and what is to be predicted of it."""

    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv, .csv.gz, .tsv, .tsv.gz or .parquet file.")]
    target: Annotated[str, typer.Option(metavar="COL", help="The column to predict.")]
    task: Annotated[
        Task,
        typer.Option(help="auto: numbers with other than two values are regressed.", rich_help_panel=DATA),
    ] = "auto"
    weight: Annotated[
        str | None, typer.Option(metavar="COL", help="How many rows each row counts as.", rich_help_panel=DATA)
    ] = None
    categorical: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Numbers that are labels. May be repeated.", rich_help_panel=DATA),
    ] = None
    drop: Annotated[
        list[str] | None, typer.Option(metavar="COL", help="Leave out. May be repeated.", rich_help_panel=DATA)
    ] = None

    def fit_again(self, changes: Mapping[str, Any], without: Collection[str] = ()) -> str:
        """The `fit` that is asked for the same, some options changed or left out."""
        left_out = {"file", *changes, *without}
        asked = {name: getattr(self, name) for name in self.written if name not in left_out} | dict(changes)
        options = (word for name, value in asked.items() for word in words(name, value))
        return shlex.join(["baytree", "fit", str(self.file), *options])


def _names_of_families() -> list[str]:
    from .families import FAMILIES

    return list(FAMILIES)


@dataclass(kw_only=True)
class FitOptions(TableOptions):
    """What every family asks for a fit."""

    out: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="The model file to write.", show_default="FILE's name with .baytree"),
    ] = None
    model: Annotated[
        str | None,
        typer.Option(
            metavar="FAMILY",
            help="The family of models. Each has further options; see below.",
            autocompletion=_names_of_families,
            rich_help_panel=MODEL,
        ),
    ] = None
    chains: Annotated[int, typer.Option(help="Chains, to be compared.", rich_help_panel=SAMPLING)] = 4
    draws: Annotated[int, typer.Option(help="Draws to keep of each chain.", rich_help_panel=SAMPLING)] = 1000
    effort: Annotated[
        Any,
        typer.Option(
            metavar="|".join(EFFORTS),
            parser=effort_of,
            help="How long to go on until the chains agree: about a second, 20 seconds, 5 minutes, or without end.",
            show_default=USUAL_EFFORT,
            rich_help_panel=SAMPLING,
        ),
    ] = None
    warmup: Annotated[
        Any,
        typer.Option(
            metavar=NUMBER,
            parser=number_or_auto,
            help="Iterations to throw away first (burn-in); a number stands, whether chains agree or not.",
            rich_help_panel=SAMPLING,
        ),
    ] = AUTO
    thin: Annotated[
        Any,
        typer.Option(metavar=NUMBER, parser=number_or_auto, help="Iterations between draws.", rich_help_panel=SAMPLING),
    ] = AUTO
    until_converged: Annotated[
        bool,
        typer.Option(
            "--until-converged",
            help=f"The same as --effort {UNLIMITED}, with a time limit of {LIMIT:g} seconds.",
            rich_help_panel=SAMPLING,
        ),
    ] = False
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="When to stop in any case.",
            show_default="none",
            rich_help_panel=SAMPLING,
        ),
    ] = None
    seed: Seed = None
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Processors to use.", show_default="one a chain", rich_help_panel=SAMPLING),
    ] = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Finish a run that was interrupted or killed.", rich_help_panel=SAMPLING)
    ] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False
    as_json: AsJson = False

    def tempering(self) -> dict[str, Any]:
        """How the chains are tempered, as `sample` takes it."""
        return {}

    def length(self) -> dict[str, Any]:
        """How long the run may go on, as `sample` takes it."""
        if self.until_converged and self.effort is not None:
            raise InputError(f"--until-converged is --effort {UNLIMITED}, and --effort {self.effort} was given, too")
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(f"--time-limit {self.time_limit:g}: choose a positive number of seconds")
        limit = LIMIT if self.until_converged and self.time_limit is None else self.time_limit
        return {"effort": UNLIMITED if self.until_converged else self.effort, "time_limit": limit}


@dataclass(kw_only=True)
class TemperedFitOptions(FitOptions):
    """What families ask for a fit whose chains can be tempered."""

    temperatures: Annotated[
        Any,
        typer.Option(
            metavar=NUMBER,
            parser=number_or_auto,
            help="Temperatures of each chain; by itself one, or more where chains do not agree.",
            rich_help_panel=SAMPLING,
        ),
    ] = AUTO
    ladder: Annotated[
        Literal["adaptive", "mrbayes"],
        typer.Option(help="adaptive: down to the prior, tuned in the warm-up.", rich_help_panel=SAMPLING),
    ] = "adaptive"

    def tempering(self) -> dict[str, Any]:
        """How the chains are tempered, as `sample` takes it."""
        Tempering(1 if self.temperatures == AUTO else self.temperatures, self.ladder)  # refuses what cannot be
        return {"temperatures": self.temperatures, "ladder": self.ladder}


@dataclass(kw_only=True)
class ShowOptions(Options):
    """What every family asks to be shown."""

    model: ModelFile
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, with the trees in full.")] = False


@dataclass(kw_only=True)
class PredictOptions(Options):
    """What every family asks for predictions."""

    model: ModelFile
    new: Annotated[
        Path,
        typer.Argument(metavar="NEW", help="A table with the columns of the training table.", show_default=False),
    ]
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A .csv, .tsv or .parquet file to write.", show_default="CSV to the terminal"
        ),
    ] = None
    kind: Annotated[
        str,
        typer.Option(
            help="auto: means, and of numbers also intervals; or one of mean, interval, draws, predictive, "
            "predictive_interval, and what a family has besides: vote, sigma, sd."
        ),
    ] = "auto"
    prob: Annotated[float, typer.Option(help="Probability of the intervals.")] = 0.9
    as_json: AsJson = False


def require_numbers(asked: Options, seed: int | None, **least: int) -> None:
    """Refuse counts that are less than their least, and a seed that the core does not take."""
    for name, number in least.items():
        if getattr(asked, name) != AUTO and getattr(asked, name) < number:
            raise InputError(f"{option(name)} {getattr(asked, name)}: choose a whole number, {number} or more")
    if seed is not None and not 0 <= seed < 2**64:
        raise InputError(f"--seed {seed}: choose a whole number from 0 to 2**64 - 1")
