"""The trees at which a fit of a model begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.inputs import Inputs
from ..numeric.arrays import to_numpy
from ..tree import splits
from ..tree.soft_tree import SoftTree
from . import em

if TYPE_CHECKING:
    from ..model import HME, TrainingRows

# Epochs of EM between one level and the next of a tree that grows.
GROWING = 20


def initial_trees(model: HME, rows: TrainingRows, inputs: Inputs, generator: np.random.Generator) -> Iterator[SoftTree]:
    """The trees at which a fit begins: several random ones or grown ones, or one from a decision tree."""
    if model.init in ("random", "grow") or model.depth == 0:
        for _ in range(model.n_init):
            yield (
                _grown(model, rows, generator) if model.init == "grow" else _random(model, rows, model.depth, generator)
            )
        return
    if isinstance(model.init, splits.Splits):
        levels = model.init.standard(inputs)
    elif not len(inputs.kept):  # nothing that a decision tree could ask about
        levels = [[None] * 2**level for level in range(model.depth)]
    else:
        levels = splits.splits_of(_hard_tree(model, rows, generator), model.depth)
    yield splits.tree_from_splits(model.expert, *rows, levels)


def _random(model: HME, rows: TrainingRows, depth: int, generator: np.random.Generator) -> SoftTree:
    return splits.random_tree(model.expert, *rows, depth, model.branching, generator)


def _grown(model: HME, rows: TrainingRows, generator: np.random.Generator) -> SoftTree:
    """A tree that began with one level at random, and got another after some epochs of EM, until it is deep enough."""
    tree = _random(model, rows, min(model.depth, 1), generator)
    settings = em.Settings(ridge=float(model.ridge), epochs=GROWING, tolerance=model.tol)
    while tree.depth < model.depth:
        tree = splits.grown(em.fit(tree, *rows, settings).tree, generator)
    return tree


def _hard_tree(model: HME, rows: TrainingRows, generator: np.random.Generator) -> Any:
    """A decision tree of scikit-learn for the same rows."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    X, Y, weight = (to_numpy(each) for each in rows)
    options = {
        "max_depth": model.depth,
        # A leaf has at least the weight of five rows.
        "min_weight_fraction_leaf": min(5 / float(weight.sum()), 0.4),
        "random_state": int(generator.integers(2**31)),
    }
    if model.expert in ("logistic", "multinomial"):
        return DecisionTreeClassifier(**options).fit(X[:, :-1], Y.argmax(axis=1), sample_weight=weight)
    return DecisionTreeRegressor(**options).fit(X[:, :-1], Y, sample_weight=weight)
