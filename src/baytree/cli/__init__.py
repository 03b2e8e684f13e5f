"""The command line: ``baytree fit``, ``predict``, ``show``, ``explain``, ``report``, ``compare`` and others."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from inspect import cleandoc
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .commands import compare, data, explain, fit, predict, prior, report, reproduce, show, slp
from .declaring import UsageError
from .output import EXIT_CODES, WRONG_INPUT, Output

__all__ = ["app", "main"]


class _Program(TyperGroup):
    """The commands; under ``--json`` wrong usage is told as JSON, too."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        as_json = standalone_mode and "--json" in (sys.argv[1:] if args is None else args)
        try:
            code = super().main(
                args, prog_name, complete_var, standalone_mode and not as_json, windows_expand_args, **extra
            )
        except UsageError as error:
            if not as_json:
                raise
            Output(json=True).error(error.format_message())
            code = WRONG_INPUT
        if as_json:
            sys.exit(code)
        return code


# The commands import what they need when they run: `baytree --help` should not wait for polars.
app = typer.Typer(
    name="baytree",
    cls=_Program,
    help="Bayesian tree learning: a posterior over trees you can read.",
    epilog="Exit codes: " + " · ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()),
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("fit", cls=fit.FitCommand, epilog=fit.EPILOG)(fit.command)
app.command("prior", cls=prior.PriorCommand)(prior.command)
app.command("predict", cls=predict.PredictCommand)(predict.command)
app.command("show", cls=show.ShowCommand)(show.command)
app.command("explain")(explain.command)
app.command("report", cls=report.ReportCommand)(report.command)
app.command("compare")(compare.command)
app.command("data")(data.command)
app.add_typer(slp.app, name="slp")
app.add_typer(reproduce.app, name="reproduce")
for _group in (app, slp.app, reproduce.app):
    for _told in _group.registered_commands:
        # Typer keeps the line ends of later paragraphs, which a narrow terminal folds once more.
        _paragraphs = cleandoc(_told.help or getattr(_told.callback, "__doc__", None) or "").split("\n\n")
        _told.help = "\n\n".join(" ".join(one.split()) for one in _paragraphs)


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
