"""Which pairs of columns interact in the Boston housing data: Chipman, George and McCulloch 2012, figures 2 and 3.

The chapter tossed out three of the thirteen columns after a selection by use, and does not name them. It shows the
shares of the 45 pairs that remain, and fitted values where distance and the share of lower status are low or high. It
does not give the cut points: here they are the lower and the upper third of each. No number is published.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import datasets
from ..data.design import Design, make_design
from ..interpret import Interactions, VariableUse
from ..plots.figures import Curve, Figure, Panel
from . import Number, Outcome, Table
from .structure import TREES, Size, fit, pair_panel, pair_table, scaled, share_runs

KEPT = 10
# "Several pairs of interest" of 45: a fifth of them.
LEADING = 9
PAIR = "dis × lstat"
FULL = Size(warmup=1000, draws=1000)
QUICK = Size(warmup=50, draws=50, chains=2)
# Low and high distance to the centre, and of each low and high lower status, in the order of figure 3b.
GROUPS = ("dL_lL", "dL_lH", "dH_lL", "dH_lH")


@dataclass(frozen=True, eq=False)
class Found:
    """What the fits say.

    Attributes
    ----------
    use : VariableUse
        Of all thirteen columns, with few trees.
    pairs : dict of int to Interactions
        Of the ten that were kept, by the number of trees.
    fitted, fitted_with_all : numpy.ndarray
        The posterior mean of each row with many trees, y being centred; of the ten columns and of all.
    """

    use: VariableUse
    pairs: dict[int, Interactions]
    fitted: np.ndarray
    fitted_with_all: np.ndarray

    @property
    def dropped(self) -> list[str]:
        """The columns that were used least, in the table's order."""
        return [self.use.names[place] for place in sorted(self.use.order[KEPT:])]


def run(*, quick: bool, seed: int, tell: Callable[[str], object]) -> Outcome:
    """Select columns by their use, look at the pairs, and at the fitted values of four groups of rows."""
    size = QUICK if quick else FULL
    rng = np.random.default_rng(seed)
    every = centred(datasets.load("boston").X.columns)
    use = fit(every, TREES[0], size, rng).variable_use()
    tell("columns selected")
    names = [use.names[place] for place in sorted(use.order[:KEPT])]
    fits = {trees: fit(centred(names), trees, size, rng) for trees in TREES}
    tell("pairs looked at")
    X = datasets.load("boston").X
    found = Found(
        use,
        {trees: posterior.interactions() for trees, posterior in fits.items()},
        fits[TREES[1]].predict(X),
        fit(every, TREES[1], size, rng).predict(X),
    )
    return _outcome(size, found)


def centred(names: list[str]) -> Design:
    """Some of the columns, and the response less its mean."""
    data = datasets.load("boston")
    return make_design(data.X[names], data.y - data.y.mean(), task="regression", target=data.target)


def groups() -> dict[str, np.ndarray]:
    """The rows of each group: in the lower or upper third of `dis` and of `lstat`."""
    X = datasets.load("boston").X
    low, high = {}, {}
    for name in ("dis", "lstat"):
        values = np.asarray(X[name])
        third, two_thirds = np.quantile(values, [1 / 3, 2 / 3])
        low[name], high[name] = values <= third, values >= two_thirds
    sides = {"L": low, "H": high}
    return {name: np.flatnonzero(sides[name[1]]["dis"] & sides[name[4]]["lstat"]) for name in GROUPS}


def effects(fitted: np.ndarray) -> tuple[float, float]:
    """How much the median fitted value falls from low to high `lstat` where `dis` is low, and where it is high."""
    median = {name: float(np.median(fitted[rows])) for name, rows in groups().items()}
    return median["dL_lL"] - median["dL_lH"], median["dH_lL"] - median["dH_lH"]


def _outcome(size: Size, found: Found) -> Outcome:
    near, far = effects(found.fitted)
    rank = {trees: _rank(pairs) for trees, pairs in found.pairs.items()}
    alike = float(np.corrcoef(found.fitted, found.fitted_with_all)[0, 1])
    return Outcome(
        setup=(
            f"Boston housing, 506 rows, y centred; BART with its default prior, {size}; the {KEPT} most used of 13 "
            "columns with m = 20, then m = 20 and m = 200 on these; low and high are the lower and upper third"
        ),
        tables=(
            _use_table(found),
            pair_table(
                "Figure 2: share of the trees that use both columns, over the largest",
                found.pairs,
                {PAIR: "of interest"},
            ),
            _group_table(found),
        ),
        findings=(
            f"Used least and left out: {', '.join(found.dropped)}. Fitted values with and without them are "
            f"{'very similar' if alike > 0.99 else 'not very similar'}: correlation {alike:.4f}.",
            f"The pair {PAIR} is number {rank[20]} of {len(found.pairs[20].mean)} with 20 trees and number {rank[200]} "
            "with 200.",
            f"Where dis is low the median fitted value falls by {near:.1f} from low to high lstat, where it is high by "
            f"{far:.1f}: {'as published, much less.' if near > 2 * far else 'not as published.'}",
        ),
        agrees=alike > 0.99 and near > 2 * far and max(rank.values()) <= LEADING,
        runs=(
            *share_runs(TREES[0], found.use),
            *(record for trees, pairs in found.pairs.items() for record in share_runs(trees, pairs)),
        ),
        figures=(Figure("boston", (pair_panel("Figure 2", found.pairs), _scatter(), _boxes(found))),),
    )


def _rank(pairs: Interactions) -> int:
    """The place of the pair from the largest on; behind all where a column of it was left out."""
    if PAIR not in pairs.names:
        return len(pairs.mean) + 1
    return int(np.sum(scaled(pairs) > scaled(pairs)[pairs.names.index(PAIR)])) + 1


def _use_table(found: Found) -> Table:
    use = found.use
    rows = tuple(
        (
            use.names[place],
            Number(float(use.mean[place]), places=3),
            f"{use.interval[place][0]:.2f} to {use.interval[place][1]:.2f}",
            "dropped" if use.names[place] in found.dropped else "kept",
        )
        for place in use.order
    )
    titles = ("column", "share, m = 20", "90% interval", "published: three dropped, not named")
    return Table(titles, rows, "The selection: share of the splitting rules that use a column")


def _group_table(found: Found) -> Table:
    published = {"dL_lL": "highly desirable", "dL_lH": "may be very bad"}
    rows: list[tuple[str | Number, ...]] = []
    for name, members in groups().items():
        quartiles = np.quantile(found.fitted[members], [0.25, 0.5, 0.75])
        rows.append((name, published.get(name, "–"), f"{len(members)}", *(Number(float(q)) for q in quartiles)))
    titles = ("group", "published", "rows", "lower quartile", "median", "upper quartile")
    return Table(titles, tuple(rows), "Figure 3b: fitted values, m = 200, less the mean of y")


def _scatter() -> Panel:
    X = datasets.load("boston").X
    dis, lstat = np.asarray(X["dis"]), np.asarray(X["lstat"])
    curves = [Curve("others", dis, lstat, joined=False)]
    curves += [Curve(name, dis[rows], lstat[rows], joined=False) for name, rows in groups().items()]
    return Panel("Figure 3a", "dis", "lstat", tuple(curves))


def _boxes(found: Found) -> Panel:
    boxes = tuple(found.fitted[rows] for rows in groups().values())
    return Panel("Figure 3b", "group", "fitted value less the mean", (), ticks=GROUPS, boxes=boxes)
