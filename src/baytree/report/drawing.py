"""Drawings as SVG: a canvas with two axes, in the colours of the page, so that they are dark where it is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .markup import Markup, element, joined
from .parts import number

WIDTH, HEIGHT = 440.0, 240.0
# Of a line of text, and of a sign of it, about.
LINE, SIGN = 15.0, 6.3
LONGEST = 20


def svg(title: str, width: float, height: float, *inner: Any, **attributes: Any) -> Markup:
    """A drawing that screen readers call by its title."""
    return element(
        "svg",
        element("title", title),
        *inner,
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        role="img",
        aria_label=title,
        **attributes,
    )


def label(
    text: Any,
    x: float,
    y: float,
    anchor: str = "start",
    class_: str | None = None,
    *,
    turn: bool = False,
    longest: int = LONGEST,
) -> Markup:
    """Text at a place; of long text what fits, the whole where one points at it."""
    said = str(text)
    short = said if len(said) <= longest else said[: longest - 1] + "…"
    full = [] if short == said else [element("title", said)]
    return element(
        "text",
        short,
        *full,
        x=x,
        y=y,
        text_anchor=None if anchor == "start" else anchor,
        class_=class_,
        transform=f"rotate(-90 {x:.1f} {y:.1f})" if turn else None,
    )


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def box(x: float, y: float, width: float, height: float, class_: str, title: str | None = None, **more: Any) -> Markup:
    """A rectangle, which says what it is where one points at it."""
    inner = [] if title is None else [element("title", title)]
    return element("rect", *inner, x=x, y=y, width=max(width, 0.0), height=max(height, 0.0), class_=class_, **more)


def dot(x: float, y: float, class_: str, radius: float = 3.0, title: str | None = None) -> Markup:
    """A point."""
    return element("circle", *([] if title is None else [element("title", title)]), cx=x, cy=y, r=radius, class_=class_)


def path(points: Iterable[tuple[float, float]], class_: str, closed: bool = False) -> Markup:
    """A line through points, or the shape inside of it."""
    places = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return element("path", d=f"M{places}{'Z' if closed else ''}", class_=class_)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between two numbers."""
    span = high - low
    if not math.isfinite(span) or span <= 0:
        return [low]
    step = 10.0 ** math.floor(math.log10(span / about))
    step *= next(times for times in (1, 2, 5, 10) if span / (step * times) <= about)
    first = math.ceil(low / step - 1e-9)
    found = [at * step for at in range(first, math.floor(high / step + 1e-9) + 1)]
    # One number tells where, but not how far.
    return found if len(found) > 1 or about > 9 else ticks(low, high, 2 * about)


def reach(values: Any, around: float = 0.04) -> tuple[float, float]:
    """From where to where an axis goes that shows these numbers."""
    finite = np.asarray(values, dtype=float)
    finite = finite[np.isfinite(finite)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        return low - (abs(low) or 1.0) * 0.5, high + (abs(high) or 1.0) * 0.5
    return low - around * (high - low), high + around * (high - low)


class Canvas:
    """A drawing with two axes; what is added is drawn in order.

    Parameters
    ----------
    title : str
        What it shows, for screen readers.
    x, y : tuple of float
        From where to where the axes go.
    left, bottom, top, right : float
        The margins.
    width, height : float
        Its size; pictures are as wide as the page has room for.
    """

    def __init__(
        self,
        title: str,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        left: float = 52.0,
        bottom: float = 38.0,
        top: float = 10.0,
        right: float = 10.0,
        width: float = WIDTH,
        height: float = HEIGHT,
    ) -> None:
        self.title, self.width, self.height = title, width, height
        self.left, self.right, self.top, self.bottom = left, width - right, top, height - bottom
        self._x, self._y = x, y
        self.inner: list[Markup] = []

    def x(self, value: float) -> float:
        """Where a number lies on the horizontal axis."""
        low, high = self._x
        return self.left + (float(value) - low) / (high - low) * (self.right - self.left)

    def y(self, value: float) -> float:
        """Where a number lies on the vertical axis."""
        low, high = self._y
        return self.bottom - (float(value) - low) / (high - low) * (self.bottom - self.top)

    def add(self, *inner: Markup) -> Canvas:
        """Draw."""
        self.inner += inner
        return self

    def x_axis(self, name: str = "", places: Sequence[tuple[float, str]] | None = None, grid: bool = False) -> Canvas:
        """The horizontal axis, at round numbers or at named places."""
        places = [(at, number(at)) for at in ticks(*self._x)] if places is None else places
        self.add(line(self.left, self.bottom, self.right, self.bottom, "axis"))
        for at, said in places:
            x = self.x(at)
            if grid:
                self.add(line(x, self.top, x, self.bottom, "grid"))
            self.add(label(said, x, self.bottom + LINE, "middle", "tick"))
        if name:
            middle = (self.left + self.right) / 2
            self.add(label(name, middle, min(self.height - 4, self.bottom + 2 * LINE + 2), "middle", longest=60))
        return self

    def y_axis(self, name: str = "", places: Sequence[tuple[float, str]] | None = None, grid: bool = True) -> Canvas:
        """The vertical axis, at round numbers or at named places."""
        places = [(at, number(at)) for at in ticks(*self._y, about=4)] if places is None else places
        # Before anything is drawn, so that long numbers do not run into the name of the axis.
        self.left = max(self.left, 24 + SIGN * max((len(said) for _, said in places), default=0))
        for at, said in places:
            y = self.y(at)
            if grid:
                self.add(line(self.left, y, self.right, y, "grid"))
            self.add(label(said, self.left - 6, y + 4, "end", "tick"))
        if name:
            longest = int((self.height - 8) / SIGN)
            half = SIGN * min(len(name), longest) / 2
            self.add(label(name, 12, max((self.top + self.bottom) / 2, half + 4), "middle", turn=True, longest=longest))
        return self

    def draw(self) -> Markup:
        """The drawing."""
        return svg(self.title, self.width, self.height, *self.inner)


def legend(entries: Sequence[tuple[str, str]], x: float, y: float) -> Markup:
    """Names beside their colours, in a row."""
    found, at = [], x
    for name, class_ in entries:
        found.append(box(at, y - 9, 12, 10, class_))
        found.append(label(name, at + 17, y, "start", "tick"))
        at += 30 + SIGN * min(len(name), LONGEST)
    return joined(*found)
