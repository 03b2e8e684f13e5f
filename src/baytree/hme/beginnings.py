"""The trees at which a fit of a model begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import start
from .inputs import Inputs
from .numeric import to_numpy
from .soft_tree import SoftTree

if TYPE_CHECKING:
    from .model import HME, TrainingRows


def beginnings(model: HME, rows: TrainingRows, inputs: Inputs, generator: np.random.Generator) -> Iterator[SoftTree]:
    """The trees at which a fit begins: several random ones, or one from the splits of a decision tree."""
    if model.init == "random" or model.depth == 0:
        for _ in range(model.n_init):
            yield start.random_tree(model.expert, *rows, model.depth, model.branching, generator)
        return
    if isinstance(model.init, start.Splits):
        levels = model.init.standard(inputs)
    else:
        levels = start.splits_of(_hard_tree(model, rows, generator), model.depth)
    yield start.tree_from_splits(model.expert, *rows, levels)


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
