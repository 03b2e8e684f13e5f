"""Which columns and which pairs matter in Friedman's function: Chipman, George and McCulloch 2012, figure 1.

The chapter prints f(x) = 10 sin(π x1 x2) + 20 (x3 - 0.5)² + x4 + x5. Friedman's own function has 10 x4 + 5 x5, and with
it "very clearly" finding all five columns among 500 rows is to be expected, so it is what is run here; the printed
one is run beside it. Settings other than the number of trees are not published, nor is any number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import datasets
from ..bart.null import permutation_null
from ..data.design import Design, make_design
from ..interpret import Interactions, VariableUse
from ..plots.figures import Curve, Figure, Panel
from ..text import listed
from . import Number, Outcome, Table
from .structure import TREES, Size, fit, pair_panel, pair_table, published, scaled, share_runs

ROWS, COLUMNS, RELEVANT = 500, 10, 5
PAIR = "x1 × x2"


@dataclass(frozen=True)
class Extent:
    """How much is run."""

    size: Size
    data_sets: int
    permutations: int


FULL = Extent(Size(warmup=1000, draws=1000), data_sets=10, permutations=20)
QUICK = Extent(Size(warmup=50, draws=50, chains=2), data_sets=2, permutations=19)


@dataclass(frozen=True)
class Found:
    """What fits with few and with many trees say of one data set."""

    use: dict[int, VariableUse]
    pairs: dict[int, Interactions]

    @property
    def finds_columns(self) -> bool:
        """Whether with few trees the five columns that matter are the five most used."""
        return margin(self.use[TREES[0]]) > 1

    @property
    def finds_pair(self) -> bool:
        """Whether the pair that interacts has the largest share for both numbers of trees."""
        return all(scaled(found)[found.names.index(PAIR)] == 1 for found in self.pairs.values())


def run(*, quick: bool, seed: int, tell: Callable[[str], object]) -> Outcome:
    """Shares of columns and pairs, on one data set as published and on more."""
    extent = QUICK if quick else FULL
    rng = np.random.default_rng(seed)
    designs = [simulate(rng) for _ in range(extent.data_sets)]
    data_sets = []
    for number, design in enumerate(designs, start=1):
        data_sets.append(look_at(design, extent.size, rng))
        tell(f"data set {number} of {len(designs)}")
    printed = look_at(simulate(rng, as_printed=True), extent.size, rng)
    judged = {}
    for permuted in ("response", "columns"):
        null = permutation_null(
            published(TREES[0]),
            designs[0],
            permute=permuted,
            permutations=extent.permutations,
            seed=int(rng.integers(2**63)),
            progress=False,
            **vars(extent.size),
        )
        judged[permuted] = data_sets[0].use[TREES[0]].against(null)
        tell(f"{permuted} permuted")
    return _outcome(extent, data_sets, printed, judged)


def simulate(rng: np.random.Generator, *, as_printed: bool = False) -> Design:
    """500 rows of Friedman's function, or of the one that the chapter prints."""
    data = datasets.friedman(ROWS, COLUMNS, seed=int(rng.integers(2**63)))
    y = data.y
    if as_printed:
        y = y - 9 * np.asarray(data.X["x4"]) - 4 * np.asarray(data.X["x5"])
    return make_design(data.X, y, task="regression")


def look_at(design: Design, size: Size, rng: np.random.Generator) -> Found:
    """Fit a data set with few and with many trees."""
    fits = {trees: fit(design, trees, size, rng) for trees in TREES}
    return Found(
        {trees: posterior.variable_use() for trees, posterior in fits.items()},
        {trees: posterior.interactions() for trees, posterior in fits.items()},
    )


def margin(use: VariableUse) -> float:
    """The smallest share of a column that matters over the largest of one that does not."""
    return float(use.mean[:RELEVANT].min() / max(use.mean[RELEVANT:].max(), np.finfo(float).tiny))


def second(found: Interactions) -> float:
    """The largest share of another pair, divided by that of the pair that interacts."""
    place = found.names.index(PAIR)
    return float(np.delete(found.mean, place).max() / max(found.mean[place], np.finfo(float).tiny))


