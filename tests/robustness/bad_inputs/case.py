"""What a bad input is: what is given, and what must come of it."""

from __future__ import annotations

import faulthandler
import os
import resource
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from typer.testing import CliRunner

from baytree.cli import app

# A case that takes longer hangs: the process ends, and says where it was.
HANGS = 120.0
# A message that is longer is read by nobody.
MOST_LETTERS = 5000
# What a process may take where a case asks for more.
MEMORY = 16 * 10**9


@dataclass(frozen=True)
class Case:
    """A bad input, and what must come of it.

    Attributes
    ----------
    given : str
        What is bad, in words; no two cases of a subject have the same.
    act : callable
        Does it, in an empty folder.
    error : type, int or None
        The class of the error; of a command, its exit code. None where the input is taken, as documented: what `act`
        gives then is true or finite numbers.
    says : str
        A part of the error, or where there is none, of a warning.
    slow : bool
        Whether it takes seconds.
    """

    given: str
    act: Callable[[], Any]
    error: type[Exception] | int | None = None
    says: str = ""
    slow: bool = False


@dataclass(frozen=True)
class Outcome:
    """What came of a case: ``"named error"``, ``"as documented"``, or what went wrong."""

    case: Case
    came: str
    said: str

    @property
    def good(self) -> bool:
        """Whether it is what had to come."""
        return self.came in ("named error", "as documented")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    said: str
    printed: str


def run(case: Case) -> Outcome:
    """Give a bad input, and see what comes of it."""
    with _folder(), warnings.catch_warnings(record=True) as heard, _watched():
        warnings.simplefilter("always")
        try:
            found = case.act()
        except Exception as error:
            return _judge_error(case, error)
    if isinstance(found, Ended):
        return _judge_command(case, found)
    said = "\n".join(str(warning.message) for warning in heard)
    if case.error is not None:
        return Outcome(case, "accepted", f"{found!r}\n{said}"[:500])
    if not _is_sound(found):
        return Outcome(case, "nonsense", repr(found)[:500])
    return Outcome(case, "as documented" if case.says in said else "not said", said)


def command(line: str, files: Mapping[str, Any] | None = None) -> Callable[[], Ended]:
    """Run a command where some files lie: text, bytes, or functions that are given the path to write to."""

    def act() -> Ended:
        for name, content in (files or {}).items():
            _write(name, content)
        result = CliRunner().invoke(app, shlex.split(line))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ended(result.exit_code, result.stderr, result.stdout)

    return act


def in_little_memory(act: Callable[[], Any]) -> Callable[[], Any]:
    """Do it where a process may take no more than `MEMORY` bytes, whatever the machine has."""

    def limited() -> Any:
        before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, before[1]))
        try:
            return act()
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)

    return limited


def _write(name: str, content: Any) -> None:
    if callable(content):
        content(name)
        return
    with open(name, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def _folder() -> Iterator[None]:
    before = os.getcwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


@contextmanager
def _watched() -> Iterator[None]:
    faulthandler.dump_traceback_later(HANGS, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _judge_error(case: Case, error: Exception) -> Outcome:
    said = f"{type(error).__name__}: {error}"
    if not isinstance(case.error, type) or not isinstance(error, case.error):
        return Outcome(case, "another error", said)
    return Outcome(case, _judge_text(case, str(error), "named error"), said)


def _judge_command(case: Case, ended: Ended) -> Outcome:
    said = f"exit code {ended.code}: {ended.said}"
    if ended.code != (case.error or 0):
        return Outcome(case, "another exit code", said)
    # Usage errors come in a box, whose lines break anywhere.
    plain = " ".join(ended.said.replace("│", " ").split())
    return Outcome(case, _judge_text(case, plain, "named error" if case.error else "as documented"), said)


def _judge_text(case: Case, text: str, good: str) -> str:
    if case.says not in text or not (text or good == "as documented"):
        return "not said"
    if "Traceback" in text:
        return "traceback"
    if any((ord(sign) < 32 and sign not in "\n\t") or 126 < ord(sign) < 160 for sign in text):
        return "control characters"
    if len(text) > MOST_LETTERS:
        return "endless"
    return good


def _is_sound(found: Any) -> bool:
    """Whether something came that is true, or numbers that are finite."""
    if isinstance(found, (bool, np.bool_)):
        return bool(found)
    array = np.asarray(found)
    return array.size > 0 and array.dtype.kind in "iuf" and bool(np.isfinite(array).all())
