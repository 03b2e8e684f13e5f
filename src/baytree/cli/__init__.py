"""The command line: ``baytree fit``, ``predict``, ``show``, ``data`` and ``slp``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from . import data, fit, predict, show, slp
from .errors import EXIT_CODES

__all__ = ["app", "main"]

# The commands import what they need when they run: `baytree --help` should not wait for polars.
app = typer.Typer(
    name="baytree",
    help="Bayesian tree learning: a posterior over trees you can read.",
    epilog="Exit codes: " + " · ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()),
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("fit")(fit.command)
app.command("predict")(predict.command)
app.command("show")(show.command)
app.command("data")(data.command)
app.add_typer(slp.app, name="slp")


def _print_version(wanted: bool) -> None:
    if wanted:
        from baytree import __version__

        typer.echo(f"baytree {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line of this process."""
    for stream in (sys.stdout, sys.stderr):
        # Where the terminal cannot show a sign, a question mark is better than no answer.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app(prog_name="baytree")