def _outcome(extent: Extent, data_sets: list[Found], printed: Found, judged: dict[str, VariableUse]) -> Outcome:
    first = data_sets[0]
    return Outcome(
        setup=(
            f"Friedman's function with 10 x4 + 5 x5, {ROWS} rows, {COLUMNS} columns, noise sd 1; BART with m = 20 and "
            f"m = 200 trees and its default prior, {extent.size}; {extent.data_sets} data sets, of which the first is "
            "shown; one more with the function as printed, x4 + x5"
        ),
        tables=(
            _use_table(first, printed, judged),
            pair_table(
                "Figure 1b: share of the trees that use both columns, over the largest",
                first.pairs,
                {PAIR: "stands out for both m"},
            ),
            _every_table(data_sets),
        ),
        findings=_findings(data_sets, printed, judged),
        agrees=first.finds_columns and first.finds_pair,
        runs=tuple(
            record
            for number, found in enumerate([*data_sets, printed], start=1)
            for shares in (found.use, found.pairs)
            for trees, of_trees in shares.items()
            for record in share_runs(
                trees, of_trees, data_set=number, function="as printed" if found is printed else "Friedman's"
            )
        ),
        figures=(Figure("friedman", (_use_panel(first, judged), pair_panel("Figure 1b", first.pairs))),),
    )


def _use_table(first: Found, printed: Found, judged: dict[str, VariableUse]) -> Table:
    rows = tuple(
        (
            name,
            "important" if place < RELEVANT else "–",
            *(_share(first.use[trees], place) for trees in TREES),
            *(Number(float(_threshold(use)[place]), places=3) for use in judged.values()),
            _share(printed.use[TREES[0]], place),
        )
        for place, name in enumerate(first.use[TREES[0]].names)
    )
    titles = ("column", "published", *(f"m = {trees}" for trees in TREES), *map(_null, judged), "as printed, m = 20")
    return Table(titles, rows, "Figure 1a: share of the splitting rules that use a column, with 90% interval")


def _null(permuted: str) -> str:
    return f"{permuted} permuted"


def _threshold(use: VariableUse) -> np.ndarray:
    assert use.threshold is not None
    return use.threshold


def _share(use: VariableUse, place: int) -> str:
    low, high = use.interval[place]
    return f"{use.mean[place]:.3f} ({low:.2f} to {high:.2f})"


def _every_table(data_sets: list[Found]) -> Table:
    def least(values: list[float]) -> Number:
        return Number(min(values), places=2)

    number = len(data_sets)
    return Table(
        ("", "published", f"of {number} data sets", "least clear"),
        (
            (
                "x1 to x5 are the most used, m = 20",
                "one data set",
                str(sum(found.finds_columns for found in data_sets)),
                least([margin(found.use[TREES[0]]) for found in data_sets]),
            ),
            (
                "x1 to x5 are the most used, m = 200",
                "–",
                str(sum(margin(found.use[TREES[1]]) > 1 for found in data_sets)),
                least([margin(found.use[TREES[1]]) for found in data_sets]),
            ),
            *(
                (
                    f"{PAIR} is the largest pair, m = {trees}",
                    "one data set",
                    str(sum(second(found.pairs[trees]) < 1 for found in data_sets)),
                    least([1 / second(found.pairs[trees]) for found in data_sets]),
                )
                for trees in TREES
            ),
        ),
        "On every data set; how clear: share over the largest share of what does not matter",
    )


def _findings(data_sets: list[Found], printed: Found, judged: dict[str, VariableUse]) -> tuple[str, ...]:
    first, number = data_sets[0], len(data_sets)
    columns = sum(found.finds_columns for found in data_sets)
    pairs = sum(found.finds_pair for found in data_sets)
    large = {permuted: _large(use) for permuted, use in judged.items()}
    return (
        f"With 20 trees x1 to x5 are {'' if first.finds_columns else 'not '}the five most used columns, the least of "
        f"them {margin(first.use[20]):.1f} times as much as any other; with 200 trees {margin(first.use[200]):.1f} "
        f"times. So it is on {columns} of {number} data sets.",
        f"Above what 19 in 20 fits give a column where the column itself is permuted: {large['columns']}; where the "
        f"response is: {large['response']}, as all ten columns share the rules there.",
        f"The pair {PAIR} {'stands' if first.finds_pair else 'does not stand'} out for both numbers of trees: the next "
        f"has {second(first.pairs[20]):.2f} of its share with 20, {second(first.pairs[200]):.2f} with 200. So it is on "
        f"{pairs} of {number} data sets.",
        f"With the function as printed, x4 + x5, the margin is {margin(printed.use[20]):.2f}: "
        + ("these two could be told as well." if margin(printed.use[20]) > 1 else "these two could not be told."),
    )


def _large(use: VariableUse) -> str:
    return listed([name for name, large in zip(use.names, use.large, strict=True) if large] or ["none"])


def _use_panel(first: Found, judged: dict[str, VariableUse]) -> Panel:
    places = np.arange(COLUMNS)
    shares = [Curve(f"m = {trees}", places, first.use[trees].mean) for trees in TREES]
    nulls = [Curve(_null(permuted), places, _threshold(use)) for permuted, use in judged.items()]
    names = first.use[TREES[0]].names
    return Panel("Figure 1a", "column", "share of the splitting rules", (*shares, *nulls), ticks=names)
