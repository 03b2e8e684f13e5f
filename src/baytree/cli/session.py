"""How a command ends: messages without tracebacks, and exit codes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from ..errors import FileError, InputError
from .output import Output, silence

WRONG_INPUT = 2
BAD_FILE = 3
INTERRUPTED = 130

EXIT_CODES = {
    0: "success, also where Ctrl-C ended the draws early",
    1: "unexpected error",
    WRONG_INPUT: "wrong usage or input",
    BAD_FILE: "a file that cannot be read or written",
    INTERRUPTED: "interrupted before there was a result",
}


@contextmanager
def session(*, json: bool = False, quiet: bool = False) -> Iterator[Output]:
    """Run a command: warnings become notes, and errors that a person can act on become a message and an exit code.

    Parameters
    ----------
    json : bool
        Whether one JSON object is written in place of words.
    quiet : bool
        Whether only errors are written.

    Yields
    ------
    Output
    """
    output = Output(json=json, quiet=quiet)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: output.note(str(message))
            yield output
    except BrokenPipeError as error:
        # Standard error has no reader any more: nobody is left to be told.
        silence(sys.stderr)
        raise typer.Exit(1) from error
    except FileError as error:
        _fail(output, str(error), BAD_FILE, error)
    except InputError as error:
        _fail(output, str(error), WRONG_INPUT, error)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(output, f"{where}{error.strerror or error}", BAD_FILE, error)
    except KeyboardInterrupt as error:
        _fail(output, str(error) or "interrupted", INTERRUPTED, error)


def _fail(output: Output, message: str, code: int, cause: BaseException) -> NoReturn:
    output.error(message)
    raise typer.Exit(code) from cause
