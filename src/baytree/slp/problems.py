"""Problems of a program, each with its place and shown in its line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .. import _core
from ..errors import InputError


@dataclass(frozen=True)
class Problem:
    """Something to tell the author of a program.

    Attributes
    ----------
    severity : {"error", "warning"}
        Whether the program can be used.
    file : str
        Where the program came from.
    line, column : int
        Where it is, counted from 1.
    message : str
        What it is and what to do.
    text : str
        The line it is in.
    """

    severity: Literal["error", "warning"]
    file: str
    line: int
    column: int
    message: str
    text: str

    def __str__(self) -> str:
        # A tab stays a tab before the caret, so that it stands where the line has it.
        before = "".join("\t" if character == "\t" else " " for character in self.text[: self.column - 1])
        place = f"{self.file}:{self.line}:{self.column}"
        return f"{place}: {self.severity}: {self.message}\n  {self.text}\n  {before}^"


class ProgramError(InputError):
    """A program that cannot be used; it names all of its errors.

    Attributes
    ----------
    problems : tuple of Problem
        The errors.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


def check(text: str, *, file: str = "program", goal: str = "") -> list[Problem]:
    """Find the problems of a program.

    Errors of syntax come alone; a program without any is also searched for what is probably not meant: labels that do
    not sum to 1 or can be negative, labelled clauses mixed with unlabelled ones, predicates that are undefined or never
    reached, variables that occur once, unlabelled left recursion.

    Parameters
    ----------
    text : str
        The program.
    file : str
        Its name, for the messages.
    goal : str
        What will be called, as ``"cart/1"``; by default every predicate that no other calls.

    Returns
    -------
    list of Problem
        In the order of their places.
    """
    return problems_of(_core.check_program(text, goal), text, file)


def problems_of(rows: Sequence[tuple[bool, int, int, str]], text: str, file: str, goal: str = "") -> list[Problem]:
    """What the core found, each shown in its line; lines behind the text are those of the goal."""
    lines = text.split("\n")
    problems = []
    for is_error, line, column, message in rows:
        severity: Literal["error", "warning"] = "error" if is_error else "warning"
        where = file
        if line > len(lines):
            where, line, lines_here = "goal", line - len(lines) - 1, goal.split("\n")
        else:
            lines_here = lines
        shown = lines_here[line - 1].rstrip("\r") if 1 <= line <= len(lines_here) else ""
        problems.append(Problem(severity, where, line, column, message, shown))
    return problems


def require_readable(problems: Sequence[Problem]) -> None:
    """Raise ProgramError if there is an error among the problems."""
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise ProgramError(errors)
