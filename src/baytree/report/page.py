"""The page that sections are put into: one file, which asks nobody for anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .markup import Markup, element
from .packed import in_script
from .parts import Section

ASSETS = Path(__file__).parent / "assets"
SCRIPTS = ("predictor.js", "page.js")
# A page may run what it holds and nothing else, and ask nobody.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def page(title: str, subtitle: str, sections: Sequence[Section], record: dict[str, Any], what_if: Any) -> str:
    """A report as the text of an HTML file.

    Parameters
    ----------
    title, subtitle : str
        What it is about.
    sections : sequence of Section
        What it says, in order.
    record : dict
        All of it as JSON-safe values.
    what_if : dict or None
        What the page predicts by.
    """
    shown = [section for section in sections if section.parts]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="generator", content=f"baytree {record['audit']['version']}"),
        element("title", title),
        element("style", _asset("report.css")),
    )
    links = (element("li", element("a", section.title, href=f"#{section.key}")) for section in shown)
    body = element(
        "body",
        element("a", "Skip to the answer", href="#answer", class_="skip"),
        element("header", element("h1", title), element("p", subtitle)),
        element("nav", element("ol", *links), aria_label="Contents"),
        element("main", *(section.markup() for section in shown)),
        _data("report", record),
        *([] if what_if is None else [_data("what-if-data", what_if)]),
        *(element("script", _asset(name)) for name in SCRIPTS),
    )
    return "<!DOCTYPE html>\n" + element("html", head, body, lang="en") + "\n"


def _asset(name: str) -> Markup:
    return Markup((ASSETS / name).read_text(encoding="utf-8"))


def _data(name: str, record: Any) -> Markup:
    return element("script", in_script(record), type="application/json", id_=name)
