"""EM on soft trees: seconds an epoch on the robot arm, beside scikit-learn's network.

15,000 rows, 12 columns, 4 outputs; 16 experts, or 60 hidden units trained by Adam in batches of 200. One thread:
``OMP_NUM_THREADS=1 python -m benchmarks.hme``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table
from sklearn.neural_network import MLPRegressor

from baytree.datasets import arm_dynamics
from baytree.hme.fitting import em
from baytree.hme.tree import splits
from baytree.hme.tree.soft_tree import responsibilities

LEVELS, HIDDEN, TIMES = 4, 60, 15


def standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean(axis=0)) / values.std(axis=0)


def median_seconds(work: Callable[[], object]) -> float:
    work()
    seconds = []
    for _ in range(TIMES):
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)
    return float(np.median(seconds))


def main() -> None:
    data = arm_dynamics.simulate()
    X, Y, weight = standard(data.X_train), standard(data.Y_train), np.ones(len(data.X_train))
    inputs = np.column_stack([X, weight])
    tree = splits.random_tree("linear", inputs, Y, weight, LEVELS, 2, np.random.default_rng(0))
    tree = em.fit(tree, inputs, Y, weight, em.Settings(epochs=3)).tree
    found = responsibilities(tree, inputs, Y)
    network = MLPRegressor(hidden_layer_sizes=(HIDDEN,), activation="tanh", random_state=0)
    table = Table("", "ms", box=MARKDOWN)
    e_step = median_seconds(lambda: responsibilities(tree, inputs, Y))
    table.add_row("E step", f"{1e3 * e_step:.0f}")
    for algorithm in ("em", "em2"):
        settings = em.Settings(algorithm, ridge=0.1)
        m_step = median_seconds(partial(em.maximise, tree, inputs, Y, weight, found, settings))
        table.add_row(f"M step, {algorithm}", f"{1e3 * m_step:.0f}")
        table.add_row(f"epoch, {algorithm}", f"{1e3 * (e_step + m_step):.0f}")
    table.add_row("epoch of the network", f"{1e3 * median_seconds(lambda: network.partial_fit(X, Y)):.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
