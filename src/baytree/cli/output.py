"""What a command says, and where: words for people, or one JSON object for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import typer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# Nothing is folded or cut in a file or a pipe.
UNBOUNDED = 10_000


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
                    console.print(part)
                else:
                    with console.capture() as drawn:
                        console.print(part)
                    print("\n".join(line.rstrip() for line in drawn.get().splitlines()))

    def note(self, text: str) -> None:
        """Tell what a person should know though nothing failed; part of the object under ``--json``."""
        self._notes.append(text)
        if self.chatty:
            self._complain(f"baytree: note: {text}", "yellow")

    def error(self, text: str) -> None:
        """Say what went wrong, on standard error."""
        if self.json:
            print(json.dumps({"error": text}), file=sys.stderr)
        else:
            self._complain(f"baytree: {text}", "red")

    def result(self, record: dict[str, Any]) -> None:
        """Write the JSON object, where one was asked for."""
        if self.json:
            notes = {"notes": self._notes} if self._notes else {}
            self.write(json.dumps(record | notes, indent=2, allow_nan=False, default=str) + "\n")

    def write(self, text: str) -> None:
        """Write text for programs, as UTF-8 wherever it goes."""
        with _ignoring_closed_pipe():
            typer.echo(text.encode(), nl=False)

    def _complain(self, text: str, style: str) -> None:
        from rich.text import Text

        make_console(stderr=True).print(Text(text, style=style))


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
