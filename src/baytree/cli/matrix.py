"""A table as a matrix: its options, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from ..data.matrix import LinearDesign, read_linear
from ..data.response import Task
from ..errors import InputError
from .declaring import DATA
from .options import TableOptions


@dataclass(kw_only=True)
class MatrixOptions(TableOptions):
    """A table whose columns become those of a matrix."""

    interaction: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL:COL|all",
            help="Two columns whose interaction may enter. May be repeated.",
            rich_help_panel=DATA,
        ),
    ] = None

    def pairs(self) -> str | list[tuple[str, str]] | None:
        """The interactions that were asked for."""
        if not self.interaction:
            return None
        if "all" in self.interaction:
            if len(self.interaction) > 1:
                raise InputError("--interaction all has every pair already; leave the other ones out")
            return "all"
        pairs = []
        for text in self.interaction:
            first, *rest = (name.strip() for name in text.split(":"))
            if len(rest) != 1 or not first or not rest[0]:
                raise InputError(f"--interaction {text}: give two columns as COL:COL, or all")
            pairs.append((first, rest[0]))
        return pairs


def read_matrix(asked: MatrixOptions, task: Task) -> LinearDesign:
    """The table that the options describe, as a matrix with a response of a kind."""
    return read_linear(
        asked.file,
        asked.target,
        task=task,
        weight=asked.weight,
        categorical=asked.categorical or (),
        drop=asked.drop or (),
        interactions=asked.pairs(),
    )
