"""How fast EM converges on soft trees: Jordan's slides, the theorem of Jordan and Xu (1994).

EM moves along the slope of the log-likelihood l, θ ← θ + P ∂l/∂θ, with P the inverse of the information that there
would be if the decisions were known: a block for each gate and each expert. With −M and −m the least and the largest
eigenvalue of P^½ H P^½ at the mode θ*, H being the second derivative of l, the theorem says that

``l(θ*) − l(θ_k) ≤ r^k [l(θ*) − l(θ_0)]`` with ``r = 1 − (1 − M/2) m²/M``,

and that r < 1 where M < 2. Near the mode l(θ*) − l(θ_k) falls by (1 − m)² an epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..hme.fitting import em, sem
from ..hme.fitting.complete import information_of, tree_at, vector_of
from ..hme.fitting.sem import Problem
from ..hme.tree.experts import Gaussian
from ..hme.tree.soft_tree import SoftTree
from ..plots.figures import Curve, Figure, Panel
from . import Number, Outcome, Table

# Standard deviations of the noise: the more of it, the less the outputs say about the decisions.
NOISE = (0.2, 0.5, 0.8)
# Where EM begins: this many standard errors, if decisions were known, from the mode, in the slowest direction.
AWAY = 3.0
# The rate is observed where l(θ*) − l is between these; less is rounding.
OBSERVED = (1e-6, 1e-3)


@dataclass(frozen=True)
class Extent:
    """How much is run."""

    rows: int
    epochs: int


FULL = Extent(2000, 200)
QUICK = Extent(300, 60)


@dataclass(frozen=True, eq=False)
class Rate:
    """What the theorem says of a problem, and what EM does.

    Attributes
    ----------
    largest, smallest : float
        M and m.
    gaps : numpy.ndarray
        l(θ*) − l(θ_k), epoch by epoch.
    """

    largest: float
    smallest: float
    gaps: np.ndarray

    @property
    def bound(self) -> float:
        """r."""
        return 1 - (1 - self.largest / 2) * self.smallest**2 / self.largest

    @property
    def asymptotic(self) -> float:
        """(1 − m)²."""
        return (1 - self.smallest) ** 2

    @property
    def observed(self) -> float:
        """The mean factor by which the gap falls in the late epochs."""
        low, high = OBSERVED
        late = np.flatnonzero((self.gaps > low) & (self.gaps < high))
        if len(late) < 2:
            return float("nan")
        first, last = late[0], late[-1]
        return float((self.gaps[last] / self.gaps[first]) ** (1 / (last - first)))

    @property
    def holds(self) -> bool:
        """Whether no gap is above what the theorem allows, but for rounding."""
        allowed = self.bound ** np.arange(len(self.gaps)) * self.gaps[0]
        return bool((self.gaps <= allowed + OBSERVED[0]).all())


def run(*, quick: bool, seed: int, tell: Callable[[str], object]) -> Outcome:
    """Realizable problems with more and more noise."""
    extent = QUICK if quick else FULL
    rng = np.random.default_rng(seed)
    rates = {}
    for noise in NOISE:
        rates[noise] = rate_of(*realizable(extent.rows, noise, rng), extent.epochs)
        tell(f"noise {noise}")
    return _outcome(extent, rates)


def realizable(rows: int, noise: float, rng: np.random.Generator) -> tuple[SoftTree, Problem]:
    """A soft tree of one gate and two lines, and rows that it made."""
    X = np.column_stack([rng.normal(size=rows), np.ones(rows)])
    lines = np.array([[[1.0], [1.0]], [[-1.0], [-1.0]]])
    truth = SoftTree((np.array([[[2.0, 0.0]]]),), Gaussian(lines, np.full((2, 1), noise**2), np.zeros(1)))
    leaf = (rng.random(rows) > np.exp(truth.log_paths(X)[0])).astype(int)
    Y = truth.experts.means(X)[leaf, np.arange(rows)] + noise * rng.normal(size=(rows, 1))
    return truth, Problem(X, Y, np.ones(rows), 0.0)


def rate_of(truth: SoftTree, problem: Problem, epochs: int) -> Rate:
    """The eigenvalues at the mode next to the truth, and EM that begins near it."""
    mode = sem.to_mode(truth, problem)
    at = vector_of(mode)
    known = information_of(problem.blocks(mode, problem.decisions(mode)))
    half = np.linalg.inv(np.linalg.cholesky(known))  # P = half' half
    eigenvalues, vectors = np.linalg.eigh(half @ _information(mode, problem) @ half.T)
    begin = tree_at(mode, at + AWAY * half.T @ vectors[:, 0])
    # One Newton step of the gates, as in the theorem.
    settings = em.Settings(ridge=0.0, steps=1, epochs=epochs, tolerance=-np.inf)
    fitted = em.fit(begin, problem.X, problem.Y, problem.weight, settings)
    gaps = problem.objective(mode) - np.array(fitted.objective)
    return Rate(float(eigenvalues.max()), float(eigenvalues.min()), gaps)


def _information(mode: SoftTree, problem: Problem) -> np.ndarray:
    """−H, by differences of the slope."""
    at, step = vector_of(mode), 1e-5
    moves = step * np.eye(at.size)
    slopes = [problem.slope(tree_at(mode, at + move)) - problem.slope(tree_at(mode, at - move)) for move in moves]
    found = -np.array(slopes) / (2 * step)
    return 0.5 * (found + found.T)


def _outcome(extent: Extent, rates: dict[float, Rate]) -> Outcome:
    rows = tuple(
        (
            f"{noise:g}",
            Number(rate.largest, places=3),
            Number(rate.smallest, places=3),
            Number(rate.bound, places=4),
            Number(rate.asymptotic, places=4),
            Number(rate.observed, places=4),
            "yes" if rate.holds else "no",
        )
        for noise, rate in rates.items()
    )
    titles = ("noise", "M", "m", "r, published bound", "(1 − m)²", "observed", "bound holds at every epoch")
    return Outcome(
        setup=(
            f"a soft tree of one gate and two lines makes {extent.rows:,} rows; EM with one Newton step of the gate an "
            f"epoch begins {AWAY:g} standard errors from the mode in the slowest direction; the factor by which "
            "l(θ*) − l(θ) falls an epoch"
        ),
        tables=(Table(titles, rows, "Rate of convergence"),),
        findings=_findings(rates),
        agrees=all(rate.holds and not rate.observed > rate.bound for rate in rates.values()),
        runs=tuple(
            {"noise": noise, "epoch": epoch, "gap": float(gap)}
            for noise, rate in rates.items()
            for epoch, gap in enumerate(rate.gaps)
        ),
        figures=(Figure("convergence", tuple(_panel(noise, rate) for noise, rate in rates.items())),),
    )


def _findings(rates: dict[float, Rate]) -> tuple[str, ...]:
    held = sum(rate.holds for rate in rates.values())
    largest = max(rate.largest for rate in rates.values())
    return (
        f"The bound holds at every epoch in {held} of {len(rates)} problems; M is at most {largest:.3f}, below the 2 "
        "that the theorem asks for.",
        "In the slowest direction EM converges as (1 − m)² says, which is faster than the bound.",
        "The more noise, the less the outputs say about the decisions, and the slower EM.",
    )


def _panel(noise: float, rate: Rate) -> Panel:
    epochs = np.arange(len(rate.gaps))
    seen = rate.gaps > OBSERVED[0]
    allowed = np.log10(rate.gaps[0]) + epochs * np.log10(rate.bound)
    return Panel(
        f"noise {noise:g}",
        "epoch",
        "log10 of l(θ*) − l(θ)",
        (
            Curve("EM", epochs[seen].astype(float), np.log10(rate.gaps[seen])),
            Curve("bound", epochs[seen].astype(float), allowed[seen]),
        ),
    )
