"""What a command says of the table that it read."""

from __future__ import annotations

from rich.text import Text

from ..data.design import AnyDesign
from .knowledge import KnowledgeOptions
from .options import TableOptions
from .output import Output
from .report import known_lines


def say_read(asked: TableOptions, design: AnyDesign, output: Output) -> None:
    """Tell what was read, and what is known about it."""
    rows, columns, missing, *others = design.describe().splitlines()
    output.say(
        Text.assemble("Read ", (asked.file.name, "bold"), f": {rows}, {columns}; {missing}"),
        *(Text(line[0].upper() + line[1:]) for line in others),
        *(known_lines(asked.known) if isinstance(asked, KnowledgeOptions) else ()),
    )
