"""Speed of logic programs, one core: drawing trees without data, and the growtree chain beside the native prior's."""

from __future__ import annotations

import time

from rich.console import Console
from rich.table import Table

import baytree as bt
from baytree import _core
from baytree.slp.terms import Term

SKELETON = """
0.95/(1 + D) : [D] : cart(split(F, L, R)) :- D1 is D + 1, splt(F), [D1] : cart(L), [D1] : cart(R).
1 - 0.95/(1 + D) : [D] : cart(leaf).
1 : splt(x1).
1 : splt(x2).
1 : splt(x3).
"""
# Trees a second of others on this workload, measured before on one core of a small server.
OTHERS = {
    "ProbLog 2.3, sampling": 158,
    "cplint MCINTYRE": 31_000,
    "the authors' program": 44_000,
    "hand-written SWI-Prolog": 540_000,
    "a plain Python function": 640_000,
}
# Iterations a second of the authors' program, repaired, SWI-Prolog 9.
AUTHORS = {"kyphosis": 963, "breast_cancer": 123, "pima": 30}
TREES = 1_000_000
SECONDS = 3.0
ROUNDS = 3


def trees_a_second(semantics: str) -> float:
    """The best of some rounds: other work on the machine only ever slows it down."""
    program = bt.slp.Program(SKELETON)
    prover = _core.Prover(
        program.native("[0] : cart(T)"),
        getattr(_core.Semantics, semantics),
        program.limits.native(),
        Term,
        None,
        _core.Vocabulary([], [], []),
    )
    best = 0.0
    for seed in range(ROUNDS):
        began = time.perf_counter()
        assert prover.count_samples(TREES, seed) == TREES
        best = max(best, TREES / (time.perf_counter() - began))
    return best


def iterations_a_second(name: str, prior: bt.GrowTree | bt.slp.Program, proposal: str) -> float:
    design = bt.datasets.load(name).design(max_cuts=None)
    [chain] = bt.CART(prior, proposal=proposal).resolve(design).chains(design, seed=1, chains=1)
    chain.advance(20_000)
    iterations, began = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - began) < SECONDS:
        chain.advance(1000)
        iterations += 1000
    return iterations / elapsed


def main() -> None:
    console = Console(width=110)
    table = Table(title="growtree skeleton, no data: trees a second on one core")
    for heading in ("who", "trees/s", "baytree is ×"):
        table.add_column(heading, justify="left" if heading == "who" else "right")
    fastest = 0.0
    for semantics in ("backtrack", "reject"):
        rate = trees_a_second(semantics)
        fastest = max(fastest, rate)
        table.add_row(f"baytree, {semantics}", f"{rate:,.0f}", "")
    for name, rate in OTHERS.items():
        table.add_row(name, f"{rate:,}", f"{fastest / rate:,.1f}")
    console.print(table)

    table = Table(title="growtree chain: iterations a second on one core")
    for heading in ("data", "growtree.slp", "native uc", "share of native", "× authors"):
        table.add_column(heading, justify="left" if heading == "data" else "right")
    for name, authors in AUTHORS.items():
        program = iterations_a_second(name, bt.slp.load("growtree.slp"), "auto")
        native = iterations_a_second(name, bt.GrowTree(), "uc")
        row = (f"{program:,.0f}", f"{native:,.0f}", f"{program / native:.0%}", f"{program / authors:,.0f}")
        table.add_row(name, *row)
    console.print(table)


if __name__ == "__main__":
    main()
