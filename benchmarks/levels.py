"""A categorical column of many levels beside 0/1 columns (one-hot) and a ridge: how far f is missed, and why.

1,000 rows, 50 levels with effects N(0, 1), a column that says nothing, noise of standard deviation 0.5; means of three
tables. What sets of levels and 0/1 columns differ in first is how often the column that says nothing is asked about:
once in two or once in 51.

``python -m benchmarks.levels``.
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import RidgeCV

import baytree as bt

ROWS, LEVELS, TABLES = 1000, 50, 3


def missed(X: np.ndarray, y: np.ndarray, f: np.ndarray, prior: bt.GrowTree, labels: bool) -> float:
    """The root mean squared error of f."""
    design = bt.make_design(X, y, task="regression", categorical_features=[0] if labels else None)
    posterior = bt.sample(bt.BART(prior=prior), design, seed=1, progress=False)
    return float(np.sqrt(np.mean((posterior.predict(X) - f) ** 2)))


def errors(seed: int) -> dict[str, float]:
    """That of each way to say the levels, for one table."""
    rng = np.random.default_rng(seed)
    effect, level = rng.normal(size=LEVELS), rng.integers(0, LEVELS, ROWS)
    other = rng.random(ROWS)
    f = effect[level]
    y = f + 0.5 * rng.normal(size=ROWS)
    sets, dummies = level[:, None].astype(float), (level[:, None] == np.arange(LEVELS)).astype(float)
    tables = {"sets": np.column_stack([sets, other]), "one-hot": np.column_stack([dummies, other])}
    usual = bt.GrowTree(beta=2.0)
    ridge = RidgeCV(np.logspace(-3, 3, 20)).fit(tables["one-hot"], y).predict(tables["one-hot"])
    return {
        "sets": missed(tables["sets"], y, f, usual, True),
        "one-hot": missed(tables["one-hot"], y, f, usual, False),
        "sets, the other column asked about once in 51": missed(
            tables["sets"], y, f, usual & bt.Weights(x0=LEVELS), True
        ),
        "one-hot, the other column asked about once in two": missed(
            tables["one-hot"], y, f, usual & bt.Weights(**{f"x{LEVELS}": LEVELS}), False
        ),
        "sets, sparse weights": missed(tables["sets"], y, f, usual & bt.Weights("sparse"), True),
        "sets, without the other column": missed(sets, y, f, usual, True),
        "one-hot, without the other column": missed(dummies, y, f, usual, False),
        "ridge": float(np.sqrt(np.mean((ridge - f) ** 2))),
    }


def main() -> None:
    each = [errors(seed) for seed in range(TABLES)]
    for name in each[0]:
        print(f"| {name} | {np.mean([one[name] for one in each]):.3f} |")


if __name__ == "__main__":
    main()
