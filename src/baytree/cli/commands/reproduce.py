"""``baytree reproduce``: the published experiments, run again."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table as RichTable
from rich.text import Text

from ...data.columns import frame_of
from ...studies import STUDIES
from ..files import require_folder
from ..output import Output, session
from ..terminal import indented, plain_table

if TYPE_CHECKING:
    from ...studies import Outcome, Table

app = typer.Typer(help="Run published experiments again.", no_args_is_help=True, rich_markup_mode="rich")


Quick = Annotated[bool, typer.Option("--quick", help="Only show that it runs, within seconds.")]
Seed = Annotated[int, typer.Option(min=0, help="Of everything random.")]
Out = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Write the single runs, as CSV, and the figures here.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
CP4IM = Annotated[
    Path | None, typer.Option("--cp4im", metavar="FOLDER", help="Also run the CP4IM tables that lie here, as CSV.")
]


def _add_command(name: str, about: str) -> None:
    @app.command(name, help=about)
    def command(quick: Quick = False, seed: Seed = 0, out: Out = None, as_json: AsJson = False) -> None:
        _reproduce(name, about, quick, seed, out, as_json)


def _add_command_with_tables(name: str, about: str) -> None:
    @app.command(name, help=about)
    def command(
        quick: Quick = False, seed: Seed = 0, out: Out = None, cp4im: CP4IM = None, as_json: AsJson = False
    ) -> None:
        _reproduce(name, about, quick, seed, out, as_json, cp4im=cp4im)


for _name, _about in STUDIES.items():
    (_add_command_with_tables if _name == "certified" else _add_command)(_name, _about)


def _reproduce(name: str, about: str, quick: bool, seed: int, out: Path | None, as_json: bool, **more: Any) -> None:
    with session(json=as_json) as output:
        from ... import studies
        from ...plots import figures

        if out is not None:
            require_folder(out)
            out.mkdir(exist_ok=True)
            if not figures.can_draw():
                output.note("no figures, which need matplotlib; install it: pip install 'baytree[plot]'")
        output.say(about)
        outcome = studies.run(name, quick=quick, seed=seed, tell=lambda line: _tell(line, output), **more)
        written: list[Path] = []
        if out is not None:
            written = [_write(outcome, out / f"{name}.csv")]
            written += [figures.draw(figure, out) for figure in outcome.figures if figures.can_draw()]
        _draw(outcome, written, output)
        if quick:
            output.note("--quick shows that the study runs; its figures are too noisy to compare")
        record = {"study": name, "quick": quick, "seed": seed} | asdict(replace(outcome, figures=()))
        del record["figures"]
        output.result(record | ({"out": [str(file) for file in written]} if written else {}))


def _tell(line: str, output: Output) -> None:
    if output.chatty:
        print(line, file=sys.stderr, flush=True)


def _write(outcome: Outcome, file: Path) -> Path:
    runs = [dict(run) for run in outcome.runs]
    names = dict.fromkeys(name for run in runs for name in run)
    frame_of({name: [run.get(name) for run in runs] for name in names}).write_csv(file)
    return file


def _draw(outcome: Outcome, written: list[Path], output: Output) -> None:

    output.say(Text(outcome.setup), "")
    for table in outcome.tables:
        if table.title:
            output.say(Text(table.title, style="bold"))
        output.say(indented(_table(table)), "")
    mark = ("✔ ", "bold green") if outcome.agrees else ("! ", "bold yellow")
    output.say(Text.assemble(mark, " ".join(outcome.findings)))
    for file in written:
        output.say(Text(f"Written: {file}"))


def _table(table: Table) -> RichTable:

    drawn = plain_table()
    for place, title in enumerate(table.columns):
        drawn.add_column(title, justify="right" if place else "left", no_wrap=place > 0)
    for row in table.rows:
        drawn.add_row(*(Text(str(cell)) for cell in row))
    return drawn
