"""What is known about the trees, as options that commands share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from ..knowledge import (
    Box,
    Constraint,
    Forbid,
    Interact,
    Knowledge,
    MaxDepth,
    MaxLeaves,
    Monotone,
    Only,
    Weights,
    read_knowledge,
)
from ..knowledge.intervals import join_sides
from .declaring import KNOWLEDGE, Options, option
from .values import number_or_word

_CONDITION = re.compile(r"\s*([^<>=]+?)\s*(<=|>=|==|<|>)\s*([^<>=]+?)\s*")


@dataclass(kw_only=True)
class KnowledgeOptions(Options):
    """What is known about trees."""

    box: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIDES",
            help="No split inside, as 'glucose<=127, age<=28'. May be repeated.",
            rich_help_panel=KNOWLEDGE,
        ),
    ] = None
    monotone: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL=SIGN",
            help="The prediction never falls (+1) or never rises (-1) as the column grows. May be repeated.",
            rich_help_panel=KNOWLEDGE,
        ),
    ] = None
    interact: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL,COL",
            help="A group of columns that may meet on a path; those in no group are one more. May be repeated.",
            rich_help_panel=KNOWLEDGE,
        ),
    ] = None
    forbid: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Never ask about it. May be repeated.", rich_help_panel=KNOWLEDGE),
    ] = None
    forbid_below: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL=DEPTH|COL",
            help="Do not ask about it at this depth or deeper, or below a split on another. May be repeated.",
            rich_help_panel=KNOWLEDGE,
        ),
    ] = None
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DEPTH:COL,COL",
            help="Ask about nothing else at this depth. May be repeated.",
            rich_help_panel=KNOWLEDGE,
        ),
    ] = None
    max_depth: Annotated[
        int | None, typer.Option(metavar="N", help="The most questions on a path.", rich_help_panel=KNOWLEDGE)
    ] = None
    max_leaves: Annotated[
        int | None, typer.Option(metavar="N", help="The most leaves of a tree.", rich_help_panel=KNOWLEDGE)
    ] = None
    column_weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL=NUMBER",
            help="Ask about it as if it were so many columns. May be repeated.",
            rich_help_panel=KNOWLEDGE,
        ),
    ] = None
    knowledge: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A TOML file that says such things.", rich_help_panel=KNOWLEDGE)
    ] = None

    @cached_property
    def known(self) -> Knowledge:
        """What the options say, after what the file says."""
        of_file = read_knowledge(self.knowledge).constraints if self.knowledge else ()
        return Knowledge((*of_file, *_constraints(self)))


@dataclass(kw_only=True)
class EnsembleKnowledgeOptions(KnowledgeOptions):
    """What is known about many trees."""

    sparse: Annotated[
        bool,
        typer.Option("--sparse", help="Few columns matter, and which is learned.", rich_help_panel=KNOWLEDGE),
    ] = False

    @cached_property
    def known(self) -> Knowledge:
        """What the options say, after what the file says."""
        return super().known & Weights("sparse") if self.sparse else super().known


def _constraints(asked: KnowledgeOptions) -> Iterator[Constraint]:
    for text in asked.box or ():
        with _naming("box", text):
            yield _box(text)
    for text in asked.monotone or ():
        with _naming("monotone", text):
            column, sign = _assigned(text, "age=+1")
            yield Monotone({column: number_or_word(sign)})
    if asked.interact:
        with _naming("interact", " --interact ".join(asked.interact)):
            yield Interact(tuple(tuple(_names(group)) for group in asked.interact))
    for text in asked.forbid or ():
        with _naming("forbid", text):
            yield Forbid(text)
    for text in asked.forbid_below or ():
        with _naming("forbid_below", text):
            column, below = _assigned(text, "dose=2 or dose=sex")
            yield Forbid(column, below=int(below) if below.isdecimal() else below)
    for text in asked.only or ():
        with _naming("only", text):
            depth, colon, columns = text.partition(":")
            if not colon or not depth.strip().isdecimal():
                raise InputError("write a depth and columns, such as 0:age,glucose")
            yield Only(int(depth), tuple(_names(columns)))
    for name, most, size in (("max_depth", asked.max_depth, MaxDepth), ("max_leaves", asked.max_leaves, MaxLeaves)):
        if most is not None:
            with _naming(name, most):
                yield size(most)
    for text in asked.column_weight or ():
        with _naming("column_weight", text):
            column, weight = _assigned(text, "age=3")
            yield Weights({column: number_or_word(weight)})


def _box(text: str) -> Constraint:
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
        raise InputError(f"{option(parameter)} {value}: {error}") from None
