"""Proofs drawn as text, SVG and Graphviz.

A proof may be thousands of calls deep, so nothing here recurses: a goal comes before those it calls, which makes a walk
over the calls a walk down the tree, and the reverse a walk up.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

if TYPE_CHECKING:
    from .proof import Call, Proof

# Text deeper than this goes on in a part of its own: it would leave the screen, and its size would be quadratic.
LEVELS = 24
# Characters of a line in a box.
LONGEST = 44


def printable(text: str, unicode: bool = True) -> str:
    """Text on one line, what a terminal or XML cannot show written as in a quoted atom of Prolog."""
    named = {"\n": "\\n", "\t": "\\t"}
    return "".join(
        letter if letter.isprintable() and (unicode or letter.isascii()) else named.get(letter, f"\\x{ord(letter):x}\\")
        for letter in text
    )


def share(probability: float) -> str:
    """A probability in three digits; what is uncertain is not rounded to 1."""
    text = f"{probability:.3g}"
    return ">0.999" if text == "1" and probability < 1 else text


def exponential(logarithm: float) -> str:
    """The probability of a logarithm, as a power where it is too small for a number."""
    return share(math.exp(logarithm)) if logarithm > -700 or logarithm == -math.inf else f"e^{logarithm:.1f}"


def _equation(call: Call, unicode: bool = True) -> list[str]:
    """The goal, and what became of it where that differs."""
    goal, head = printable(call.goal, unicode), printable(call.head, unicode)
    return [goal] if call.goal == call.head else [goal, f"= {head}"]


def _choice(call: Call) -> list[str]:
    """The choice that was made, if one was."""
    if call.choice is None:
        return []
    assert call.probability is not None
    return [f"choice {call.choice}: {share(call.probability)}"]


def _details(call: Call) -> list[str]:
    """The choice in full; the line is that of the clause chosen."""
    line = f", line {call.line}" if call.line else ""
    return [f"{choice}, one of {call.alternatives}{line}" for choice in _choice(call)]


def _box_lines(call: Call) -> list[str]:
    """What is written in a box."""
    shortened = [line if len(line) <= LONGEST else line[: LONGEST - 1] + "…" for line in _equation(call)]
    return shortened + _choice(call)


def _written_out(call: Call) -> list[str]:
    """What is shown when a box is pointed at."""
    return _equation(call) + (_details(call) or ([f"line {call.line}"] if call.line else []))


def _children(calls: Sequence[Call]) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in calls]
    for place, call in enumerate(calls):
        if call.parent >= 0:
            children[call.parent].append(place)
    return children


# ---- text -----------------------------------------------------------------------------------------------------------


def draw_text(proof: Proof, unicode: bool = True) -> str:
    """A proof with lines; what is deeper than `LEVELS` follows below, under a number.

    Parameters
    ----------
    proof : Proof
        The proof.
    unicode : bool
        Whether more than ASCII may be used.
    """
    tee, corner, bar, arrow = ("├─ ", "└─ ", "│  ", "←") if unicode else ("|- ", "`- ", "|  ", "<-")
    calls = proof.rooted
    children = _children(calls)
    lines: list[str] = []
    parts, numbered = deque([(0, "")]), 0
    while parts:
        first, title = parts.popleft()
        # A call, its level, and what stands before its own line and before those of its calls.
        pending = [(first, 0, title, "")]
        while pending:
            place, level, before, below = pending.pop()
            line = before + " ".join(_equation(calls[place], unicode))
            line += "".join(f"  {arrow} {details}" for details in _details(calls[place]))
            if level == LEVELS and children[place]:
                numbered += 1
                parts.append((place, f"[{numbered}] "))
                lines.append(f"{line}  (goes on at [{numbered}])")
                continue
            lines.append(line)
            for child in reversed(children[place]):
                last = child == children[place][-1]
                pending.append((child, level + 1, below + (corner if last else tee), below + ("   " if last else bar)))
        lines.append("")
    return "\n".join([*lines, proof.caption])


# ---- Graphviz -------------------------------------------------------------------------------------------------------


def draw_graphviz(proof: Proof) -> str:
    """A proof in the DOT language.

    Parameters
    ----------
    proof : Proof
        The proof.
    """
    lines = [
        "digraph proof {",
        f"  graph [label={_quoted([proof.caption])}, ordering=out, fontname=monospace]",
        "  node [shape=box, fontname=monospace]",
        "  edge [arrowhead=none]",
    ]
    calls = proof.rooted
    for place, call in enumerate(calls):
        style = ', style="rounded,filled", fillcolor="#fff3d6"' if call.choice is not None else ""
        lines.append(f"  {place} [label={_quoted(_box_lines(call))}, tooltip={_quoted(_written_out(call))}{style}]")
    lines += [f"  {call.parent} -> {place}" for place, call in enumerate(calls) if call.parent >= 0]
    return "\n".join([*lines, "}"])


def _quoted(lines: Sequence[str]) -> str:
    """Lines as a DOT string; in one, a backslash starts an escape and an ampersand an entity."""
    marks = str.maketrans({"\\": r"\\", '"': r"\"", "&": "&amp;"})
    return '"' + r"\n".join(line.translate(marks) for line in lines) + '"'


# ---- SVG ------------------------------------------------------------------------------------------------------------

LETTER, LINE, PADDING = 7.9, 18, 9
BESIDE, BELOW, MARGIN = 18, 34, 16

# The class keeps the rules to this image where it is put into a page.
STYLE = """
.baytree-proof { font: 13px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; }
.baytree-proof text { text-anchor: middle; fill: #1f2430; white-space: pre; }
.baytree-proof .ground { fill: #ffffff; }
.baytree-proof .call { fill: #f4f5f7; stroke: #8a93a3; }
.baytree-proof .choice { fill: #fff3d6; stroke: #b7791f; stroke-width: 1.5; }
.baytree-proof .label { fill: #8a4b08; font-weight: bold; }
.baytree-proof .line { fill: none; stroke: #8a93a3; }
@media (prefers-color-scheme: dark) {
  .baytree-proof text { fill: #e6e9ef; }
  .baytree-proof .ground { fill: #14171d; }
  .baytree-proof .call { fill: #222833; stroke: #78839a; }
  .baytree-proof .choice { fill: #3a2c10; stroke: #d9a441; }
  .baytree-proof .label { fill: #f2c46d; }
  .baytree-proof .line { stroke: #78839a; }
}
"""


def draw_svg(proof: Proof) -> str:
    """A proof as an image that needs no other file.

    Parameters
    ----------
    proof : Proof
        The proof.
    """
    calls = proof.rooted
    boxes = [_box_lines(call) for call in calls]
    widths = [max(map(_columns, box)) * LETTER + 2 * PADDING for box in boxes]
    heights = [len(box) * LINE + PADDING for box in boxes]
    tops = _tops(calls, heights)
    centres = _centres(widths, _children(calls))
    leftmost = min(centre - width / 2 for centre, width in zip(centres, widths, strict=True)) - MARGIN
    centres = [centre - leftmost for centre in centres]

    caption_width = _columns(proof.caption) * LETTER + 2 * MARGIN
    width = max(caption_width, *(centre + width / 2 + MARGIN for centre, width in zip(centres, widths, strict=True)))
    bottom = max(top + height for top, height in zip(tops, heights, strict=True))
    height = bottom + 2 * LINE + MARGIN
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="baytree-proof" role="img" xml:space="preserve" {size}>',
        f"<title>{escape(f'{printable(proof.goal)}: {proof.caption}')}</title>",
        f"<style>{STYLE}</style>",
        '<rect class="ground" width="100%" height="100%"/>',
    ]
    for place, call in enumerate(calls):
        x, y = centres[place], tops[place]
        if call.parent >= 0:
            above = tops[call.parent] + heights[call.parent]
            parts.append(f'<path class="line" d="M{centres[call.parent]:.1f} {above}V{y - BELOW // 2}H{x:.1f}V{y}"/>')
        kind = "call" if call.choice is None else "choice"
        parts += [
            f"<g><title>{escape(chr(10).join(_written_out(call)))}</title>",
            f'<rect class="{kind}" x="{x - widths[place] / 2:.1f}" y="{y}" rx="{5 if kind == "choice" else 0}" '
            f'width="{widths[place]:.1f}" height="{heights[place]}"/>',
        ]
        for number, line in enumerate(boxes[place], 1):
            label = ' class="label"' if kind == "choice" and number == len(boxes[place]) else ""
            parts.append(f'<text{label} x="{x:.1f}" y="{y + number * LINE}">{escape(line)}</text>')
        parts.append("</g>")
    parts.append(f'<text x="{width / 2:.1f}" y="{bottom + 2 * LINE}">{escape(proof.caption)}</text>')
    return "\n".join([*parts, "</svg>"])


def _tops(calls: Sequence[Call], heights: Sequence[int]) -> list[int]:
    """Where each box begins, those of one level side by side."""
    levels: list[int] = []
    for call in calls:
        levels.append(levels[call.parent] + 1 if call.parent >= 0 else 0)
    tallest = [0] * (max(levels) + 1)
    for level, height in zip(levels, heights, strict=True):
        tallest[level] = max(tallest[level], height)
    rows = list(accumulate((height + BELOW for height in tallest), initial=MARGIN))
    return [rows[level] for level in levels]


def _columns(text: str) -> int:
    """How many columns a text takes where letters have one width, and East Asian ones two."""
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


@dataclass
class _Outline:
    """The edges of a drawn subtree, of its deepest level first; `shift` is still to be added to each of them."""

    left: list[float]
    right: list[float]
    shift: float


def _centres(widths: Sequence[float], children: Sequence[Sequence[int]]) -> list[float]:
    """Where each box stands: above the middle of those it calls, subtrees as near to each other as they fit.

    After Reingold and Tilford (1981), for boxes of any width.
    """
    offsets = [0.0] * len(widths)
    outlines: dict[int, _Outline] = {}
    for place in reversed(range(len(widths))):
        outline = _Outline([], [], 0.0)
        for child in children[place]:
            offsets[child], outline = _beside(outline, outlines.pop(child))
        if children[place]:
            middle = (offsets[children[place][0]] + offsets[children[place][-1]]) / 2
            outline.shift -= middle
            for child in children[place]:
                offsets[child] -= middle
        outline.left.append(-widths[place] / 2 - outline.shift)
        outline.right.append(widths[place] / 2 - outline.shift)
        outlines[place] = outline
    centres = offsets
    for place, called in enumerate(children):
        for child in called:
            centres[child] += centres[place]
    return centres


def _beside(first: _Outline, second: _Outline) -> tuple[float, _Outline]:
    """How far the second subtree is moved to stand to the right of the first, and the outline of both.

    The deeper outline is the one changed, at the levels of the other: all merges of a tree together take linear time.
    """
    levels = range(1, min(len(first.left), len(second.left)) + 1)
    move = max((first.right[-k] + first.shift - second.left[-k] - second.shift + BESIDE for k in levels), default=0.0)
    second.shift += move
    both = first if len(first.left) >= len(second.left) else second
    for k in levels:
        both.left[-k] = first.left[-k] + first.shift - both.shift
        both.right[-k] = second.right[-k] + second.shift - both.shift
    return move, both
