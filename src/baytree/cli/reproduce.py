"""``baytree reproduce``: the published experiments, run again."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..studies import STUDIES
from .data import require_folder
from .errors import session

if TYPE_CHECKING:
    from rich.table import Table

    from ..studies import Line, Outcome
    from .output import Output

app = typer.Typer(help="Run published experiments again.", no_args_is_help=True, rich_markup_mode="rich")


def _add_command(name: str, about: str) -> None:
    @app.command(name, help=about)
    def command(
        quick: Annotated[bool, typer.Option("--quick", help="Only show that it runs, within seconds.")] = False,
        seed: Annotated[int, typer.Option(min=0, help="Of everything random.")] = 0,
        out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Write the single runs here, as CSV.")] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    ) -> None:
        with session(json=as_json) as output:
            from .. import studies

            if out is not None:
                require_folder(out)
                out.mkdir(exist_ok=True)
            output.say(about)
            outcome = studies.run(name, quick=quick, seed=seed, tell=lambda line: _tell(line, output))
            file = None if out is None else _write(outcome, out / f"{name}.csv")
            _draw(outcome, file, output)
            if quick:
                output.note("--quick shows that the study runs; its figures are too noisy to compare")
            record = {"study": name, "quick": quick, "seed": seed} | asdict(outcome)
            output.result(record if file is None else record | {"out": str(file)})


for _name, _about in STUDIES.items():
    _add_command(_name, _about)


def _tell(line: str, output: Output) -> None:
    if output.chatty:
        print(line, file=sys.stderr, flush=True)


def _write(outcome: Outcome, file: Path) -> Path:
    import polars as pl

    pl.DataFrame([dict(run) for run in outcome.runs]).write_csv(file)
    return file


def _draw(outcome: Outcome, file: Path | None, output: Output) -> None:
    from rich.text import Text

    from . import drawing

    output.say(Text(outcome.setup), "", drawing.indented(_table(outcome.lines)), "")
    mark = ("✔ ", "bold green") if outcome.agrees else ("! ", "bold yellow")
    output.say(Text.assemble(mark, " ".join(outcome.findings)))
    if file is not None:
        output.say(Text(f"Single runs written to {file}"))


def _table(lines: tuple[Line, ...]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 3, 0, 0))
    table.add_column("")
    for title in ("published", "here"):
        table.add_column(title, justify="right", no_wrap=True)
    for line in lines:
        published = "–" if line.published is None else f"{line.published:.{line.places}f}"
        error = "" if line.error is None else f" ± {line.error:.{line.places}f}"
        table.add_row(Text(line.quantity), published, f"{line.here:.{line.places}f}{error}")
    return table
