"""TOML files of knowledge that cannot be used."""

# What is given is of a wrong type on purpose.
# mypy: disable-error-code="arg-type"

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import baytree as bt

from .case import Case, command
from .files import BAD_FILE, GOOD, QUICK, WRONG_INPUT

InputError, FileError = bt.InputError, bt.FileError


def toml(content: str | bytes) -> Callable[[], Any]:
    """Read a file of this content."""

    def act() -> Any:
        Path("k.toml").write_bytes(content.encode() if isinstance(content, str) else content)
        return bt.read_knowledge("k.toml")

    return act


def fit(content: str) -> Callable[[], Any]:
    """Fit a tree that knows what a file of this content says."""
    return command(f"fit t.csv --target y {QUICK} --knowledge k.toml", {"t.csv": GOOD, "k.toml": content})


KNOWLEDGE_FILES = [
    Case("no file", lambda: bt.read_knowledge("absent.toml"), FileError, "cannot be read (No such file"),
    Case("a folder", lambda: bt.read_knowledge("."), FileError, "Is a directory"),
    Case("a number for a file", lambda: bt.read_knowledge(3), InputError, "3: give the name of a file"),
    Case("no TOML", toml("max_depth is 3"), InputError, "is not TOML"),
    Case("bytes that are no text", toml(b"\xff\xfe"), FileError, "is not UTF-8 text (byte 0)"),
    Case("a NUL", toml("max_depth = 3\0"), InputError, "is not TOML"),
    Case("JSON", toml('{"max_depth": 3}'), InputError, "is not TOML"),
    Case("lists five thousand deep", toml("forbid = " + "[" * 5000 + "]" * 5000), InputError, "lie too deep"),
    Case("tables five thousand deep", toml("a = " + "{b = " * 5000 + "1" + "}" * 5000), InputError, "lie too deep"),
    Case("a name of five thousand dots", toml("a" + ".a" * 5000 + " = 1"), InputError, "no entry 'a'"),
    Case("deep lists on the command line", fit("forbid = " + "[" * 5000), WRONG_INPUT, "k.toml: lists or tables"),
    Case("a number of five thousand digits", toml("max_depth = " + "9" * 5000), InputError, "k.toml: "),
    Case("a number of a hundred digits", toml("max_depth = " + "9" * 100), InputError, "choose a whole number from 0"),
    Case("a key twice", toml("max_depth = 3\nmax_depth = 4"), InputError, "is not TOML"),
    Case("an entry that is none", toml("max_dept = 3"), InputError, "Did you mean 'max_depth'?"),
    Case("an entry of control characters", toml('"\\u001b[2J" = 3'), InputError, "no entry"),
    Case("a depth in words", toml('max_depth = "3"'), InputError, "give a whole number, such as max_depth = 4"),
    Case("a depth in parts", toml("max_depth = 2.5"), InputError, "max_depth = 2.5"),
    Case("a depth that is true", toml("max_depth = true"), InputError, "most=True"),
    Case("a depth that is a day", toml("max_depth = 2026-01-01"), InputError, "give a whole number"),
    Case("a negative depth", toml("max_depth = -1"), InputError, "most=-1"),
    Case("a list of depths", toml("max_depth = [3]"), InputError, "max_depth = [3]"),
    Case("no leaves", toml("max_leaves = 0"), InputError, "most=0"),
    Case("a word to forbid", toml('forbid = "id"'), InputError, "give a list of names of columns"),
    Case("a number to forbid", toml("forbid = [0]"), InputError, "give a list of names of columns"),
    Case("nothing to forbid", toml("forbid = []"), InputError, "Forbid names no column"),
    Case("a table to forbid", toml("[forbid]\na = 1"), InputError, "give a list of names of columns"),
    Case("groups that are none", toml('interact = ["a", "b"]'), InputError, "interact"),
    Case("a number of groups", toml("interact = 3"), InputError, "give a list of groups"),
    Case("weights by another word", toml('weights = "dense"'), InputError, "or 'sparse'"),
    Case("a weight in words", toml('[weights]\na = "heavy"'), InputError, "[weights]: "),
    Case("a weight that is NaN", toml("[weights]\na = nan"), InputError, "choose a positive number"),
    Case("a weight that is infinite", toml("[weights]\na = inf"), InputError, "choose a positive number"),
    Case("no weights", toml("[weights]"), InputError, "names no column"),
    Case("a list of weights", toml("weights = [1, 2]"), InputError, "give a table"),
    Case("a column that grows twice", toml("[monotone]\na = 2"), InputError, "choose +1, growing"),
    Case("a column that grows in words", toml('[monotone]\na = "up"'), InputError, "choose +1, growing"),
    Case("a box in no brackets", toml('box = "a <= 1"'), InputError, "each behind a line [[box]]"),
    Case("a box in one pair of brackets", toml('[box]\na = "<=1"'), InputError, "each behind a line [[box]]"),
    Case("a box of three ends", toml("[[box]]\na = [1, 2, 3]"), InputError, "[[box]] 1: "),
    Case("a box of nothing", toml("[[box]]"), InputError, "[[box]] 1: "),
    Case("a box of an empty side", toml('[[box]]\na = "5..3"'), InputError, "exchange the two ends"),
    Case("only without its depth", toml('[[only]]\nfeatures = ["a"]'), InputError, "[[only]] 1: depth is missing"),
    Case(
        "only with more than it has", toml('[[only]]\ndepth = 0\nfeatures = ["a"]\nx = 1'), InputError, "no entry 'x'"
    ),
    Case("only at a depth in words", toml('[[only]]\ndepth = "0"\nfeatures = ["a"]'), InputError, "depth"),
    Case(
        "forbidden below a list",
        toml('[[forbid_below]]\nfeatures = ["a"]\nbelow = [1]'),
        InputError,
        "[[forbid_below]] 1",
    ),
    Case("an empty file", fit("")),
    Case("a file of comments", fit("# nothing\n")),
    Case("a byte-order mark", toml("\ufeffmax_depth = 3"), InputError, "is not TOML"),
    Case("a column that is not there", fit('forbid = ["z"]'), WRONG_INPUT, "no column 'z'"),
    Case("the response", fit("[monotone]\ny = 1"), WRONG_INPUT, "is the response"),
    Case("every column forbidden", fit('forbid = ["a", "b"]'), WRONG_INPUT, "every column is forbidden"),
    Case(
        "a folder for knowledge",
        command(f"fit t.csv --target y {QUICK} --knowledge .", {"t.csv": GOOD}),
        BAD_FILE,
        "Is a directory",
    ),
]
