"""The methods by which a soft tree is fitted, and where each begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...data.matrix import LinearDesign
from ...errors import InputError
from ...text import counted
from ..data.inputs import Inputs
from ..mean_field import variational
from ..mean_field.factors import Prior
from ..mean_field.variational import MeanField
from ..numeric.arrays import Array, index, namespace, to_kind_of
from ..tree import splits
from ..tree.soft_tree import SoftTree
from . import em, online
from .initialisation import initial_trees

if TYPE_CHECKING:
    from ..model import HME, TrainingRows


@dataclass(frozen=True)
class Fitted:
    """A soft tree that was fitted.

    Attributes
    ----------
    tree : SoftTree
        Gates and experts.
    objective : tuple of float
        What the method maximises, before each epoch and at the end; of the recursions the log-likelihood at the end.
    held_out : tuple of float
        The mean log-likelihood of the rows held out, likewise; empty where there were none.
    epochs : int
        Passes over the data.
    converged : bool
        Whether the method ended by itself.
    state : OnlineState or None
        Where the recursions are, so that they can go on.
    field : MeanField or None
        The distribution that the tree is the mean of, where the method finds one.
    """

    tree: SoftTree
    objective: tuple[float, ...]
    held_out: tuple[float, ...] = ()
    epochs: int = 0
    converged: bool = True
    state: online.OnlineState | None = None
    field: MeanField | None = None


def fit(model: HME, design: LinearDesign, seed: int) -> Fitted:
    """Fit a soft tree by the method of the model.

    Parameters
    ----------
    model : HME
        What to fit, resolved.
    design : LinearDesign
        The data.
    seed : int
        Of random initial trees, of rows held out and of the order of rows.
    """
    rows = model.rows(design)
    if (like := computes_with(model, design)) is not None:
        inputs, outputs, weight = (to_kind_of(like, each) for each in rows)
        rows = inputs, outputs, weight
    return BY_METHOD[model.method](model, rows, model.inputs(design.schema), np.random.default_rng(seed))


def _by_em(model: HME, rows: TrainingRows, inputs: Inputs, generator: np.random.Generator) -> Fitted:
    kept, held_out = _divided(model, rows[0].shape[0], generator)
    learned, other = _some(rows, kept), _some(rows, held_out) if len(held_out) else None
    settings = em.Settings(
        algorithm="em2" if model.method == "em2" else "em",
        ridge=float(model.ridge),
        epochs=model.epochs,
        tolerance=model.tol,
        patience=model.n_iter_no_change,
    )
    fits = []
    for begin in initial_trees(model, learned, inputs, generator):
        free = splits.columns_of(begin) if model.keep_columns else None
        fits.append(em.fit(begin, *learned, settings, other, free=free))
    best = max(fits, key=lambda fit: max(fit.held_out) if fit.held_out else fit.objective[-1])
    return Fitted(best.tree, best.objective, best.held_out, len(best.objective) - 1, best.converged)


def _by_recursions(model: HME, rows: TrainingRows, inputs: Inputs, generator: np.random.Generator) -> Fitted:
    first = next(initial_trees(model, rows, inputs, generator))
    begun = Fitted(first, (), state=online.first_state(first))
    return learn_rows(begun, rows, model.epochs, model.decay, generator)


def _by_mean_field(model: HME, rows: TrainingRows, inputs: Inputs, generator: np.random.Generator) -> Fitted:
    settings = variational.Settings(prior_of(model), epochs=model.epochs, tolerance=model.tol)
    fits = [variational.fit(begin, *rows, settings) for begin in initial_trees(model, rows, inputs, generator)]
    best = max(fits, key=lambda found: found.bound[-1])
    return Fitted(best.field.mean, best.bound, epochs=len(best.bound) - 1, converged=best.converged, field=best.field)


def prior_of(model: HME) -> Prior:
    """What a mean field believes before the rows."""
    return Prior(precision=float(model.ridge))


def learn_rows(before: Fitted, rows: TrainingRows, epochs: int, decay: float, generator: np.random.Generator) -> Fitted:
    """Go on with the recursions.

    Parameters
    ----------
    before : Fitted
        Where they are.
    rows : tuple of numpy.ndarray
        Inputs, outputs and weights of the rows to learn.
    epochs : int
        How often each row is learned.
    decay : float
        λ.
    generator : numpy.random.Generator
        Of the order of the rows.
    """
    X, Y, weight = rows
    tree, state = before.tree, before.state
    assert state is not None
    for _ in range(epochs):
        for row in generator.permutation(len(X)):
            tree, state = online.learn_row(tree, state, X[row], Y[row], decay, float(weight[row]))
    objective = float(np.sum(weight * tree.log_likelihood(X, Y)))
    return Fitted(tree, (objective,), epochs=before.epochs + epochs, state=state)


# The one place where a method is chosen.
BY_METHOD: dict[str, Callable[[HME, TrainingRows, Inputs, np.random.Generator], Fitted]] = {
    "em": _by_em,
    "em2": _by_em,
    "online": _by_recursions,
    "variational": _by_mean_field,
}


# The methods that are written within the array API.
ON_ANY_ARRAYS = ("em", "em2", "variational")


def computes_with(model: HME, design: LinearDesign) -> Array | None:
    """An array of the kind that a fit computes with; None of NumPy's."""
    return design.like if model.method in ON_ANY_ARRAYS else None


def _some(rows: TrainingRows, which: np.ndarray) -> TrainingRows:
    xp = namespace(*rows)
    places = index(rows[0], which)
    X, Y, weight = (xp.take(each, places, axis=0) for each in rows)
    return X, Y, weight


def _divided(model: HME, rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """TrainingRows to learn from, and rows to hold out."""
    if not model.early_stopping:
        return np.arange(rows), np.arange(0)
    held_out = max(1, round(model.validation_fraction * rows))
    if rows - held_out < 2:
        raise InputError(f"early_stopping: {counted(rows, 'row')} cannot be divided; leave it out")
    order = generator.permutation(rows)
    return np.sort(order[held_out:]), np.sort(order[:held_out])
