"""The learning curve of a hard split: Jordan's slides, test set error (Saul and Jordan 1995).

Published are ε_g ~ 2/α̃ for large α̃ and a continuous phase transition at α̃ = π √(1 + π²/8). Both are computed here from
the free energy, and seen in students drawn from the Gibbs distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..plots.figures import Curve, Figure, Panel
from . import Number, Outcome, Table, hard_split
from .hard_split import CRITICAL, Simulated

# How near the critical point must be to the published one to agree.
CLOSE = 1e-3


@dataclass(frozen=True)
class Extent:
    """How much is run."""

    loads: tuple[float, ...]
    inputs: tuple[int, ...]
    sweeps: int
    chains: int


FULL = Extent((2, 3, 4, 4.4, CRITICAL, 5, 5.5, 6, 8, 10, 15, 20, 40), (20, 50), sweeps=6000, chains=8)
QUICK = Extent((3, CRITICAL, 8), (20,), sweeps=100, chains=2)


@dataclass(frozen=True, eq=False)
class Theory:
    """What the free energy says: ε_g and R_v at every load, and where the transition is."""

    error: np.ndarray
    split: np.ndarray
    critical: float


def run(*, quick: bool, seed: int, tell: Callable[[str], object]) -> Outcome:
    """The free energy's minima, and simulations."""
    extent = QUICK if quick else FULL
    rng = np.random.default_rng(seed)
    loads = np.array(extent.loads)
    theory = solve(loads)
    tell("free energy")
    simulated = {}
    for inputs in extent.inputs:
        simulated[inputs] = hard_split.simulate(loads, inputs, extent.sweeps, extent.chains, rng)
        tell(f"{inputs} inputs")
    return _outcome(extent, loads, theory, simulated)


def solve(loads: np.ndarray) -> Theory:
    """The minima of the free energy, from the largest load down."""
    errors, splits, at = [], [], None
    for load in loads[::-1]:
        at = hard_split.equilibrium(float(load), at)
        errors.append(float(hard_split.generalisation_error(at[:9].reshape(3, 3), at[9:11])))
        splits.append(abs(float(at[0])))
    return Theory(np.array(errors[::-1]), np.array(splits[::-1]), hard_split.critical_load())


def _outcome(extent: Extent, loads: np.ndarray, theory: Theory, simulated: dict[int, Simulated]) -> Outcome:
    product = float(loads[-1] * theory.error[-1])
    return Outcome(
        setup=(
            "a student of one hard split and two linear functions, at high temperature; minima of the free energy by "
            f"numerical search, and {extent.chains} chains of {extent.sweeps:,} sweeps over students of "
            f"{' and '.join(map(str, extent.inputs))} inputs at every α̃, which begin at the teacher"
        ),
        tables=(
            Table(
                ("", "published", "here"),
                (
                    ("α̃ at the transition", Number(CRITICAL, places=3), Number(theory.critical, places=3)),
                    (f"α̃ ε_g at α̃ = {loads[-1]:g}", "to 2", Number(product, places=3)),
                ),
                "Learning curve",
            ),
            _curve_table(loads, theory, simulated),
        ),
        findings=_findings(loads, theory, simulated, product),
        agrees=abs(theory.critical - CRITICAL) < CLOSE,
        runs=tuple(
            {"load": float(load), "inputs": inputs, "chain": chain + 1, "error": float(error), "split": float(split)}
            for inputs, found in simulated.items()
            for load, errors, splits in zip(loads, found.error, found.split, strict=True)
            for chain, (error, split) in enumerate(zip(errors, splits, strict=True))
        ),
        figures=(Figure("learning-curve", _panels(loads, theory, simulated)),),
    )


def _of_chains(values: np.ndarray) -> Number:
    return Number(float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))), places=3)


def _curve_table(loads: np.ndarray, theory: Theory, simulated: dict[int, Simulated]) -> Table:
    titles = ["α̃", "published: 2/α̃", "ε_g, free energy", *(f"ε_g, N = {inputs}" for inputs in simulated)]
    titles += ["R_v, free energy", *(f"|R_v|, N = {inputs}" for inputs in simulated)]
    rows: list[tuple[str | Number, ...]] = []
    for place, load in enumerate(loads):
        rows.append(
            (
                f"{load:.3g}",
                Number(2 / float(load), places=3),
                Number(float(theory.error[place]), places=3),
                *(_of_chains(found.error[place]) for found in simulated.values()),
                Number(float(theory.split[place]), places=3),
                *(_of_chains(found.split[place]) for found in simulated.values()),
            )
        )
    return Table(
        tuple(titles), tuple(rows), "Generalisation error and overlap of the splits, ± standard error of chains"
    )


def _findings(loads: np.ndarray, theory: Theory, simulated: dict[int, Simulated], product: float) -> tuple[str, ...]:
    largest = max(simulated)
    below, above = loads < CRITICAL, loads > CRITICAL
    found = simulated[largest].split.mean(axis=1)
    return (
        f"The symmetric phase loses its stability at α̃ = {theory.critical:.4f}, published is {CRITICAL:.4f}; from "
        "there R_v grows from 0 without a jump.",
        f"Students of {largest} inputs have a mean |R_v| of at most {found[below].max():.2f} below the transition and "
        f"of {found[above].max():.2f} at the largest α̃, where the free energy says {theory.split[-1]:.2f}.",
        f"α̃ ε_g is {product:.3f} at α̃ = {loads[-1]:g}, and 2 in the limit.",
        "The slides print the last term of ε_g with the other sign; the sign here is that of Gaussian inputs.",
    )


def _panels(loads: np.ndarray, theory: Theory, simulated: dict[int, Simulated]) -> tuple[Panel, ...]:
    def points(name: str) -> list[Curve]:
        return [
            Curve(f"students, N = {inputs}", loads, getattr(found, name).mean(axis=1), joined=False)
            for inputs, found in simulated.items()
        ]

    large = loads[loads > CRITICAL]
    return (
        Panel(
            "Learning curve",
            "α̃",
            "generalisation error",
            (Curve("free energy", loads, theory.error), Curve("2/α̃", large, 2 / large), *points("error")),
        ),
        Panel(
            "The transition",
            "α̃",
            "overlap of the splits",
            (
                Curve("free energy", loads, theory.split),
                Curve("α̃ at the transition", np.repeat(CRITICAL, 2), np.array([0.0, 1.0])),
                *points("split"),
            ),
        ),
    )
