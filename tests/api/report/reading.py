"""Reading a report as a browser without scripts does."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from typing import Any

from families import EVERY, drawn

# One of each kind of posterior that a report tells apart; the others are reported on by the slow tests.
SHOWN = [
    "cart: numbers",
    "cart: three classes",
    "cart: program",
    "cart: edits",
    "cart: monotone classes",
    "cart: every tree",
    "cart: tempered",
    "bart: numbers",
    "bart: weights and offset",
    "bart: two classes",
    "bart: three classes",
    "bart: soft",
    "bart: variance",
    "subset: enumerated",
    "subset: heredity",
    "hme: one tree",
    "hme: mean field",
    "hme: two outputs",
    "hme: three classes",
    "hme: constant",
    "hmdt: exact",
    "hmdt: two outputs",
    "hmdt: classes",
]
VOID = {"meta", "input", "br"}


class Page(HTMLParser):
    """A page: its elements with their attributes, in order, what text they hold, and what is wrong with it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.titled = 0
        self._open: list[str] = []
        self._kept: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == [], f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open.pop() == tag, f"{tag} closes another element"

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self._open):
            self.texts.append(data)

    @property
    def text(self) -> str:
        """All that a person can read."""
        return " ".join(self.texts)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of all elements of a name."""
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def ids(self) -> Counter[str]:
        """How often each id occurs."""
        return Counter(str(attributes["id"]) for _, attributes in self.elements if attributes.get("id"))


def embedded(text: str, name: str) -> Any:
    """The JSON that a page holds under an id."""
    _, _, rest = text.partition(f'<script type="application/json" id="{name}">')
    return json.loads(rest.partition("</script>")[0])


@cache
def reported(name: str) -> Any:
    """The report on one of the families' posteriors, given its data."""
    return drawn(name).reported(EVERY[name].design)
