"""Proofs: which goals a run of a program called, and which choices it made."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from .. import notebook
from ..errors import FileError, InputError
from ..text import counted
from . import drawing


@dataclass(frozen=True)
class Call:
    """One goal of a proof and the clause that proved it.

    Attributes
    ----------
    parent : int
        The place of the goal that called it, −1 for a goal of the query.
    goal : str
        As it was called, such as ``cart(A)``.
    head : str
        What the proof made of it, such as ``cart(x1-[leaf,leaf])``.
    line : int
        Of the clause, 0 for a built-in.
    probability : float or None
        The normalised label of the clause, None where there was no choice.
    alternatives : int
        How many clauses could be chosen.
    choice : int or None
        The number of the choice point, None where there was no choice.
    """

    parent: int
    goal: str
    head: str
    line: int
    probability: float | None
    alternatives: int
    choice: int | None


@dataclass(frozen=True, repr=False)
class Proof:
    """One run of a program as a tree of calls; see figure 3 of Angelopoulos and Cussens (2005).

    Attributes
    ----------
    goal : str
        The query.
    answer : str
        What the proof made of it.
    calls : tuple of Call
        In the order of calling, so that a goal comes before those it calls.
    log_probability : float
        Of the proof.
    """

    goal: str
    answer: str
    calls: tuple[Call, ...]
    log_probability: float

    def __post_init__(self) -> None:
        for place, call in enumerate(self.calls):
            if not -1 <= call.parent < place:
                raise InputError(
                    f"call {place} of the proof: its parent must be -1 or come before it, not {call.parent}"
                )

    def __repr__(self) -> str:
        return f"<Proof of {self.goal}: {counted(self.choice_points, 'choice point')}>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return notebook.boxed(notebook.image(self.to_svg(), repr(self)))

    @property
    def choice_points(self) -> int:
        """How many random choices were made."""
        return sum(call.choice is not None for call in self.calls)

    @property
    def rooted(self) -> tuple[Call, ...]:
        """The calls as one tree: the query is put above them where it is not a single one of them."""
        if sum(call.parent < 0 for call in self.calls) == 1:
            return self.calls
        query = Call(-1, self.goal, self.answer, 0, None, 1, None)
        return (query, *(replace(call, parent=call.parent + 1) for call in self.calls))

    @property
    def caption(self) -> str:
        """The size and the probability of the proof in words."""
        return f"{counted(self.choice_points, 'choice point')}, probability {drawing.exponential(self.log_probability)}"

    def to_text(self, unicode: bool = True) -> str:
        """The proof drawn with lines, each goal with what became of it.

        Parameters
        ----------
        unicode : bool
            Whether the terminal shows more than ASCII.
        """
        return drawing.draw_text(self, unicode)

    def to_svg(self) -> str:
        """The proof as an image: a choice point is coloured, and a long goal is written out when pointed at."""
        return drawing.draw_svg(self)

    def to_graphviz(self) -> str:
        """The proof in the DOT language of Graphviz."""
        return drawing.draw_graphviz(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing that the file's name asks for: ``.txt``, ``.svg``, ``.dot`` or ``.gv``."""
        path = Path(path)
        draw = {".txt": self.to_text, ".svg": self.to_svg, ".dot": self.to_graphviz, ".gv": self.to_graphviz}
        if path.suffix.lower() not in draw:
            raise InputError(f"{path}: unknown file type for a proof; the name must end in .txt, .svg, .dot or .gv")
        text = draw[path.suffix.lower()]().rstrip("\n") + "\n"
        try:
            path.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise FileError(
                f"{path}: cannot be written ({error.strerror}); check the folder and its permissions"
            ) from error
