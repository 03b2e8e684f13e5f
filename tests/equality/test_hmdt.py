"""Hidden Markov decision trees: the same bits for any number of threads and however sequences are given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import baytree as bt


@pytest.mark.parametrize("method", ["exact", "mean_field"])
def test_threads_change_nothing(method: str) -> None:
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(400, 2)), generator.normal(size=400)
    y[generator.random(400) < 0.1] = np.nan
    groups = np.repeat(np.arange(16), 25)

    def fitted(threads: int | None, seed: int = 3) -> bt.HMDTRegressor:
        model = bt.HMDTRegressor(method=method, epochs=10, n_init=2, n_jobs=threads, random_state=seed)
        return model.fit(X, y, groups)

    alone, many = fitted(None), fitted(4)
    np.testing.assert_array_equal(alone.tree_.gates, many.tree_.gates)
    assert alone.objective_ == many.objective_
    np.testing.assert_array_equal(alone.predict(X, y, groups), many.predict(X, y, groups))
    np.testing.assert_array_equal(alone.smooth(X, y, groups).decision, many.smooth(X, y, groups).decision)
    np.testing.assert_array_equal(alone.viterbi(X, y, groups).decision, many.viterbi(X, y, groups).decision)
    assert fitted(None, seed=4).objective_ != alone.objective_


@pytest.mark.parametrize("method", ["exact", "mean_field"])
def test_a_seed_gives_the_same_posterior(method: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    X, y = generator.normal(size=(200, 2)), generator.normal(size=200)
    design = bt.make_sequence_design([X[:90], X[90:]], [y[:90], y[90:]])
    model = bt.HMDT(method=method, epochs=5, n_init=2)
    one, other = (bt.sample(model, design, seed=6, threads=threads, progress=False) for threads in (1, 3))
    one.save(tmp_path / "tree.baytree")
    for each in (other, bt.load(tmp_path / "tree.baytree")):
        assert (each.model, each.settings, each.states) == (one.model, one.settings, one.states)
        for name, values in one.part(0, 0, 1).items():
            np.testing.assert_array_equal(values, each.part(0, 0, 1)[name], err_msg=name)
        np.testing.assert_array_equal(each.smooth(X).decision, one.smooth(X).decision)
    assert bt.sample(model, design, seed=7, progress=False).states != one.states
