"""How soft trees are drawn: a complete tree from the root down, with a small plot at each gate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .columns import axes
from .palette import BLUE as COLOUR
from .palette import FAINT, several, titled
from .palette import RED as LOSS
from .palette import shortened as shortened_to

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "COLOUR",
    "LOSS",
    "Layout",
    "axes",
    "below",
    "end",
    "inset",
    "several",
    "shortened",
    "signed",
    "text_tree",
    "titled",
    "tree_axes",
]

# The most ends that are drawn side by side; of a deeper tree the levels above.
MOST_ENDS = 32
# Inches of an end's share of the width, of a level, and the least width of a figure.
END_INCHES, LEVEL_INCHES, LEAST_INCHES = 0.95, 1.55, 5.5
# In units of ends: the widest plot at a gate. In units of levels: a line of text, and ticks under a plot.
WIDEST = 1.5
LINE, TICKS = 0.08, 0.1
LONGEST_NAME = 13
SMALL = 7


@dataclass(frozen=True)
class Layout:
    """Where the nodes of a complete tree lie: ends side by side, one unit each, and levels one unit apart.

    Attributes
    ----------
    levels : int
        Levels of gates that are drawn.
    branching : int
        Children of each.
    lines : int
        Of text under each gate.
    height : float
        Of the plots at the gates, in units of levels.
    ticks : bool
        Whether these have numbers underneath.
    """

    levels: int
    branching: int
    lines: int
    height: float = 0.36
    ticks: bool = False

    @classmethod
    def of(cls, depth: int, branching: int, **options: Any) -> Layout:
        """As many levels of a tree as there is room for."""
        levels = max(level for level in range(depth + 1) if level == 0 or branching**level <= MOST_ENDS)
        return cls(levels, branching, **options)

    def nodes(self, level: int) -> int:
        """Number of nodes of a level."""
        return self.branching**level

    def span(self, level: int) -> int:
        """How many ends lie under a node of a level."""
        return self.branching ** (self.levels - level)

    def place(self, level: int, node: int) -> tuple[float, float]:
        """The middle of the upper edge of a node."""
        return (node + 0.5) * self.span(level), float(self.levels - level)

    @property
    def text_top(self) -> float:
        """How far under that edge the text of a gate begins."""
        return self.height + (TICKS if self.ticks else 0.02)

    @property
    def inches(self) -> tuple[float, float]:
        """The size of a new figure."""
        return max(LEAST_INCHES, END_INCHES * self.span(0)), LEVEL_INCHES * (self.levels + 0.5)


def tree_axes(ax: Axes | None, layout: Layout, share: Sequence[np.ndarray] | None = None) -> Axes:
    """Axes with the lines of a tree, as thick as the share of the rows that each child has."""
    ax = axes(ax, layout.inches)
    for level in range(1, layout.levels + 1):
        for node in range(layout.nodes(level)):
            from_x, from_y = layout.place(level - 1, node // layout.branching)
            to_x, to_y = layout.place(level, node)
            width = 1.0 if share is None else 0.4 + 7 * float(share[level][node])
            top = from_y - layout.text_top - LINE * layout.lines - 0.01
            ax.plot([from_x, to_x], [top, to_y + 0.02], color=FAINT, linewidth=width, zorder=0)
    ax.set(xlim=(0, layout.span(0)), ylim=(-4 * LINE, layout.levels + 0.1))
    ax.axis("off")
    return ax


def inset(ax: Axes, layout: Layout, level: int, node: int) -> Axes:
    """Small axes at a gate."""
    x, y = layout.place(level, node)
    width = min(WIDEST, 0.75 * layout.span(level))
    small = ax.inset_axes((x - width / 2, y - layout.height, width, layout.height), transform=ax.transData)
    small.tick_params(labelsize=SMALL - 1, length=2, pad=1)
    for side in ("top", "right"):
        small.spines[side].set_visible(False)
    return small


def below(ax: Axes, layout: Layout, level: int, node: int, lines: Sequence[str]) -> None:
    """Lines of text under the small plot of a gate."""
    x, y = layout.place(level, node)
    _text(ax, x, y - layout.text_top, lines)


def end(ax: Axes, layout: Layout, node: int, lines: Sequence[str]) -> None:
    """Lines of text at an end of the tree."""
    _text(ax, *layout.place(layout.levels, node), lines)


def shortened(name: str) -> str:
    """A name that fits under a gate."""
    return shortened_to(name, LONGEST_NAME)


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign, a minus as long as a plus."""
    return f"{value:+,.{digits}f}".replace("-", "−")


def text_tree(depth: int, branching: int, said: Callable[[int, int], str]) -> str:
    """A complete tree as lines of text, what is said of each node by its level and place."""
    lines: list[str] = []

    def add(level: int, node: int, before: str, below: str) -> None:
        lines.append(before + said(level, node))
        for branch in range(branching if level < depth else 0):
            bend, go_on = ("└─ ", "   ") if branch == branching - 1 else ("├─ ", "│  ")
            add(level + 1, node * branching + branch, below + bend, below + go_on)

    add(0, 0, "", "")
    return "\n".join(lines)


def _text(ax: Axes, x: float, y: float, lines: Sequence[str]) -> None:
    ax.text(x, y, "\n".join(lines), ha="center", va="top", fontsize=SMALL, linespacing=1.15)
