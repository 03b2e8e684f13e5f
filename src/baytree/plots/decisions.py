"""How decisions over time are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .columns import axes
from .palette import SCALE as COLOURS
from .palette import titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches of a new figure: of each node, of what surrounds them, and its width.
NODE_INCHES, FRAME_INCHES, WIDTH_INCHES = 0.45, 1.0, 8.0
# How opaque a band is where its node is never asked.
FAINT = 0.15


def decisions_over_time(
    decision: np.ndarray, reached: np.ndarray, path: np.ndarray, on_path: np.ndarray, ax: Axes | None, title: str = ""
) -> Axes:
    """A band for each node, from the root down: its expected branch in colour, and that of a path as a line.

    Parameters
    ----------
    decision : numpy.ndarray
        The probabilities of each node's branches, shape (rows, nodes, branches).
    reached : numpy.ndarray
        The probability that a node is asked, shape (rows, nodes).
    path : numpy.ndarray
        One decision of each node, shape (rows, nodes).
    on_path : numpy.ndarray of bool
        Whether the path asks the node, so that its decision is drawn.
    ax : matplotlib axes or None
        Where to draw.
    """
    from matplotlib import cm, colormaps, colors

    times, nodes, branching = decision.shape
    ax = axes(ax, (WIDTH_INCHES, FRAME_INCHES + NODE_INCHES * nodes))
    scale = colors.Normalize(0, branching - 1)
    colour = colormaps[COLOURS](scale(decision @ np.arange(branching)))
    colour[..., 3] = np.clip(FAINT + (1 - FAINT) * reached, 0, 1)
    extent = (-0.5, times - 0.5, nodes - 0.5, -0.5)
    ax.imshow(colour.transpose(1, 0, 2), aspect="auto", interpolation="nearest", extent=extent)
    for node in range(nodes):
        # Branch 0 at the upper edge of the band, the last one at the lower.
        height = node - 0.3 + 0.6 * path[:, node] / (branching - 1)
        line = np.where(on_path[:, node], height, np.nan)
        ax.step(np.arange(times), line, where="mid", color="white", linewidth=2.2)
        ax.step(np.arange(times), line, where="mid", color="black", linewidth=1.0)
    ax.hlines(np.arange(1, nodes) - 0.5, -0.5, times - 0.5, color="white", linewidth=2)
    ax.set_yticks(range(nodes), ["root", *(f"node {node}" for node in range(1, nodes))])
    ax.set_xlabel("time")
    ax.figure.colorbar(cm.ScalarMappable(scale, COLOURS), ax=ax, label="expected branch", ticks=range(branching))
    below = "colour: the branch expected given all rows, faint where hardly asked; line: the most probable path"
    return titled(ax, title, below) if title else ax
