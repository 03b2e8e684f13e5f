"""Whether two seeds predict alike: Angelopoulos and Cussens 2005, figure 5, and the scatter plots of Cussens' slides.

Figure 5 is about votes: the share of sampled trees whose leaf has its majority in class 0. It shows the density of the
differences between two runs, with a kernel of bandwidth 0.0096 on an axis that ends at 15. The slides plot the class
probabilities of one seed against those of another, without tempering and with MrBayes' four chains, and find the latter
nearer to the diagonal. No numbers are given, so the comparison here is of words: the standard deviation of the
differences with tempering is, or is not, smaller. Rows are held out at random; the published ones cannot be recovered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..cart.model import CART
from ..plots.figures import Curve, Figure, Panel
from ..priors.grow_tree import GrowTree
from . import Number, Outcome, Table
from .runs import WAYS, Holdout, chains, hold_out, predictions

BANDWIDTH = 0.0096
FIGURE5_TEST_ROWS = 256
FIGURE5_BETA = 0.8
# Where the density axis of figure 5 ends.
PUBLISHED_PEAK = 15.0
# Votes that differ by more are not "tightly centred".
FAR = 0.1
MOST_POINTS = 2000


@dataclass(frozen=True)
class Size:
    """How much is run.

    Attributes
    ----------
    figure5 : int
        Iterations of figure 5.
    plots : tuple
        Data set and iterations of each scatter plot.
    pairs : int
        How many pairs of seeds, over which figures are averaged.
    """

    figure5: int
    plots: tuple[tuple[str, int], ...]
    pairs: int


FULL = Size(
    figure5=50_000,
    plots=(
        ("K", 50_000),
        ("BCW", 50_000),
        ("BCW", 250_000),
        ("PIMA", 50_000),
        ("PIMA", 250_000),
        ("LR", 50_000),
        ("WF", 50_000),
    ),
    pairs=2,
)
QUICK = Size(figure5=300, plots=(("K", 300), ("BCW", 300)), pairs=1)

# What the slides say of tempering, by data set.
SAID = {"K": "agree without"} | dict.fromkeys(("BCW", "PIMA", "LR", "WF"), "better with")


@dataclass(frozen=True, eq=False)
class Pairs:
    """Probabilities of pairs of seeds.

    Attributes
    ----------
    first, second : numpy.ndarray
        Shape (pairs, rows × classes).
    """

    first: np.ndarray = field(repr=False)
    second: np.ndarray = field(repr=False)

    @property
    def differences(self) -> np.ndarray:
        """The first less the second."""
        return self.first - self.second

    @property
    def sd(self) -> float:
        """The root of the mean squared difference."""
        return float(np.sqrt(np.mean(self.differences**2)))

    @property
    def mean_absolute(self) -> float:
        """The mean absolute difference."""
        return float(np.abs(self.differences).mean())

    @property
    def correlation(self) -> float | None:
        """The mean correlation of the pairs; None where a seed predicts the same for all rows."""
        if not all(x.std() > 0 for x in (*self.first, *self.second)):
            return None
        return float(np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(self.first, self.second, strict=True)]))


def run(*, quick: bool, seed: int, tell: Callable[[str], object]) -> Outcome:
    """Differences between seeds for figure 5 and for each scatter plot, with and without tempering."""
    size = QUICK if quick else FULL
    rng = np.random.default_rng(seed)
    votes = {}
    data = hold_out("PIMA", FIGURE5_TEST_ROWS, rng)
    for way, tempering in WAYS.items():
        votes[way] = compare(data, FIGURE5_BETA, size.figure5, size.pairs, "vote", int(rng.integers(2**63)), tempering)
        tell(f"figure 5, {_name(way)}: sd of the differences {votes[way].sd:.3f}")
    found = {}
    for plot in size.plots:
        name, iterations = plot
        data = hold_out(name, None, rng)
        for way, tempering in WAYS.items():
            pairs = compare(data, 1.0, iterations, size.pairs, "mean", int(rng.integers(2**63)), tempering)
            found[plot, way] = pairs
            tell(f"{name}, {iterations:,} iterations, {_name(way)}: sd of the differences {pairs.sd:.3f}")
    return _outcome(size, votes, found)


def compare(
    data: Holdout, beta: float, iterations: int, pairs: int, kind: str, seed: int, tempering: Mapping[str, Any]
) -> Pairs:
    """What pairs of seeds predict for the rows held out: of two classes the first, of more all of them."""
    model = CART(GrowTree(alpha=0.95, beta=beta, min_leaf=5), proposal="uc")
    posterior = chains(model, data.train, iterations, 2 * pairs, seed, tempering)
    predicted = predictions(posterior, data.X, kind)
    if predicted.shape[2] == 2:
        predicted = predicted[:, :, :1]
    flat = predicted.reshape(len(predicted), -1)
    return Pairs(flat[::2], flat[1::2])


def density(differences: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The kernel density of differences, with figure 5's normal kernel."""
    scaled = (at[:, None] - differences.ravel()[None, :]) / BANDWIDTH
    return np.exp(-0.5 * scaled**2).mean(axis=1) / (BANDWIDTH * np.sqrt(2 * np.pi))


