"""Forward dynamics of a robot arm: Jordan's slides, the table of batch algorithms.

The arm and the ranges of its motions are not public; `baytree.datasets.robot_arm` stands in, with ranges that give a
linear fit the published error. "CART (linear)" is not explained on the slides; run here is a greedy tree of as many
leaves as the soft tree, with a least-squares fit in each. MARS is not run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..datasets import arm_dynamics
from ..hme.estimators import HMERegressor
from ..plots.figures import Curve, Figure, Panel
from ..text import counted
from . import Number, Outcome, Table

# Relative error and epochs, by the slides' names.
PUBLISHED: dict[str, tuple[float, int | None]] = {
    "linear": (0.31, None),
    "backprop": (0.09, 5500),
    "HME (Algorithm 1)": (0.10, 35),
    "HME (Algorithm 2)": (0.12, 39),
    "CART": (0.17, None),
    "CART (linear)": (0.13, None),
    "MARS": (0.16, None),
}
METHODS = {"HME (Algorithm 1)": "em", "HME (Algorithm 2)": "em2"}
LEVELS, HIDDEN, CLAIMED = 4, 60, 0.10
# Of a greedy tree.
LEAST_ROWS = 5


@dataclass(frozen=True)
class Extent:
    """How much is run."""

    rows: tuple[int, int]
    data_sets: int
    epochs: tuple[int, ...]
    network_epochs: int


EPOCHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 35, 40)
FULL = Extent((15_000, 5_000), data_sets=3, epochs=EPOCHS, network_epochs=120)
QUICK = Extent((400, 200), data_sets=1, epochs=(1, 3), network_epochs=3)


@dataclass(frozen=True, eq=False)
class Learned:
    """What one method came to on one data set.

    Attributes
    ----------
    error : numpy.ndarray
        The mean relative error of the outputs, after each of `epochs`.
    epochs : numpy.ndarray
        Passes over the rows; 0 where a method has none.
    seconds : float
        For an epoch, or for all where there are none.
    """

    error: np.ndarray
    epochs: np.ndarray = field(default_factory=lambda: np.zeros(1, dtype=int))
    seconds: float = 0.0

    def first_at(self, error: float) -> int | None:
        """The first epoch of those looked at with at most this error."""
        reached = np.flatnonzero(self.error <= error)
        return int(self.epochs[reached[0]]) if len(reached) else None


def run(*, quick: bool, seed: int, tell: Callable[[str], object]) -> Outcome:
    """Every method on the first data set as published, and on more."""
    extent = QUICK if quick else FULL
    data_sets = []
    for number in range(extent.data_sets):
        data = arm_dynamics.simulate(*extent.rows, seed=seed + number)
        data_sets.append(_learn_all(data, extent, tell if number == 0 else lambda line: None))
        tell(f"data set {number + 1} of {extent.data_sets}")
    return _outcome(extent, data_sets)


def relative_error(data: arm_dynamics.Sample, predicted: np.ndarray) -> float:
    """The mean over outputs of the test rows' mean square over that of predicting the training mean."""
    base = np.mean((data.Y_test - data.Y_train.mean(axis=0)) ** 2, axis=0)
    return float(np.mean(np.mean((data.Y_test - predicted) ** 2, axis=0) / base))


def _learn_all(data: arm_dynamics.Sample, extent: Extent, tell: Callable[[str], object]) -> dict[str, Learned]:
    found = {"linear": _timed(data, _linear), "backprop": network(data, extent.network_epochs)}
    tell("network")
    for name, method in METHODS.items():
        found[name] = soft_tree(data, method, extent.epochs)
        tell(name)
    return found | {"CART": _timed(data, _greedy_trees), "CART (linear)": _timed(data, _trees_of_lines)}


def _timed(data: arm_dynamics.Sample, predict: Callable[[arm_dynamics.Sample], np.ndarray]) -> Learned:
    begun = time.perf_counter()
    predicted = predict(data)
    return Learned(np.array([relative_error(data, predicted)]), seconds=time.perf_counter() - begun)


def soft_tree(data: arm_dynamics.Sample, method: str, epochs: tuple[int, ...]) -> Learned:
    """A soft tree of four levels and two branches, as its estimator fits it, but that it never ends early."""
    errors, seconds = [], 0.0
    for number in epochs:
        model = HMERegressor(depth=LEVELS, method=method, epochs=number, tol=0, random_state=0)
        begun = time.perf_counter()
        model.fit(data.X_train, data.Y_train)
        seconds = (time.perf_counter() - begun) / number
        errors.append(relative_error(data, model.predict(data.X_test)))
    return Learned(np.array(errors), np.array(epochs), seconds)


def network(data: arm_dynamics.Sample, epochs: int) -> Learned:
    """One layer of hidden units, by scikit-learn's Adam with its defaults, on columns in standard units."""
    from sklearn.neural_network import MLPRegressor

    X, Y = (_standard(of, of) for of in (data.X_train, data.Y_train))
    new = _standard(data.X_test, data.X_train)
    model = MLPRegressor(hidden_layer_sizes=(HIDDEN,), activation="tanh", random_state=0)
    errors, seconds = [], 0.0
    for _ in range(epochs):
        begun = time.perf_counter()
        model.partial_fit(X, Y)
        seconds += time.perf_counter() - begun
        predicted = model.predict(new) * data.Y_train.std(axis=0) + data.Y_train.mean(axis=0)
        errors.append(relative_error(data, predicted))
    return Learned(np.array(errors), np.arange(1, epochs + 1), seconds / epochs)


def _standard(values: np.ndarray, of: np.ndarray) -> np.ndarray:
    return (values - of.mean(axis=0)) / of.std(axis=0)


