"""The best trees that chains visit: Angelopoulos and Cussens 2005, sections 5.1 and 5.4.

The paper reports marginal log-likelihoods of trees from its chains beside rpart's, and the highest value seen on the
Pima data beside that of Denison et al. (2002). Exact search, which is not part of this package, gives what no tree of
so many leaves can exceed; where that is out of reach, annealing gives what a tree is known to attain. Chains for the
posterior do not look for the highest likelihood, so they are run beside chains with a power of the likelihood above 1,
which do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..cart.model import CART
from ..cart.posterior import Posterior
from ..plots.figures import Curve, Figure, Panel
from ..priors.grow_tree import GrowTree
from . import Number, Outcome, Table
from .runs import recorded, whole

ITERATIONS = {"K": 200_000, "BCW": 60_000, "PIMA": 50_000}
QUICK_ITERATIONS = dict.fromkeys(ITERATIONS, 1_000)
SEEDS = 4
# Of the chains that search: so that good trees are worth more than small ones.
POWER = 4.0
SEARCH_BETA = 0.5
TEMPERATURES = 8


@dataclass(frozen=True)
class Known:
    """What is known of a data set's best trees.

    Attributes
    ----------
    published : tuple of (float, int or None)
        Log-likelihood and leaves of the paper's tree; None where it does not say.
    best_of : dict of int to float
        The highest log-likelihood of trees with so many leaves.
    exact_to : int
        Up to how many leaves these are proven; beyond they are the best that annealing found.
    highest : tuple of (float, int)
        The best tree known and its leaves.
    """

    published: tuple[float, int | None]
    best_of: dict[int, float]
    exact_to: int
    highest: tuple[float, int]


KNOWN = {
    "K": Known(
        (-36.0, 3),
        {1: -43.80, 2: -36.28, 3: -34.06, 4: -32.82, 5: -30.71, 6: -29.10, 7: -27.59, 8: -27.04, 9: -27.29, 10: -28.15},
        16,
        (-27.04, 8),
    ),
    "BCW": Known(
        (-86.0, 5),
        {1: -445.26, 2: -170.17, 3: -108.23, 4: -89.30, 5: -81.10, 6: -73.45, 7: -68.67, 8: -65.01, 9: -61.67,
         10: -58.94, 11: -56.29, 12: -55.05, 13: -53.75, 14: -53.69, 15: -53.11, 16: -53.46, 17: -52.94},
        6,
        (-52.94, 17),
    ),
    "PIMA": Known(
        (-347.0, None),
        {2: -432.84, 3: -405.43, 4: -386.04, 5: -372.23, 6: -365.42, 7: -359.11, 8: -353.57, 9: -349.82, 10: -345.77,
         11: -340.77, 12: -337.32, 13: -333.72, 14: -330.28, 15: -327.66, 16: -325.15, 18: -317.20, 20: -312.98,
         23: -306.92},
        0,
        (-226.95, 66),
    ),
}  # fmt: skip
DENISON = -343.0


@dataclass(frozen=True, eq=False)
class Best:
    """The best trees of some chains.

    Attributes
    ----------
    highest : numpy.ndarray
        The highest log-likelihood of each chain.
    leaves : int
        The leaves of the best tree of all.
    by_leaves : dict
        The highest log-likelihood of trees with so many leaves.
    """

    highest: np.ndarray
    leaves: int
    by_leaves: dict[int, float]

    @property
    def value(self) -> float:
        """The highest log-likelihood of all."""
        return float(self.highest.max())

    @classmethod
    def of(cls, posterior: Posterior) -> Best:
        """Those among the draws."""
        value, leaves = posterior.log_likelihood, posterior.n_leaves
        by_leaves = {int(size): float(value[leaves == size].max()) for size in np.unique(leaves)}
        return cls(value.max(axis=1), int(leaves.ravel()[value.argmax()]), by_leaves)


def run(*, quick: bool, seed: int, tell: Callable[[str], object]) -> Outcome:
    """Chains for the posterior, and chains that search, on each data set."""
    iterations = QUICK_ITERATIONS if quick else ITERATIONS
    rng = np.random.default_rng(seed)
    visited, searched = {}, {}
    prior = GrowTree(alpha=0.95, beta=1.0, min_leaf=5)
    for name, draws in iterations.items():
        design = whole(name)
        settings = {"warmup": 0, "draws": draws, "chains": SEEDS, "seed": int(rng.integers(2**63))}
        visited[name] = Best.of(recorded(CART(prior, proposal="uc"), design, **settings))
        tempering = {"temperatures": TEMPERATURES, "ladder": "mrbayes"}
        searched[name] = Best.of(
            recorded(CART(replace(prior, beta=SEARCH_BETA), power=POWER), design, **settings, **tempering)
        )
        tell(f"{name}: {visited[name].value:.2f} visited, {searched[name].value:.2f} by search")
    return _outcome(iterations, visited, searched)


def _outcome(iterations: dict[str, int], visited: dict[str, Best], searched: dict[str, Best]) -> Outcome:
    reached = {
        kind: [name for name in visited if best[name].value >= KNOWN[name].published[0]]
        for kind, best in (("posterior", visited), ("search", searched))
    }
    exceeded = [
        f"{name} with {leaves} leaves"
        for name in visited
        for best in (visited[name], searched[name])
        for leaves, value in best.by_leaves.items()
        if leaves <= KNOWN[name].exact_to and value > KNOWN[name].best_of.get(leaves, np.inf) + 0.01
    ]
    same_size = tuple(
        (
            name,
            Number(leaves, places=0),
            Number(KNOWN[name].published[0], places=0),
            _value(KNOWN[name].best_of[leaves]),
            _value(visited[name].by_leaves.get(leaves)),
            _value(searched[name].by_leaves.get(leaves)),
        )
        for name in visited
        if (leaves := KNOWN[name].published[1]) is not None
    )
    k = searched["K"]
    return Outcome(
        setup=(
            f"{SEEDS} chains of {iterations['K']:,} (K), {iterations['BCW']:,} (BCW) and {iterations['PIMA']:,} (Pima) "
            f"iterations, all of them looked at, GrowTree(alpha=0.95, beta=1, min_leaf=5), proposal uc; beside them as "
            f"many that search: the likelihood to the power {POWER:g}, beta {SEARCH_BETA:g}, proposal auto, "
            f"{TEMPERATURES} temperatures"
        ),
        tables=(
            Table(
                ("data", "published", "best known", "its leaves", "visited", "leaves", "by search", "leaves"),
                tuple(
                    (
                        name,
                        Number(KNOWN[name].published[0], places=0),
                        _value(KNOWN[name].highest[0]),
                        Number(KNOWN[name].highest[1], places=0),
                        _value(visited[name].value),
                        Number(visited[name].leaves, places=0),
                        _value(searched[name].value),
                        Number(searched[name].leaves, places=0),
                    )
                    for name in visited
                ),
                "Highest marginal log-likelihood, trees of any size (Denison's for Pima: -343)",
            ),
            Table(
                ("data", "leaves", "published", "exact maximum", "visited", "by search"),
                same_size,
                "The same among trees as small as the published",
            ),
        ),
        findings=(
            f"The published values, -36, -86 and -347, are reached or exceeded by chains for the posterior on "
            f"{', '.join(reached['posterior']) or 'none'}, by the search on {', '.join(reached['search']) or 'none'}: "
            "they are trees from the paper's chains, not maxima.",
            f"On K the search finds {k.value:.2f} with {k.leaves} leaves; the exact maximum over all trees is -27.04 "
            f"with 8. On Pima the best tree visited has {visited['PIMA'].value:.1f}, the best by search "
            f"{searched['PIMA'].value:.1f} (published -347, Denison -343).",
            "No tree exceeds what exact search proved for its size."
            if not exceeded
            else f"These exceed what exact search proved, which cannot be: {', '.join(exceeded)}.",
        ),
        agrees=len(reached["search"]) == len(visited) and not exceeded,
        runs=tuple(
            {"data": name, "chains": kind, "seed": number + 1, "highest": float(value)}
            for name in visited
            for kind, best in (("posterior", visited[name]), ("search", searched[name]))
            for number, value in enumerate(best.highest)
        ),
        figures=(Figure("best-trees", tuple(_panel(name, visited[name], searched[name]) for name in visited)),),
    )


def _value(value: float | None) -> Number:
    return Number(value, places=2)


def _panel(name: str, visited: Best, searched: Best) -> Panel:
    most = max(*visited.by_leaves, *searched.by_leaves)
    curves = [
        Curve(label, np.array(list(values)), np.array(list(values.values())))
        for label, values in (
            ("best known", {leaves: value for leaves, value in KNOWN[name].best_of.items() if 1 < leaves <= most}),
            ("visited", {leaves: value for leaves, value in visited.by_leaves.items() if leaves > 1}),
            ("by search", {leaves: value for leaves, value in searched.by_leaves.items() if leaves > 1}),
        )
    ]
    return Panel(name, "leaves", "highest log-likelihood", tuple(curves))
