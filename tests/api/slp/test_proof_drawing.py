"""Proofs drawn as text, SVG and Graphviz."""

import math
import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baytree.errors import FileError, InputError
from baytree.slp.drawing import LEVELS, LONGEST, exponential, share
from baytree.slp.proof import Call, Proof

SVG = "{http://www.w3.org/2000/svg}"
ANSWER = "cart(x1-[x2-[leaf,leaf],leaf])"

# Figure 3 of Angelopoulos and Cussens (2005), proved by the program of their figure 2.
FIGURE_3 = Proof(
    "cart(T)",
    ANSWER,
    (
        Call(-1, "cart(T)", ANSWER, 2, None, 1, None),
        Call(0, "splt(Split)", "splt(x1)", 6, 0.4, 3, 1),
        Call(0, "cart(L)", "cart(x2-[leaf,leaf])", 2, 1 / 2, 2, 2),
        Call(2, "splt(Split2)", "splt(x2)", 6, 0.3, 3, 3),
        Call(2, "cart(L2)", "cart(leaf)", 1, 2 / 3, 2, 4),
        Call(2, "cart(R2)", "cart(leaf)", 1, 2 / 3, 2, 5),
        Call(0, "cart(R)", "cart(leaf)", 1, 1 / 2, 2, 6),
    ),
    math.log(0.4 * 1 / 2 * 0.3 * 2 / 3 * 2 / 3 * 1 / 2),
)

FIGURE_3_TEXT = """\
cart(T) = cart(x1-[x2-[leaf,leaf],leaf])
├─ splt(Split) = splt(x1)  ← choice 1: 0.4, one of 3, line 6
├─ cart(L) = cart(x2-[leaf,leaf])  ← choice 2: 0.5, one of 2, line 2
│  ├─ splt(Split2) = splt(x2)  ← choice 3: 0.3, one of 3, line 6
│  ├─ cart(L2) = cart(leaf)  ← choice 4: 0.667, one of 2, line 1
│  └─ cart(R2) = cart(leaf)  ← choice 5: 0.667, one of 2, line 1
└─ cart(R) = cart(leaf)  ← choice 6: 0.5, one of 2, line 1

6 choice points, probability 0.0133"""

HOSTILE = [
    "p('\"')",
    "p('\\\\')\\",
    "p('a\nb\tc\r')",
    "p('<b>&amp;</b>]]>')",
    "'\\N\\G\\l'",
    "p('日本語 é 🌳')",
    "p('\x00\x1b[31m\x7f')",
    "p('\u2028\u202e\ufffe\ud800')",
    "</title></svg><script>",
    "p('two  blanks')",
    "",
]

# One string of the DOT language: its only escapes are those of a backslash.
DOT_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)


def bound(goal: str, head: str, parent: int = -1) -> Call:
    return Call(parent, goal, head, 1, None, 1, None)


def chain(depth: int) -> Proof:
    """A list made element by element: each goal picks one and calls the next."""
    calls = []
    for place in range(depth):
        calls.append(Call(2 * place - 2 if place else -1, f"list(L{place})", "list([…])", 2, 0.5, 2, 2 * place + 1))
        calls.append(Call(2 * place, f"pick(X{place})", "pick(a)", 5, 0.25, 4, 2 * place + 2))
    return Proof("list(L)", "list([…])", tuple(calls), depth * math.log(0.125))


def boxes(proof: Proof) -> list[tuple[str, list[float], list[str]]]:
    """Of each box of the image its class, its place as x, y, width and height, and its lines."""
    groups = ET.fromstring(proof.to_svg()).findall(f"{SVG}g")
    found = []
    for group in groups:
        rect = group.find(f"{SVG}rect")
        assert rect is not None
        place = [float(rect.attrib[name]) for name in ("x", "y", "width", "height")]
        found.append((rect.attrib["class"], place, [text.text or "" for text in group.findall(f"{SVG}text")]))
    return found


def test_figure_3_as_text() -> None:
    assert FIGURE_3.to_text() == str(FIGURE_3) == FIGURE_3_TEXT
    assert FIGURE_3.choice_points == 6
    assert repr(FIGURE_3) == "<Proof of cart(T): 6 choice points>"


