"""What the data changed of a given tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from ..notebook import Shown
from ..text import percent
from .forest import Forest, Rule, rules_of
from .outline import outline
from .tree import Tree

PROB = 0.9


class Cut(NamedTuple):
    """Where a moved cut lies: the median, and an equal-tailed interval of probability 0.9."""

    median: float
    lower: float
    upper: float


@dataclass(frozen=True)
class SplitFate:
    """What became of one split of the given tree.

    Attributes
    ----------
    path : tuple of str
        The answers, ``"yes"`` or ``"no"``, that lead to it from the root.
    question : str
        What it asks.
    kept, moved, replaced, removed : float
        The probabilities that at its place the tree asks the same, asks the same column otherwise, asks another column,
        and asks nothing. They sum to 1.
    cut : Cut or None
        Of a numeric column, where the cut lies if it has moved.
    moved_to : str
        The question that it was moved to most often; empty if never.
    replaced_by : dict of str to float
        With what probability by which column, largest first.
    """

    path: tuple[str, ...]
    question: str
    kept: float
    moved: float
    replaced: float
    removed: float
    cut: Cut | None
    moved_to: str
    replaced_by: dict[str, float]


@dataclass(frozen=True)
class LeafFate:
    """What became of one leaf of the given tree.

    Attributes
    ----------
    path : tuple of str
        The answers that lead to it from the root.
    grown : float
        The probability that the tree asks something at its place.
    grown_by : dict of str to float
        With what probability by which column, largest first.
    """

    path: tuple[str, ...]
    grown: float
    grown_by: dict[str, float]


@dataclass(frozen=True, repr=False)
class Edits(Shown):
    """What the data changed of a given tree, in probabilities; ``print`` it.

    Places are matched: what a drawn tree has behind the same answers from the root stands against what the given tree
    has there. So a split below one that was changed counts as kept if it still asks the same, though of other rows.
    Which edits led to a drawn tree cannot be told from it, as many lists of edits do; hence differences are counted,
    not edits.

    Attributes
    ----------
    tree : Tree
        The given tree as it was laid on the table.
    unchanged : float
        The probability that the tree is the given one.
    differences : float
        The mean number of places at which the tree and the given one differ: splits that were moved, replaced or
        removed, and splits where the given tree has none.
    splits : tuple of SplitFate
        In preorder.
    leaves : tuple of LeafFate
        From left to right.
    prior : Edits or None
        The same under the prior alone, where it was asked for.
    """

    tree: Tree
    unchanged: float
    differences: float
    splits: tuple[SplitFate, ...]
    leaves: tuple[LeafFate, ...]
    prior: Edits | None = None

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON-safe values."""
        return {
            "tree": self.tree.to_dict(),
            "unchanged": self.unchanged,
            "differences": self.differences,
            "splits": [asdict(fate) | {"cut": fate.cut and fate.cut._asdict()} for fate in self.splits],
            "leaves": [asdict(fate) for fate in self.leaves],
        } | ({} if self.prior is None else {"prior": self.prior.to_dict()})

    def __str__(self) -> str:
        prior = self.prior
        nodes = [node for node, rule in enumerate(self.tree.rules) if rule is not None]
        fates = dict(zip(nodes, self.splits, strict=True))
        kept_before = dict(zip(nodes, (fate.kept for fate in prior.splits), strict=True)) if prior else {}

        def question(rule: Rule, node: int) -> str:
            return f"{fates[node].question}?  [{_split_words(fates[node], kept_before.get(node))}]"

        def leaf(node: int, place: int) -> str:
            fate = self.leaves[place]
            return f"leaf  [split {percent(fate.grown)}{_mostly(fate.grown_by)}]" if fate.grown else "leaf"

        before = (f" (prior {percent(prior.unchanged)})", f" (prior {prior.differences:.1f})") if prior else ("", "")
        return (
            f"unchanged with probability {percent(self.unchanged)}{before[0]}, "
            f"{self.differences:.1f} differences on average{before[1]}\n"
        ) + outline(self.tree.rules, question, leaf)


