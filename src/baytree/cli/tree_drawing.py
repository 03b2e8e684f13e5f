"""Trees drawn for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from rich.text import Text

from ..text import counted
from ..trees.tree import Tree

CLASS_COLOURS = ("green", "red", "blue", "yellow", "magenta", "cyan")
# From low to high.
VALUE_COLOURS = ("blue", "cyan", "green", "yellow", "red")


def draw_tree(tree: Tree) -> Text:
    """A tree with lines and colours; at each question *yes* comes first.

    Parameters
    ----------
    tree : Tree
        Its leaves are coloured by their class, or from low to high values.
    """

    def branch(answer: str, lines: list[Text], last: bool) -> list[Text]:
        corner, bar = ("└─ ", "   ") if last else ("├─ ", "│  ")
        first = Text.assemble((f"{corner}{answer} ", "dim"), lines[0])
        return [first, *(Text.assemble((bar, "dim"), line) for line in lines[1:])]

    def split(node: int, left: list[Text], right: list[Text]) -> list[Text]:
        rule = tree.rules[node]
        assert rule is not None
        name = tree.schema.names[rule.feature]
        question = Text.assemble((name, "bold"), tree.question(rule).removeprefix(name), "?")
        return [question, *branch("yes:", left, False), *branch("no: ", right, True)]

    def leaf(node: int, place: int) -> list[Text]:
        says, bracket, rows = tree.leaf_text(node, place).partition(" (")
        return [Text.assemble((says, _leaf_style(tree, place)), (bracket + rows, "dim"))]

    return Text("\n").join(tree.walk(split, leaf))


def _leaf_style(tree: Tree, place: int) -> str:
    if not tree.values:
        return ""
    value = tree.values[place]
    if isinstance(value, Mapping):
        shares = list(value.values())
        return CLASS_COLOURS[int(np.argmax(shares)) % len(CLASS_COLOURS)]
    low, high = min(tree.values), max(tree.values)
    height = (value - low) / (high - low) if high > low else 0.5
    return VALUE_COLOURS[min(int(height * len(VALUE_COLOURS)), len(VALUE_COLOURS) - 1)]


def leaves(number: int) -> str:
    """A number of leaves in words."""
    return counted(number, "leaf", "leaves")


def size_line(n_leaves: np.ndarray) -> Text:
    """How large trees of so many leaves are."""
    low, middle, high = np.quantile(n_leaves, [0.05, 0.5, 0.95], method="nearest")
    size = f"{low}" if low == high else f"{low} to {high}"
    return Text(f"A typical tree has {leaves(middle)}, nine in ten have {size}.")
