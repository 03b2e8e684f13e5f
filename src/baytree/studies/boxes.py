"""Boxes as prior knowledge: Angelopoulos and Cussens 2005, section 5.4.

The paper draws training and test data from a known tree, tells the prior of two boxes inside which that tree does not
split, and finds the test accuracy higher than without, and the same for every seed of the chain.

Its tree and data are not public. The boxes are the top of the tree that rpart grows on the Pima data, so that tree is
the truth here, less the two splits that rpart makes inside a box. Training and test rows take their attributes from
Pima rows, drawn with replacement, and their classes from the shares of the classes in the true tree's leaves. One data
set says little, so there are several, each with several chains that differ in nothing but their random numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import datasets, slp
from ..cart.model import CART
from ..data.design import Design, make_design
from . import Number, Outcome, Table
from .runs import WARMUP_SHARE, recorded
from .runs import accuracy as accuracy_of

if TYPE_CHECKING:
    import polars as pl

# A split is (column, threshold, below it, from it on); None is a leaf.
TRUE_TREE = (
    "glucose", 127.5,
    ("age", 28.5,
        None,
        ("mass", 26.35,
            None,
            ("glucose", 99.5,
                None,
                ("pedigree", 0.561,
                    ("pedigree", 0.2, None, ("pregnant", 1.5, None, ("pressure", 67, None, None))),
                    None)))),
    ("mass", 29.95,
        None,
        ("glucose", 157.5,
            ("age", 30.5, ("pressure", 61, None, ("mass", 41.8, None, None)), None),
            None)),
)  # fmt: skip

# In percent, of the paper's three seeds.
PUBLISHED = {"without boxes": (74.8, 76.2, 74.4), "with boxes": (78.6, 78.6, 78.6)}
PROGRAMS = {"without boxes": "growtree.slp", "with boxes": "boxes.slp"}
ROWS = 500
THIN = 10


@dataclass(frozen=True)
class Size:
    """How much is run."""

    data_sets: int
    seeds: int
    iterations: int


FULL = Size(data_sets=20, seeds=5, iterations=50_000)
QUICK = Size(data_sets=2, seeds=2, iterations=1_000)


@dataclass(frozen=True, eq=False)
class Synthetic:
    """Training and test rows of one synthetic data set, and how well the true tree predicts the latter."""

    train: Design
    test: pl.DataFrame
    test_y: np.ndarray
    ceiling: float


def run(*, quick: bool, seed: int, tell: Callable[[str], object]) -> Outcome:
    """Accuracies with and without the boxes, over data sets and seeds."""
    size = QUICK if quick else FULL
    # By their full path: a program of the same name in the current folder is not meant.
    programs = Path(slp.__file__).with_name("programs")
    priors = {name: slp.load(programs / file) for name, file in PROGRAMS.items()}
    accuracy = {name: np.empty((size.data_sets, size.seeds)) for name in priors}
    ceiling = np.empty(size.data_sets)
    for number in range(size.data_sets):
        rng = np.random.default_rng([seed, number])
        data = simulate(rng)
        ceiling[number] = data.ceiling
        chain_seed = int(rng.integers(2**63))
        for name, prior in priors.items():
            accuracy[name][number] = accuracies(prior, data, size, chain_seed)
        means = ", ".join(f"{figures[number].mean():.1f}% {name}" for name, figures in accuracy.items())
        tell(f"data set {number + 1} of {size.data_sets}: {means}")
    return _outcome(size, accuracy, ceiling)


def true_probabilities(node: Any, X: pl.DataFrame, positive: np.ndarray) -> np.ndarray:
    """Of each row, the share of positive rows in its leaf."""
    if node is None:
        return np.full(len(positive), positive.mean())
    column, threshold, below, above = node
    is_below = np.asarray(X[column]) < threshold
    probabilities = np.empty(len(positive))
    for side, child in ((is_below, below), (~is_below, above)):
        probabilities[side] = true_probabilities(child, X.filter(side), positive[side])
    return probabilities


def simulate(rng: np.random.Generator) -> Synthetic:
    """One data set from the true tree."""
    pima = datasets.load("pima")
    probabilities = true_probabilities(TRUE_TREE, pima.X, pima.y == "pos")

    def draw() -> tuple[np.ndarray, np.ndarray]:
        rows = rng.integers(len(probabilities), size=ROWS)
        return rows, np.where(rng.random(ROWS) < probabilities[rows], "pos", "neg")

    (train, train_y), (test, test_y) = draw(), draw()
    # Every cut point: the boxes leave the root none but the one between 127 and 128.
    design = make_design(pima.X[train], train_y, task="classification", max_cuts=None)
    ceiling = 100 * np.mean((probabilities[test] > 0.5) == (test_y == "pos"))
    return Synthetic(design, pima.X[test], test_y, float(ceiling))


def accuracies(prior: Any, data: Synthetic, size: Size, seed: int) -> np.ndarray:
    """Of each chain, the percentage of test rows whose most probable class is theirs."""
    warmup = int(WARMUP_SHARE * size.iterations)
    draws = (size.iterations - warmup) // THIN
    posterior = recorded(CART(prior), data.train, warmup=warmup, draws=draws, thin=THIN, chains=size.seeds, seed=seed)
    return accuracy_of(posterior, data.test, data.test_y)


def spread(accuracy: np.ndarray) -> float:
    """The standard deviation between seeds on the same data: the root of the mean variance over data sets."""
    return float(np.sqrt(np.var(accuracy, axis=-1, ddof=1).mean()))


def _outcome(size: Size, accuracy: dict[str, np.ndarray], ceiling: np.ndarray) -> Outcome:
    plain, boxed = accuracy["without boxes"], accuracy["with boxes"]
    gains = boxed.mean(axis=1) - plain.mean(axis=1)
    gain, error = float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(size.data_sets))
    published = {name: np.array(figures) for name, figures in PUBLISHED.items()}
    published_gain = float(published["with boxes"].mean() - published["without boxes"].mean())
    rows: list[tuple[str | Number, ...]] = []
    for name, figures in accuracy.items():
        mean_error = float(figures.mean(axis=1).std(ddof=1) / np.sqrt(size.data_sets))
        rows += [
            (f"accuracy {name}, %", Number(float(published[name].mean())), Number(float(figures.mean()), mean_error)),
            (
                f"sd between seeds {name}",
                Number(spread(published[name]), places=2),
                Number(spread(figures), places=2),
            ),
        ]
    rows += [
        ("gain by the boxes", Number(published_gain), Number(gain, error)),
        ("accuracy of the true tree, %", Number(None), Number(float(ceiling.mean()))),
    ]
    higher = "higher" if gain > 0 else "lower"
    return Outcome(
        setup=(
            f"{size.data_sets} synthetic data sets of {ROWS} training and {ROWS} test rows, {size.seeds} seeds each, "
            f"{size.iterations:,} iterations a chain (published: 1 data set, 3 seeds, {ROWS} test rows)"
        ),
        tables=(Table(("", "published", "here"), tuple(rows)),),
        findings=(
            f"With boxes the accuracy is {higher} by {abs(gain):.1f} ± {error:.1f} points, "
            f"on {np.sum(gains > 0)} of {size.data_sets} data sets higher.",
            f"Between seeds it varies by {spread(boxed):.2f} points with boxes and by {spread(plain):.2f} without.",
        ),
        agrees=gain > 2 * error and spread(boxed) < spread(plain),
        runs=tuple(
            {"data_set": number + 1, "seed": chain + 1, "prior": name, "accuracy": float(figures[number, chain])}
            for number in range(size.data_sets)
            for name, figures in accuracy.items()
            for chain in range(size.seeds)
        ),
    )