def compare(given: Tree, forest: Forest, counts: np.ndarray, prior: Edits | None = None) -> Edits:
    """What `Edits` says of trees that were drawn so many times.

    Parameters
    ----------
    given : Tree
        The tree that they are compared with.
    forest : Forest
        The trees, of the same table.
    counts : numpy.ndarray
        How often each tree was drawn.
    prior : Edits, optional
        What to set beside it.
    """
    places = _by_place(given.rules)
    found: dict[Path, Found] = {place: Counter() for place in places}
    unchanged = differences = 0
    for index, count in enumerate(counts.tolist()):
        drawn = _by_place(rules_of(forest, index))
        differs = sum(rule is not None for place, rule in drawn.items() if place not in places)
        for place, rule in places.items():
            differs += drawn.get(place) != rule
            found[place][drawn.get(place)] += count
        unchanged += count * (differs == 0)
        differences += count * differs
    total = counts.sum()
    return Edits(
        tree=given,
        unchanged=unchanged / total,
        differences=differences / total,
        splits=tuple(_split_fate(given, place, rule, found[place]) for place, rule in places.items() if rule),
        leaves=tuple(_leaf_fate(given, place, found[place]) for place, rule in places.items() if rule is None),
        prior=prior,
    )


Path = tuple[str, ...]
# How often which rule stands at a place; None where there is no split.
Found = Counter[Rule | None]


def _by_place(rules: Sequence[Rule | None]) -> dict[Path, Rule | None]:
    """The nodes of a tree by the answers that lead to them."""
    places: dict[Path, Rule | None] = {}
    pending: list[Path] = [()]
    for rule in rules:
        place = pending.pop()
        places[place] = rule
        if rule is not None:
            pending += [(*place, "no"), (*place, "yes")]
    return places


def _split_fate(given: Tree, place: Path, rule: Rule, found: Found) -> SplitFate:
    total = found.total()
    same = {other: count for other, count in found.items() if other and other.feature == rule.feature and other != rule}
    others = {other: count for other, count in found.items() if other and other.feature != rule.feature}
    column = given.schema.columns[rule.feature]
    cuts = column.cuts if column.kind == "numeric" else ()
    return SplitFate(
        path=place,
        question=given.question(rule),
        kept=found[rule] / total,
        moved=sum(same.values()) / total,
        replaced=sum(others.values()) / total,
        removed=found[None] / total,
        cut=_cut([float(cuts[other.cut]) for other in same for _ in range(same[other]) if other.cut < len(cuts)]),
        moved_to=given.question(max(same, key=lambda other: same[other])) if same else "",
        replaced_by=_by_column(given, others, total),
    )


def _leaf_fate(given: Tree, place: Path, found: Found) -> LeafFate:
    grown = {rule: count for rule, count in found.items() if rule}
    return LeafFate(place, sum(grown.values()) / found.total(), _by_column(given, grown, found.total()))


def _by_column(given: Tree, counts: Mapping[Rule, int], total: int) -> dict[str, float]:
    summed: Counter[str] = Counter()
    for rule, count in counts.items():
        summed[given.schema.names[rule.feature]] += count
    return {name: count / total for name, count in summed.most_common()}


def _cut(values: Sequence[float]) -> Cut | None:
    if not values:
        return None
    tail = (1 - PROB) / 2
    return Cut(*np.quantile(values, [0.5, tail, 1 - tail], method="inverted_cdf").tolist())


def _split_words(fate: SplitFate, kept_before: float | None) -> str:
    words = [f"kept {percent(fate.kept)}" + ("" if kept_before is None else f" (prior {percent(kept_before)})")]
    if fate.moved:
        to = _cut_words(fate.cut) if fate.cut else fate.moved_to
        words.append(f"moved {percent(fate.moved)}: {to}")
    if fate.replaced:
        words.append(f"replaced {percent(fate.replaced)}{_mostly(fate.replaced_by)}")
    if fate.removed:
        words.append(f"removed {percent(fate.removed)}")
    return ", ".join(words)


def _cut_words(cut: Cut) -> str:
    around = "" if cut.lower == cut.upper else f" ({cut.lower:.6g} to {cut.upper:.6g})"
    return f"{cut.median:.6g}{around}"


def _mostly(shares: Mapping[str, float]) -> str:
    """The column that is most likely."""
    name, *others = shares
    return f": {'mostly ' if others else ''}{name}"