def test_ascii_uses_nothing_else() -> None:
    proof = Proof("p(X)", "p(é)", (bound("p(X)", "p(é)"), bound("q", "q", 0), bound("r", "r", 0)), 0.0)
    lines = ["p(X) = p(\\xe9\\)", "|- q", "`- r", "", "0 choice points, probability 1"]
    assert proof.to_text(unicode=False).splitlines() == lines
    assert FIGURE_3.to_text(unicode=False).isascii()


def test_a_query_of_several_goals_stands_above_them() -> None:
    calls = (bound("p(X)", "p(1)"), bound("q", "q", 0), bound("r(X)", "r(1)"))
    proof = Proof("p(X), r(X)", "p(1), r(1)", calls, 0.0)
    drawn = ["p(X), r(X) = p(1), r(1)", "├─ p(X) = p(1)", "│  └─ q", "└─ r(X) = r(1)"]
    assert proof.to_text().splitlines()[:4] == drawn
    assert "0 -> 1\n  1 -> 2\n  0 -> 3" in proof.to_graphviz()


def test_a_query_without_calls_stands_alone() -> None:
    proof = Proof("X is 1 + 1", "2 is 1 + 1", (), 0.0)
    assert proof.to_text().splitlines()[0] == "X is 1 + 1 = 2 is 1 + 1"
    assert [lines for _, _, lines in boxes(proof)] == [["X is 1 + 1", "= 2 is 1 + 1"]]


def test_a_built_in_choice_has_no_line() -> None:
    proof = Proof("u(X)", "u(3)", (Call(-1, "u(X)", "u(3)", 0, 1 / 9, 9, 1),), math.log(1 / 9))
    assert proof.to_text().splitlines()[0] == "u(X) = u(3)  ← choice 1: 0.111, one of 9"
    assert "line" not in proof.to_graphviz()


def test_text_that_is_too_deep_goes_on_below() -> None:
    text = chain(LEVELS + 3).to_text()
    assert f"list(L{LEVELS}) = list([…])  ← choice {2 * LEVELS + 1}: 0.5, one of 2, line 2  (goes on at [1])" in text
    assert f"\n\n[1] list(L{LEVELS}) = list([…])" in text
    assert all(text.count(f"pick(X{place}) ") == 1 for place in range(LEVELS + 3))


def test_figure_3_as_an_image() -> None:
    drawn = boxes(FIGURE_3)
    assert [kind for kind, _, _ in drawn] == ["call"] + ["choice"] * 6
    assert drawn[0][2] == ["cart(T)", f"= {ANSWER}"]
    assert drawn[4][2] == ["cart(L2)", "= cart(leaf)", "choice 4: 0.667"]
    assert FIGURE_3.to_svg().count("<path") == 6
    assert "6 choice points, probability 0.0133</text>" in FIGURE_3.to_svg()


@pytest.mark.parametrize("proof", [FIGURE_3, chain(40)], ids=["figure 3", "chain"])
def test_boxes_are_in_the_image_and_do_not_touch(proof: Proof) -> None:
    view = ET.fromstring(proof.to_svg()).attrib["viewBox"].split()
    width, height = float(view[2]), float(view[3])
    places = [place for _, place, _ in boxes(proof)]
    assert all(x > 0 and x + w < width and y > 0 and y + h < height for x, y, w, h in places)
    for left, right in pairwise(sorted(places, key=lambda place: (place[1], place[0]))):
        assert left[1] + left[3] < right[1] or left[0] + left[2] < right[0]


def test_goals_stand_above_the_middle_of_those_they_call() -> None:
    centres = [x + w / 2 for _, (x, _, w, _), _ in boxes(FIGURE_3)]
    assert centres[0] == pytest.approx((centres[1] + centres[6]) / 2, abs=0.2)
    assert centres[2] == pytest.approx((centres[3] + centres[5]) / 2, abs=0.2)
    assert centres[1] < centres[2] < centres[6]


@given(st.data())
def test_boxes_never_touch(data: st.DataObject) -> None:
    calls = []
    for place in range(data.draw(st.integers(1, 30))):
        parent = data.draw(st.integers(0, place - 1)) if place else -1
        goal = "g" * data.draw(st.integers(1, LONGEST))
        calls.append(bound(goal, data.draw(st.sampled_from([goal, "h"])), parent))
    rows: dict[float, list[tuple[float, float]]] = {}
    for _, (x, y, width, _), _ in boxes(Proof("g", "g", tuple(calls), 0.0)):
        rows.setdefault(y, []).append((x, x + width))
    assert all(left[1] < right[0] for row in rows.values() for left, right in pairwise(sorted(row)))


