"""Pieces of what a command draws for the terminal, as rich renderables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..text import percent

BAR_WIDTH = 24
BAR_PARTS = " ▏▎▍▌▋▊▉█"
# Comments behind commands up to this length are aligned.
ALIGNED = 60


def heading(text: str) -> Text:
    """A title with an empty line above it."""
    return Text(f"\n{text}", style="bold")


def indented(part: RenderableType) -> RenderableType:
    """A part moved to the right, below its heading."""
    if isinstance(part, Text):
        # Padding would cut long lines.
        return Text("\n").join(Text.assemble("  ", line) for line in part.split("\n"))
    return Padding(part, (0, 0, 0, 2), expand=False)


def section(title: str, part: RenderableType) -> list[RenderableType]:
    """A heading, and below it a part."""
    return [heading(title), indented(part)]


def plain_table(gap: int = 3) -> Table:
    """A table without lines, its columns so far apart."""
    return Table(box=None, pad_edge=False, header_style="dim", padding=(0, gap, 0, 0))


def bar_chart(shares: Mapping[str, float], most: int = 10, full: float = 1.0) -> Table:
    """Shares between 0 and 1 as bars, in the order given.

    Parameters
    ----------
    shares : mapping of str to float
        The bars.
    most : int
        How many are drawn; the rest is counted in a last line.
    full : float
        The share of a bar of full length.
    """
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    drawn = dict(islice(shares.items(), most))
    for (name, share), text in zip(drawn.items(), map(percent, drawn.values()), strict=True):
        eighths = round(share / full * BAR_WIDTH * 8)
        bar = "█" * (eighths // 8) + BAR_PARTS[eighths % 8].strip()
        table.add_row(Text(name), Text(bar.ljust(BAR_WIDTH), style="cyan"), text)
    if rest := list(shares.values())[most:]:
        table.add_row(Text(f"{len(rest)} more", style="dim"), Text(f"at most {percent(max(rest))} each", style="dim"))
    return table


def next_steps(steps: Sequence[tuple[str, str]]) -> Text:
    """Commands to try, each with what it does as a comment, so that a line can be pasted into a shell."""
    width = max((len(command) for command, _ in steps if len(command) <= ALIGNED), default=0)
    lines = (Text.assemble("  ", (command.ljust(width), "cyan"), (f"  # {what}", "dim")) for command, what in steps)
    return Text("\n").join([heading("Try next"), *lines])
