"""A plane in colours that say who answers where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .columns import axes
from .palette import several

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.5, 4.5)
# The most rows that are drawn, and the most leaves that the legend names: those that answer most of the plane.
DRAWN, NAMED = 500, 12


def shares_over_plane(
    ax: Axes | None,
    share: np.ndarray,
    grids: tuple[np.ndarray, np.ndarray],
    rows: np.ndarray,
    labels: tuple[str, str],
) -> Axes:
    """Leaves in colours that are mixed by their shares, with rows as dots.

    Parameters
    ----------
    ax : matplotlib Axes or None
        Where; on a new figure for None.
    share : numpy.ndarray of shape (values of the first, values of the second, leaves)
        The share of each leaf.
    grids : tuple of two numpy.ndarray
        The values of the two axes.
    rows : numpy.ndarray of shape (rows, 2)
        Where the rows lie.
    labels : tuple of two str
        What the axes are.
    """
    ax = axes(ax, SIZE)
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Patch

    leaves = share.shape[2]
    colours = np.array([to_rgb(colour) for colour in several(leaves)])
    # Paler than the dots.
    mixed = 0.45 + 0.55 * np.clip(share @ colours, 0, 1)
    first, second = grids
    ax.imshow(
        mixed.transpose(1, 0, 2),
        origin="lower",
        aspect="auto",
        extent=(first[0], first[-1], second[0], second[-1]),
        interpolation="bilinear",
    )
    step = max(1, len(rows) // DRAWN)
    ax.plot(*rows[::step].T, ".", color="black", markersize=2, alpha=0.5)
    answered = share.mean(axis=(0, 1))
    named = np.sort(np.argsort(-answered, kind="stable")[:NAMED])
    handles = [Patch(color=0.45 + 0.55 * colours[leaf]) for leaf in named]
    names = [f"leaf {leaf + 1}: {answered[leaf]:.0%}" for leaf in named]
    ax.legend(handles, names, fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5))
    ax.set(xlabel=labels[0], ylabel=labels[1])
    return ax
