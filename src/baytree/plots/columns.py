"""How what was discovered is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .palette import BLUE as COLOUR
from .palette import FAINT, SCALE, SMALL, plain, shortened, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches of a new figure: of each line of a plot of dots, and of what surrounds them.
LINE_INCHES, FRAME_INCHES, WIDTH_INCHES = 0.22, 1.2, 5.0
LONGEST_NAME = 28
# Of a matrix with so many names at most, the numbers are written.
NUMBERED = 12


def axes(ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
    """The axes given, or those of a new figure."""
    return ax if ax is not None else panels(1, 1, size)[0]


def panels(rows: int, columns: int, size: tuple[float, float] | None = None, **shared: Any) -> list[Axes]:
    """The axes of a new figure, row by row; ``sharex`` and ``sharey`` say what they have in common."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise InputError("plots need matplotlib; install it: pip install 'baytree[plot]'") from error
    _, found = pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False, **shared)
    return found.ravel().tolist()


def dots(
    ax: Axes | None,
    names: Sequence[str],
    mean: np.ndarray,
    interval: np.ndarray,
    threshold: np.ndarray | None,
    label: str,
    title: str = "",
    below: str = "",
) -> Axes:
    """A line for each name, in the order given from the top: mean, interval and threshold."""
    ax = plain(axes(ax, (WIDTH_INCHES, FRAME_INCHES + LINE_INCHES * len(names))))
    place = np.arange(len(names))
    ax.hlines(place, *interval.T, color=COLOUR, linewidth=1.2)
    ax.plot(mean, place, "o", color=COLOUR, markersize=4)
    if threshold is not None:
        ax.plot(threshold, place, "|", color="black", markersize=9, label="threshold")
        ax.legend(fontsize="small", frameon=False)
    ax.set_yticks(place, [shortened(name, LONGEST_NAME) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    if interval.size and interval.min() >= 0:
        ax.set_xlim(left=0)
    else:
        ax.axvline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.set_xlabel(label)
    return titled(ax, title, below) if title else ax


def bars(
    ax: Axes | None, names: Sequence[str], shares: np.ndarray, label: str, title: str = "", below: str = ""
) -> Axes:
    """A bar for each share of 1, in the order given from the top."""
    ax = plain(axes(ax, (WIDTH_INCHES, FRAME_INCHES + LINE_INCHES * len(names))))
    ax.barh(np.arange(len(names)), shares, color=COLOUR, height=0.7)
    ax.set_yticks(range(len(names)), [shortened(name, LONGEST_NAME) for name in names])
    ax.set(xlim=(0, 1), ylim=(len(names) - 0.5, -0.5), xlabel=label)
    return titled(ax, title, below) if title else ax


def matrix(
    ax: Axes | None, names: Sequence[str], values: np.ndarray, label: str, title: str = "", below: str = ""
) -> Axes:
    """A square of colours with names at both sides; where there is room, the numbers stand in it."""
    side = FRAME_INCHES + max(2, 1.6 * LINE_INCHES * len(names))
    ax = axes(ax, (side + 1.6, side + 0.6))
    image = ax.imshow(values, cmap=SCALE, vmin=0)
    named = [shortened(name, LONGEST_NAME) for name in names]
    ax.set_xticks(range(len(names)), named, rotation=90)
    ax.set_yticks(range(len(names)), named)
    if len(names) <= NUMBERED:
        middle = np.nanmax(values, initial=0) / 2
        for (row, column), value in np.ndenumerate(values):
            if np.isfinite(value):
                colour = "black" if value > middle else "white"
                ax.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=SMALL - 1, color=colour)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.figure.colorbar(image, ax=ax, label=label, fraction=0.046, pad=0.04)  # as high as the square
    return titled(ax, title, below) if title else ax


def band(
    ax: Axes | None,
    x: Sequence[Any],
    mean: np.ndarray,
    interval: np.ndarray,
    observed: np.ndarray,
    labels: _Labels,
    title: str = "",
    below: str = "",
) -> Axes:
    """A line with its band and a rug of what was observed; of labels dots with their intervals."""
    ax = _axes_over(ax, x, observed, labels)
    place = _places(x)
    if _numbers(x):
        ax.fill_between(place, *interval.T, color=COLOUR, alpha=0.25, linewidth=0)
        ax.plot(place, mean, color=COLOUR)
    else:
        ax.vlines(place, *interval.T, color=COLOUR, linewidth=1.2)
        ax.plot(place, mean, "o", color=COLOUR, markersize=5)
    return titled(ax, title, below) if title else ax


def curves(
    ax: Axes | None,
    x: Sequence[Any],
    mean: np.ndarray,
    observed: np.ndarray,
    labels: _Labels,
    title: str = "",
    below: str = "",
) -> Axes:
    """A thin line for each row of `mean`, and their average."""
    ax = _axes_over(ax, x, observed, labels)
    place = _places(x)
    ax.plot(place, mean.T, color=FAINT, linewidth=0.6, alpha=0.6)
    ax.plot(place, mean.mean(axis=0), color=COLOUR, linewidth=2)
    return titled(ax, title, below) if title else ax


def surface(
    ax: Axes | None,
    x: Sequence[Any],
    y: Sequence[Any],
    values: np.ndarray,
    labels: _Labels,
    title: str = "",
    below: str = "",
) -> Axes:
    """Contours over two columns of numbers, else squares of colours; `values` has shape (x, y)."""
    ax = axes(ax)
    if _numbers(x) and _numbers(y) and min(values.shape) > 1:
        image: Any = ax.contourf(x, y, values.T, levels=12, cmap=SCALE)
    else:
        image = ax.pcolormesh(_places(x), _places(y), values.T, cmap=SCALE, shading="nearest")
    for ticks, values_at in ((ax.set_xticks, x), (ax.set_yticks, y)):
        if not _numbers(values_at):
            ticks(range(len(values_at)), values_at)
    ax.set(xlabel=labels[0], ylabel=labels[1])
    ax.figure.colorbar(image, ax=ax, label=labels[2])
    return titled(ax, title, below) if title else ax


def swarm(
    ax: Axes | None,
    names: Sequence[str],
    values: np.ndarray,
    colours: np.ndarray,
    label: str,
    title: str = "",
    below: str = "",
) -> Axes:
    """A line of points for each name, spread where they are dense; `values` and `colours` have shape (points, names).

    A colour is a number from 0 to 1, NaN for grey.
    """
    ax = plain(axes(ax, (WIDTH_INCHES + 1, FRAME_INCHES + 2 * LINE_INCHES * len(names))))
    image = None
    for place in range(len(names)):
        here, shade = values[:, place], colours[:, place]
        known = np.isfinite(shade)
        height = place + _spread(here)
        ax.plot(here[~known], height[~known], ".", color=FAINT, markersize=3)
        image = ax.scatter(here[known], height[known], c=shade[known], s=6, cmap=SCALE, vmin=0, vmax=1)
    ax.axvline(0, color="black", linewidth=0.6, zorder=0)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel(label)
    if image is not None:
        bar = ax.figure.colorbar(image, ax=ax, ticks=[0, 1], label="value of the column")
        bar.ax.set_yticklabels(["low", "high"])
    return titled(ax, title, below) if title else ax


_Labels = tuple[str, ...]


def _axes_over(ax: Axes | None, x: Sequence[Any], observed: np.ndarray, labels: _Labels) -> Axes:
    """Axes with names at both sides, and ticks inside for what was observed."""
    ax = plain(axes(ax))
    ax.set(xlabel=labels[0], ylabel=labels[1])
    if _numbers(x):
        ax.plot(observed, np.full(len(observed), 0.015), "|", color=FAINT, transform=ax.get_xaxis_transform())
    else:
        ax.set_xticks(range(len(x)), x)
    return ax


def _numbers(values: Sequence[Any]) -> bool:
    return not any(isinstance(value, str) for value in values)


def _places(values: Sequence[Any]) -> np.ndarray:
    """Numbers as they are, labels side by side."""
    return np.asarray(values, dtype=float) if _numbers(values) else np.arange(len(values))


def _spread(values: np.ndarray, bins: int = 60, most: float = 0.4) -> np.ndarray:
    """How far each point is moved aside so that neighbours lie apart, in the order of the points."""
    if len(values) < 2 or np.ptp(values) == 0:
        return np.zeros(len(values))
    cell = ((values - values.min()) / np.ptp(values) * (bins - 1)).astype(int)
    order = np.argsort(cell, kind="stable")
    counts = np.bincount(cell, minlength=bins)
    rank = np.empty(len(values))
    rank[order] = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    return most * (2 * rank - (counts[cell] - 1)) / max(counts.max() - 1, 1)
