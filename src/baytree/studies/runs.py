"""What the studies share: the data by their published names, rows held out, and chains with and without tempering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .. import datasets
from ..bart.model import BART
from ..bart.posterior import BARTPosterior
from ..cart.model import CART
from ..cart.posterior import Posterior
from ..data.design import Design, make_design
from ..sampling.api import sample

if TYPE_CHECKING:
    import polars as pl

# By the names that the papers give them.
DATA = {"K": "kyphosis", "BCW": "breast_cancer", "PIMA": "pima", "LR": "letter", "WF": "waveform"}

# How chains are run: alone; with MrBayes' four chains, as published; on a ladder that is tuned and reaches the prior.
WAYS: Mapping[str, Mapping[str, Any]] = {
    "none": {},
    "mrbayes": {"temperatures": 4, "ladder": "mrbayes"},
    "adaptive": {"temperatures": 12, "ladder": "adaptive"},
}
WARMUP_SHARE = 0.1
DRAWS = 1000


@dataclass(frozen=True, eq=False)
class Holdout:
    """A data set in two parts, the rows of which were drawn at random.

    Attributes
    ----------
    train : Design
        The rows to learn from, with every cut point.
    X, y
        The rows held out.
    train_y : numpy.ndarray
        The classes of the rows to learn from.
    train_X : polars.DataFrame
        Their predictors.
    """

    train: Design
    X: pl.DataFrame
    y: np.ndarray
    train_X: pl.DataFrame
    train_y: np.ndarray


def whole(name: str) -> Design:
    """All rows of a data set, with every cut point."""
    data = datasets.load(DATA[name])
    return make_design(data.X, data.y, task="classification", max_cuts=None)


def hold_out(name: str, rows: int | None, rng: np.random.Generator) -> Holdout:
    """Hold out rows of a data set, by default as many as were published: a fifth, rounded down."""
    data = datasets.load(DATA[name])
    order = rng.permutation(len(data.y))
    rows = len(order) // 5 if rows is None else rows
    held, kept = np.sort(order[:rows]), np.sort(order[rows:])
    train = make_design(data.X[kept], data.y[kept], task="classification", max_cuts=None)
    return Holdout(train, data.X[held], data.y[held], data.X[kept], data.y[kept])


def chains(
    model: CART, design: Design, iterations: int, seeds: int, seed: int, tempering: Mapping[str, Any]
) -> Posterior:
    """Chains that differ in nothing but their random numbers, of so many iterations with the warm-up."""
    warmup = int(WARMUP_SHARE * iterations)
    thin = max(1, (iterations - warmup) // DRAWS)
    return recorded(
        model,
        design,
        warmup=warmup,
        draws=(iterations - warmup) // thin,
        thin=thin,
        chains=seeds,
        seed=seed,
        **tempering,
    )


@overload
def recorded(model: CART, design: Design, **settings: Any) -> Posterior: ...
@overload
def recorded(model: BART, design: Design, **settings: Any) -> BARTPosterior: ...
def recorded(model: Any, design: Design, **settings: Any) -> Any:
    """What `sample` gives; a study that was interrupted has no outcome."""
    posterior = sample(model, design, progress=False, **settings)
    if posterior.draws < settings["draws"]:
        raise KeyboardInterrupt("the study was interrupted before its end")
    return posterior


def alone(posterior: Posterior, chain: int) -> Posterior:
    """The draws of one chain, as if it had been the only one."""
    return replace(
        posterior,
        tree_index=posterior.tree_index[[chain]],
        log_likelihood=posterior.log_likelihood[[chain]],
        log_prior=posterior.log_prior[[chain]],
        states=(posterior.states[chain],),
        rung_log_likelihood=None,
    )


def predictions(posterior: Posterior, X: pl.DataFrame, kind: str = "mean") -> np.ndarray:
    """What each chain predicts by itself, shape (chains, rows, classes)."""
    return np.stack([alone(posterior, chain).predict(X, kind) for chain in range(posterior.chains)])


def accuracy(posterior: Posterior, X: pl.DataFrame, y: np.ndarray) -> np.ndarray:
    """Of each chain, the percentage of rows whose most probable class is theirs."""
    classes = np.asarray(posterior.schema.response.classes)
    return 100 * np.mean(classes[predictions(posterior, X).argmax(axis=2)] == y, axis=1)
