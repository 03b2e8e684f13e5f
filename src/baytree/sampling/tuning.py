"""Choosing hyperparameters by what models predict of rows that they were not fitted to."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any, Generic, TypeVar

import numpy as np

from ..data.design import Design
from ..errors import InputError
from ..mcmc.contract import Grid, Model
from ..posterior.registry import require_model
from ..text import counted
from ..validation import require_whole, seed_of, threads_of, unknown_choice
from .api import sample

# How each fit is run where nothing else is said.
SETTINGS = {"chains": 2, "warmup": 250, "draws": 250}
# Separates the generator of the folds from the chains'.
FOLDS_KEY = 2

AnyModel = TypeVar("AnyModel", bound=Model[Any, Any])


@dataclass(frozen=True)
class Trial:
    """Some hyperparameters, and how well they predict.

    Attributes
    ----------
    parameters : dict of str to object
        The hyperparameters that were tried.
    score : float
        The held-out log score: the mean over the rows of log p(y | x, the other folds).
    behind : float
        How much less that is than the best score.
    se : float
        The standard error of `behind`, by the differences of the rows.
    """

    parameters: dict[str, Any]
    score: float
    behind: float
    se: float


@dataclass(frozen=True)
class Tuning(Generic[AnyModel]):
    """What was tried, and what predicts best; ``print`` it.

    Attributes
    ----------
    model : Model
        The model with the hyperparameters that predict best, to be fitted to the whole table by `sample`.
    trials : tuple of Trial
        All that was tried, the best first.
    rows, folds : int
        How many rows there are, and into how many parts they were divided.
    """

    model: AnyModel
    trials: tuple[Trial, ...]
    rows: int
    folds: int

    @property
    def parameters(self) -> dict[str, Any]:
        """The hyperparameters that predict best."""
        return dict(self.trials[0].parameters)

    def __str__(self) -> str:
        names = list(dict.fromkeys(name for trial in self.trials for name in trial.parameters))
        head = [*names, "score", "behind", "se"]
        lines = [
            [
                *(f"{trial.parameters[name]}" if name in trial.parameters else "" for name in names),
                *(f"{value:.4f}" for value in (trial.score, trial.behind, trial.se)),
            ]
            for trial in self.trials
        ]
        widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
        table = [
            "  ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True)) for line in [head, *lines]
        ]
        title = f"held-out log score a row, {self.folds} folds of {counted(self.rows, 'row')}, the best first"
        return "\n".join([title, *table])

    def to_dict(self) -> dict[str, Any]:
        """The trials as JSON-safe values."""
        return {"rows": self.rows, "folds": self.folds, "trials": [vars(trial) for trial in self.trials]}


def tune(
    model: AnyModel,
    design: Design,
    *,
    grid: Grid | Sequence[Grid] | None = None,
    folds: int = 5,
    seed: int | None = None,
    threads: int | None = None,
    progress: bool = True,
    **settings: Any,
) -> Tuning[AnyModel]:
    """Choose hyperparameters by cross-validation, as ``GridSearchCV`` does, by the log score of held-out rows.

    The rows are divided at random, of classes so that each part has its share of all of them. Every combination is
    fitted to all parts but one, each time another one, whose rows it must predict: the score of a row is the logarithm
    of the mean over the draws of p(y | x). Unlike an accuracy or a squared error that rewards honest uncertainty.

    The same seed gives the same result for any number of threads.

    Parameters
    ----------
    model : CART or BART
        The model, of which everything that the grid does not name is kept.
    design : Design
        The data.
    grid : mapping of str to sequence, or sequence of such mappings, optional
        Of each hyperparameter of the model or of its prior, what to try; all combinations are, those of several grids
        one after another. By default what has proved worth trying: see ``model.grids``.
    folds : int
        How many parts.
    seed : int, optional
        Of the parts and of all fits; a random one by default.
    threads : int, optional
        As for `sample`.
    progress : bool
        Whether to say on standard error which fit is done.
    **settings
        Passed on to `sample`: ``chains``, ``warmup``, ``draws`` and so on, by default 2, 250 and 250.

    Returns
    -------
    Tuning
        The model that predicts best, and the table of scores.

    Examples
    --------
    >>> import baytree as bt
    >>> design = bt.datasets.friedman(100, seed=1).design()
    >>> tuning = bt.tune(bt.BART(trees=20), design, grid={"k": [1, 5]}, folds=2, seed=1, progress=False)
    >>> tuning.parameters
    {'k': 1}
    """
    require_model(model)
    if not isinstance(design, Design):
        raise InputError(f"design={design!r}: what is tuned are trees and sums of trees; give a Design")
    model.require(design)
    require_whole("folds", folds, 2)
    if folds > design.rows:
        raise InputError(f"folds={folds}: there are {counted(design.rows, 'row')}; choose fewer")
    seed, threads = seed_of(seed), threads_of(threads)
    tried = _combinations(_grids(model, grid))
    models = [_varied(model, parameters) for parameters in tried]
    part = _parts(design, int(folds), seed)
    scores = np.empty((len(models), design.rows))
    for fold in range(folds):
        inside, held = (design.take(np.flatnonzero(chosen)) for chosen in (part != fold, part == fold))
        for place, candidate in enumerate(models):
            run: dict[str, Any] = {**SETTINGS, **settings, "seed": seed, "threads": threads, "progress": False}
            posterior = sample(candidate, inside, **run)
            if posterior.draws < posterior.settings.draws:
                raise KeyboardInterrupt("the fits of a search were interrupted before their end")
            drawn = posterior.pointwise_log_likelihood(held).reshape(-1, held.rows)
            scores[place, part == fold] = np.logaddexp.reduce(drawn, axis=0) - np.log(len(drawn))
            if progress:
                done = fold * len(models) + place + 1
                print(f"fit {done} of {folds * len(models)}", file=sys.stderr, flush=True)
    mean = scores.mean(axis=1)
    order = np.argsort(-mean, kind="stable")
    best = order[0]
    apart = scores[best] - scores
    se = apart.std(axis=1, ddof=1) / np.sqrt(design.rows)
    trials = (Trial(tried[k], float(mean[k]), float(apart[k].mean()), float(se[k])) for k in order)
    return Tuning(models[best], tuple(trials), design.rows, int(folds))


def _grids(model: Model[Any, Any], grid: Grid | Sequence[Grid] | None) -> Sequence[Grid]:
    """The grids, each of which must be a mapping of lists."""
    if grid is None and not model.grids:
        raise InputError("grid: nothing says what to try of this model; give lists, such as {'power': [0.5, 1]}")
    grids = model.grids if grid is None else [grid] if isinstance(grid, Mapping) else grid
    for one in grids:
        if not isinstance(one, Mapping) or not one:
            raise InputError(f"grid={grid!r}: give what to try of each hyperparameter, such as {{'k': [1, 2, 3]}}")
        for name, values in one.items():
            if isinstance(values, str) or not isinstance(values, (Sequence, np.ndarray)):
                raise InputError(f"grid: {name}={values!r}: give lists of what to try, such as {{'k': [1, 2, 3]}}")
            if not len(values):
                raise InputError(f"grid: there is nothing to try of {name!r}; give a list of it, or leave it out")
    if not grids:
        raise InputError("grid: there is nothing to try; give what to try, such as {'k': [1, 2, 3]}")
    return grids


def _combinations(grids: Sequence[Grid]) -> list[dict[str, Any]]:
    return [dict(zip(grid, values, strict=True)) for grid in grids for values in product(*grid.values())]


def _varied(model: Any, parameters: Mapping[str, Any]) -> Any:
    """The model with other hyperparameters, of itself or of its prior."""
    own = {field.name for field in fields(model)}
    of_prior = {field.name for field in fields(model.prior)}
    for name in parameters:
        if name not in own | of_prior:
            raise unknown_choice("hyperparameter", name, sorted(own | of_prior))
    changed = {name: value for name, value in parameters.items() if name in own}
    prior = {name: value for name, value in parameters.items() if name not in own}
    return replace(model, prior=replace(changed.pop("prior", model.prior), **prior), **changed)


def _parts(design: Design, folds: int, seed: int) -> np.ndarray:
    """The part that each row belongs to; of classes each part has its share."""
    rng = np.random.default_rng([FOLDS_KEY, seed])
    order = rng.permutation(design.rows)
    if design.classes is not None:
        order = order[np.argsort(design.y[order], kind="stable")]
    part = np.empty(design.rows, dtype=np.int64)
    part[order] = np.arange(design.rows) % folds
    return part
