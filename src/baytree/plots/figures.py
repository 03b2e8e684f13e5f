"""Figures of panels: what they show, as numbers, and how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from .palette import OKABE_ITO

PANEL_INCHES = (4.5, 3.6)
MOST_PANELS_IN_A_ROW = 3


@dataclass(frozen=True, eq=False)
class Curve:
    """One line or cloud of points.

    Attributes
    ----------
    label : str
        What it is; empty for more of the curve before.
    x, y : numpy.ndarray
        Where its points are.
    joined : bool
        Whether they are joined by a line.
    """

    label: str
    x: np.ndarray
    y: np.ndarray
    joined: bool = True


@dataclass(frozen=True, eq=False)
class Panel:
    """One pair of axes.

    Attributes
    ----------
    title, x_label, y_label : str
        What it shows.
    curves : tuple of Curve
        What is drawn, the first at the back.
    diagonal : bool
        Whether both axes are probabilities that would be equal on a line.
    ticks : tuple of str
        What x = 0, 1, … stand for; empty where x is a number.
    boxes : tuple of numpy.ndarray
        Values that boxes summarise, at x = 0, 1, …
    notes : tuple of (float, float, str)
        Words at points: x, y and what is there.
    """

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    diagonal: bool = False
    ticks: tuple[str, ...] = ()
    boxes: tuple[np.ndarray, ...] = ()
    notes: tuple[tuple[float, float, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Figure:
    """Panels in one file.

    Attributes
    ----------
    name : str
        The name of the file, without its ending.
    panels : tuple of Panel
        From left to right and top to bottom.
    """

    name: str
    panels: tuple[Panel, ...]


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw(figure: Figure, folder: Path) -> Path:
    """Draw a figure as a PNG file, and say where it is.

    Parameters
    ----------
    figure : Figure
        What to draw.
    folder : Path
        Where the file goes.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    width = min(len(figure.panels), MOST_PANELS_IN_A_ROW)
    height = -(-len(figure.panels) // width)
    canvas = Canvas(figsize=(width * PANEL_INCHES[0], height * PANEL_INCHES[1]), layout="constrained")
    FigureCanvasAgg(canvas)
    for place, panel in enumerate(figure.panels, start=1):
        axes = canvas.add_subplot(height, width, place)
        axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
        if panel.diagonal:
            axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
            axes.set_aspect("equal")
        if panel.ticks:
            axes.set_xticks(range(len(panel.ticks)), panel.ticks)
        if panel.boxes:
            axes.boxplot(panel.boxes, positions=range(len(panel.boxes)), manage_ticks=False)
        colour = 0
        for number, curve in enumerate(panel.curves):
            colour += bool(number and curve.label)
            style = {"linewidth": 0.8} if curve.joined else {"linestyle": "", "marker": ".", "markersize": 3}
            axes.plot(curve.x, curve.y, label=curve.label or None, color=OKABE_ITO[colour % len(OKABE_ITO)], **style)
        for x, y, words in panel.notes:
            axes.annotate(words, (x, y), (0, 5), textcoords="offset points", ha="center", fontsize="small")
        if panel.notes:
            axes.margins(y=0.2)  # or the legend would lie on what they are about
        if any(curve.label for curve in panel.curves):
            axes.legend(fontsize="small", frameon=False)
    file = folder / f"{figure.name}.png"
    canvas.savefig(file, dpi=150)
    return file
