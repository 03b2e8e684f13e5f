"""How a tree of hard decisions is drawn: from the left, a line for each leaf, so that nothing overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .columns import axes
from .palette import BLUE, FAINT, PALE, SMALL, several, shortened, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches: of a leaf's line, of a letter of a question, between a question and those below it, of what the leaves say.
LINE_INCHES, LETTER_INCHES, GAP_INCHES, PANEL_INCHES = 0.27, 0.064, 0.42, 2.6
# The least of a figure.
LEAST_WIDTH, LEAST_HEIGHT = 6.0, 1.0
LONGEST = 30


@dataclass(frozen=True, eq=False)
class Leaves:
    """What the leaves of a tree say.

    Attributes
    ----------
    response : str
        What is predicted.
    values : numpy.ndarray
        The mean of each leaf, or with a second axis the probabilities of the classes.
    classes : tuple of str
        The names of the classes; none of numbers.
    interval : numpy.ndarray or None
        A credible interval of each value, the ends on the last axis.
    prob : float
        Its probability.
    """

    response: str
    values: np.ndarray
    classes: tuple[str, ...]
    interval: np.ndarray | None
    prob: float


def tree(
    ax: Axes | None, questions: Sequence[str | None], rows: Sequence[int], leaves: Leaves | None, title: str
) -> Axes:
    """A tree from the root at the left; at each question *yes* goes up. To the right, what the leaves say.

    Parameters
    ----------
    ax : matplotlib Axes or None
        Where; on a new figure that is large enough for None.
    questions : sequence of str or None
        Of each node in preorder what it asks; None is a leaf.
    rows : sequence of int
        How many training rows each node has, if that is known.
    leaves : Leaves or None
        What the leaves say, from the top; None where they say nothing.
    title : str
        What it is.
    """
    depth, height, children = _places(questions)
    widths = _widths(questions, depth)
    left = np.concatenate([[0.0], np.cumsum(widths)])
    count, panel = (len(questions) + 1) // 2, max(PANEL_INCHES, LEAST_WIDTH - left[-1]) if leaves is not None else 0.0
    size = (left[-1] + panel + 0.4, max(LEAST_HEIGHT, LINE_INCHES * count) + 1.0)
    small = SMALL * (1.0 if ax is None else _fitting(ax, size))
    ax = axes(ax, size)
    share = np.array(rows) / max(rows[0], 1) if rows else np.full(len(questions), 0.3)
    for node, below in enumerate(children):
        x, y = left[depth[node]], height[node]
        text = shortened(questions[node] or "", LONGEST)
        if not below:
            ax.plot(x, y, "s", color="black", markersize=3)
            if panel:
                ax.plot([x, left[-1]], [y, y], ":", color=FAINT, linewidth=0.6, zorder=0)
            continue
        ax.text(x, y, f"{text}?", va="center", fontsize=small)
        begin, bend = x + LETTER_INCHES * (len(text) + 1) + 0.04, left[depth[node] + 1] - 0.3
        ax.plot([begin, bend], [y, y], color=FAINT, linewidth=0.8)
        for child, answer in zip(below, ("yes", "no"), strict=True):
            to = height[child]
            width = 0.6 + 5 * share[child]
            ax.plot([bend, bend, left[depth[child]] - 0.05], [y, to, to], color=FAINT, linewidth=width, alpha=0.7)
            edge, va = (to - 0.12, "bottom") if answer == "yes" else (to + 0.12, "top")
            ax.text(bend + 0.02, edge, answer, va=va, fontsize=0.75 * small, color="0.35")
    ax.set(xlim=(-0.05, left[-1] + panel), ylim=(count - 0.4, -0.6))
    ax.axis("off")
    if leaves is not None:
        at = [height[node] for node, below in enumerate(children) if not below]
        counts = [rows[node] for node, below in enumerate(children) if not below] if rows else []
        width = left[-1] + panel + 0.05
        inset = ax.inset_axes(((left[-1] + 0.15) / width, 0, (panel - 0.75) / width, 1))
        _panel(inset, leaves, np.array(at), counts, small)
    return titled(ax, title, _below(leaves))


def _fitting(ax: Axes, size: tuple[float, float]) -> float:
    """How much smaller letters must be on axes that are smaller than a tree wants."""
    box = ax.get_window_extent()
    dots: float = ax.figure.dpi
    return min(1.0, box.width / dots / (size[0] - 0.4), box.height / dots / (size[1] - 1.0))


def _below(leaves: Leaves | None) -> str:
    if leaves is None:
        return ""
    what = f"P({leaves.response})" if leaves.classes else f"mean {leaves.response}"
    band = f", {leaves.prob:.0%} credible intervals" if leaves.interval is not None else ""
    return f"leaves: {what}{band}; lines as thick as their share of the rows"


def _places(questions: Sequence[str | None]) -> tuple[list[int], list[float], list[tuple[int, ...]]]:
    """Of each node its depth, its height in lines of leaves, and its children."""
    depth, children = [0] * len(questions), [()] * len(questions)  # type: list[int], list[tuple[int, ...]]
    height = [0.0] * len(questions)
    pending, leaf = [0], 0
    for node, question in enumerate(questions):
        depth[node] = pending.pop()
        if question is None:
            height[node] = float(leaf)
            leaf += 1
        else:
            pending += [depth[node] + 1, depth[node] + 1]
    done: list[int] = []
    for node in range(len(questions) - 1, -1, -1):
        if questions[node] is not None:
            children[node] = (done.pop(), done.pop())
            height[node] = float(np.mean([height[child] for child in children[node]]))
        done.append(node)
    return depth, height, children


def _widths(questions: Sequence[str | None], depth: Sequence[int]) -> np.ndarray:
    """The width of each level, in inches: of the longest question in it, and of the way to the next."""
    widths = np.full(max(depth) + 1, 0.3)
    for question, level in zip(questions, depth, strict=True):
        if question is not None:
            letters = min(len(question), LONGEST) + 1
            widths[level] = max(widths[level], LETTER_INCHES * letters + GAP_INCHES)
    return widths


def _panel(ax: Axes, leaves: Leaves, at: np.ndarray, rows: Sequence[int], small: float) -> None:
    """What each leaf says, in its line."""
    count = len(at)
    if leaves.classes:
        colours = several(len(leaves.classes))
        edges = np.concatenate([np.zeros((count, 1)), np.cumsum(leaves.values, axis=1)], axis=1)
        for place, (name, colour) in enumerate(zip(leaves.classes, colours, strict=True)):
            ax.barh(at, leaves.values[:, place], left=edges[:, place], height=0.6, color=colour, label=name, alpha=0.85)
        if leaves.interval is not None and len(leaves.classes) == 2:
            # The edge between the classes is the probability of the first.
            low, high = leaves.interval[:, 0].T
            ax.hlines(at, low, high, color="black", linewidth=1.2)
        ax.set(xlim=(0, 1), xticks=[0, 0.5, 1])
        below = -0.3 / max(LEAST_HEIGHT, LINE_INCHES * count)
        ax.legend(
            fontsize=0.9 * small, frameon=False, ncols=min(4, len(colours)), loc="upper left", borderaxespad=0,
            bbox_to_anchor=(0, below), handlelength=1, columnspacing=1,
        )  # fmt: skip
    else:
        if leaves.interval is not None:
            ax.hlines(at, *leaves.interval.T, color=BLUE, linewidth=1.4)
        ax.plot(leaves.values, at, "o", color=BLUE, markersize=4)
        if rows:
            ax.axvline(float(np.average(leaves.values, weights=rows)), color=FAINT, linewidth=0.8, zorder=0)
        ax.margins(x=0.08)
        ax.set_xlabel(leaves.response, fontsize=small)
    for line, number in zip(at, rows, strict=False):
        ax.text(1.04, line, f"{number:,}", transform=ax.get_yaxis_transform(), va="center", fontsize=0.9 * small)
    if rows:
        where = ax.get_yaxis_transform()
        ax.text(1.04, -0.55, "rows", transform=where, va="center", fontsize=0.8 * small, color="0.35")
    ax.set(ylim=(count - 0.4, -0.6), yticks=[])
    ax.tick_params(labelsize=0.9 * small)
    ax.set_facecolor("none")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.grid(axis="x", color=PALE, linewidth=0.6, zorder=0)
    ax.set_axisbelow(True)
