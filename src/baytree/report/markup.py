"""Elements of a page, safe by construction: what is not markup already is escaped."""

from __future__ import annotations

import html
from typing import Any

from ..text import HARMLESS


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


# Attributes whose names are words of Python.
RENAMED = {"class_": "class", "for_": "for", "max_": "max", "min_": "min", "id_": "id"}
VOID = {"meta", "input", "br"}


def escaped(value: Any) -> Markup:
    """Text as markup: names and labels come from files of anybody's, and say nothing to a browser."""
    return value if isinstance(value, Markup) else Markup(html.escape(str(value).translate(HARMLESS)))


def joined(*parts: Any) -> Markup:
    """Markup and text one after the other."""
    return Markup("".join(map(escaped, parts)))


def element(tag: str, /, *inner: Any, **attributes: Any) -> Markup:
    """An element.

    Parameters
    ----------
    tag : str
        What it is.
    *inner
        What it holds: markup, or text, which is escaped.
    **attributes
        Those that are None or False are left out; an underscore stands for a hyphen.
    """
    said = "".join(
        f" {RENAMED.get(key, key.replace('_', '-'))}" + ("" if value is True else f'="{escaped(_plain(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Markup(f"<{tag}{said}>" if tag in VOID else f"<{tag}{said}>{joined(*inner)}</{tag}>")


def _plain(value: Any) -> Any:
    """Numbers in as few digits as a picture shows."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
