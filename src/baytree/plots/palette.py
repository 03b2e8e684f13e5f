"""Colours that colour-blind people tell apart, and titles."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito (2008), Color Universal Design; black last, as text and axes have it.
BLUE, ORANGE, GREEN, RED, SKY, PINK, YELLOW, BLACK = OKABE_ITO = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#56B4E9",
    "#CC79A7",
    "#F0E442",
    "#000000",
)
FAINT, PALE = "0.6", "0.9"
# Of numbers: even to the eye, and the same to all (Nuñez, Anderton and Renslow 2018).
SCALE = "cividis"
SMALL = 8


def several(number: int) -> list[str]:
    """Colours for so many things: those of Okabe and Ito while they last, then even steps of the scale."""
    if number < len(OKABE_ITO):
        return list(OKABE_ITO[:number])
    from matplotlib import colormaps, colors

    scale = colormaps[SCALE]
    return [colors.to_hex(scale(place / (number - 1))) for place in range(number)]


def titled(ax: Axes, title: str, below: str = "") -> Axes:
    """A title to the left, and what it is measured in, in small letters under it."""
    ax.set_title(title, loc="left", fontsize="medium", fontweight="bold", pad=18 if below else 6)
    if below:
        ax.annotate(
            below, (0, 1), (0, 3), xycoords="axes fraction", textcoords="offset points", fontsize=SMALL, color="0.35"
        ).set_in_layout(False)
    return ax


def plain(ax: Axes) -> Axes:
    """Axes without what says nothing: the frame at the top and to the right."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def shortened(name: str, longest: int) -> str:
    """A name that fits."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


def readable_on(colour: str) -> str:
    """The colour of text on another: black or white, whichever stands out."""
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"
