"""Whether tempering makes chains agree: with and without it, at equal processor time.

For each data set some chains run for the same processor time, plain and tempered. The score is the standard deviation,
between chains, of the class probability that each chain gives to a training row, averaged over the rows; and R-hat of
the predictions over all rows and draws. Smaller is better.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from rich.console import Console
from rich.table import Table

import baytree as bt

DRAWS = 1000


def run(design: bt.Design, model: bt.CART, seconds: float, chains: int, **tempering: Any) -> tuple[bt.Posterior, float]:
    """Chains of so many seconds of processor time each, a fifth of it warm-up; and the time that they took."""

    def sample(warmup: int, thin: int, chains: int) -> tuple[bt.Posterior, float]:
        began = time.process_time()
        settings: dict[str, Any] = {"warmup": warmup, "thin": thin, "chains": chains, "seed": 1, "progress": False}
        posterior = bt.sample(model, design, draws=DRAWS, **settings, **tempering)
        return posterior, time.process_time() - began

    # A pilot run of about a second tells how long an iteration takes.
    thin, pilot = 1, 0.0
    while pilot < 1.0:
        thin *= 2
        _, pilot = sample(DRAWS * thin, thin, 1)
    iterations = 2 * DRAWS * thin / pilot * seconds
    return sample(int(0.2 * iterations), max(1, int(0.8 * iterations / DRAWS)), chains)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="processor time of each chain")
    parser.add_argument("--chains", type=int, default=8)
    parser.add_argument("--temperatures", type=int, nargs="*", default=[1, 12])
    parser.add_argument("--ladder", default="adaptive")
    parser.add_argument("--swap-every", type=int, default=None)
    parser.add_argument("--proposal", default="auto")
    parser.add_argument("--data", nargs="*", default=["breast_cancer", "pima"])
    options = parser.parse_args()
    table = Table(title=f"{options.chains} chains of {options.seconds:g} s")
    for heading in (
        "data",
        "temperatures",
        "cpu s",
        "iterations",
        "sd",
        "R-hat 19/20",
        "R-hat max",
        "ESS",
        "round trips",
    ):
        table.add_column(heading, justify="left" if heading == "data" else "right")
    for name in options.data:
        design = bt.datasets.load(name).design()
        for temperatures in options.temperatures:
            tempering = {"temperatures": temperatures, "ladder": options.ladder, "swap_every": options.swap_every}
            model = bt.CART(proposal=options.proposal)
            posterior, seconds = run(design, model, options.seconds, options.chains, **tempering)
            found = posterior.diagnostics(design, draws=None).predictions
            assert found is not None and found.rhat is not None and found.largest_rhat is not None
            trips = "–" if temperatures == 1 else f"{posterior.swaps().round_trips.sum():,}"
            table.add_row(
                name,
                str(temperatures),
                f"{seconds:.0f}",
                f"{posterior.settings.warmup + posterior.settings.thin * DRAWS:,}",
                f"{found.between_chain_sd:.4f}",
                f"{found.rhat:.3f}",
                f"{found.largest_rhat:.3f}",
                f"{found.ess_bulk:.0f}",
                trips,
            )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
