"""What a report says, of every family."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baytree as bt
from api.report.reading import SHOWN, Page, embedded, reported
from families import EVERY, drawn

ORDER = ["answer", "known", "map", "trees", "consensus", "columns", "row", "fit", "chains", "audit"]
# What a family has no answer to: leaves of soft trees switch their labels, and one tree agrees with itself.
WITHOUT = {"consensus": ("hme: one tree", "hmdt")}
OTHERS = [name for name in EVERY if name not in SHOWN]


def check_page(text: str, report: Any) -> Page:
    """What holds of every page."""
    page = Page(text)
    assert len(text.encode()) < 1_000_000
    assert set(page.ids.values()) == {1}
    # Nothing is fetched: no address but places in the page, and names of SVG are not needed inside of HTML.
    for _, attributes in page.elements:
        assert not {"src", "srcset", "action", "data"} & set(attributes)
        assert attributes.get("href", "#") in {"#", *(f"#{one}" for one in page.ids)}
    assert "http://" not in text and "https://" not in text and "url(" not in text and "@import" not in text
    assert [name for name in ORDER if f'<section id="{name}"' in text] == [one.key for one in report.sections]
    # Headings go down a step at a time, screen readers know what every picture is, and what scrolls has a name.
    levels = [int(tag[1]) for tag, _ in page.elements if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in page.all("svg"))
    assert all(area["aria-label"] for area in page.all("div") if area.get("role") == "region")
    assert len(page.all("caption")) == len(page.all("table"))
    assert {tag for tag, _ in page.elements} >= {"header", "nav", "main", "title", "section"}
    for word in ("NaN", "undefined", " nan", "None", "Infinity"):
        assert word not in page.text, word
    return page


@pytest.mark.parametrize("name", SHOWN)
def test_every_family_says_all_that_it_can(name: str) -> None:
    report = reported(name)
    page = check_page(report.html, report)
    keys = [section.key for section in report.sections]
    wanted = [key for key in ORDER if not any(name.startswith(one) for one in WITHOUT.get(key, ()))]
    assert keys == wanted
    summary = drawn(name).summary()
    assert summary.verdict in page.text
    assert EVERY[name].design.fingerprint() in page.text
    assert drawn(name).model.describe(drawn(name).schema).splitlines()[0] in page.text
    assert "what-if-data" in page.ids and report.what_if["draws"] >= 1
    # The page holds what `--json` prints.
    assert embedded(report.html, "report") == json.loads(json.dumps(report.record))
    assert report.record["audit"]["fingerprint"] == drawn(name).settings.data
    assert report.record["fit"]["training"] is True


@pytest.mark.parametrize("name", SHOWN)
def test_without_data_it_says_what_is_missing(name: str) -> None:
    report = drawn(name).reported()
    page = check_page(report.html, report)
    assert "No data were given" in page.text
    assert {"answer", "known", "map", "row", "chains", "audit"} <= {section.key for section in report.sections}
    assert report.record["audit"]["data"] is None


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_every_other_posterior(name: str) -> None:
    for data in (EVERY[name].design, None):
        report = drawn(name).reported(data)
        check_page(report.html, report)


@pytest.mark.parametrize(
    "name", ["cart: every tree", "bart: numbers", "subset: enumerated", "hme: numbers", "hmdt: exact"]
)
def test_the_same_file_and_data_give_the_same_bytes(name: str, tmp_path: Path) -> None:
    drawn(name).save(tmp_path / "m.baytree")
    for page in ("a.html", "b.html"):
        bt.load(tmp_path / "m.baytree").report(tmp_path / page, EVERY[name].design)
    text = (tmp_path / "a.html").read_bytes()
    assert text == (tmp_path / "b.html").read_bytes()
    assert text.decode() == drawn(name).reported(EVERY[name].design).html


@pytest.mark.parametrize("name", SHOWN)
def test_the_call_of_the_audit_gives_the_same_bits(name: str, tmp_path: Path) -> None:
    posterior, design = drawn(name), EVERY[name].design
    call = reported(name).call().replace('"MODEL"', repr(str(tmp_path / "m.baytree")))
    posterior.save(tmp_path / "m.baytree")
    load, _, rest = call.partition("\n")
    found: dict[str, Any] = {"baytree": bt, "design": design}
    exec(f"{load}\nagain = {rest}", found)
    np.testing.assert_array_equal(found["again"].log_likelihood, posterior.log_likelihood)


def test_a_run_in_rounds_is_drawn_again_by_its_effort(tmp_path: Path) -> None:
    design = EVERY["cart: numbers"].design
    posterior = bt.sample(bt.CART(method="chains"), design, effort=0.2, draws=50, chains=2, seed=3, progress=False)
    call = posterior.reported().call()
    assert "effort=0.2" in call and "warmup=" not in call.partition("#")[0]
    found: dict[str, Any] = {"baytree": bt, "design": design}
    posterior.save(tmp_path / "m.baytree")
    load, _, rest = call.replace('"MODEL"', repr(str(tmp_path / "m.baytree"))).partition("\n")
    exec(f"{load}\nagain = {rest}", found)
    np.testing.assert_array_equal(found["again"].log_likelihood, posterior.log_likelihood)


# ---- numbers are those of the posterior ------------------------------------------------------------------------------


def test_the_map_of_exact_trees_has_exact_widths() -> None:
    report = reported("cart: every tree")
    record, posterior = report.record["map"], drawn("cart: every tree")
    assert record["exact"] is True and record["probability"] == pytest.approx(1.0)
    first = dict.fromkeys(posterior.schema.names, 0.0)
    for top in posterior.top_trees(1000):
        if top.tree.n_leaves > 1:
            first[top.tree.schema.names[top.tree.rules[0].feature]] += top.probability
    shown = {cell["name"]: cell["probability"] for cell in record["below"] if cell["name"] in first}
    assert shown == pytest.approx({name: share for name, share in first.items() if share > 1e-3}, abs=1e-9)


def test_the_map_of_models_has_the_probabilities_of_their_columns() -> None:
    posterior = drawn("subset: enumerated")
    record = reported("subset: enumerated").record["map"]
    inclusion = dict(zip(posterior.units, posterior.inclusion().best, strict=True))
    [inside] = [cell for cell in record["below"] if cell["name"].endswith(" in")]
    assert inside["probability"] == pytest.approx(inclusion[inside["name"].removesuffix(" in")], abs=1e-6)


def test_the_consensus_has_the_frequencies_of_the_draws() -> None:
    posterior = drawn("cart: numbers")
    first = [posterior.tree(chain, draw).rules[0] for chain in range(2) for draw in range(15)]
    asked: dict[str, float] = {}
    for rule in first:
        if rule is not None:
            name = posterior.schema.names[rule.feature]
            asked[name] = asked.get(name, 0.0) + 1 / len(first)
    majority = reported("cart: numbers").record["consensus"]["majority"]
    assert majority[0]["where"] == "first"
    assert majority[0]["probability"] == pytest.approx(asked[majority[0]["column"]])
    assert all(one["probability"] > 0.5 for one in majority)


def test_intervals_in_leaves_hold_what_the_leaves_predict() -> None:
    for name in ("cart: numbers", "cart: every tree", "cart: monotone"):
        for one in drawn(name).reported(EVERY[name].design).record["trees"]["trees"]:
            values = [leaf["value"] for leaf in leaves_of(one["tree"])]
            for value, ends in zip(values, one["leaf_interval"], strict=True):
                means = list(value.values()) if isinstance(value, dict) else [value]
                for mean, (low, high) in zip(means, ends, strict=True):
                    assert low - 1e-9 <= mean <= high + 1e-9


def leaves_of(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node] if node["leaf"] else [*leaves_of(node["left"]), *leaves_of(node["right"])]


def test_scores_are_those_of_the_rows() -> None:
    name = "bart: numbers"
    scores = reported(name).record["fit"]["outputs"]["y"]["scores"]
    posterior, design = drawn(name), EVERY[name].design
    error = posterior.predict(EVERY[name].rows) - design.y
    assert scores[0]["value"] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-6)
    assert scores[0]["interval"][0] < scores[0]["value"] < scores[0]["interval"][1]


# ---- other data ------------------------------------------------------------------------------------------------------


def test_other_rows_are_scored_as_held_out() -> None:
    design = EVERY["cart: two classes"].design
    assert isinstance(design, bt.Design)
    others = design.take(np.arange(0, 60, 2))
    report = drawn("cart: two classes").reported(others)
    assert report.record["fit"]["training"] is False and "leave_one_out" not in report.record["fit"]
    page = check_page(report.html, report)
    assert "rows that the model never saw" in page.text and "needs the training data" in page.text


def test_as_many_other_rows_may_be_those_of_the_fit() -> None:
    """A model file does not tell weights, so nobody may be told that such rows are new."""
    design = EVERY["cart: two classes"].design
    assert isinstance(design, bt.Design)
    weighed = replace(design, weight=np.linspace(1, 2, design.rows))
    page = drawn("cart: two classes").reported(weighed).html
    assert "not the training table" in page and "name the columns of weights" in page
    assert "rows that the model never saw" not in page


def test_a_design_of_another_table_is_refused() -> None:
    with pytest.raises(bt.InputError, match="give the table itself"):
        drawn("cart: numbers").reported(EVERY["cart: two classes"].design)
    with pytest.raises(bt.InputError, match="columns of a table"):
        drawn("cart: numbers").reported(EVERY["cart: numbers"].design, weight="w")
