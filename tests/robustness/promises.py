"""How much memory fits and predictions take at most, beyond the table and the process: what docs/service.md promises.

    python tests/robustness/promises.py CASE fit|predict KIND ROWS

does that in a process whose address space may grow by no more, and fails where it needs more.
"""

from __future__ import annotations

import resource
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import baytree as bt

MIB = 2**20


@dataclass(frozen=True)
class Size:
    """What memory depends on.

    `columns` are those of the matrix where there is one, `outputs` the classes or 1, and `trees` those of all sums.
    """

    rows: int
    columns: int = 12
    outputs: int = 1
    chains: int = 2
    draws: int = 40
    leaves: int = 1
    trees: int = 1
    threads: int = 2


# --8<-- [start:promises]
FIT: dict[str, Callable[[Size], int]] = {
    "cart": lambda n: n.rows * (4 * n.columns + 32 * n.chains + 64) + n.chains * n.draws * n.leaves * 256,
    "bart": lambda n: n.rows * (40 * n.columns + n.chains * (4 * n.trees + 64)) + n.chains * n.draws * n.trees * 512,
    "soft": lambda n: n.rows * (40 * n.columns + n.chains * (16 * n.trees + 64)) + n.chains * n.draws * n.trees * 512,
    "subset": lambda n: n.rows * 64 * n.columns + n.columns**2 * 64 * n.chains + n.chains * n.draws * n.columns * 64,
    "hme": lambda n: n.rows * (64 * n.columns + 128 * n.leaves * (1 + n.outputs)) + n.chains * n.draws * n.leaves * 512,
    "hmdt": lambda n: n.rows * (96 * n.columns + 192 * n.leaves * (1 + n.outputs)),
}
FIT_AT_LEAST = 32 * MIB  # and 16 MiB a thread

PREDICT: dict[str, Callable[[Size], int]] = {
    "cart": lambda n: n.rows * (8 * n.columns + 32 * n.outputs),
    "bart": lambda n: n.rows * (8 * n.columns + 32 * n.outputs),
    "subset": lambda n: n.rows * (32 * n.columns + 32),
    "hme": lambda n: n.rows * (32 * n.columns + 32 * n.outputs),
    "hmdt": lambda n: n.rows * (32 * n.columns + 128 * n.leaves * (1 + n.outputs)),
}
PREDICT_AT_LEAST = 256 * MIB  # for blocks of rows and draws, however many there are
# --8<-- [end:promises]


@dataclass(frozen=True)
class Case:
    """A model with its kind of design, and of which promise it is."""

    model: Any
    make: Callable[..., Any]
    fit: str
    predict: str
    size: Size
    task: str = "regression"

    def posterior(self, rows: int, draws: int) -> tuple[Any, np.ndarray, dict[str, Any]]:
        """A posterior of so many rows, with the rows and what else predicting takes."""
        generator = np.random.default_rng(0)
        X = generator.normal(size=(rows, self.size.columns))
        y = X[:, 0] + (X[:, 1] > 0) + 0.3 * generator.normal(size=rows)
        labels = y if self.task == "regression" else np.digitize(y, [0, 1])
        design = self.make(X, labels, task=self.task)
        run: dict[str, Any] = {"warmup": 10, "draws": draws, "chains": self.size.chains, "threads": self.size.threads}
        posterior = bt.sample(self.model, design, seed=1, progress=False, **run)
        return posterior, X, {"y": y} if self.fit == "hmdt" else {}


SUM = bt.BART(trees=50)
SOFT_TREE: dict[str, Any] = {"depth": 2}
FOUR = Size(0, leaves=4)
CASES = {
    "cart": Case(bt.CART(), bt.make_design, "cart", "cart", Size(0, leaves=30)),
    "cart, classes": Case(bt.CART(), bt.make_design, "cart", "cart", Size(0, leaves=30, outputs=3), "classification"),
    "bart": Case(SUM, bt.make_design, "bart", "bart", Size(0, trees=50)),
    "bart, classes": Case(
        bt.BART(trees=20), bt.make_design, "bart", "bart", Size(0, trees=60, outputs=3), "classification"
    ),
    "bart, variance": Case(
        bt.BART(trees=40, variance="forest", variance_trees=20), bt.make_design, "bart", "bart", Size(0, trees=60)
    ),
    "bart, soft": Case(bt.BART(trees=20, split="soft"), bt.make_design, "soft", "bart", Size(0, trees=20)),
    "subset": Case(bt.Subset(), bt.make_linear_design, "subset", "subset", Size(0)),
    "subset, sampled": Case(bt.Subset(method="sample"), bt.make_linear_design, "subset", "subset", Size(0)),
    "hme": Case(bt.HME(**SOFT_TREE), bt.make_linear_design, "hme", "hme", FOUR),
    "hme, gibbs": Case(bt.HME(**SOFT_TREE, method="gibbs"), bt.make_linear_design, "hme", "hme", FOUR),
    "hme, classes": Case(
        bt.HME(**SOFT_TREE, method="gibbs"),
        bt.make_linear_design,
        "hme",
        "hme",
        replace(FOUR, outputs=3),
        "classification",
    ),
    "hmdt": Case(bt.HMDT(**SOFT_TREE, epochs=3, n_init=1), bt.make_sequence_design, "hmdt", "hmdt", FOUR),
}


def promised(case: Case, action: str, rows: int) -> int:
    """The bytes that an action on so many rows may take."""
    size = replace(case.size, rows=rows)
    if action == "fit":
        return FIT[case.fit](size) + FIT_AT_LEAST + 16 * MIB * size.threads
    return PREDICT[case.predict](size) + PREDICT_AT_LEAST


def limit(growth: int) -> None:
    """Let the address space grow by so many bytes from here on, and no more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + growth
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def main(name: str, action: str, kind: str, rows: int) -> None:
    warnings.simplefilter("ignore")
    case = CASES[name]
    # What is imported when it is needed is no part of the promise, and neither is the table.
    posterior, X, options = case.posterior(300, 200)
    posterior.predict(X, kind, **options)
    if action == "fit":
        generator_and_table = 3 * 8 * rows * case.size.columns
        limit(promised(case, "fit", rows) + generator_and_table)
        case.posterior(rows, case.size.draws)
        return
    X, options = np.resize(X, (rows, X.shape[1])), {name: np.resize(y, rows) for name, y in options.items()}
    limit(promised(case, "predict", rows))
    posterior.predict(X, kind, **options)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
