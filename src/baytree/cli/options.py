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
from ..mcmc.tempering import Tempering
from .declaring import DATA, MODEL, SAMPLING, Options, option, words

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
        typer.Option(help="auto: numbers with more than two values are regressed.", rich_help_panel=DATA),
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
    warmup: Annotated[int, typer.Option(help="Iterations to throw away first (burn-in).", rich_help_panel=SAMPLING)] = (
        1000
    )
    thin: Annotated[int, typer.Option(help="Iterations between draws.", rich_help_panel=SAMPLING)] = 1
    until_converged: Annotated[
        bool,
        typer.Option(
            "--until-converged",
            help="Go on, twice as long each time, until the chains agree.",
            rich_help_panel=SAMPLING,
        ),
    ] = False
    time_limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="Of --until-converged: when to stop in any case.", rich_help_panel=SAMPLING
        ),
    ] = 600.0
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


@dataclass(kw_only=True)
class TemperedFitOptions(FitOptions):
    """What families ask for a fit whose chains can be tempered."""

    temperatures: Annotated[
        int,
        typer.Option(help="Temperatures of each chain; 12, say, when chains do not agree.", rich_help_panel=SAMPLING),
    ] = 1
    ladder: Annotated[
        Literal["adaptive", "mrbayes"],
        typer.Option(help="adaptive: down to the prior, tuned in the warm-up.", rich_help_panel=SAMPLING),
    ] = "adaptive"

    def tempering(self) -> dict[str, Any]:
        """How the chains are tempered, as `sample` takes it."""
        Tempering(self.temperatures, self.ladder)  # refuses what cannot be
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
        if getattr(asked, name) < number:
            raise InputError(f"{option(name)} {getattr(asked, name)}: choose a whole number, {number} or more")
    if seed is not None and not 0 <= seed < 2**64:
        raise InputError(f"--seed {seed}: choose a whole number from 0 to 2**64 - 1")
