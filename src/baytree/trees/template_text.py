"""Questions and whole trees as text: written, and read again with line numbers in the errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from ..errors import InputError

# A program's terms nest 400 deep at most; a tree is nested in other terms.
MOST_DEPTH = 300
# What the lines of a drawing begin with.
LINES = " \t│├└─"

_CUT = re.compile(r"(?P<feature>.+) <= (?P<threshold>\S+?)(?P<missing> or missing)?")
_LEVELS = re.compile(r"(?P<feature>.+) in \{(?P<levels>.*)\}(?P<missing> or missing)?")
_KNOWN = re.compile(r"(?P<feature>.+) is known")
_LEVEL = re.compile(r"(?P<feature>.+?) is (?P<level>.+?)(?P<missing> or missing)?")
# As sklearn.tree.export_text writes a line.
_EXPORTED = re.compile(r"(?P<bars>(\|\s+)*)\|-+ (?P<words>.*)")
_EXPORTED_CUT = re.compile(r"(?P<feature>.+) (?P<sign><=|>) +(?P<threshold>\S+)")


class Question(NamedTuple):
    """What a split asks; who answers yes goes left.

    Attributes
    ----------
    feature : str
        The column; ``feature_3`` is the one at place 3, counted from 0, where no column has that name.
    threshold : float or None
        Yes if x ≤ threshold.
    levels : tuple of str or None
        Yes if x is one of these.
    missing : {"left", "asked"} or None
        Missing values answer yes; yes if x is known. They answer no by default.
    """

    feature: str
    threshold: float | None = None
    levels: tuple[str, ...] | None = None
    missing: str | None = None

    def __str__(self) -> str:
        if self.missing == "asked":
            return f"{self.feature} is known"
        if self.levels is None:
            text = f"{self.feature} <= {self.threshold!r}"
        elif len(self.levels) == 1:
            text = f"{self.feature} is {self.levels[0]}"
        else:
            text = f"{self.feature} in {{{', '.join(self.levels)}}}"
        return text + (" or missing" if self.missing else "")


Nodes = tuple[Question | None, ...]


@dataclass(frozen=True)
class _Line:
    """A line of a drawing, without what it begins with."""

    number: int
    indent: int
    words: str


def read_tree_text(text: str, name: str) -> Nodes:
    """A tree from its drawing: as `Tree.to_text` writes it, or as ``sklearn.tree.export_text`` does.

    Parameters
    ----------
    text : str
        The drawing. Its lines may be left out, as long as the answers to one question stand below each other.
    name : str
        What the errors call it.

    Returns
    -------
    tuple of Question or None
        The nodes in preorder; None is a leaf.
    """
    numbered = [(number, line.rstrip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not numbered:
        raise InputError(f"{name}: there is no tree in it; write 'leaf' for a tree of a single leaf")
    if numbered[0][1].lstrip().startswith("|-"):
        reader: _Reader = _ExportReader([_exported(number, line, name) for number, line in numbered], name)
    else:
        words = [(number, line, line.lstrip(LINES)) for number, line in numbered]
        reader = _DrawingReader([_Line(number, len(line) - len(rest), rest) for number, line, rest in words], name)
    return tuple(reader.tree())


class _Reader:
    """Goes through the lines of a drawing, which are in preorder."""

    def __init__(self, lines: list[_Line], name: str) -> None:
        self._lines, self._name, self._at = lines, name, 0

    def tree(self) -> Iterator[Question | None]:
        """The nodes of the whole drawing."""
        yield from self.node(0)
        if self._at < len(self._lines):
            raise self.refuse(self._lines[self._at], "does not belong to any question above it")

    def node(self, depth: int) -> Iterator[Question | None]:
        """The nodes of the subtree that comes next."""
        raise NotImplementedError

    def next_line(self, wanted: str) -> _Line:
        if self._at == len(self._lines):
            raise InputError(f"{self._name}: it ends after line {self._lines[-1].number}, where {wanted} should follow")
        self._at += 1
        return self._lines[self._at - 1]

    def require_depth(self, line: _Line, depth: int) -> None:
        if depth > MOST_DEPTH:
            raise self.refuse(line, f"is more than {MOST_DEPTH} questions deep; give a smaller tree")

    def number(self, line: _Line, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not isfinite(value):
            raise self.refuse(line, f"compares with {text!r}, which is no number")
        return value

    def refuse(self, line: _Line, what: str) -> InputError:
        return InputError(f"{self._name}: line {line.number}: {line.words!r} {what}")


class _DrawingReader(_Reader):
    """Reads what `Tree.to_text` writes: ``age <= 30?`` with ``yes: …`` and ``no: …`` below it."""

    def node(self, depth: int, line: _Line | None = None, words: str = "") -> Iterator[Question | None]:
        if line is None:
            line = self.next_line("a question")
            words = line.words
        if not words.endswith("?"):
            below = self._lines[self._at] if self._at < len(self._lines) else line
            if below.indent > line.indent and below.words.startswith("yes:"):
                raise self.refuse(line, "has answers below it; end a question with a question mark")
            yield None
            return
        self.require_depth(line, depth)
        yield self.question(line, words[:-1].rstrip())
        first: _Line | None = None
        for answer in ("yes", "no"):
            child = self.next_line(f"{answer!r}: the answer to {words!r}, line {line.number},")
            if not child.words.startswith(f"{answer}:"):
                raise self.refuse(child, f"stands where '{answer}:' should answer {words!r}, line {line.number}")
            if child.indent <= line.indent or (first and child.indent != first.indent):
                side = f"beneath {first.words!r}" if first else "further to the right"
                raise self.refuse(child, f"answers {words!r}, line {line.number}: it should stand {side}")
            first = child
            yield from self.node(depth + 1, child, child.words.removeprefix(f"{answer}:").strip())

    def question(self, line: _Line, words: str) -> Question:
        """A question without its question mark."""
        if found := _CUT.fullmatch(words):
            return Question(found["feature"], self.number(line, found["threshold"]), None, _side(found))
        if found := _LEVELS.fullmatch(words):
            levels = tuple(level.strip() for level in found["levels"].split(",") if level.strip())
            return Question(found["feature"], None, levels, _side(found))
        if found := _KNOWN.fullmatch(words):
            return Question(found["feature"], missing="asked")
        if found := _LEVEL.fullmatch(words):
            return Question(found["feature"], None, (found["level"],), _side(found))
        raise self.refuse(
            line,
            "is no question; write 'age <= 30?', 'sex is male?', 'colour in {blue, green}?' or 'age is known?'",
        )


def _side(found: re.Match[str]) -> str | None:
    return "left" if found["missing"] else None


class _ExportReader(_Reader):
    """Reads what ``sklearn.tree.export_text`` writes: each question twice, with ``<=`` and with ``>``."""

    def node(self, depth: int) -> Iterator[Question | None]:
        line = self.next_line("a part of the tree")
        if line.indent != depth:
            raise self.refuse(line, f"has {line.indent} bars before it, where {depth} should be")
        found = _EXPORTED_CUT.fullmatch(line.words)
        if found is None:
            if line.words.startswith("truncated branch"):
                raise self.refuse(line, "leaves something out; export the tree with a larger max_depth")
            yield None
            return
        if found["sign"] != "<=":
            raise self.refuse(line, "answers no question above it")
        self.require_depth(line, depth)
        yield Question(found["feature"], self.number(line, found["threshold"]))
        yield from self.node(depth + 1)
        other = self.next_line(f"the other answer to {line.words!r}, line {line.number},")
        again = _EXPORTED_CUT.fullmatch(other.words)
        asked = ">", found["feature"], found["threshold"], depth
        if again is None or (again["sign"], again["feature"], again["threshold"], other.indent) != asked:
            raise self.refuse(other, f"stands where the other answer to {line.words!r}, line {line.number}, should be")
        yield from self.node(depth + 1)


def _exported(number: int, line: str, name: str) -> _Line:
    found = _EXPORTED.fullmatch(line.lstrip())
    if found is None:
        raise InputError(f"{name}: line {number}: {line!r} is no line as sklearn.tree.export_text writes them")
    return _Line(number, found["bars"].count("|"), found["words"])
