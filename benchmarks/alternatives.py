"""What others do on the same tables: accuracy, coverage of 90% intervals of new values, and processor time.

Every method has its own defaults, or a budget that is named below, one thread, and the same folds. Methods that are not
installed are left out, and said to be: ``pip install xgboost-cpu interpret-core stochtree``.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_diabetes
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import KFold, StratifiedKFold

import baytree as bt

LEVEL = 0.9
TAILS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
# Of baytree and of stochtree alike.
WARMUP, DRAWS, CHAINS = 500, 250, 4
LEAST = 1e-15


class Told(NamedTuple):
    """What a method says of new rows: probabilities of the second class, or means and intervals of new values."""

    mean: np.ndarray
    interval: np.ndarray | None = None


class Data(NamedTuple):
    """A table of numbers."""

    X: np.ndarray
    y: np.ndarray
    classes: bool


def data_of(name: str) -> Data:
    """A table by name; classes are 0 and 1."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
        return Data(X, y, False)
    data = bt.datasets.friedman(500, seed=1) if name == "friedman" else bt.datasets.load(name)
    y = data.y if name == "friedman" else (data.y == np.unique(data.y)[1]).astype(int)
    return Data(np.asarray(data.X.to_numpy(), dtype=float), y, name != "friedman")


def by_baytree(model: str) -> Callable[[Data, np.ndarray, int], Told]:
    def told(train: Data, new: np.ndarray, seed: int) -> Told:
        run: dict[str, Any] = {"random_state": seed, "n_jobs": 1}
        if model == "BART":
            run |= {"warmup": WARMUP, "draws": DRAWS, "chains": CHAINS}
        else:
            run |= {"effort": "quick"}
        fitted = getattr(bt, model + ("Classifier" if train.classes else "Regressor"))(**run).fit(train.X, train.y)
        if train.classes:
            return Told(fitted.predict_proba(new)[:, 1])
        return Told(fitted.predict(new), fitted.predict(new, kind="predictive_interval", prob=LEVEL))

    return told


def by_boosting(train: Data, new: np.ndarray, seed: int) -> Told:
    if train.classes:
        return Told(HistGradientBoostingClassifier(random_state=seed).fit(train.X, train.y).predict_proba(new)[:, 1])

    def predicted(**options: Any) -> np.ndarray:
        fitted = HistGradientBoostingRegressor(random_state=seed, **options).fit(train.X, train.y)
        return np.asarray(fitted.predict(new))

    return Told(predicted(), np.column_stack([predicted(loss="quantile", quantile=tail) for tail in TAILS]))


def by_forest(train: Data, new: np.ndarray, seed: int) -> Told:
    if train.classes:
        return Told(RandomForestClassifier(random_state=seed).fit(train.X, train.y).predict_proba(new)[:, 1])
    return Told(RandomForestRegressor(random_state=seed).fit(train.X, train.y).predict(new))


def by_xgboost(train: Data, new: np.ndarray, seed: int) -> Told:
    import xgboost

    run: dict[str, Any] = {"random_state": seed, "n_jobs": 1}
    if train.classes:
        return Told(xgboost.XGBClassifier(**run).fit(train.X, train.y).predict_proba(new)[:, 1])
    tails = xgboost.XGBRegressor(objective="reg:quantileerror", quantile_alpha=np.array(TAILS), **run)
    return Told(
        xgboost.XGBRegressor(**run).fit(train.X, train.y).predict(new), tails.fit(train.X, train.y).predict(new)
    )


def by_ebm(train: Data, new: np.ndarray, seed: int) -> Told:
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    run: dict[str, Any] = {"random_state": seed, "n_jobs": 1}
    if train.classes:
        return Told(ExplainableBoostingClassifier(**run).fit(train.X, train.y).predict_proba(new)[:, 1])
    return Told(ExplainableBoostingRegressor(**run).fit(train.X, train.y).predict(new))


def by_stochtree(train: Data, new: np.ndarray, seed: int) -> Told:
    from stochtree import BARTModel, OutcomeModel

    general: dict[str, Any] = {"random_seed": seed, "num_threads": 1, "num_chains": CHAINS}
    if train.classes:
        general["outcome_model"] = OutcomeModel("binary", "probit")
    model = BARTModel()
    budget = {"num_gfr": 0, "num_burnin": WARMUP, "num_mcmc": DRAWS}
    model.sample(X_train=train.X, y_train=train.y.astype(float), general_params=general, **budget)
    if train.classes:
        return Told(np.asarray(model.predict(new, type="mean", terms="y_hat", scale="probability")))
    # New values of each row, one or more a draw.
    draws = np.asarray(model.sample_posterior_predictive(new)).reshape(len(new), -1)
    return Told(np.asarray(model.predict(new, type="mean", terms="y_hat")), np.quantile(draws, TAILS, axis=1).T)


METHODS: dict[str, tuple[str, Callable[[Data, np.ndarray, int], Told]]] = {
    "baytree BART": ("baytree", by_baytree("BART")),
    "baytree CART": ("baytree", by_baytree("CART")),
    "stochtree BART": ("stochtree", by_stochtree),
    "scikit-learn boosting": ("scikit-learn", by_boosting),
    "scikit-learn forest": ("scikit-learn", by_forest),
    "XGBoost": ("xgboost-cpu", by_xgboost),
    "EBM": ("interpret-core", by_ebm),
}


def folds(data: Data, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    kind = StratifiedKFold if data.classes else KFold
    return list(kind(count, shuffle=True, random_state=0).split(data.X, data.y))


def measured(data: Data, told: Callable[[Data, np.ndarray, int], Told], count: int) -> dict[str, float]:
    """Of one method on one table, over all held-out rows; processor time of all fits and predictions."""
    mean, interval = np.zeros(len(data.y)), np.full((len(data.y), 2), np.nan)
    began = time.process_time()
    for seed, (train, held) in enumerate(folds(data, count)):
        found = told(data._replace(X=data.X[train], y=data.y[train]), data.X[held], seed)
        mean[held] = found.mean
        if found.interval is not None:
            interval[held] = found.interval
    seconds = time.process_time() - began
    if data.classes:
        share = np.clip(np.where(data.y == 1, mean, 1 - mean), LEAST, 1)
        right = np.mean((mean > 0.5) == data.y)
        return {"right": 100 * right, "loss": -np.mean(np.log(share)), "seconds": seconds}
    inside = (interval[:, 0] <= data.y) & (data.y <= interval[:, 1])
    return {
        "rmse": float(np.sqrt(np.mean((mean - data.y) ** 2))),
        "covered": 100 * inside.mean() if np.isfinite(interval).all() else np.nan,
        "width": float(np.mean(interval[:, 1] - interval[:, 0])),
        "seconds": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", default=["breast_cancer", "heart", "kyphosis", "friedman", "diabetes"])
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    console = Console(width=110)
    for name in options.data:
        data, table = data_of(name), None
        for method in options.methods:
            package, told = METHODS[method]
            try:
                version = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                console.print(f"{method}: {package} is not installed")
                continue
            found = measured(data, told, options.folds)
            if table is None:
                table = Table(
                    "method", "version", *found, title=f"{name}: {data.X.shape[0]} rows, {data.X.shape[1]} columns"
                )
            table.add_row(method, version.partition("+")[0], *(f"{value:.3g}" for value in found.values()))
        console.print(table)


if __name__ == "__main__":
    main()
