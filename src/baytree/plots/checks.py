"""How predictions are drawn beside what was observed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .columns import axes
from .palette import BLUE, FAINT, ORANGE, SMALL, plain, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE, SQUARE = (6.0, 3.6), (4.6, 4.6)


def bars_check(
    ax: Axes | None,
    edges: np.ndarray,
    observed: np.ndarray,
    mean: np.ndarray,
    interval: np.ndarray,
    response: str,
    title: str,
    below: str,
) -> Axes:
    """A histogram of what was observed, over a band of those of new responses."""
    ax = plain(axes(ax, SIZE))
    low, high = interval.T
    ax.stairs(high, edges, baseline=low, fill=True, color=BLUE, alpha=0.25, label="new, interval")
    ax.stairs(mean, edges, baseline=None, color=BLUE, linewidth=1.4, label="new, mean")
    ax.stairs(observed, edges, baseline=None, color="black", linewidth=1.4, label="observed")
    ax.set(xlabel=response, ylabel="rows", ylim=(0, None), xlim=(edges[0], edges[-1]))
    ax.legend(fontsize=SMALL, frameon=False)
    return titled(ax, title, below)


def labels_check(
    ax: Axes | None,
    labels: Sequence[str],
    observed: np.ndarray,
    mean: np.ndarray,
    interval: np.ndarray,
    response: str,
    title: str,
    below: str,
) -> Axes:
    """The number of rows of each class, beside those of new responses."""
    ax = plain(axes(ax, SIZE))
    place = np.arange(len(labels))
    ax.bar(place, observed, width=0.6, color="0.85", label="observed")
    ax.vlines(place, *interval.T, color=BLUE, linewidth=1.6)
    ax.plot(place, mean, "o", color=BLUE, markersize=5, label="new")
    ax.set_xticks(place, labels)
    ax.set(xlabel=response, ylabel="rows", ylim=(0, None))
    ax.legend(fontsize=SMALL, frameon=False)
    return titled(ax, title, below)


def calibration(
    ax: Axes | None,
    said: np.ndarray,
    seen: np.ndarray,
    interval: np.ndarray,
    labels: tuple[str, str],
    title: str,
    below: str,
) -> Axes:
    """Points over the diagonal, with a band of where they would lie by chance."""
    ax = plain(axes(ax, SQUARE))
    ax.plot([0, 1], [0, 1], color=FAINT, linewidth=0.8)
    order = np.argsort(said, kind="stable")
    low, high = interval[order].T
    ax.fill_between(said[order], low, high, color=ORANGE, alpha=0.25, linewidth=0)
    ax.plot(said[order], seen[order], "o-", color=BLUE, markersize=4, linewidth=1)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=labels[0], ylabel=labels[1])
    ax.set_aspect("equal")
    return titled(ax, title, below)
