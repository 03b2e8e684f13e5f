"""Hidden Markov decision trees: microseconds a row of the passes over the joint states, beside plain NumPy.

One sequence of 10,000 rows with four inputs, one thread; times include what Python does to prepare transitions and
densities, and are the best of three. With sharp gates steps are too improbable for scaled numbers, and the core
takes logarithms. NumPy goes forward and backward with the matrix of all joint steps, for likelihood and leaves only.

``python -m benchmarks.markov``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial, reduce

import numpy as np
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

from baytree.hmdt.data.sequences import Sequences
from baytree.hmdt.tree.markov_tree import MarkovTree, best_path, filtered, leaves_of_states, smoothed
from baytree.hmdt.tree.mean_field import MeanField, projected_filter
from baytree.hme.tree.experts import Gaussian

ROWS, INPUTS = 10_000, 4
SHAPES = ((1, 2), (2, 2), (3, 2), (2, 3), (2, 4))
# The most joint states, and the rows, for which NumPy is waited for.
PLAIN_STATES, PLAIN_ROWS = 128, 1_000


def sequence(rows: int = ROWS) -> Sequences:
    """Rows of random numbers."""
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.normal(size=(rows, INPUTS)), np.ones(rows)])
    return Sequences(X, generator.normal(size=(rows, 1)), np.ones(rows, dtype=bool), np.array([0, rows]))


def tree(depth: int, branching: int, sharp: float = 1.0) -> MarkovTree:
    """Random gates and linear experts."""
    generator = np.random.default_rng(1)
    leaves = branching**depth
    gates = sharp * generator.normal(size=((leaves - 1) // (branching - 1), branching - 1, INPUTS + branching + 1))
    experts = Gaussian(generator.normal(size=(leaves, INPUTS + 1, 1)), np.ones((leaves, 1)), np.zeros(1))
    return MarkovTree(gates, experts)


def plain(tree: MarkovTree, sequences: Sequences) -> tuple[float, np.ndarray]:
    """Log-likelihood and P(leaf) by the textbook's passes, scaled, with matrices of all joint steps."""
    transition = np.exp(tree.log_transitions(sequences.X, sequences.first))
    leaf = leaves_of_states(tree.nodes, tree.branching)
    density = np.exp(tree.log_evidence(sequences))[:, leaf]
    steps = [reduce(np.kron, row) for row in transition]
    state, total, forward = np.eye(tree.states)[0], 0.0, []
    for step, seen in zip(steps, density, strict=True):
        state = (state @ step) * seen
        total += np.log(state.sum())
        state = state / state.sum()
        forward.append(state)
    back, found = np.ones(tree.states), np.empty((sequences.rows, tree.leaves))
    for row in range(sequences.rows - 1, -1, -1):
        share = forward[row] * back
        found[row] = np.bincount(leaf, share / share.sum(), tree.leaves)
        back = steps[row] @ (density[row] * back)
        back /= back.sum()
    return float(total), found


def microseconds(work: Callable[[], object], rows: int = ROWS) -> str:
    """Of a row, the best of three."""
    best = np.inf
    for _ in range(3):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return f"{1e6 * best / rows:.3g}"


def main() -> None:
    """Measure and print."""
    table = Table(
        "depth, branching", "joint states", "smooth", "in logarithms", "filter", "best path", "NumPy", box=MARKDOWN
    )
    every, some = sequence(), sequence(PLAIN_ROWS)
    for depth, branching in SHAPES:
        model, sharp = tree(depth, branching), tree(depth, branching, 200.0)
        beside = ""
        if model.states <= PLAIN_STATES:
            exact = smoothed(model, some)
            total, leaf = plain(model, some)
            assert np.isclose(exact.log_likelihood[0], total) and np.allclose(exact.leaf, leaf)
            beside = microseconds(partial(plain, model, some), PLAIN_ROWS)
        passes = (
            partial(smoothed, model, every),
            partial(smoothed, sharp, every),
            partial(filtered, model, every),
            lambda model=model: best_path(model, every),
        )
        times = [microseconds(work) for work in passes]
        table.add_row(f"{depth}, {branching}", f"{model.states:,}", *times, beside)
    console = Console(width=120)
    console.print(table)
    deep = tree(4, 2)
    field = MeanField(deep, every)
    sweep, ahead = microseconds(field.sweep), microseconds(lambda: projected_filter(deep, every))
    console.print(f"A tree of depth 4: a sweep of the mean field {sweep} µs a row, its filter {ahead} µs.")


if __name__ == "__main__":
    main()