def _name(way: str) -> str:
    return {"none": "no tempering", "mrbayes": "MrBayes, 4 chains", "adaptive": "adaptive, 12 temperatures"}[way]


def _outcome(size: Size, votes: dict[str, Pairs], found: dict[tuple[tuple[str, int], str], Pairs]) -> Outcome:
    grid = np.linspace(-0.4, 0.4, 801)
    densities = {way: density(pairs.differences, grid) for way, pairs in votes.items()}
    claimed = [plot for plot in size.plots if plot[0] != "K"]
    better = {
        way: [found[plot, way].sd < found[plot, "none"].sd for plot in claimed] for way in ("mrbayes", "adaptive")
    }
    plain = votes["none"]
    worst = max(claimed, key=lambda plot: found[plot, "none"].sd)
    fig5 = "published: “tightly centred on 0”, the axis of the density ends at 15"
    return Outcome(
        setup=(
            f"two seeds compared, {size.pairs} {'pair' if size.pairs == 1 else 'pairs'} of them, GrowTree(alpha=0.95, "
            f"min_leaf=5), proposal uc; figure 5: Pima, 512 training and {FIGURE5_TEST_ROWS} test rows, beta "
            f"{FIGURE5_BETA}, {size.figure5:,} iterations, votes; scatter plots: a fifth held out, beta 1, class "
            "probabilities"
        ),
        tables=(
            Table(
                ("tempering", "sd", "mean absolute", "highest density", "correlation"),
                tuple(
                    (
                        _name(way),
                        _number(pairs.sd),
                        _number(pairs.mean_absolute),
                        Number(float(densities[way].max())),
                        _number(pairs.correlation),
                    )
                    for way, pairs in votes.items()
                ),
                f"Figure 5, differences between two seeds; {fig5}",
            ),
            Table(
                (
                    "data",
                    "iterations",
                    "published",
                    *(f"sd, {way}" for way in WAYS),
                    *(f"correlation, {way}" for way in WAYS),
                ),
                tuple(
                    (
                        name,
                        Number(iterations, places=0),
                        SAID[name],
                        *(_number(found[(name, iterations), way].sd) for way in WAYS),
                        *(_number(found[(name, iterations), way].correlation) for way in WAYS),
                    )
                    for name, iterations in size.plots
                ),
                "Scatter plots, class probabilities of two seeds; tempering none, as published (mrbayes), and adaptive",
            ),
        ),
        findings=(
            f"Figure 5: without tempering the differences have a standard deviation of {plain.sd:.3f} and a highest "
            f"density of {densities['none'].max():.1f}, "
            f"{'within' if densities['none'].max() <= PUBLISHED_PEAK else 'above'} the published axis; "
            f"{100 * np.mean(np.abs(plain.differences) > FAR):.0f}% of the rows differ by more than {FAR:g}, which is "
            f"{'tight' if plain.sd < FAR else 'not tight'}.",
            f"K: {found[size.plots[0], 'none'].sd:.3f} between seeds without tempering.",
            f"With MrBayes' ladder seeds agree better in {sum(better['mrbayes'])} of {len(claimed)} plots for which "
            f"the slides say so, with the adaptive ladder in {sum(better['adaptive'])}.",
            f"Seeds differ most without tempering for {worst[0]} at {worst[1]:,} iterations: "
            f"{found[worst, 'none'].sd:.3f}, and {found[worst, 'mrbayes'].sd:.3f} and "
            f"{found[worst, 'adaptive'].sd:.3f} with it.",
        ),
        agrees=2 * sum(better["mrbayes"]) > len(claimed),
        runs=(
            *(
                _run("figure 5", "PIMA", size.figure5, way, pair, pairs)
                for way, pairs in votes.items()
                for pair in range(size.pairs)
            ),
            *(
                _run("scatter", *plot, way, pair, pairs)
                for (plot, way), pairs in found.items()
                for pair in range(size.pairs)
            ),
        ),
        figures=(
            Figure(
                "figure-5",
                (
                    Panel(
                        "Pima, votes",
                        "difference between two seeds",
                        "density",
                        tuple(Curve(_name(way), grid, y) for way, y in densities.items()),
                    ),
                ),
            ),
            Figure(
                "scatter",
                tuple(_scatter(plot, way, found[plot, way]) for plot in size.plots for way in WAYS),
            ),
        ),
    )


def _number(value: float | None) -> Number:
    return Number(value, places=3)


def _run(what: str, name: str, iterations: int, way: str, pair: int, pairs: Pairs) -> dict[str, Any]:
    one = Pairs(pairs.first[[pair]], pairs.second[[pair]])
    return {
        "what": what,
        "data": name,
        "iterations": iterations,
        "tempering": way,
        "pair": pair + 1,
        "sd": one.sd,
        "mean_absolute": one.mean_absolute,
        "correlation": one.correlation,
    }


def _scatter(plot: tuple[str, int], way: str, pairs: Pairs) -> Panel:
    # Not every so many-th, which might all be of one class.
    shown = np.random.default_rng(0).permutation(pairs.first.shape[1])[:MOST_POINTS]
    points = Curve("", pairs.first[0, shown], pairs.second[0, shown], joined=False)
    return Panel(f"{plot[0]}, {plot[1]:,}, {_name(way)}", "one seed", "another seed", (points,), diagonal=True)
