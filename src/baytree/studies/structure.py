"""What the studies of structure discovery share: fits of two sizes, and pairs of columns in tables and figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..bart.model import BART
from ..bart.posterior import BARTPosterior
from ..data.design import Design
from ..interpret import Interactions, VariableUse
from ..plots.figures import Curve, Panel
from ..priors.grow_tree import GrowTree
from . import Number, Table
from .runs import recorded

# Few trees, among which columns compete, and many, which predict best.
TREES = (20, 200)
LISTED_PAIRS = 8
# Pairs with more than this of the largest share are named in the figures.
NAMED_SHARE = 0.9


@dataclass(frozen=True)
class Size:
    """How long the chains are."""

    warmup: int
    draws: int
    chains: int = 4

    def __str__(self) -> str:
        return f"{self.chains} chains × {self.draws:,} draws after a warm-up of {self.warmup:,}"


def published(trees: int) -> BART:
    """A sum of so many trees with the prior of the paper, in which a leaf holds five rows or more."""
    return BART(trees=trees, prior=GrowTree(beta=2.0, min_leaf=5))


def fit(design: Design, trees: int, size: Size, rng: np.random.Generator) -> BARTPosterior:
    """Draws of a sum of so many trees."""
    return recorded(published(trees), design, **vars(size), seed=int(rng.integers(2**63)))


def scaled(found: Interactions) -> np.ndarray:
    """The share of each pair, divided by the largest, as the figures of the paper have them."""
    return found.mean / max(float(found.mean.max()), np.finfo(float).tiny)


def pair_table(title: str, found: Mapping[int, Interactions], published: Mapping[str, str]) -> Table:
    """The pairs with the largest shares, and those that the paper names, for each number of trees."""
    first = next(iter(found.values()))
    values = {trees: scaled(pairs) for trees, pairs in found.items()}
    rank = {trees: np.argsort(np.argsort(-of_trees, kind="stable")) + 1 for trees, of_trees in values.items()}
    order = np.argsort(-np.sum(list(values.values()), axis=0), kind="stable").tolist()
    listed = [place for at, place in enumerate(order) if at < LISTED_PAIRS or first.names[place] in published]
    rows: list[tuple[str | Number, ...]] = []
    for place in listed:
        cells: list[str | Number] = [first.names[place], published.get(first.names[place], "–")]
        for trees in found:
            cells += [Number(float(values[trees][place]), places=2), str(rank[trees][place])]
        rows.append(tuple(cells))
    titles = [title for trees in found for title in (f"m = {trees}", f"rank, m = {trees}")]
    return Table(("pair", "published", *titles), tuple(rows), title)


def pair_panel(title: str, found: Mapping[int, Interactions]) -> Panel:
    """All pairs, numbered, for each number of trees; the largest are named."""
    curves = tuple(
        Curve(f"m = {trees}", np.arange(1, len(pairs.mean) + 1), scaled(pairs), joined=False)
        for trees, pairs in found.items()
    )
    largest = np.max([curve.y for curve in curves], axis=0)
    names = next(iter(found.values())).names
    named = np.flatnonzero(largest > NAMED_SHARE).tolist()
    notes = tuple((place + 1.0, float(largest[place]), names[place]) for place in named)
    return Panel(title, "pair", "share of the trees / largest", curves, notes=notes)


def share_runs(trees: int, found: VariableUse | Interactions, **of_run: Any) -> list[dict[str, Any]]:
    """A record for each share."""
    kind = "columns" if isinstance(found, VariableUse) else "pairs"
    return [
        {
            **of_run,
            "trees": trees,
            "kind": kind,
            "name": name,
            "mean": float(mean),
            "lower": float(low),
            "upper": float(high),
        }
        for name, mean, (low, high) in zip(found.names, found.mean, found.interval, strict=True)
    ]