def test_a_long_goal_is_shortened_and_written_out_when_pointed_at() -> None:
    goal = f"p({'a' * 500})"
    proof = Proof(goal, goal, (bound(goal, goal),), 0.0)
    assert [lines for _, _, lines in boxes(proof)] == [[goal[: LONGEST - 1] + "…"]]
    assert f"<title>{goal}\nline 1</title>" in proof.to_svg()
    assert f'tooltip="{goal}' in proof.to_graphviz()
    assert goal in proof.to_text()


def test_the_image_is_self_contained() -> None:
    svg = FIGURE_3.to_svg()
    tags = {element.tag.removeprefix(SVG) for element in ET.fromstring(svg).iter()}
    assert tags == {"svg", "title", "style", "rect", "path", "g", "text"}
    assert not re.search(r"href|url\(|@import|https?://(?!www\.w3\.org/2000/svg\")", svg)
    assert "prefers-color-scheme: dark" in svg


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_stays_text(text: str) -> None:
    proof = Proof(text, text, (bound(text, "h"), bound("q", text, 0)), 0.0)
    assert len(proof.to_text().splitlines()) == 4
    assert all(line.isprintable() for line in proof.to_text().splitlines())
    assert proof.to_text(unicode=False).isascii()

    shown = boxes(proof)[0][2]
    assert shown[1] == "= h"
    assert proof.to_text().splitlines()[0] == f"{shown[0]} = h"

    dot = proof.to_graphviz()
    assert set('"\\').isdisjoint(DOT_STRING.sub("", dot))
    label = DOT_STRING.findall(dot)[1]
    read = re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), label).replace("&amp;", "&")
    assert read.split("\n") == shown
    dot.encode()


def test_control_characters_are_written_as_in_prolog() -> None:
    proof = Proof("p", "p", (bound("p('a\nb\x1b')", "p"),), 0.0)
    assert proof.to_text().splitlines()[0] == "p('a\\nb\\x1b\\') = p"


def test_figure_3_in_dot() -> None:
    dot = FIGURE_3.to_graphviz()
    assert dot.startswith("digraph proof {\n") and dot.endswith("\n}")
    assert '  4 [label="cart(L2)\\n= cart(leaf)\\nchoice 4: 0.667", tooltip=' in dot
    assert re.findall(r"(\d) -> (\d)", dot) == [(str(c.parent), str(n)) for n, c in enumerate(FIGURE_3.calls) if n]


def test_a_proof_may_be_deep() -> None:
    proof = chain(5_000)
    assert proof.to_text().count("pick(X") == 5_000
    assert proof.to_text().endswith("10,000 choice points, probability e^-10397.2")
    assert len(boxes(proof)) == 10_000
    assert proof.to_graphviz().count("->") == 9_999


@pytest.mark.parametrize(
    ("name", "start"), [("p.txt", "cart(T)"), ("p.SVG", "<svg"), ("p.dot", "dig"), ("p.gv", "dig")]
)
def test_the_name_of_a_file_says_what_is_drawn(tmp_path: Path, name: str, start: str) -> None:
    FIGURE_3.save(tmp_path / name)
    written = (tmp_path / name).read_text(encoding="utf-8")
    assert written.startswith(start) and written.endswith("\n")


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"p\.png: unknown file type .* \.txt, \.svg, \.dot or \.gv"):
        FIGURE_3.save(tmp_path / "p.png")
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileError, match="cannot be written"):
        FIGURE_3.save(tmp_path / "missing" / "p.svg")


@pytest.mark.parametrize("parent", [-2, 0, 1])
def test_a_call_comes_after_its_caller(parent: int) -> None:
    with pytest.raises(InputError, match="call 0 of the proof"):
        Proof("p", "p", (bound("p", "p", parent),), 0.0)


def test_probabilities_are_neither_rounded_to_1_nor_lost() -> None:
    assert [share(p) for p in (1.0, 0.99999, 2 / 3, 1e-9)] == ["1", ">0.999", "0.667", "1e-09"]
    assert [exponential(x) for x in (0.0, -1e-12, -690.0, -5000.0, -math.inf)] == [
        "1",
        ">0.999",
        "2.17e-300",
        "e^-5000.0",
        "0",
    ]
