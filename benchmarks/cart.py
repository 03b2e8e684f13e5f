"""Speed of the prune-and-regrow chain (``uc``), one core, beside what was published and measured before.

The settings are the published ones: GROWTREE with alpha 0.95 and beta 1, at least 5 rows a leaf, every cut point.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

import baytree as bt

WARMUP_ITERATIONS = 20_000
SECONDS = 3.0


@dataclass(frozen=True)
class Case:
    """A data set and the rates of others, in iterations a second.

    Attributes
    ----------
    name : str
        The bundled data set.
    published : float
        From the seconds per 1,000 iterations in Cussens' slides.
    authors : float or None
        The original authors' program, repaired, SWI-Prolog 9.
    plain : float or None
        A plain, unoptimised C++ chain.
    target : float
        What we set out to reach.
    """

    name: str
    published: float
    authors: float | None
    plain: float | None
    target: float


CASES = [
    Case("kyphosis", 1000 / 5, 963, 240_000, 500_000),
    Case("breast_cancer", 1000 / 17, 123, 72_000, 250_000),
    Case("pima", 1000 / 129, 30, 22_000, 150_000),
    Case("letter", 1000 / 2368, None, None, 10_000),
    Case("waveform", 1000 / 1151, None, None, 20_000),
]


def rate(name: str, proposal: str) -> tuple[float, float]:
    """Iterations a second after a warm-up, and the mean number of leaves meanwhile."""
    design = bt.datasets.load(name).design(max_cuts=None)
    model = bt.CART(bt.GrowTree(alpha=0.95, beta=1.0, min_leaf=5), proposal=proposal)
    [chain] = model.chains(design, seed=1, chains=1)
    chain.advance(WARMUP_ITERATIONS)
    iterations, leaves, blocks = 0, 0, 0
    began = time.perf_counter()
    while (elapsed := time.perf_counter() - began) < SECONDS:
        chain.advance(1000)
        iterations += 1000
        leaves += (len(chain.tree()["feature"]) + 1) // 2
        blocks += 1
    return iterations / elapsed, leaves / blocks


def main() -> None:
    table = Table(title="uc chain, iterations a second on one core")
    for heading in ("data", "leaves", "baytree", "target", "× plain C++", "× authors", "× published", "auto mixture"):
        table.add_column(heading, justify="left" if heading == "data" else "right")
    for case in CASES:
        found, leaves = rate(case.name, "uc")
        mixture, _ = rate(case.name, "auto")
        ratios = [f"{found / other:,.1f}" if other else "–" for other in (case.plain, case.authors, case.published)]
        table.add_row(case.name, f"{leaves:.0f}", f"{found:,.0f}", f"{case.target:,.0f}", *ratios, f"{mixture:,.0f}")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