def _linear(data: arm_dynamics.Sample) -> np.ndarray:
    return _least_squares(data.X_train, data.Y_train, data.X_test)


def _least_squares(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    coefficients = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), y, rcond=None)[0]
    return np.column_stack([new, np.ones(len(new))]) @ coefficients


def _greedy_trees(data: arm_dynamics.Sample) -> np.ndarray:
    """One tree an output."""
    from sklearn.tree import DecisionTreeRegressor

    trees = [DecisionTreeRegressor(min_samples_leaf=LEAST_ROWS, random_state=0) for _ in arm_dynamics.OUTPUTS]
    fits = [tree.fit(data.X_train, y) for tree, y in zip(trees, data.Y_train.T, strict=True)]
    return np.column_stack([fit.predict(data.X_test) for fit in fits])


def _trees_of_lines(data: arm_dynamics.Sample) -> np.ndarray:
    """One tree for all outputs, of as many leaves as the soft tree, with a least-squares fit in each."""
    from sklearn.tree import DecisionTreeRegressor

    tree = DecisionTreeRegressor(max_leaf_nodes=2**LEVELS, random_state=0).fit(data.X_train, data.Y_train)
    of_rows, of_new = tree.apply(data.X_train), tree.apply(data.X_test)
    predicted = np.empty_like(data.Y_test)
    for leaf in np.unique(of_new):
        here, there = of_rows == leaf, of_new == leaf
        predicted[there] = _least_squares(data.X_train[here], data.Y_train[here], data.X_test[there])
    return predicted


def _outcome(extent: Extent, data_sets: list[dict[str, Learned]]) -> Outcome:
    first = data_sets[0]
    return Outcome(
        setup=(
            f"forward dynamics of a four-joint arm, our stand-in, {extent.rows[0]:,} rows to learn from and "
            f"{extent.rows[1]:,} to test with; soft trees of {LEVELS} levels and two branches, {extent.epochs[-1]} "
            f"epochs from the splits of a decision tree; a network of {HIDDEN} hidden units, scikit-learn's with Adam; "
            f"{counted(extent.data_sets, 'data set')}, of which the first is shown"
        ),
        tables=(_table(first), _every_table(data_sets)),
        findings=_findings(data_sets),
        agrees=_claim_holds(first),
        runs=tuple(
            {"data_set": number, "method": name, "epochs": int(epochs), "relative_error": float(error)}
            for number, found in enumerate(data_sets, start=1)
            for name, learned in found.items()
            for epochs, error in zip(learned.epochs, learned.error, strict=True)
        ),
        figures=(Figure("arm", (_panel(first),)),),
    )


def _claim_holds(found: dict[str, Learned]) -> bool:
    return all(found[name].error[-1] <= CLAIMED for name in METHODS)


def _table(found: dict[str, Learned]) -> Table:
    rows = []
    for name, (error, epochs) in PUBLISHED.items():
        learned = found.get(name)
        last = None if learned is None else float(learned.error[-1])
        by_epochs = learned is not None and learned.epochs[-1] > 0
        reached = learned.first_at(CLAIMED) if learned is not None and by_epochs else None
        seconds = None if learned is None else learned.seconds
        rows.append(
            (
                name,
                Number(error, places=2),
                Number(last, places=3),
                Number(epochs, places=0),
                Number(int(learned.epochs[-1]) if learned is not None and by_epochs else None, places=0),
                Number(seconds if by_epochs else None, places=3),
                Number(reached, places=0),
                Number(None if seconds is None or reached is None else seconds * reached, places=1),
            )
        )
    titles = ("method", "error, published", "here", "epochs, published", "here", "seconds an epoch")
    return Table((*titles, f"epochs to {CLAIMED}", f"seconds to {CLAIMED}"), tuple(rows), "Relative error on test rows")


def _every_table(data_sets: list[dict[str, Learned]]) -> Table:
    def errors(name: str) -> np.ndarray:
        return np.array([found[name].error[-1] for found in data_sets])

    return Table(
        ("method", "published", *(f"data set {number}" for number in range(1, len(data_sets) + 1))),
        tuple(
            (name, Number(PUBLISHED[name][0], places=2), *(Number(float(error), places=3) for error in errors(name)))
            for name in data_sets[0]
        ),
        "Relative error on every data set",
    )


def _findings(data_sets: list[dict[str, Learned]]) -> tuple[str, ...]:
    first = data_sets[0]
    held = sum(_claim_holds(found) for found in data_sets)
    said = []
    for name in METHODS:
        learned = first[name]
        epoch = learned.first_at(CLAIMED)
        when = "does not come" if epoch is None else f"comes by epoch {epoch}"
        said.append(f"{name} {when} to a relative error of {CLAIMED} and ends at {learned.error[-1]:.3f}.")
    network_error = float(first["backprop"].error[-1])
    return (
        *said,
        f"Both are at or below {CLAIMED} on {held} of {counted(len(data_sets), 'data set')}.",
        f"The network comes to {network_error:.3f} in {int(first['backprop'].epochs[-1])} epochs, where 0.09 in 5,500 "
        "are published: our stand-in is smoother than the published data, and Adam quicker than plain gradients.",
        "MARS is not run, and what the slides call CART (linear) is a guess.",
    )


def _panel(found: dict[str, Learned]) -> Panel:
    curves = [
        Curve(name, learned.epochs.astype(float), learned.error)
        for name, learned in found.items()
        if learned.epochs[-1] > 0
    ]
    longest = max(float(curve.x[-1]) for curve in curves)
    flat = [
        Curve(name, np.array([1.0, longest]), np.repeat(learned.error[-1], 2))
        for name, learned in found.items()
        if learned.epochs[-1] == 0
    ]
    return Panel("Robot arm", "epoch", "relative error on test rows", (*curves, *flat))
