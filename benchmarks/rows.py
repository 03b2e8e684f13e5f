"""What rows as bit sets are worth: steps and swap rounds a second of processor time, with lists and with sets.

One chain over single trees on one core, with the mixture of proposals that a run has by default, or with another one;
alone, and as 16 rungs that are swapped every 10 iterations. Forms take turns, and the median of three turns counts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table

import baytree as bt
from baytree.data.switches import ROWS
from baytree.mcmc.tempering import Tempering

WARMUP = 20_000
RUNGS = Tempering(16, swap_every=10)
FORMS = ("lists", "sets")


def design_of(name: str) -> bt.Design:
    """A bundled table, or a file whose last column is a response of numbers."""
    if name in bt.datasets.names():
        return bt.datasets.load(name).design(max_cuts=None)
    frame = pl.read_csv(name)
    return bt.make_design(frame[:, :-1], frame[:, -1].to_numpy(), task="regression", max_cuts=None)


def chain_of(design: bt.Design, proposal: str, form: str, **more: Any) -> Any:
    os.environ[ROWS] = form
    [chain] = bt.CART(proposal=proposal).chains(design, seed=1, chains=1, **more)
    chain.warm_up(WARMUP, 1)
    return chain


def rate(chain: Any, block: int, seconds: float) -> float:
    """Iterations a second of processor time."""
    iterations, began = 0, time.process_time()
    while (elapsed := time.process_time() - began) < seconds:
        chain.advance(block, 1)
        iterations += block
    return iterations / elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="processor time of each turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--proposals", nargs="*", default=["uc", "auto"])
    parser.add_argument(
        "--data", nargs="*", default=["kyphosis", "heart", "breast_cancer", "pima", "boston", "waveform"]
    )
    options = parser.parse_args()
    table = Table(title="iterations of a chain, and swap rounds of 16 rungs, a second of processor time")
    for heading in ("data", "rows", "proposal", "lists", "sets", "×", "lists, rounds", "sets, rounds", "×"):
        table.add_column(heading, justify="left" if heading in ("data", "proposal") else "right")
    for name in options.data:
        design = design_of(name)
        for proposal in options.proposals:
            cells = []
            for more, block, iterations in (({}, 5000, 1), ({"tempering": RUNGS}, 2000, RUNGS.swap_every or 1)):
                chains = {form: chain_of(design, proposal, form, **more) for form in FORMS}
                rates: dict[str, list[float]] = {form: [] for form in FORMS}
                for _ in range(options.turns):
                    for form, chain in chains.items():
                        rates[form].append(rate(chain, block, options.seconds) / iterations)
                lists, sets = (statistics.median(rates[form]) for form in FORMS)
                cells += [f"{lists:,.0f}", f"{sets:,.0f}", f"{sets / lists:.1f}"]
            table.add_row(name.rpartition("/")[2], str(design.rows), proposal, *cells)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
