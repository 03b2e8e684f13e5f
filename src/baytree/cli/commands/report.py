"""``baytree report``: what a model learned, as a page to show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import FileError, InputError
from ...mcmc.progress import Progress
from ...posterior.registry import load
from ...text import counted
from ..declaring import Command, Options
from ..files import require_file, require_folder
from ..options import AsJson, ModelFile
from ..output import session

PAGES = (".html", ".htm")


@dataclass(kw_only=True)
class ReportOptions(Options):
    """What is asked of a report."""

    model: ModelFile
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A table with the response: the training table, or rows held out, which are scored.",
            show_default=False,
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(metavar="PAGE", help="The .html file to write.", show_default="MODEL's name with .html"),
    ] = None
    weight: Annotated[
        str | None, typer.Option(metavar="COL", help="The column of weights in FILE.", show_default=False)
    ] = None
    offset: Annotated[
        str | None, typer.Option(metavar="COL", help="The column of offsets in FILE.", show_default=False)
    ] = None
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False
    as_json: AsJson = False


class ReportCommand(Command):
    """The command, which asks the same of every family."""

    options = ReportOptions


def command(context: typer.Context) -> None:
    """Write a report: one HTML page that a browser shows without a network.

    It begins with the answer and whether to believe it; then come what was known, a map of the posterior, the most
    probable trees, the columns, a form for one row, calibration, chains, and how to get the same again. With --data it
    has scores, dependence and the rows in the nodes of trees; with the training table also what chance gives.
    """
    asked: ReportOptions = context.obj
    with session(json=asked.as_json, quiet=asked.quiet) as output:
        if asked.data is None and (asked.weight is not None or asked.offset is not None):
            raise InputError("--weight and --offset name columns of a table; give it with --data, or leave them out")
        if asked.data is not None:
            require_file(asked.data)
        # With --json alone the figures are what is asked for, and no page is written beside them.
        out = asked.out if asked.as_json else asked.out or asked.model.with_suffix(".html")
        if out is not None:
            _require_page(out, asked)
        posterior = load(asked.model)
        say = _say if output.chatty else None
        found: Any = posterior.reported(asked.data, weight=asked.weight, offset=asked.offset, say=say)
        if out is not None:
            found.write(out)
            output.say(f"{counted(len(found.sections), 'section')} written to {out}")
        output.result(found.record | ({} if out is None else {"out": str(out)}))


def _say(line: str) -> None:
    Progress(0, 0).say(f"baytree: {line}")


def _require_page(out: Path, asked: ReportOptions) -> None:
    """Refuse, before any work, a name that is no page, or that would replace what is read."""
    if out.suffix.lower() not in PAGES:
        raise InputError(f"--out {out}: a report is a page; choose a name that ends in .html")
    if out.is_dir():
        raise FileError(f"--out {out}: this is a folder; name a file in it")
    require_folder(out)
    if any(
        source is not None and source.exists() and out.exists() and out.samefile(source)
        for source in (asked.model, asked.data)
    ):
        raise InputError(f"--out {out}: this would replace the file that is read; choose another name")
