"""What a command says, and where: words for people, or one JSON object for programs; and how it ends."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import typer

from ..errors import FileError, InputError
from ..text import HARMLESS
from .declaring import CONCERNED
from .spoken import spoken

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

# Nothing is folded or cut in a file or a pipe.
UNBOUNDED = 10_000

# What the loader of libraries says where memory ends.
NO_ROOM = "failed to map segment"

WRONG_INPUT = 2
BAD_FILE = 3
INTERRUPTED = 130

EXIT_CODES = {
    0: "success, also where Ctrl-C ended the draws early",
    1: "unexpected error, or not enough memory",
    WRONG_INPUT: "wrong usage or input",
    BAD_FILE: "a file that cannot be read or written",
    INTERRUPTED: "interrupted before there was a result",
}


def make_console(*, stderr: bool = False) -> Console:
    """A console for people: in colour in a terminal, plain and unfolded elsewhere."""
    from rich.console import Console

    class _Console(Console):
        def on_broken_pipe(self) -> None:
            """Pass it on; rich would end the program as failed."""
            raise

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else UNBOUNDED
    return _Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False, soft_wrap=True)


class Harmless:
    """What is drawn, without the signs that a terminal obeys: names and labels come from files of anybody's."""

    def __init__(self, part: RenderableType) -> None:
        self.part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        from rich.segment import Segment

        for text, style, control in console.render(self.part, options):
            yield Segment(text if control else text.translate(HARMLESS), style, control)


def as_json(record: dict[str, Any]) -> str:
    """A record as the text that ``--json`` prints, which has no word for what is infinite."""
    try:
        return json.dumps(record, indent=2, allow_nan=False, default=str)
    except ValueError as error:
        raise InputError("a figure of this model is too large for JSON; leave --json out to see it") from error


class Output:
    """The voice of one command.

    Parameters
    ----------
    json : bool
        Whether `result` writes one JSON object, and words are left out.
    quiet : bool
        Whether words and notes are left out.

    Attributes
    ----------
    chatty : bool
        Whether a person wants to read along.
    """

    def __init__(self, *, json: bool = False, quiet: bool = False) -> None:
        self.json = json
        self.chatty = not (json or quiet)
        self._notes: list[str] = []

    def say(self, *parts: RenderableType) -> None:
        """Print for people, each part on lines of its own."""
        if not self.chatty:
            return
        console = make_console()
        with _ignoring_closed_pipe():
            for part in parts:
                if console.is_terminal:
                    console.print(Harmless(part))
                else:
                    with console.capture() as drawn:
                        console.print(Harmless(part))
                    print("\n".join(line.rstrip() for line in drawn.get().splitlines()))

    def note(self, text: str) -> None:
        """Tell what a person should know though nothing failed; part of the object under ``--json``."""
        text = spoken(text)
        self._notes.append(text)
        if self.chatty:
            self._complain(f"baytree: note: {text}", "yellow")

    def error(self, text: str) -> None:
        """Say what went wrong, on standard error."""
        text = spoken(text)
        if self.json:
            print(json.dumps({"error": text}), file=sys.stderr)
        else:
            self._complain(f"baytree: {text}", "red")

    def result(self, record: dict[str, Any]) -> None:
        """Write the JSON object, where one was asked for."""
        if self.json:
            notes = {"notes": self._notes} if self._notes else {}
            self.write(as_json(record | notes) + "\n")

    def write(self, text: str) -> bool:
        """Write text for programs, as UTF-8 wherever it goes; gives whether somebody may read on.

        A terminal gets none of the signs that it obeys.
        """
        with _ignoring_closed_pipe():
            typer.echo((text.translate(HARMLESS) if sys.stdout.isatty() else text).encode(), nl=False)
            sys.stdout.flush()
            return True
        return False

    def _complain(self, text: str, style: str) -> None:
        from rich.text import Text

        make_console(stderr=True).print(Text(text.translate(HARMLESS), style=style))


def silence(stream: TextIO) -> None:
    """Let go nowhere what a stream still holds and what is to come, so that nothing complains about a closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def _ignoring_closed_pipe() -> Iterator[None]:
    """Go on in silence when the reader of our output, such as ``head``, has seen enough."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)


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
    CONCERNED.set(None)
    try:
        with warnings.catch_warnings():
            # Whatever the environment says of warnings: ours are meant for the person.
            warnings.simplefilter("default", UserWarning)
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
    except (MemoryError, ImportError) as error:
        if isinstance(error, ImportError) and NO_ROOM not in str(error):
            raise
        needed = str(error) if "allocate" in str(error) else "there was no more"
        _fail(output, f"not enough memory: {needed}; ask for fewer rows, draws, trees or chains at a time", 1, error)
    except KeyboardInterrupt as error:
        _fail(output, str(error) or "interrupted", INTERRUPTED, error)


def _fail(output: Output, message: str, code: int, cause: BaseException) -> NoReturn:
    output.error(message)
    raise typer.Exit(code) from cause
