"""How long it takes until chains agree: processor seconds to "nearly" and to "agree", for tables, families and seeds.

Four chains run, and are judged as `Posterior.summary` does: nearly, or agree. Where they do not agree, they run again
from the start, twice as long, up to a limit; what counts is the time of the first run that is long enough, alone. Ours
are default runs of an effort, in which they find the rest by themselves.

The programs of `benchmarks.bart_systems` that are installed, and that make their draws in this process, are judged by
the same code on their own draws; these have no number of leaves. Their time is that of the fits, without compilation.
Tables are bundled ones, simulators, or CSV files with the response in the last column.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

import baytree as bt
from baytree.diagnostics.comparison import diagnose_series, training_rows
from baytree.diagnostics.convergence import Diagnostics

from .bart_systems import PEERS, missing

CHAINS = 4
# The iterations of the shortest run of others, and the effort of ours, in seconds.
SHORTEST, LEAST_EFFORT = 2_000, 2.0
# So many rows are predicted at once.
BLOCK = 200

FAMILIES = {
    "bart": bt.BART(),
    "bart, soft": bt.BART(trees=50, split="soft", k="learned"),
    "cart": bt.CART(),
}
# A run so many times as long as the shortest, with a seed: its processor seconds, and what is found of its chains.
Run = Callable[[int, int], tuple[float, Diagnostics | None]]


def read(table: str) -> bt.Design:
    """The design of a bundled table, of a simulator or of a CSV file."""
    if not table.endswith((".csv", ".csv.gz")):
        return bt.datasets.friedman(1_000).design() if table == "friedman" else bt.datasets.load(table).design()
    data = pl.read_csv(table, infer_schema_length=None)
    return bt.read(data, data.columns[-1])


def own(model: bt.mcmc.contract.AnyModel, design: bt.Design) -> Run:
    """Runs of this package."""

    def run(times: int, seed: int) -> tuple[float, Diagnostics | None]:
        began = time.process_time()
        posterior = bt.sample(model, design, effort=times * LEAST_EFFORT, seed=seed, progress=False)
        found = posterior.diagnostics() if posterior.has_chains else None
        return time.process_time() - began, found

    return run


class Blocks:
    """Predictions of a peer's chains, in blocks of rows, as diagnostics ask for them."""

    def __init__(self, f: list[Callable[[np.ndarray], np.ndarray]]) -> None:
        self.f = f

    def predictions(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        for begin in range(0, len(rows), BLOCK):
            yield np.stack([np.asarray(f(rows[begin : begin + BLOCK]), dtype=float) for f in self.f])[..., None]


def peer(name: str, design: bt.Design) -> Run:
    """Runs of another program, on the codes of the same design."""
    X, y = design.at(np.arange(design.rows)).astype(float), design.y
    monitored = training_rows(design)

    def run(times: int, seed: int) -> tuple[float, Diagnostics]:
        seconds, fits, iterations = 0.0, [], times * SHORTEST
        for chain in range(CHAINS):
            system = PEERS[name](1, CHAINS * seed + chain)
            system.load(X, y)
            system.compile(iterations // 2, iterations // 2)
            began = time.process_time()
            fits.append(system.fit(iterations // 2, iterations // 2))
            seconds += time.process_time() - began
        sigma = np.stack([np.asarray(fit.sigma, dtype=float) for fit in fits])
        predicting = Blocks([fit.f for fit in fits])
        squares = np.zeros_like(sigma)
        for begin, block in zip(range(0, len(y), BLOCK), predicting.predictions(X), strict=True):
            squares += np.square(y[begin : begin + BLOCK] - block[..., 0]).sum(axis=2)
        series = {"log-likelihood": -len(y) * np.log(sigma) - squares / (2 * sigma**2), "sigma": sigma}
        rows = monitored._replace(bins=monitored.bins.astype(float))
        return seconds, diagnose_series(series, predicting, rows, size="log-likelihood")

    return run


def seconds_to(run: Run, seed: int, limit: float) -> tuple[float | None, float | None]:
    """Processor seconds of the first runs whose chains nearly agree and agree; None where that takes too long."""
    nearly, times = None, 1
    while True:
        seconds, found = run(times, seed)
        if found is None:  # every tree was counted
            return seconds, seconds
        figures = ", ".join(f"{one.quantity} {one.rhat_text}" for one in found.judged)
        print(f"  {times} times, {seconds:.1f} s, {found.grade}: R-hat of {figures}", file=sys.stderr)
        if nearly is None and found.grade != "not yet":
            nearly = seconds
        if found.grade == "agree":
            return nearly, seconds
        if 2 * seconds > limit:
            return nearly, None
        times *= 2


def median(times: Iterable[float | None], limit: float) -> str:
    """Of the seeds, those for which it took too long counted as longest."""
    middle = statistics.median(float("inf") if one is None else one for one in times)
    return f"{middle:.1f}" if middle < float("inf") else f"> {limit:g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="*", default=["friedman", "boston"])
    parser.add_argument("--families", nargs="*", choices=FAMILIES, default=["bart"])
    parser.add_argument("--peers", nargs="*", choices=("stochtree", "bartz"), default=["stochtree", "bartz"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=120.0, help="processor seconds of the longest run")
    options = parser.parse_args()
    for name in options.peers:
        if remedy := missing(name):
            print(f"{name} is not installed and left out: {remedy}", file=sys.stderr)
    peers = [name for name in options.peers if not missing(name)]
    table = Table(title=f"processor seconds of {CHAINS} chains, median of {options.seeds} seeds", box=MARKDOWN)
    for heading in ("table", "chains of", "nearly", "agree"):
        table.add_column(heading, justify="left" if heading in ("table", "chains of") else "right")
    for name in options.tables:
        design = read(name)
        runs = {family: own(FAMILIES[family], design) for family in options.families}
        runs |= {system: peer(system, design) for system in peers}
        for system, run in runs.items():
            print(f"{name}, {system}", file=sys.stderr)
            times = [seconds_to(run, seed, options.limit) for seed in range(options.seeds)]
            nearly, agree = (median(of_grade, options.limit) for of_grade in zip(*times, strict=True))
            table.add_row(Path(name).name.partition(".")[0], system, nearly, agree)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
