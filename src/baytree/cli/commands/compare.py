"""``baytree compare``: models side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ...errors import InputError
from ...posterior.compare import Comparison, Score, compare, said
from ...posterior.registry import load
from ...text import counted
from ..files import require_file
from ..options import AsJson
from ..output import Output, session
from ..terminal import plain_table


def command(
    models: Annotated[
        list[Path], typer.Argument(metavar="MODEL...", help="Two or more files that [bold]baytree fit[/bold] wrote.")
    ],
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rows with the response: those of the fit, or new ones, which is better."),
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="COL", help="Of --data: the column of weights that the fit had.")
    ] = None,
    offset: Annotated[
        str | None, typer.Option(metavar="COL", help="Of --data: the column of offsets that the fit had.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare models of the same response: how well they predict, their evidence, and how far they agree.

    A row that a model was fitted to is left out of its draws by importance sampling (PSIS-LOO); of other rows the score
    is what the model said of them. Without --data the models must be of the same table, and only evidences are known.
    """
    with session(json=as_json) as output:
        if len(models) < 2:
            raise InputError("give two or more model files")
        names = [str(model) for model in models]
        if len(set(names)) < len(names):
            raise InputError(f"{max(names, key=names.count)} is given twice; name each model once")
        for name, written in (("--weight", weight), ("--offset", offset)):
            if written is not None and data is None:
                raise InputError(f"{name} is a column of --data; give that as well, or leave {name} out")
        if data is not None:
            require_file(data)
        posteriors = {name: load(model) for name, model in zip(names, models, strict=True)}
        try:
            found = compare(posteriors, data, weight=weight, offset=offset)
        except InputError as error:
            if data is None and "give data" in str(error):
                raise InputError(str(error).replace("give data", "give --data FILE")) from error
            raise
        _say(found, output)
        for note in found.notes:
            output.note(note)
        if data is None:
            output.note("scores and agreement need rows: give --data FILE")
        output.result(found.to_dict())


def _say(found: Comparison, output: Output) -> None:
    title = f"Models of {found.response!r}" + (f", on {counted(found.rows, 'row')}" if found.rows else "")
    table = plain_table()
    table.add_column("")
    for column in ("log score", "± se", "behind the best", "± se", "log evidence"):
        table.add_column(column, justify="right")
    table.add_column("rows were")
    for score in found.scores:
        table.add_row(Text(score.name), *_figures(score), score.how if found.rows else "")
    lines = [Text(said(agreement)) for agreement in found.agreements]
    output.say(Text(title, style="bold"), table, *lines, *([Text(found.verdict)] if found.rows else []))


def _figures(score: Score) -> list[str]:
    numbers = (score.score, score.error, score.behind, score.behind_error, score.log_evidence)
    return ["–" if number is None else f"{number:,.1f}" for number in numbers]
