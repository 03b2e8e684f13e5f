"""Do chains find the few columns that matter among very many? That is a matter of how they begin."""

from __future__ import annotations

import numpy as np
import pytest

import baytree as bt
from baytree.bart import model

COLUMNS, ROWS = 2_000, 300
# The columns of Friedman's function whose effects are the strongest, and the weight of one that was found.
STRONG, FOUND = [0, 1, 3], 0.02


def strong_weights(seed: int) -> np.ndarray:
    """Of each chain the mean weights of the strong columns."""
    data = bt.datasets.friedman(n=ROWS, p=COLUMNS, seed=seed)
    sums = bt.BART(prior=bt.GrowTree(beta=2.0) & bt.Weights("sparse"))
    found = bt.sample(sums, data.design(), warmup=500, draws=250, seed=seed, progress=False)
    return np.exp(found.log_weights[:, :, STRONG]).mean(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_every_chain_finds_the_columns_that_matter(seed: int) -> None:
    assert (strong_weights(seed) > FOUND).all()


@pytest.mark.slow
def test_chains_that_learn_weights_at_once_are_trapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "EVEN_SWEEPS", 0)
    assert (strong_weights(2) < FOUND).any()
