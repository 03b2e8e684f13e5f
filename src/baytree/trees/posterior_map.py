"""A map of a posterior: its trees by decision path, each as wide as it is probable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..notebook import Shown
from ..plots.posterior_map import icicle
from ..text import counted, percent
from .tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# How many questions are printed, the most probable ones.
LISTED = 20


@dataclass(frozen=True)
class Node:
    """What trees ask at one place, given what they ask at the places before it.

    Attributes
    ----------
    question : str or None
        The question; None where the trees have a leaf there, or nothing at all.
    column : str or None
        The column that it is about.
    leaf : bool
        Whether there is a leaf.
    begin, probability : float
        Where it begins on the map, and how wide it is.
    below : tuple of Node
        What is asked at the next place: questions about one column side by side, the most probable first.
    """

    question: str | None
    column: str | None
    leaf: bool
    begin: float
    probability: float
    below: tuple[Node, ...]

    def to_dict(self) -> dict[str, Any]:
        """The path and all below it as JSON-safe values."""
        return {
            "question": self.question,
            "column": self.column,
            "leaf": self.leaf,
            "probability": self.probability,
            "below": [node.to_dict() for node in self.below],
        }


@dataclass(frozen=True, eq=False, repr=False)
class PosteriorMap(Shown):
    """The trees of a posterior by decision path; ``print`` or ``plot`` it.

    The places of a tree are gone through level by level: the root, below it where the answer is yes, then no, and so
    on. Trees that ask the same so far lie side by side, so the width of a piece is the probability of all trees that
    begin so.

    Attributes
    ----------
    places : tuple of str
        The places, from the root on.
    paths : tuple of Node
        What the root asks, in the same order.
    held : float
        The probability of the trees on the map.
    trees : int
        How many they are.
    exact : bool
        Whether all trees were added up, so that no probability is an estimate.
    response : str
        What they predict.
    """

    places: tuple[str, ...]
    paths: tuple[Node, ...]
    held: float
    trees: int
    exact: bool
    response: str

    @classmethod
    def of(cls, trees: Sequence[tuple[Tree, float]], *, levels: int, exact: bool, response: str) -> PosteriorMap:
        """A map of trees with their probabilities.

        Parameters
        ----------
        trees : sequence of (Tree, float)
            The trees, each once.
        levels : int
            How many levels of each are looked at.
        exact : bool
            Whether the probabilities are exact.
        response : str
            What the trees predict.
        """
        asked = [(_asked(tree, levels), probability) for tree, probability in trees]
        # Places that no tree asks at say nothing.
        used = [place for place in range(2**levels - 1) if any(cells[place][0] is not None for cells, _ in asked)]
        chosen = [(tuple(cells[place] for place in used), probability) for cells, probability in asked]
        names = tuple(_name(place) for place in used)
        held = float(sum(probability for _, probability in trees))
        return cls(names, _nodes(chosen, 0, 0.0), held, len(trees), exact, response)

    def walk(self) -> Iterator[tuple[int, Node]]:
        """Every piece of the map with the number of its place, from the root on."""
        pending = [(0, node) for node in reversed(self.paths)]
        while pending:
            level, node = pending.pop()
            yield level, node
            pending += [(level + 1, below) for below in reversed(node.below)]

    def __str__(self) -> str:
        asked = [(level, node) for level, node in self.walk() if node.question is not None]
        least = min(sorted((node.probability for _, node in asked), reverse=True)[:LISTED], default=0.0)
        lines = [f"Trees for {self.response} by decision path: {self._said}"]
        for level, node in asked:
            if node.probability >= least:
                where = f"{self.places[level]}: " if level else ""
                lines.append(f"{percent(node.probability):>6}  {'  ' * level}{where}{node.question}?")
        rest = len(asked) + 1 - len(lines)
        return "\n".join([*lines, *([f"        and {rest:,} less probable"] if rest else [])])

    @property
    def _said(self) -> str:
        held = percent(self.held) if self.held < 1 - 1e-9 else "all"
        how = "exact" if self.exact else "shares of the draws"
        return f"{counted(self.trees, 'tree')} with {held} of the probability, {how}"

    def to_dict(self) -> dict[str, Any]:
        """The map as JSON-safe values."""
        return {
            "response": self.response,
            "places": list(self.places),
            "paths": [node.to_dict() for node in self.paths],
            "trees": self.trees,
            "held": self.held,
            "exact": self.exact,
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the map as an icicle: a row for each place, a piece as wide as it is probable, a colour for each column.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure.
        """
        pieces = [
            (level, node.begin, node.probability, node.question or "", node.column, node.leaf)
            for level, node in self.walk()
        ]
        return icicle(ax, self.places, pieces, self.held, f"Trees for {self.response} by decision path", self._said)


_Cell = tuple[str | None, str | None, bool]


def _asked(tree: Tree, levels: int) -> list[_Cell]:
    """What a tree asks at each place of so many levels: the question, the column, and whether there is a leaf."""
    cells: list[_Cell] = [(None, None, False)] * (2**levels - 1)
    pending = [0]
    for rule in tree.rules:
        place = pending.pop()
        if rule is not None:
            pending += [2 * place + 2, 2 * place + 1]
        if place < len(cells):
            named = None if rule is None else tree.schema.names[rule.feature]
            cells[place] = (None if rule is None else tree.question(rule), named, rule is None)
    return cells


def _nodes(trees: Sequence[tuple[tuple[_Cell, ...], float]], level: int, begin: float) -> tuple[Node, ...]:
    """Trees grouped by what they ask at a place, questions about one column side by side, the most probable first."""
    if not trees or level == len(trees[0][0]):
        return ()
    groups: dict[_Cell, list[tuple[tuple[_Cell, ...], float]]] = {}
    for cells, probability in trees:
        groups.setdefault(cells[level], []).append((cells, probability))
    weights = {cell: float(sum(probability for _, probability in group)) for cell, group in groups.items()}
    nodes = []
    of_column: Counter[str] = Counter()
    for (_, column, leaf), weight in weights.items():
        of_column[column or f"leaf {leaf}"] += weight  # type: ignore[assignment]
    for cell in sorted(groups, key=lambda one: (-of_column[one[1] or f"leaf {one[2]}"], one[1] or "", -weights[one])):
        nodes.append(Node(*cell, begin, weights[cell], _nodes(groups[cell], level + 1, begin)))
        begin += weights[cell]
    return tuple(nodes)


def _name(place: int) -> str:
    """The answers that lead to a place."""
    answers: list[str] = []
    while place:
        answers.append("yes" if place % 2 else "no")
        place = (place - 1) // 2
    return ", ".join(reversed(answers)) or "root"
