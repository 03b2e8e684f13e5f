"""Terms that a program derives, as Python values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_PLAIN_ATOM = re.compile(r"[a-z]\w*|\[\]|[+\-*/\\^<>=~:.?@#&$]+", re.ASCII)
_INFIX = {"-": 500, "+": 500, "*": 400, "/": 400, ":": 550, "..": 450, "=": 700, "**": 200, "^": 200}


@dataclass(frozen=True)
class Term:
    """A compound term, such as ``split(age, 28.5, leaf, leaf)``.

    Atoms are strings, numbers are numbers and lists are lists; only what has a name and arguments is a Term.

    Attributes
    ----------
    name : str
        Its name.
    args : tuple
        Its arguments.

    Examples
    --------
    >>> str(Term("-", ("x1", ["leaf", "leaf"])))
    'x1-[leaf,leaf]'
    """

    name: str
    args: tuple[Any, ...]

    def __str__(self) -> str:
        return term_text(self)


def term_text(value: Any) -> str:
    """A term in Prolog's notation."""
    return _text(value, 1200)


def _text(value: Any, most: int) -> str:
    if isinstance(value, Term):
        return _compound(value, most)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_text(item, 999) for item in value) + "]"
    if isinstance(value, str):
        return _atom(value)
    return repr(value)


def atom_text(name: str) -> str:
    """A name in Prolog's notation, in quotes where it needs them."""
    if _PLAIN_ATOM.fullmatch(name):
        return name
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def _atom(name: str) -> str:
    # A variable without a value is handed over under such a name.
    return name if re.fullmatch(r"_\d+", name) else atom_text(name)


def _compound(term: Term, most: int) -> str:
    if term.name in _INFIX and len(term.args) == 2:
        priority = _INFIX[term.name]
        left, right = _text(term.args[0], priority), _text(term.args[1], priority - 1)
        space = " " if right[:1] in "+-*/\\^<>=~:.?@#&$(" else ""
        text = f"{left}{term.name}{space}{right}"
        return f"({text})" if priority > most else text
    if term.name == "|" and len(term.args) == 2:
        return "[" + ",".join(_text(item, 999) for item in term.args[0]) + "|" + _text(term.args[1], 999) + "]"
    return _atom(term.name) + "(" + ",".join(_text(item, 999) for item in term.args) + ")"


def model_of(names: list[str], values: tuple[Any, ...]) -> Any:
    """What an answer is about: the value of the goal's only variable, else each variable's value by name."""
    return values[0] if len(names) == 1 else dict(zip(names, values, strict=True))


def to_json(value: Any) -> Any:
    """A term as JSON-safe values."""
    if isinstance(value, Term):
        return {"name": value.name, "args": [to_json(item) for item in value.args]}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {name: to_json(item) for name, item in value.items()}
    return value
