"""Work of each family that never ends by itself, one after the other, each interrupted by Ctrl-C; run beside the tests.

    python tests/robustness/endless.py FAMILY

What came of each is printed as JSON, a line each. The signals come while the main thread is inside the core, or waits
for threads that are.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import baytree as bt
from baytree import _core
from baytree.data.to_core import native_columns
from baytree.sampling import run

EVER = 10**15
ONCE = "sleep 0.3; {0}"
TWICE = ONCE + "; sleep 0.5; {0}"
Work = dict[str, Callable[[], Any]]

generator = np.random.default_rng(0)
X = generator.normal(size=(300, 3))
Y = X[:, 0] + generator.normal(size=300)
CLASSES = np.digitize(Y, [-0.5, 0.5])
DESIGN, MATRIX = bt.make_design(X, Y, task="regression"), bt.make_linear_design(X, Y, task="regression")
LABELLED = bt.make_design(X, CLASSES, task="classification")
# Backtracks through 2 ** 60 choices, none of which leads to a proof.
HOPELESS = bt.slp.Program(
    """
    0.5 : c(h).
    0.5 : c(t).
    bits(0, []).
    bits(N, [B|Bs]) :- N > 0, M is N - 1, c(B), bits(M, Bs).
    go :- bits(60, Bs), Bs = none.
    """,
    limits=bt.slp.Limits(steps=EVER),
)
GROWTREE = bt.slp.load("growtree.slp")
USUAL: dict[str, Any] = {"warmup": 5, "draws": 20, "chains": 2, "seed": 1, "progress": False}


def endless_block(model: Any, design: Any) -> Callable[[], Any]:
    """A fit whose chains come back no more, on threads of their own."""

    def fit() -> None:
        run.FIRST_BLOCK = 10**9
        bt.sample(model, design, **USUAL | {"warmup": 10**9})

    return fit


def endless_chain(model: Any, design: Any) -> Callable[[], Any]:
    """The same in the main thread."""
    return lambda: model.resolve(design).chains(design, 1, 1)[0].advance(EVER, 1)


def fits(*cases: tuple[Any, Any]) -> Work:
    found: Work = {}
    for number, (model, design) in enumerate(cases):
        found[f"a fit {number}, interrupted twice"] = endless_block(model, design)
        found[f"a chain {number}"] = endless_chain(model, design)
    return found


def cart() -> Work:
    posterior = bt.sample(bt.CART(), DESIGN, **USUAL)
    codes = np.zeros((5_000_000, 3), dtype=np.uint32)
    arrays = posterior.forest.arrays()
    predictor = _core.Predictor(native_columns(DESIGN.schema), arrays)
    weight, values = np.ones(predictor.trees), np.zeros((predictor.leaves, 20))
    return {
        **fits((bt.CART(), DESIGN), (bt.CART(GROWTREE), DESIGN)),
        "a prediction": lambda: [predictor.accumulate(codes, 0, weight, values) for _ in range(200)],
        "trees of the prior": lambda: bt.GrowTree().sample(DESIGN, 10**9, seed=1),
        "trees of a program": lambda: GROWTREE.sample(DESIGN, 10**9, seed=1),
    }


def bart() -> Work:
    sums = bt.sample(bt.BART(trees=50), DESIGN, **USUAL | {"draws": 100}).ensemble
    predictor = _core.SumPredictor(native_columns(DESIGN.schema), sums.forest.arrays())
    tree_index = np.tile(sums.tree_index.reshape(-1, 50), (100, 1))
    draws = _core.SumDraws(tree_index, np.tile(sums.values, 100))
    codes = np.zeros((1_000_000, 3), dtype=np.uint32)
    return {
        **fits((bt.BART(), DESIGN), (bt.BART(split="soft"), DESIGN), (bt.BART(trees=5), LABELLED)),
        "trees that are grown": lambda: bt.sample(bt.BART(trees=20_000, init="grow"), DESIGN, **USUAL),
        "a prediction": lambda: predictor.mean(codes, draws),
    }


def subset() -> Work:
    wide = generator.normal(size=(100, 30))
    design = bt.make_linear_design(wide, wide[:, 0] + generator.normal(size=100), task="regression")
    return {
        **fits((bt.Subset(method="sample"), design)),
        "an enumeration": lambda: bt.sample(bt.Subset(method="enumerate"), design, **USUAL),
    }


def hme() -> Work:
    return {
        **fits((bt.HME(method="gibbs"), MATRIX)),
        "EM": lambda: bt.sample(bt.HME(depth=5, epochs=10**9, n_init=10**6), MATRIX, **USUAL),
    }


def hmdt() -> Work:
    rows, nodes = 20_000, 15  # of 2 ** 15 states each
    log_transition = np.full((rows, nodes, 2, 2), np.log(0.5))
    evidence = np.zeros((rows, 16))
    begin, outcome = np.array([0, rows], dtype=np.uint64), np.arange(2**nodes, dtype=np.uint32) % 16
    short = np.arange(0, rows + 1, 100, dtype=np.uint64)  # a path remembers its whole sequence
    design = bt.make_sequence_design(X, Y, task="regression")
    return {
        "a filter": lambda: _core.hmm_filter(begin, log_transition, evidence, outcome),
        "a path": lambda: _core.hmm_best_path(short, log_transition, evidence, outcome),
        "EM": lambda: bt.sample(bt.HMDT(epochs=10**6, n_init=10**6), design, **USUAL),
    }


def program() -> Work:
    return {
        "a proof": lambda: HOPELESS.sample("go", 1, seed=1),
        "many proofs": lambda: HOPELESS.sample("c(X)", 10**9, seed=1),
        "an enumeration": lambda: HOPELESS.enumerate("go"),
        "a posterior": lambda: HOPELESS.posterior("c(X)", lambda x: 0.0, draws=10**9, seed=1),
    }


def outcome_of(work: Callable[[], Any], signals: str) -> str:
    """What came of it, with signals from a process beside this one, whose threads may all wait for the core."""
    person = subprocess.Popen(["sh", "-c", signals.format(f"kill -INT {os.getpid()}")])
    try:
        work()
    except KeyboardInterrupt:
        return "KeyboardInterrupt"
    except Exception as error:
        return type(error).__name__
    finally:
        person.kill()
        person.wait()
    return "it ended"


def main(family: str) -> None:
    warnings.simplefilter("ignore")
    warnings.simplefilter("error", bt.InterruptedSampling)
    for name, work in globals()[family]().items():
        print(json.dumps([name, outcome_of(work, TWICE if name.endswith("twice") else ONCE)]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
