"""Trees with the data in their nodes, as dtreeviz draws them: where each question cuts, and what each leaf holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..trees.outline import depths_of, fold
from .drawing import LONGEST, box, dot, label, legend, line, svg
from .markup import Markup, element

# Of a node: its width, the height of its picture, and that of a level.
NODE, PICTURE, LEVEL = 156.0, 56.0, 138.0
GAP = 14.0
BINS = 16
# The least size of a tree, as a share of its own.
LEAST = 0.72
# The width of a sign in a question.
BOLD = 7.0
MOST_CLASSES = 6


@dataclass(frozen=True)
class NodeData:
    """The rows that reach a node.

    Attributes
    ----------
    values : numpy.ndarray
        Of a split, the place of each row's value along its column, from 0 to 1.
    cut : float or None
        Where it divides them, likewise.
    y : numpy.ndarray
        Their responses: numbers from 0 to 1 between the smallest and the largest, or positions in the classes.
    """

    values: np.ndarray
    cut: float | None
    y: np.ndarray


def tree_picture(
    title: str,
    rules: Sequence[Any],
    questions: Sequence[Sequence[str]],
    leaves: Sequence[Sequence[str]],
    data: Sequence[NodeData] | None,
    classes: int | None,
) -> Markup:
    """A tree.

    Parameters
    ----------
    title : str
        What it shows.
    rules : sequence
        Its nodes in preorder, None being a leaf.
    questions : sequence of sequences of str
        What each node asks, in lines; of leaves nothing.
    leaves : sequence of sequences of str
        What each leaf says, in lines.
    data : sequence of NodeData, optional
        The rows of each node.
    classes : int or None
        How many classes there are; None where the response is a number.
    """
    number = (len(rules) + 1) // 2
    wide = NODE + GAP
    picture = PICTURE if data is not None else 0.0
    level = LEVEL - PICTURE + picture
    edges: list[Markup] = []
    nodes: list[Markup] = []
    lines, asked = max(map(len, leaves)), max(map(len, questions))
    depth = depths_of(rules)
    height = max(depth) * level + picture + 26 + 15 * lines

    def leaf(node: int, place: int) -> tuple[float, float]:
        x, y = (place + 0.5) * wide, depth[node] * level
        nodes.append(box(x - NODE / 2, y + 1, NODE, picture + 10 + 15 * lines, "leaf"))
        if data is not None:
            nodes.extend(_leaf_rows(data[node], x, y, classes))
        for at, said in enumerate(leaves[place]):
            kind = "tick" if at else "strong"
            nodes.append(label(said, x, y + picture + 18 + 15 * at, "middle", kind, longest=int(NODE / BOLD) + 3))
        return x, y

    def split(node: int, left: tuple[float, float], right: tuple[float, float]) -> tuple[float, float]:
        x, y = (left[0] + right[0]) / 2, depth[node] * level
        for child, answer in ((left, "yes"), (right, "no")):
            from_y = y + picture + 12 + 15 * asked
            edges.append(line(x, from_y, child[0], child[1] + 1, "edge"))
            side, anchor = (-6, "end") if child[0] < x else (6, "start")
            at, down = x + 0.42 * (child[0] - x) + side, from_y + 0.42 * (child[1] - from_y)
            edges.append(label(answer, at, down, anchor, "tick"))
        nodes.append(box(x - NODE / 2, y + 1, NODE, picture + 10 + 15 * asked, "split"))
        for at, said in enumerate(questions[node]):
            kind = "tick" if at else "strong"
            nodes.append(label(said, x, y + picture + 19 + 14 * at, "middle", kind, longest=int(NODE / BOLD)))
        if data is not None:
            nodes.extend(_split_rows(data[node], x, y, classes))
        return x, y

    root, _ = fold(rules, split, leaf)
    width = max(number * wide, NODE + GAP)
    # It shrinks where there is little room, as long as it can be read; then it scrolls.
    style = f"min-width:{LEAST * width:.0f}px"
    return svg(title, width, height + 4, *edges, *nodes, class_="tree", data_root=root, style=style)


def class_key(classes: Sequence[str]) -> Markup:
    """Which colour stands for which class."""
    shown = [(name, _class_of(k)) for k, name in enumerate(classes[:MOST_CLASSES])]
    width = 20 + sum(32 + BOLD * min(len(name), LONGEST) for name, _ in shown)
    said = f"Colours: {', '.join(classes[:MOST_CLASSES])}"
    return element("p", svg(said, width, 20, legend(shown, 2, 14)))


def _class_of(k: int) -> str:
    return f"s{k % MOST_CLASSES} fill"


def _split_rows(rows: NodeData, x: float, y: float, classes: int | None) -> list[Markup]:
    """The rows along the column that is asked about, of classes stacked by class, of numbers as a cloud."""
    left, width, ground = x - NODE / 2 + 8, NODE - 16, y + PICTURE + 2
    found: list[Markup] = []
    if classes is None:
        chosen: Any = np.linspace(0, len(rows.y) - 1, min(len(rows.y), 120)).astype(int) if len(rows.y) else []
        for row in chosen:
            up = ground - 2 - rows.y[row] * (PICTURE - 10)
            found.append(dot(left + rows.values[row] * width, up, "s0 cloud", 1.6))
    else:
        edges = np.linspace(0, 1, BINS + 1)
        counts = np.stack([np.histogram(rows.values[rows.y == k], edges)[0] for k in range(classes)])
        high = max(int(counts.sum(axis=0).max()), 1)
        below = np.zeros(BINS)
        for k in range(classes):
            for at in np.flatnonzero(counts[k]):
                tall = counts[k, at] / high * (PICTURE - 8)
                base = ground - below[at]
                found.append(box(left + edges[at] * width, base - tall, width / BINS - 0.5, tall, _class_of(k)))
                below[at] += tall
    found.append(line(left, ground, left + width, ground, "axis"))
    if rows.cut is not None:
        place = left + rows.cut * width
        found.append(line(place, y + 4, place, ground, "cut"))
    return found


def _leaf_rows(rows: NodeData, x: float, y: float, classes: int | None) -> list[Markup]:
    """The responses in a leaf: bars of classes, or numbers along the response."""
    left, width, ground = x - NODE / 2 + 8, NODE - 16, y + PICTURE + 2
    if not len(rows.y):
        return []
    found: list[Markup] = []
    if classes is None:
        heights = np.histogram(rows.y, BINS, (0, 1))[0]
        for at in np.flatnonzero(heights):
            tall = heights[at] / heights.max() * (PICTURE - 10)
            found.append(box(left + at / BINS * width, ground - tall, width / BINS - 0.5, tall, "s0 fill"))
    else:
        counts = np.bincount(rows.y, minlength=classes)
        for k in np.flatnonzero(counts):
            tall = counts[k] / counts.max() * (PICTURE - 10)
            x_of, wide = left + (k + 0.15) / classes * width, 0.7 * width / classes
            found.append(box(x_of, ground - tall, wide, tall, _class_of(int(k))))
    return [*found, line(left, ground, left + width, ground, "axis")]
