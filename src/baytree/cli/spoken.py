"""What the library says for Python, in the words of the command line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any

from ..knowledge import Constraint
from .declaring import CONCERNED, option

# What stands behind the name of an option in a message: text in quotes, or what has neither blanks nor commas.
VALUE = r"""'[^']*'|"[^"]*"|[^\s,;:()'"]*[^\s,;:()'".]"""
NOTHING = r"(?!)"  # which no text has
# What says something to Python alone is left out, or said otherwise.
SAID: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"row (?:at )?index (\d+(?:,\d{3})*)", lambda found: f"row {int(found[1].replace(',', '')) + 1:,}"),
    (r"(?:; |, or | or )?(?:see what )?(?<![\w./])bt\.\w+(?: (?:gives more|does|says within a small budget))?", ""),
    (r"^(drop|categorical)(?= names )", lambda found: option(found[1])),
    (r"(Interact names no column); write Interact\(\[.*\]\)", r"\1; write two or more, as in a,b"),
    (r", or None for all\b", ", or all"),
    (r": posterior\.diagnostics\(design\) does\b", ""),
    (r", or give \(low, high\) with None for no bound", ""),
    (r"\{('\w+': [\d.]+(?:, '\w+': [\d.]+)*)\}", lambda found: found[1].replace("'", "").replace(": ", "=")),
)


def spoken(text: str) -> str:
    """A message with options for Python's arguments, ``--max-cuts 3`` for ``max_cuts=3``, and rows counted from 1."""
    for pattern, said in SAID:
        text = re.sub(pattern, said, text)
    names, constraints = _names(CONCERNED.get()), _constraints()
    given, alone = "|".join(names), "|".join(name for name in names if "_" in name) or NOTHING
    text = re.sub(rf"(?<![-\w.'=])({given})=({VALUE})", lambda found: f"{option(found[1])} {_bare(found[2])}", text)
    text = re.sub(rf"(?<![-\w.'\"])({alone})(?![-\w'\"=(])", lambda found: option(found[1]), text)
    text = re.sub(
        rf"(?<![-\w.'\"])({'|'.join(constraints)})(?:\(([\d.]+)\)(?!\w)|(?=[:;,.]|$| or | names ))",
        lambda found: " ".join(filter(None, (option(constraints[found[1]]), found[2]))),
        text,
    )
    # An option that was just named, and the argument that it is in Python.
    return re.sub(r"^(--[\w-]+)( [^:]*)?: \1: (?:most=[^:]*: )?", r"\1\2: ", text)


def _bare(value: str) -> str:
    return value[1:-1] if value[0] in "'\"" and " " not in value else value


@cache
def _names(concerned: Any) -> tuple[str, ...]:
    """The options of a family and command, or without one of all, longer ones first; and those of every run."""
    from .families import FAMILIES
    from .options import FitOptions

    every = [asks for family in FAMILIES.values() for asks in (family.fit, family.show, family.predict)]
    asked: list[Any] = [FitOptions, *(every if concerned is None else [concerned])]
    found = {field.name for asks in asked for field in fields(asks) if field.init and not field.name.startswith("as_")}
    return tuple(sorted(found, key=lambda name: (-len(name), name)))


@cache
def _constraints() -> dict[str, str]:
    """The option of each constraint, by its name in Python."""
    return {kind.__name__: kind.options[0].name for kind in Constraint.kinds.values() if kind.options}
