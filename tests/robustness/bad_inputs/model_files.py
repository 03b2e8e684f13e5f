"""Model files that cannot be read, by hand; `fuzz_models.py` damages them at random."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import baytree as bt

from .case import Case
from .given import model_file

FileError = bt.FileError


def content(given: bytes) -> Callable[[], Any]:
    """Load a file of this content."""

    def act() -> Any:
        Path("m.baytree").write_bytes(given)
        return bt.load("m.baytree")

    return act


def edited(*statements: str, family: str = "cart") -> Callable[[], Any]:
    """Load a model of a family after these statements."""

    def act() -> Any:
        model_file(family)("m.baytree")
        with sqlite3.connect("m.baytree") as database:
            for statement in statements:
                database.execute(statement)
        return bt.load("m.baytree")

    return act


def cut(share: float) -> Callable[[], Any]:
    """Load the beginning of a model."""

    def act() -> Any:
        model_file("cart")("whole")
        whole = Path("whole").read_bytes()
        return content(whole[: int(share * len(whole))])()

    return act


def link() -> Any:
    """A link to itself."""
    Path("m.baytree").symlink_to("m.baytree")
    return bt.load("m.baytree")


MODEL_FILES = [
    Case("no file", lambda: bt.load("m.baytree"), FileError, "no such file"),
    Case("a folder", lambda: bt.load("."), FileError, "."),
    Case("a link to itself", link, FileError, "m.baytree"),
    Case("a name of a NUL", lambda: bt.load("m\0.baytree"), FileError, ""),
    Case("a name of 5,000 letters", lambda: bt.load("m" * 5000), FileError, ""),
    Case("nothing", content(b""), FileError, "m.baytree"),
    Case("text", content(b"hello"), FileError, "m.baytree"),
    Case("a pickle", content(b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x08builtins."), FileError, "m.baytree"),
    Case("a table", content(b"a,b\n1,2\n"), FileError, "m.baytree"),
    Case("half a model", cut(0.5), FileError, "m.baytree"),
    Case("a model of a later version", edited("PRAGMA user_version = 99"), FileError, "newer baytree"),
    Case("a model of no version", edited("PRAGMA user_version = 0"), FileError, "m.baytree"),
    Case("a database of another program", edited("PRAGMA application_id = 7"), FileError, "not a baytree model file"),
    Case("a model without its header", edited("DELETE FROM header"), FileError, "m.baytree"),
    Case("a model without its draws", edited("DELETE FROM arrays"), FileError, "m.baytree"),
    Case("a model without its states", edited("DELETE FROM states"), FileError, "m.baytree"),
    Case("a model without a table", edited("DROP TABLE arrays"), FileError, "m.baytree"),
    Case("a header that is no JSON", edited("UPDATE header SET value = '{'"), FileError, "m.baytree"),
    Case("a header of a number", edited("UPDATE header SET value = '3'"), FileError, "m.baytree"),
    Case(
        "a header ten thousand deep", edited("UPDATE header SET value = '" + "[" * 10_000 + "'"), FileError, "m.baytree"
    ),
    Case("arrays of another type", edited("UPDATE arrays SET dtype = 'O'"), FileError, "m.baytree"),
    Case("arrays that are no bytes", edited("UPDATE arrays SET data = 3"), FileError, "m.baytree"),
    Case("a chain too few", edited("DELETE FROM states", family="gibbs"), FileError, "m.baytree"),
    Case(
        "a view in place of a table",
        edited("ALTER TABLE header RENAME TO h", "CREATE VIEW header AS SELECT * FROM h"),
        FileError,
        "m.baytree",
    ),
    Case(
        "a trigger",
        edited("CREATE TRIGGER t AFTER INSERT ON header BEGIN DELETE FROM arrays; END"),
        FileError,
        "m.baytree",
    ),
]
