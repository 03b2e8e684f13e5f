"""How a map of trees by decision path is drawn: an icicle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .columns import axes
from .palette import FAINT, OKABE_ITO, PALE, SMALL, readable_on, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH_INCHES, ROW_INCHES, FRAME_INCHES = 9.0, 0.55, 1.3
# Columns that have a colour of their own; the others share one.
COLOURS = [colour for colour in OKABE_ITO if colour != "#000000"]
OTHERS = "#7F7F7F"
# Inches of a letter.
LETTER_INCHES = 0.068

# The place, begin and width of a piece, its question, its column if it asks, and whether it is a leaf.
Piece = tuple[int, float, float, str, str | None, bool]


def icicle(
    ax: Axes | None, places: Sequence[str], pieces: Sequence[Piece], held: float, title: str, below: str
) -> Axes:
    """A row for each place of a tree, and in it pieces as wide as they are probable.

    Parameters
    ----------
    ax : matplotlib Axes or None
        Where; on a new figure for None.
    places : sequence of str
        The places, from the root on.
    pieces : sequence of Piece
        What lies there.
    held : float
        The probability of all of them; what is missing to 1 is drawn as other trees.
    title, below : str
        What it is.
    """
    from matplotlib.patches import Patch

    ax = axes(ax, (WIDTH_INCHES, FRAME_INCHES + ROW_INCHES * max(len(places), 1)))
    colours = _colours(pieces)
    inches = ax.get_window_extent().width / ax.figure.dpi
    for row, begin, width, question, column, leaf in pieces:
        if column is None and not leaf:
            continue
        colour = PALE if column is None else colours[column]
        ax.barh(row, width, left=begin, height=0.92, color=colour, edgecolor="white", linewidth=min(0.6, 60 * width))
        letters = int(inches * width / LETTER_INCHES)
        # The colour tells the column, so that its name may be left out.
        texts = ["leaf"] if column is None else [question, question.removeprefix(f"{column} ")]
        text = next((text for text in texts if len(text) <= letters), None)
        if text is not None:
            ink = "0.35" if column is None else readable_on(colour)
            ax.text(begin + width / 2, row, text, ha="center", va="center", color=ink, fontsize=SMALL)
    if held < 1 - 1e-9:
        rows = max(len(places), 1)
        ax.barh(
            (rows - 1) / 2,
            1 - held,
            left=held,
            height=rows - 0.08,
            color="white",
            edgecolor=FAINT,
            hatch="///",
            linewidth=0,
        )
    ax.set_yticks(range(len(places)), places)
    ax.set(xlim=(0, 1), ylim=(max(len(places), 1) - 0.5, -0.5), xlabel="probability")
    ax.tick_params(left=False)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    named = [Patch(color=colour, label=name) for name, colour in colours.items() if colour != OTHERS]
    named += [Patch(color=OTHERS, label="other columns")] if OTHERS in colours.values() else []
    named += [Patch(color=PALE, label="leaf")]
    named += [] if held >= 1 - 1e-9 else [Patch(facecolor="white", edgecolor=FAINT, hatch="///", label="other trees")]
    ax.legend(
        handles=named, title="asks about", fontsize=SMALL, title_fontsize=SMALL, frameon=False, loc="upper left",
        bbox_to_anchor=(1, 1),
    )  # fmt: skip
    return titled(ax, title, below)


def _colours(pieces: Sequence[Piece]) -> dict[str, str]:
    """A colour for each column, those that are asked about most before the others."""
    asked: Counter[str] = Counter()
    for _, _, width, _, column, _ in pieces:
        if column is not None:
            asked[column] += width  # type: ignore[assignment]
    names = [name for name, _ in asked.most_common()]
    colours = dict(zip(names, COLOURS, strict=False))
    return colours | dict.fromkeys(names[len(COLOURS) :], OTHERS)
