"""What is known about the trees, as options that commands share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from .values import number_or_word

if TYPE_CHECKING:
    from ..knowledge import Constraint, Knowledge

KNOWLEDGE = "What is known about the trees"

BoxOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SIDES",
        help="No split inside, as 'glucose<=127, age<=28'. May be repeated.",
        rich_help_panel=KNOWLEDGE,
    ),
]
MonotoneOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL=SIGN",
        help="The prediction never falls (+1) or never rises (-1) as the column grows. May be repeated.",
        rich_help_panel=KNOWLEDGE,
    ),
]
InteractOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL,COL",
        help="A group of columns that may meet on a path; those in no group are one more. May be repeated.",
        rich_help_panel=KNOWLEDGE,
    ),
]
ForbidOption = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="Never ask about it. May be repeated.", rich_help_panel=KNOWLEDGE),
]
ForbidBelowOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL=DEPTH|COL",
        help="Do not ask about it at this depth or deeper, or below a split on another. May be repeated.",
        rich_help_panel=KNOWLEDGE,
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DEPTH:COL,COL",
        help="Ask about nothing else at this depth. May be repeated.",
        rich_help_panel=KNOWLEDGE,
    ),
]
MaxDepthOption = Annotated[
    int | None, typer.Option(metavar="N", help="The most questions on a path.", rich_help_panel=KNOWLEDGE)
]
MaxLeavesOption = Annotated[
    int | None, typer.Option(metavar="N", help="The most leaves of a tree.", rich_help_panel=KNOWLEDGE)
]
ColumnWeightOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL=NUMBER",
        help="Ask about it as if it were so many columns. May be repeated.",
        rich_help_panel=KNOWLEDGE,
    ),
]
SparseOption = Annotated[
    bool,
    typer.Option("--sparse", help="Of bart: few columns matter, and which is learned.", rich_help_panel=KNOWLEDGE),
]
KnowledgeOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A TOML file that says such things.", rich_help_panel=KNOWLEDGE)
]

# The parameters of a command that takes these options.
PARAMETERS = (
    "box",
    "monotone",
    "interact",
    "forbid",
    "forbid_below",
    "only",
    "max_depth",
    "max_leaves",
    "column_weight",
    "sparse",
    "knowledge",
)

_CONDITION = re.compile(r"\s*([^<>=]+?)\s*(<=|>=|==|<|>)\s*([^<>=]+?)\s*")


def read_options(context: typer.Context) -> Knowledge:
    """What the options of a command say, those of the file first."""
    from ..knowledge import Knowledge, read_knowledge

    file = context.params["knowledge"]
    return Knowledge((*(read_knowledge(file).constraints if file else ()), *_constraints(context.params)))


def _constraints(given: dict[str, Any]) -> Iterator[Constraint]:
    from ..knowledge import Forbid, Interact, MaxDepth, MaxLeaves, Monotone, Only, Weights

    for text in given["box"] or ():
        with _naming("box", text):
            yield _box(text)
    for text in given["monotone"] or ():
        with _naming("monotone", text):
            column, sign = _assigned(text, "age=+1")
            yield Monotone({column: number_or_word(sign)})
    if given["interact"]:
        with _naming("interact", " --interact ".join(given["interact"])):
            yield Interact(tuple(tuple(_names(group)) for group in given["interact"]))
    for text in given["forbid"] or ():
        with _naming("forbid", text):
            yield Forbid(text)
    for text in given["forbid_below"] or ():
        with _naming("forbid_below", text):
            column, below = _assigned(text, "dose=2 or dose=sex")
            yield Forbid(column, below=int(below) if below.isdecimal() else below)
    for text in given["only"] or ():
        with _naming("only", text):
            depth, colon, columns = text.partition(":")
            if not colon or not depth.strip().isdecimal():
                raise InputError("write a depth and columns, such as 0:age,glucose")
            yield Only(int(depth), tuple(_names(columns)))
    for name, size in (("max_depth", MaxDepth), ("max_leaves", MaxLeaves)):
        if given[name] is not None:
            with _naming(name, given[name]):
                yield size(given[name])
    for text in given["column_weight"] or ():
        with _naming("column_weight", text):
            column, weight = _assigned(text, "age=3")
            yield Weights({column: number_or_word(weight)})
    if given.get("sparse"):
        yield Weights("sparse")


def _box(text: str) -> Constraint:
    from ..knowledge import Box
    from ..knowledge.intervals import join_sides

    sides: dict[str, list[str]] = {}
    for condition in text.split(","):
        match = _CONDITION.fullmatch(condition)
        if match is None:
            raise InputError(f"{condition.strip()!r} is no condition; write conditions such as 'glucose<=127, age<=28'")
        sides.setdefault(match[1], []).append(match[2] + match[3])
    return Box({column: join_sides(column, given) for column, given in sides.items()})


def _assigned(text: str, example: str) -> tuple[str, str]:
    column, equals, value = text.rpartition("=")
    if not equals or not column.strip() or not value.strip():
        raise InputError(f"write a column and what holds of it, such as {example}")
    return column.strip(), value.strip()


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


@contextmanager
def _naming(parameter: str, value: object) -> Iterator[None]:
    """Name the option in front of an error."""
    try:
        yield
    except InputError as error:
        raise InputError(f"--{parameter.replace('_', '-')} {value}: {error}") from None
