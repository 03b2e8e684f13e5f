"""Reports in a real browser: what it shows, asks for and complains of; clicks, keys, sliders; light, dark, small."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from api.report.browser import Browser, started
from api.report.reading import reported

# Each kind of mathematics that a page predicts by, and what else is drawn otherwise.
QUICK = [
    "cart: numbers",
    "cart: three classes",
    "bart: three classes",
    "bart: soft",
    "subset: heredity",
    "hme: two outputs",
    "hmdt: exact",
]
THOROUGH = [
    "cart: every tree",
    "cart: tempered",
    "bart: numbers",
    "bart: two classes",
    "subset: enumerated",
    "hme: one tree",
    "hme: counts",
    "hme: two classes",
    "hme: three classes",
    "hme: constant",
    "hmdt: classes",
]
BROWSED = [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in THOROUGH)]
SMALL, WIDE = 375, 1000


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from started(tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


def page(folder: Path, name: str) -> Path:
    """The report of one of the families, as a file."""
    path = folder / (re.sub(r"\W+", "-", name) + ".html")
    if not path.exists():
        reported(name).write(path)
    return path


@pytest.mark.parametrize("name", BROWSED)
def test_every_family_in_a_browser(name: str, browser: Browser, pages: Path) -> None:
    path = page(pages, name)
    _ = browser.complaints, browser.requests
    browser.show(path, width=WIDE)
    assert browser.run("return document.documentElement.scrollWidth") <= WIDE
    check_predictions(name, browser)
    check_map(browser)
    browser.keep(f"{path.stem}-light-{WIDE}")
    browser.show(path, width=SMALL, scheme="dark")
    assert browser.run("return document.documentElement.scrollWidth") <= SMALL
    browser.keep(f"{path.stem}-dark-{SMALL}")
    assert browser.complaints == []
    assert set(browser.requests) == {path.as_uri()}


def check_predictions(name: str, browser: Browser) -> None:
    """What the form says of rows is what Python says by the same draws."""
    report, generator = reported(name), np.random.default_rng(4)
    for trial in range(6):
        values: list[float | None] = []
        for column in report.inputs:
            absent = column["missing"] and generator.random() < 0.3
            if absent:
                values.append(None)
            elif column["kind"] == "numeric":
                values.append(float(generator.uniform(column["low"], column["high"])))
            else:
                values.append(int(generator.integers(len(column["levels"]) or 2)))
        if trial == 0:
            values = [column["value"] for column in report.inputs]
        found = browser.run(FILL_IN, values)
        drawn_ = report.thinned_draws_of(values)
        ends = np.quantile(drawn_, [0.05, 0.95], axis=0).T
        scale = max(1.0, float(np.abs(drawn_).max()))
        assert [one["mean"] for one in found] == pytest.approx(drawn_.mean(axis=0).tolist(), abs=2e-6 * scale)
        assert np.array([one["ends"] for one in found]) == pytest.approx(ends, abs=2e-6 * scale)


FILL_IN = """
const values = arguments[0];
values.forEach((value, j) => {
  const control = document.getElementById(`input-${j}`), absent = document.getElementById(`input-${j}-missing`);
  if (absent && absent.checked !== (value === null)) absent.click();
  if (value === null) return;
  control.value = String(value);
  control.dispatchEvent(new Event(control.tagName === "SELECT" ? "change" : "input"));
});
return JSON.parse(document.getElementById("outcome").dataset.found);
"""


def check_map(browser: Browser) -> None:
    """A click, and then the arrow keys, choose parts of the map, whose path is read out."""
    cells = browser.run("return document.querySelectorAll('svg.map .cell').length")
    assert cells >= 1
    browser.run("document.querySelector('svg.map .cell').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    assert browser.run(CHOSEN) == browser.run("return document.querySelector('.said').textContent")
    if cells > 1:
        browser.press("ARROW_RIGHT")
        said = browser.run(CHOSEN)
        assert said == browser.run("return document.querySelectorAll('svg.map .cell')[1].dataset.path")
        assert said == browser.run("return document.querySelector('.said').textContent")
        assert browser.run("return document.activeElement.getAttribute('aria-label')") == said


CHOSEN = "return document.querySelector('.cell.chosen').dataset.path"


def test_a_slider_moves_its_number_and_the_prediction(browser: Browser, pages: Path) -> None:
    browser.show(page(pages, "bart: numbers"))
    before = browser.run("return document.getElementById('outcome').dataset.found")
    # By the keyboard: to the far end of the slider.
    browser.run("document.querySelector('#what-if-form input[type=range]').focus()")
    browser.press("END")
    low, high, value = browser.run(
        "const s = document.querySelector('#what-if-form input[type=range]');"
        "return [s.min, s.max, s.parentElement.querySelector('input[type=number]').value].map(Number)"
    )
    assert low < value and value == pytest.approx(high, abs=(high - low) / 50)
    assert browser.run("return document.getElementById('outcome').dataset.found") != before
    browser.run("document.querySelector('#what-if-form button').click()")
    assert browser.run("return document.getElementById('outcome').dataset.found") == before


def test_it_is_walked_by_the_keyboard(browser: Browser, pages: Path) -> None:
    browser.show(page(pages, "cart: numbers"))
    browser.press("TAB")
    assert browser.run("return document.activeElement.textContent") == "Skip to the answer"
    outline = browser.run("const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth]")
    assert outline == ["solid", "3px"]
    browser.press("ENTER")
    assert browser.run("return location.hash") == "#answer"
    nameless = browser.run(
        """return [...document.querySelectorAll('a, button, input, select, [tabindex="0"], summary')].filter((one) => {
          const label = one.id && document.querySelector(`label[for="${CSS.escape(one.id)}"]`);
          return !(one.getAttribute('aria-label') || label || one.closest('label') || one.textContent.trim());
        }).map((one) => one.outerHTML)"""
    )
    assert nameless == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(scheme: str, browser: Browser, pages: Path) -> None:
    """Contrast of at least 4.5 (WCAG 2.2, AA), of what marks data at least 3."""
    browser.show(page(pages, "cart: three classes"), scheme=scheme)
    paper = colour(browser.run("return getComputedStyle(document.body).backgroundColor"))
    assert (sum(paper) < 150) == (scheme == "dark")
    for where in ("body", "figcaption", "summary", "nav a", "header p", "svg .tick", "dt", ".note", ".said"):
        style = "fill" if where.startswith("svg") else "color"
        found = browser.run(f"return getComputedStyle(document.querySelector('{where}')).{style}")
        assert contrast(colour(found), paper) >= 4.5, where
    panel = colour(browser.run("return getComputedStyle(document.querySelector('.verdict')).backgroundColor"))
    assert (
        contrast(colour(browser.run("return getComputedStyle(document.querySelector('.verdict')).color")), panel) >= 4.5
    )
    for where in (".s0.fill", ".s1.fill", ".s2.fill"):
        marks = colour(browser.run(f"return getComputedStyle(document.querySelector('{where}')).fill"))
        assert contrast(marks, paper) >= 3, where
    for kind in browser.run(
        "return [...new Set([...document.querySelectorAll('.cell rect')].map((r) => r.className.baseVal))]"
    ):
        behind = colour(browser.run(f"return getComputedStyle(document.querySelector('.cell rect.{kind}')).fill"))
        ink = colour(browser.run("return getComputedStyle(document.querySelector('.cell text')).fill"))
        assert contrast(ink, behind) >= 4.5, kind


def colour(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"[\d.]+", text)[:3]]


def contrast(first: list[float], second: list[float]) -> float:
    """The ratio of luminances, as WCAG defines it."""

    def luminance(rgb: list[float]) -> float:
        parts = [value / 255 for value in rgb]
        linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def test_it_is_read_without_scripts(browser: Browser, pages: Path) -> None:
    browser.command("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.show(page(pages, "cart: numbers"))
        tree = browser.command("Accessibility.getFullAXTree", {})["nodes"]
        said = [node["name"]["value"] for node in tree if not node["ignored"] and node.get("name", {}).get("value")]
        text = " ".join(said)
        for words in (
            "The answer",
            "The form needs scripts",
            "A row to begin with",
            "The most probable trees",
            "Audit",
        ):
            assert words in text
        roles = {node["role"]["value"] for node in tree if not node["ignored"]}
        assert {"main", "navigation", "banner", "region", "table", "image"} <= roles
    finally:
        browser.command("Emulation.setScriptExecutionDisabled", {"value": False})


def test_it_prints(browser: Browser, pages: Path) -> None:
    browser.show(page(pages, "cart: numbers"), media="print", scheme="dark")
    assert browser.run("return getComputedStyle(document.querySelector('nav')).display") == "none"
    assert colour(browser.run("return getComputedStyle(document.body).backgroundColor")) == [255, 255, 255]
    printed = browser.command("Page.printToPDF", {"printBackground": True})["data"]
    assert printed.startswith("JVBERi0")  # %PDF-
    browser.show(page(pages, "cart: numbers"))


def test_a_hostile_name_does_nothing(browser: Browser, pages: Path) -> None:
    import polars as pl

    import baytree as bt

    name = "<script>document.title='lost'</script><img src=x onerror=\"document.title='lost'\">"
    generator = np.random.default_rng(1)
    table = pl.DataFrame({name: generator.normal(size=40), "y": generator.normal(size=40)})
    posterior: Any = bt.sample(bt.CART(), bt.read(table, "y"), warmup=20, draws=10, chains=1, seed=1, progress=False)
    path = pages / "hostile.html"
    posterior.report(path, table)
    _ = browser.complaints, browser.requests
    browser.show(path)
    assert browser.run("return document.title") == "y: Bayesian tree (CART)"
    assert browser.run("return document.querySelector('.input label').textContent") == name
    assert browser.complaints == [] and set(browser.requests) == {path.as_uri()}
