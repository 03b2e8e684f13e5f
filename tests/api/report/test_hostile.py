"""Names and labels that mean something to a browser mean nothing in a report."""

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import baytree as bt
from api.report.reading import Page, embedded

SCRIPT = "<script>document.title='lost'</script>"
NAMES = [SCRIPT, '"><img src=x onerror=alert(1)>', "a\x1b[2J\u202e&amp;\x00</title></svg>"]
LABELS = ["</script><script>throw 1</script>", 'it\'s "quoted" & <b>bold</b>', "plain"]


@pytest.mark.parametrize("family", ["cart", "bart", "subset", "hme"])
def test_names_are_text(family: str) -> None:
    generator = np.random.default_rng(1)
    labels = generator.choice(LABELS, 60)
    table = pl.DataFrame(
        {
            NAMES[0]: generator.normal(size=60),
            NAMES[1]: generator.normal(size=60),
            NAMES[2]: labels,
            "<i>y</i>": generator.normal(size=60) + 2 * (labels == LABELS[0]),
            "<u>class</u>": generator.choice(LABELS, 60),
        }
    )
    classes = family in ("cart", "hme")
    target, other = ("<u>class</u>", "<i>y</i>") if classes else ("<i>y</i>", "<u>class</u>")
    model: Any = {"cart": bt.CART(), "bart": bt.BART(trees=5), "subset": bt.Subset(), "hme": bt.HME(depth=1)}[family]
    read: Any = bt.read if family in ("cart", "bart") else bt.read_linear
    task = {"task": "classification"} if classes else {}
    design = read(table, target, drop=other, **task)
    posterior: Any = bt.sample(model, design, warmup=50, draws=20, chains=2, seed=1, progress=False)
    report = posterior.reported(table)
    assert report.seen.training
    page = Page(report.html)
    assert [tag for tag, _ in page.elements if tag in ("img", "b", "i", "u")] == []
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert SCRIPT in page.text and "\N{REPLACEMENT CHARACTER}[2J" in page.text
    assert "\x1b" not in report.html and "\u202e" not in report.html and "\x00" not in report.html
    # Two of data and two of code.
    assert len(page.all("script")) == 4
    names = [column["name"] for column in embedded(report.html, "what-if-data")["inputs"]]
    assert names == NAMES
    assert json.loads(json.dumps(report.record)) == embedded(report.html, "report")
