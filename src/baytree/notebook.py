"""What notebooks show of an object: small pieces of HTML, every text in them escaped."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape

from .text import HARMLESS

# Colours are those of the page, so that light and dark ones both can be read.
MUTED = "opacity:.65"
# Of a verdict: signs tell what colours tell, too.
MARKS = {"agree": ("✔", "#009E73"), "nearly": ("≈", "#009E73"), "not yet": ("!", "#D55E00")}


class Shown:
    """Something that is printed; a notebook shows the same text, and its ``repr`` is the first line."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {str(self).partition(chr(10))[0].rstrip(':')}>"

    def _repr_html_(self) -> str:
        return boxed(preformatted(self))


def escaped(text: object) -> str:
    """Text that is no HTML, and turns no direction around."""
    return escape(str(text).translate(HARMLESS))


def preformatted(text: object) -> str:
    """Lines of text as they are."""
    style = "margin:0;padding:0;background:none;border:0;color:inherit;line-height:1.3;white-space:pre-wrap"
    return f'<pre style="{style}">{escaped(text)}</pre>'


def boxed(*parts: str) -> str:
    """Pieces of HTML as one object of a notebook."""
    style = "border-left:3px solid #0072B2;padding:.2em .8em;margin:.3em 0"
    return f'<div class="baytree" style="{style}">{"".join(parts)}</div>'


def folded(title: str, *parts: str, shown: bool = False) -> str:
    """Pieces of HTML under a title that folds them up."""
    summary = f'<summary style="cursor:pointer">{escaped(title)}</summary>'
    return f"<details{' open' if shown else ''}>{summary}{''.join(parts)}</details>"


def line(text: object, *, strong: bool = False, style: str = "") -> str:
    """A line of text."""
    kind = "strong" if strong else "span"
    return f'<div style="{style}"><{kind}>{escaped(text)}</{kind}></div>'


def verdict(grade: str, said: str) -> str:
    """Whether chains agree, with a sign in front."""
    sign, colour = MARKS[grade]
    return f'<div><strong style="color:{colour}">{sign}</strong> {escaped(said)}</div>'


def image(svg: str, words: str) -> str:
    """A drawing, whose styles stay its own, and what it is in words."""
    data = b64encode(svg.encode()).decode()
    return f'<img alt="{escaped(words)}" style="max-width:100%" src="data:image/svg+xml;base64,{data}">'


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A table, its first column to the left and the others to the right."""

    def cells(kind: str, values: Sequence[object]) -> str:
        sides = ("left", *["right"] * (len(values) - 1))
        pairs = zip(sides, values, strict=True)
        return "".join(f'<{kind} style="text-align:{side}">{escaped(value)}</{kind}>' for side, value in pairs)

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells('th', head)}</tr></thead><tbody>{body}</tbody></table>"
