"""What a section is made of: paragraphs, tables, and pictures with the numbers behind them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .markup import Markup, element, joined

# A table behind a picture has at most so many rows; the JSON of the report has all.
MOST_ROWS = 60


@dataclass(frozen=True)
class Section:
    """A section of a report.

    Attributes
    ----------
    key : str
        Its name in links and in the JSON.
    title : str
        Its heading.
    parts : tuple of Markup
        What it shows; a section that shows nothing is left out.
    record : dict
        The same as JSON-safe values.
    """

    key: str
    title: str
    parts: tuple[Markup, ...]
    record: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, key: str, title: str, parts: Iterable[Markup], record: dict[str, Any] | None = None) -> Section:
        """A section of any parts."""
        return cls(key, title, tuple(parts), record or {})

    def markup(self) -> Markup:
        """The section as an element with a heading."""
        heading = element("h2", self.title, id_=f"{self.key}-title")
        return element("section", heading, *self.parts, id_=self.key, aria_labelledby=f"{self.key}-title")


def number(value: Any, digits: int = 4) -> str:
    """A number as people read it; a dash where there is none."""
    if value is None or (isinstance(value, (float, np.floating)) and not math.isfinite(value)):
        return "–"
    if isinstance(value, (int, np.integer)):
        return f"{int(value):,}"
    text = f"{float(value):.{digits}g}"
    if "e" in text and 1e-4 <= abs(float(value)) < 1e9:
        text = f"{float(value):,.0f}"
    return text.replace("-", "−") if not text.startswith("e") else text


def interval_text(ends: Any) -> str:
    """The ends of an interval in words."""
    return f"{number(ends[0])} to {number(ends[1])}"


def words(*text: Any, class_: str | None = None) -> Markup:
    """A paragraph."""
    return element("p", *text, class_=class_)


def heading(text: str) -> Markup:
    """The heading of a part of a section."""
    return element("h3", text)


def bullets(lines: Iterable[Any]) -> Markup:
    """A list of sentences."""
    return element("ul", *(element("li", line) for line in lines))


def preformatted(text: str) -> Markup:
    """Text whose lines and spaces stay, which scrolls by itself where it is too wide."""
    return element("pre", text, tabindex=0)


def facts(pairs: Iterable[tuple[str, Any]]) -> Markup:
    """Names with what is said of them."""
    return element("dl", *(joined(element("dt", name), element("dd", value)) for name, value in pairs))


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]], hide_caption: bool = False) -> Markup:
    """A table whose first column names its rows; numbers are written as people read them.

    Parameters
    ----------
    caption : str
        What it shows.
    head : sequence of str
        The names of its columns.
    rows : iterable of sequences
        Its cells.
    hide_caption : bool
        Whether the caption is for screen readers alone, as where a heading says the same.
    """
    rows = [list(row) for row in rows]
    shown = rows[:MOST_ROWS]
    body = [
        element("tr", element("th", _cell(row[0]), scope="row"), *(_data(value) for value in row[1:])) for row in shown
    ]
    rest = len(rows) - len(shown)
    more = [element("p", f"{rest:,} more rows are in the JSON of this report.", class_="note")] if rest else []
    whole = element(
        "table",
        element("caption", caption, class_="hidden" if hide_caption else None),
        element("thead", element("tr", *(element("th", name, scope="col") for name in head))),
        element("tbody", *body),
    )
    return joined(element("div", whole, class_="scroll", tabindex=0, role="region", aria_label=caption), *more)


def _cell(value: Any) -> Any:
    return number(value) if isinstance(value, (int, float, np.number)) and not isinstance(value, bool) else value


def _data(value: Any) -> Markup:
    numeric = isinstance(value, (int, float, np.number)) or value is None
    return element("td", _cell(value) if value is not None else "–", class_="number" if numeric else None)


def behind(what: Markup, summary: str = "The numbers") -> Markup:
    """What a person may want to see, closed at first."""
    return element("details", element("summary", summary), what)


def figure(picture: Markup, caption: str, numbers: Markup | None = None, wide: bool = False) -> Markup:
    """A picture with what it shows in words, and the numbers behind it.

    Parameters
    ----------
    picture : Markup
        A drawing of `charts`.
    caption : str
        What it shows, and how to read it.
    numbers : Markup, optional
        The table behind it.
    wide : bool
        Whether it takes the whole width, and scrolls by itself on a narrow screen.
    """
    drawn = picture
    if wide:
        drawn = element("div", picture, class_="scroll", tabindex=0, role="region", aria_label=f"{caption} (picture)")
    return element(
        "figure",
        drawn,
        element("figcaption", caption),
        *([] if numbers is None else [behind(numbers)]),
        class_="wide" if wide else None,
    )


def side_by_side(*figures: Markup) -> Markup:
    """Figures beside each other where there is room."""
    return element("div", *figures, class_="figures")
