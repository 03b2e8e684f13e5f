"""``baytree slp``: stochastic logic programs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .errors import WRONG_INPUT, session

if TYPE_CHECKING:
    from rich.text import Text

    from ..slp import Problem

app = typer.Typer(help="Stochastic logic programs.", no_args_is_help=True, rich_markup_mode="rich")


@app.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A program.")],
    goal: Annotated[
        str,
        typer.Option(metavar="NAME/ARITY", help="What will be called.", show_default="what no other predicate calls"),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Read a program and say what is wrong with it, or is probably not meant.

    Warnings alone leave the exit code at 0; an error makes it 2.
    """
    with session(json=as_json) as output:
        from ..slp import check as find_problems
        from ..slp import read_text

        problems = find_problems(read_text(file), file=str(file), goal=goal)
        errors = sum(problem.severity == "error" for problem in problems)
        output.say(*map(_drawn, problems), _verdict(file, errors, len(problems) - errors))
        output.result({"file": str(file), "problems": [asdict(problem) for problem in problems]})
    if errors:
        raise typer.Exit(WRONG_INPUT)


def _drawn(problem: Problem) -> Text:
    from rich.text import Text

    text = Text(str(problem))
    text.highlight_words([f"{problem.severity}:"], "bold red" if problem.severity == "error" else "bold yellow")
    return text


def _verdict(file: Path, errors: int, warnings: int) -> str:
    if not errors and not warnings:
        return f"{file}: no problems"
    counts = ((errors, "error"), (warnings, "warning"))
    return f"{file}: " + ", ".join(f"{number} {what}{'s' * (number > 1)}" for number, what in counts if number)
