"""scikit-learn's own checks of the estimators, and the habits its users have."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import baytree as bt


def test_example_of_the_issue() -> None:
    data = bt.datasets.load("breast_cancer")
    classifier = bt.CARTClassifier(
        prior=bt.GrowTree(alpha=0.95, beta=1.0, min_leaf=5),
        proposal="uc",
        chains=4,
        warmup=1000,
        draws=1000,
        thin=1,
        random_state=0,
        n_jobs=None,
    ).fit(data.X, data.y, sample_weight=None)
    assert classifier.score(data.X, data.y) > 0.95
    assert classifier.predict_proba(data.X).shape == (683, 2)
    np.testing.assert_allclose(classifier.predict_proba(data.X).sum(axis=1), 1)
    assert classifier.posterior_.log_likelihood.shape == (4, 1000)
    assert list(classifier.feature_names_in_) == data.X.columns


def test_kinds_of_prediction() -> None:
    data = bt.datasets.friedman(150, seed=1)
    regressor = bt.CARTRegressor(chains=2, draws=200, random_state=0).fit(data.X, data.y)
    mean = regressor.predict(data.X)
    low, high = regressor.predict(data.X, kind="interval", prob=0.9).T
    draws = regressor.predict(data.X, kind="draws")
    new = regressor.predict(data.X, kind="predictive")
    assert draws.shape == new.shape == (2, 200, 150)
    assert ((low < mean) & (mean < high)).mean() > 0.95
    np.testing.assert_allclose(np.quantile(draws, [0.05, 0.95], axis=(0, 1)), [low, high])
    # The mean averages the leaves' exact means, the draws sample around them.
    error = draws.std(axis=(0, 1)) / np.sqrt(400)
    assert (np.abs(draws.mean(axis=(0, 1)) - mean) < 5 * error).all()
    assert (new.std(axis=(0, 1)) > draws.std(axis=(0, 1))).all()
    np.testing.assert_array_equal(new, regressor.predict(data.X, kind="predictive"))
    outer = regressor.predict(data.X, kind="predictive_interval", prob=0.8)
    np.testing.assert_allclose(outer, np.quantile(new, [0.1, 0.9], axis=(0, 1)).T)


def test_classifier_kinds() -> None:
    data = bt.datasets.load("kyphosis")
    classifier = bt.CARTClassifier(chains=2, draws=300, random_state=0).fit(data.X, data.y)
    mean = classifier.predict_proba(data.X)
    vote = classifier.predict_proba(data.X, kind="vote")
    interval = classifier.predict_proba(data.X, kind="interval", prob=0.5)
    draws = classifier.predict_proba(data.X, kind="draws")
    assert interval.shape == (81, 2, 2)
    assert draws.shape == (2, 300, 81, 2)
    np.testing.assert_allclose(vote.sum(axis=1), 1)
    np.testing.assert_allclose(draws.sum(axis=-1), 1)
    # The trees are the same on both sides, so only the leaves' draws differ: independent, 600 of them.
    assert (np.abs(draws.mean(axis=(0, 1)) - mean) < 5 * draws.std(axis=(0, 1)) / np.sqrt(600)).all()
    new = classifier.posterior_.predict(data.X, kind="predictive")
    error = np.sqrt(mean[:, 1] * (1 - mean[:, 1]) / 600)
    assert (np.abs((new == 1).mean(axis=(0, 1)) - mean[:, 1]) < 5 * error).all()


def test_clone_search_and_pipelines() -> None:
    data = bt.datasets.load("kyphosis")
    X = data.X.to_numpy()
    quick = bt.CARTClassifier(chains=2, warmup=100, draws=50, random_state=0)
    assert clone(quick).get_params() == quick.get_params()
    priors = [bt.GrowTree(beta=0.5), bt.GrowTree(beta=2.0)]
    search = GridSearchCV(quick, {"prior": priors}, cv=2).fit(X, data.y)
    assert search.best_params_["prior"] in priors
    assert len(cross_val_score(make_pipeline(FunctionTransformer(), quick), X, data.y, cv=3)) == 3


def test_weights_count_copies() -> None:
    """Weight 3 on a row gives the likelihood of three copies."""
    design = bt.make_design([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 4.0, 8.0], task="regression")
    tripled = bt.make_design(
        [[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 4.0, 8.0], task="regression", sample_weight=[3, 1, 1, 1]
    )
    copies = bt.make_design([[0.0]] * 3 + [[1.0], [2.0], [3.0]], [1.0] * 3 + [2.0, 4.0, 8.0], task="regression")
    tree = {"feature": "x0", "threshold": 1.5, "left": {"leaf": True}, "right": {"leaf": True}}
    model = bt.CART(bt.GrowTree(min_leaf=1), bt.Gaussian(mean=3.0, kappa=0.5, nu=3.0, scale=2.0))
    assert model.log_likelihood(tripled, tree) == pytest.approx(model.log_likelihood(copies, tree), abs=1e-12)
    assert model.log_likelihood(tripled, tree) != pytest.approx(model.log_likelihood(design, tree))
