"""``baytree slp``: stochastic logic programs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from ...data.design import Design, read
from ...errors import FileError, InputError
from ...slp import SHIPPED, Problem, find, load, read_text, term_text
from ...slp import check as find_problems
from ...slp.proposals import Semantics
from ...slp.terms import to_json
from ...validation import unknown_choice
from ..files import require_folder
from ..options import AsJson
from ..output import WRONG_INPUT, session

app = typer.Typer(help="Stochastic logic programs.", no_args_is_help=True, rich_markup_mode="rich")


@app.command()
def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A program, yours or a shipped one.")],
    goal: Annotated[
        str,
        typer.Option(metavar="NAME/ARITY", help="What will be called.", show_default="what no other predicate calls"),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Read a program and say what is wrong with it, or is probably not meant.

    Warnings alone leave the exit code at 0; an error makes it 2.
    """
    with session(json=as_json) as output:
        problems = find_problems(read_text(find(file)), file=file, goal=goal)
        errors = sum(problem.severity == "error" for problem in problems)
        output.say(*map(_drawn, problems), _verdict(file, errors, len(problems) - errors))
        output.result({"file": file, "problems": [asdict(problem) for problem in problems]})
    if errors:
        raise typer.Exit(WRONG_INPUT)


FileArgument = Annotated[str, typer.Argument(metavar="FILE", help="A program, yours or a shipped one.")]
GoalArgument = Annotated[str, typer.Argument(metavar="GOAL", help="What to prove, such as 'cart(T)'.")]
SemanticsOption = Annotated[
    Semantics, typer.Option(help="What a choice that fails means: take it back, or draw all anew.")
]
SeedOption = Annotated[int, typer.Option(help="The same seed gives the same draws.")]
TableOption = Annotated[
    Path | None, typer.Option(metavar="TABLE", help="A table for the program to ask about; needs --target.")
]
TargetOption = Annotated[
    str | None, typer.Option(metavar="COL", help="The column of the table that the program must not see.")
]


@app.command()
def sample(
    file: FileArgument,
    goal: GoalArgument,
    n: Annotated[int, typer.Option("-n", help="How many.")] = 10,
    seed: SeedOption = 0,
    semantics: SemanticsOption = "backtrack",
    data: TableOption = None,
    target: TargetOption = None,
    as_json: AsJson = False,
) -> None:
    """Draw models from a program."""
    with session(json=as_json) as output:
        _require_number("-n", n)
        _require_number("--seed", seed, least=0)
        models = load(file, semantics).sample(goal, n, seed, _design(data, target))
        output.say(*map(_model_text, models))
        output.result({"goal": goal, "models": [to_json(model) for model in models]})


@app.command()
def proof(
    file: FileArgument,
    goal: GoalArgument,
    seed: SeedOption = 0,
    semantics: SemanticsOption = "backtrack",
    data: TableOption = None,
    target: TargetOption = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A .txt, .svg, .dot or .gv file to draw the proof into.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw one proof and its choices, as a tree."""
    with session(json=as_json) as output:
        _require_number("--seed", seed, least=0)
        drawn = load(file, semantics).proof(goal, seed, _design(data, target))
        if out is None:
            output.say(drawn.to_text())
        else:
            drawn.save(out)
            output.say(f"Proof written to {out}")
        output.result(
            {"goal": goal, "answer": drawn.answer, "log_probability": drawn.log_probability}
            | {"calls": [asdict(call) for call in drawn.calls]}
            | ({} if out is None else {"out": str(out)})
        )


@app.command()
def copy(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A shipped program, such as growtree.slp.")],
    to: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it; must not exist.")],
    as_json: AsJson = False,
) -> None:
    """Copy a shipped program, to change what you know better."""
    with session(json=as_json) as output:
        known = sorted(path.name for path in SHIPPED.glob("*.slp"))
        if name not in known:
            raise unknown_choice("program", name, known)
        if to.exists():
            raise FileError(f"{to}: exists; choose another name")
        require_folder(to)
        to.write_text(read_text(SHIPPED / name), encoding="utf-8")
        output.say(f"{name} copied to {to}")
        output.result({"program": name, "out": str(to)})


@app.command()
def explain(
    file: FileArgument,
    goal: GoalArgument = "cart(T)",
    semantics: SemanticsOption = "backtrack",
    as_json: AsJson = False,
) -> None:
    """Say which proposals are exact for a goal, which one a chain uses, and why."""
    with session(json=as_json) as output:
        text = load(file, semantics).explain(goal)
        output.say(text)
        output.result({"goal": goal, "explanation": text})


def _require_number(option: str, number: int, least: int = 1) -> None:
    if not least <= number < 2**63:
        raise InputError(f"{option} {number}: choose a whole number, {least} or more")


def _design(table: Path | None, target: str | None) -> Design | None:
    if table is None and target is None:
        return None
    if table is None or target is None:
        raise InputError("--data and --target belong together: the table, and the column to leave out")
    return read(table, target)


def _model_text(model: Any) -> str:
    if isinstance(model, dict):
        return ", ".join(f"{name} = {term_text(value)}" for name, value in model.items()) or "yes"
    return term_text(model)


def _drawn(problem: Problem) -> Text:
    text = Text(str(problem))
    text.highlight_words([f"{problem.severity}:"], "bold red" if problem.severity == "error" else "bold yellow")
    return text


def _verdict(file: str, errors: int, warnings: int) -> str:
    if not errors and not warnings:
        return f"{file}: no problems"
    counts = ((errors, "error"), (warnings, "warning"))
    return f"{file}: " + ", ".join(f"{number} {what}{'s' * (number > 1)}" for number, what in counts if number)
