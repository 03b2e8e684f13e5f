"""A map of a posterior: what is decided first on top, below it what is decided then, as wide as it is probable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..text import percent
from .drawing import SIGN, label, svg
from .markup import Markup, element
from .parts import table

WIDTH, ROW = 900.0, 46.0
# Of less than this share of the whole nothing is drawn by itself.
LEAST = 0.006
# What all the paths together are called that are drawn as one.
OTHERS = "others"
MOST_COLOURS = 8


@dataclass
class Cell:
    """A decision, with those that follow it.

    Attributes
    ----------
    name : str
        What is decided.
    share : float
        Its probability, with all decisions before it.
    below : dict of str to Cell
        What is decided next, by name.
    colour : str
        What shares its colour: the column that is asked about, say.
    """

    name: str
    share: float = 0.0
    below: dict[str, Cell] = field(default_factory=dict)
    colour: str = ""

    def add(self, path: Sequence[tuple[str, str]], share: float) -> None:
        """Add a path of decisions, each with its colour."""
        at = self
        at.share += share
        for name, colour in path:
            at = at.below.setdefault(name, Cell(name, colour=colour))
            at.share += share

    @property
    def ordered(self) -> list[Cell]:
        """What is decided next, the most probable first; what is hardly probable at the end, as one."""
        return sorted(self.below.values(), key=lambda cell: (cell.name == OTHERS, -cell.share))

    def to_dict(self) -> dict[str, Any]:
        """The map as nested JSON-safe values."""
        found: dict[str, Any] = {"name": self.name, "probability": round(self.share, 12)}
        return found | ({"below": [cell.to_dict() for cell in self.ordered]} if self.below else {})

    def gathered(self, least: float = LEAST) -> Cell:
        """The same with what is hardly probable in one cell, which has nothing below it."""
        found = Cell(self.name, self.share, colour=self.colour)
        rest = 0.0
        for cell in self.ordered:
            if cell.share >= least and cell.name != OTHERS:
                found.below[cell.name] = cell.gathered(least)
            else:
                rest += cell.share
        if rest > 0:
            found.below[OTHERS] = Cell(OTHERS, rest)
        return found

    def walk(self, depth: int = 0, before: tuple[str, ...] = ()) -> Iterable[tuple[int, tuple[str, ...], Cell]]:
        """Every cell below with its depth and the path that leads to it."""
        for cell in self.ordered:
            path = (*before, cell.name)
            yield depth, path, cell
            yield from cell.walk(depth + 1, path)


def icicle(title: str, root: Cell, levels: Sequence[str]) -> Markup:
    """The map as a picture.

    Parameters
    ----------
    title : str
        What it shows.
    root : Cell
        What holds the first decisions.
    levels : sequence of str
        What is decided on each level.
    """
    shown = root.gathered()
    colours = _colours(shown)
    left = 16 + SIGN * max(map(len, levels), default=0)
    depth = max((level for level, _, _ in shown.walk()), default=0) + 1
    inner: list[Markup] = []
    for level, name in list(enumerate(levels))[:depth]:
        inner.append(label(name, left - 10, (level + 0.5) * ROW + 4, "end", "name", longest=40))

    def draw(cell: Cell, begin: float, level: int, before: tuple[str, ...]) -> None:
        at = begin
        for below in cell.ordered:
            wide = below.share / shown.share * (WIDTH - left)
            path = (*before, below.name)
            inner.append(_cell(below, path, left + at, level, wide, colours))
            draw(below, at, level + 1, path)
            at += wide

    draw(shown, 0.0, 0, ())
    return svg(title, WIDTH, depth * ROW + 2, *inner, class_="map")


def _cell(cell: Cell, path: tuple[str, ...], x: float, level: int, wide: float, colours: dict[str, str]) -> Markup:
    kind = "rest" if cell.name == OTHERS else colours.get(cell.colour, "end")
    y, room = level * ROW + 1, int((wide - 8) / SIGN)
    said = f"{' → '.join(path)}: {percent(cell.share)}"
    inner = [
        element("title", said),
        element("rect", x=x + 0.5, y=y, width=max(wide - 1.0, 0.6), height=ROW - 2, class_=kind),
    ]
    if room >= 3:
        name = cell.name if len(cell.name) <= room else cell.name[: room - 1] + "…"
        inner.append(element("text", name, x=x + 5, y=y + 18))
        inner.append(element("text", percent(cell.share), x=x + 5, y=y + 35, class_="share"))
    return element("g", *inner, class_="cell", data_path=said, tabindex=-1)


def _colours(root: Cell) -> dict[str, str]:
    """A colour for each of the names that hold most."""
    held: dict[str, float] = {}
    for _, _, cell in root.walk():
        if cell.colour:
            held[cell.colour] = held.get(cell.colour, 0.0) + cell.share
    ranked = sorted(held, key=lambda name: -held[name])
    return {name: f"c{place}" if place < MOST_COLOURS else "end" for place, name in enumerate(ranked)}


def paths_table(caption: str, root: Cell, what: str) -> Markup:
    """The cells of a map as a table, each by the path that leads to it."""
    rows = [(" → ".join(path), percent(cell.share)) for _, path, cell in root.gathered().walk()]
    return table(caption, (what, "probability"), rows)
