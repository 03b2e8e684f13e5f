"""How the explanation of one row is drawn: what decides, and below it what would have to change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..text import percent
from .columns import axes
from .palette import BLUE, FAINT, GREEN, PALE, RED, SMALL, plain, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH_INCHES, LINE_INCHES = 8.5, 0.3
# Inches above the upper axes, between the two, below the lower ones, and of the title.
ABOVE, BETWEEN, BELOW, TITLE = 0.3, 0.85, 0.5, 0.4
# What stands beside the bars: letters, and the share of the width that they take.
LONGEST, BESIDE, WIDE = 56, 0.46, 0.49


@dataclass(frozen=True, eq=False)
class Ways:
    """Paths with their shares, and what is predicted at their ends."""

    names: Sequence[str]
    share: np.ndarray
    value: np.ndarray


@dataclass(frozen=True, eq=False)
class Waterfall:
    """What each column adds to what is predicted of an average row."""

    names: Sequence[str]
    mean: np.ndarray
    interval: np.ndarray
    base: float
    unit: str


@dataclass(frozen=True, eq=False)
class Moves:
    """What would be predicted after each change, and what is now."""

    names: Sequence[str]
    after: np.ndarray
    now: float
    interval: tuple[float, float] | None
    title: str


Top = Ways | Waterfall


def explanation(ax: Axes | None, top: Top, changes: Moves, what: str, said: str, title: str) -> Axes:
    """Two small axes in one: what decides above, changes below.

    Parameters
    ----------
    ax : matplotlib Axes or None
        Where; on a new figure for None.
    top : Ways or Waterfall
        What decides.
    changes : Moves
        What would have to change.
    what : str
        What is explained.
    said : str
        The prediction in a sentence.
    title : str
        What decides, in words.
    """
    above, below = max(len(top.names), 1), max(len(changes.names), 1)
    inches = ABOVE + BETWEEN + BELOW + LINE_INCHES * (above + below)
    ax = axes(ax, (WIDTH_INCHES, TITLE + inches))
    ax.axis("off")
    ax.set_title(said, loc="left", fontsize="medium", fontweight="bold")
    first, second = (LINE_INCHES * lines / inches for lines in (above, below))
    upper = plain(ax.inset_axes((BESIDE, 1 - ABOVE / inches - first, WIDE, first)))
    lower = plain(ax.inset_axes((BESIDE, BELOW / inches, WIDE, second)))
    for top_edge, words in ((1 - ABOVE / inches, title), (BELOW / inches + second, changes.title)):
        ax.text(0, top_edge + 0.06 / inches, words, fontsize=SMALL, color="0.35", transform=ax.transAxes)
    if isinstance(top, Ways):
        _ways(upper, top, changes, what)
    else:
        _waterfall(upper, top)
    _moves(lower, changes, what)
    return ax


def _names(ax: Axes, names: Sequence[str]) -> None:
    ax.set_yticks(range(len(names)), [shortened(name, LONGEST) for name in names], fontsize=SMALL)
    ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=SMALL)
    ax.spines["left"].set_visible(False)


def _ways(ax: Axes, ways: Ways, now: Moves, what: str) -> None:
    place = range(len(ways.names))
    _now(ax, now)
    ax.scatter(ways.value, place, s=20 + 180 * ways.share, color=BLUE, zorder=3)
    ax.hlines(place, 0, 1, transform=ax.get_yaxis_transform(), color=PALE, linewidth=0.8, zorder=0)
    for line, share in zip(place, ways.share, strict=True):
        ax.text(1.015, line, percent(share), transform=ax.get_yaxis_transform(), va="center", fontsize=SMALL)
    ax.margins(x=0.1)
    _names(ax, ways.names)
    ax.set_xlabel(f"{what} at the end of the path, dots as large as its share", fontsize=SMALL)


def _waterfall(ax: Axes, parts: Waterfall) -> None:
    place = np.arange(len(parts.names))
    ax.axvline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.barh(place, parts.mean, height=0.6, color=[GREEN if mean >= 0 else RED for mean in parts.mean], alpha=0.8)
    ax.hlines(place, *parts.interval.T, color="black", linewidth=1.2)
    for line, mean, high in zip(place, parts.mean, parts.interval[:, 1], strict=True):
        text, at = f"{mean:+.3g}".replace("-", "−"), max(high, mean, 0)
        ax.annotate(text, (at, line), (4, 0), textcoords="offset points", va="center", fontsize=SMALL - 1)
    ax.margins(x=0.12)
    _names(ax, parts.names)
    ax.set_xlabel(f"what it adds to {parts.unit}, beginning at {parts.base:.4g} of an average row", fontsize=SMALL)


def _moves(ax: Axes, moves: Moves, what: str) -> None:
    place = np.arange(len(moves.names))
    _now(ax, moves)
    for line, after in zip(place, moves.after, strict=True):
        ax.annotate(
            "", (after, line), (moves.now, line), arrowprops={"arrowstyle": "-|>", "color": BLUE, "linewidth": 1.4}
        )
        ax.annotate(f"{after:.3g}", (after, line), (4 if after > moves.now else -4, 6), textcoords="offset points",
                    ha="center", fontsize=SMALL - 1)  # fmt: skip
    ax.plot(moves.after, place, " ")
    ax.margins(x=0.15)
    _names(ax, moves.names)
    ax.set_xlabel(f"{what}: the line is now, shaded its interval", fontsize=SMALL)


def _now(ax: Axes, moves: Moves) -> None:
    if moves.interval is not None:
        ax.axvspan(*moves.interval, color=PALE, zorder=0)
    ax.axvline(moves.now, color="black", linewidth=1)
