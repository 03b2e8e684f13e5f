"""Which mixture of proposals mixes best: how far apart equally long runs end, at equal processor time.

For each mixture several chains run for the same time; the score is the standard deviation, between chains, of the
class probability that each chain gives to a training row, averaged over the rows. Smaller is better.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from rich.console import Console
from rich.table import Table

import baytree as bt

MIXTURES: list[dict[str, float]] = [
    {"uc": 1},
    {"uc": 1, "birth_death": 1},
    {"uc": 1, "change": 1},
    {"uc": 1, "swap": 1},
    {"birth_death": 1, "change": 1, "swap": 1},
    {"uc": 1, "birth_death": 1, "change": 1, "swap": 1},
    {"uc": 1, "birth_death": 3, "change": 3, "swap": 1},
    {"uc": 1, "birth_death": 1, "change": 3, "swap": 3},
    {"uc": 1, "birth_death": 3, "change": 3, "swap": 3},
    {"uc": 2, "birth_death": 3, "change": 3, "swap": 2},
]
DRAWS = 400


def disagreement(name: str, mixture: dict[str, float], seconds: float, chains: int) -> tuple[float, float, float]:
    """Between-chain sd of class probabilities, mean log-likelihood, and iterations a second."""
    data = bt.datasets.load(name)
    design = data.design(max_cuts=None)
    model = bt.CART(proposal=mixture)
    [pilot] = model.chains(design, seed=0, chains=1)
    pilot.advance(5000)
    began = time.process_time()
    pilot.advance(20_000)
    rate = 20_000 / (time.process_time() - began)
    thin = max(1, int(0.75 * rate * seconds / DRAWS))
    warmup = int(0.25 * rate * seconds)
    runs = [
        bt.sample(model, design, warmup=warmup, draws=DRAWS, thin=thin, chains=1, seed=seed, progress=False)
        for seed in range(chains)
    ]
    probability = np.stack([run.predict(data.X)[:, 0] for run in runs])
    log_likelihood = float(np.mean([run.log_likelihood for run in runs]))
    return float(probability.std(axis=0, ddof=1).mean()), log_likelihood, rate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="processor time of each chain")
    parser.add_argument("--chains", type=int, default=12)
    parser.add_argument("--data", nargs="*", default=["kyphosis", "breast_cancer", "pima"])
    options = parser.parse_args()
    table = Table(title=f"between-chain sd of class probabilities after {options.seconds:g} s a chain")
    for heading in ("data", "mixture", "sd", "mean log-likelihood", "iterations/s"):
        table.add_column(heading, justify="left" if heading in ("data", "mixture") else "right")
    for name in options.data:
        for mixture in MIXTURES:
            sd, log_likelihood, rate = disagreement(name, mixture, options.seconds, options.chains)
            words = ", ".join(f"{proposal} {weight:g}" for proposal, weight in mixture.items())
            table.add_row(name, words, f"{sd:.4f}", f"{log_likelihood:.2f}", f"{rate:,.0f}")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
