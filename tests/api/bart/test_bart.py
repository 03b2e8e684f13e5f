"""Sums of trees as estimators and posteriors: scikit-learn's checks, weights, offsets, knowledge, kinds of columns."""

import json
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import ndtr
from scipy.stats import norm
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import baytree as bt

QUICK: dict[str, Any] = {"trees": 10, "chains": 2, "warmup": 30, "draws": 40, "random_state": 0}


@pytest.fixture(scope="module")
def friedman() -> bt.datasets.Dataset:
    return bt.datasets.friedman(150, seed=1)


def three_classes(data: bt.datasets.Dataset) -> np.ndarray:
    return np.array(["low", "mid", "top"])[np.digitize(data.y, np.quantile(data.y, [1 / 3, 2 / 3]))]


def test_a_learned_spread_of_leaf_values(friedman: bt.datasets.Dataset) -> None:
    """A response on another scale has leaf values on that scale; a spread that is not learned stays what it is."""
    learned = [
        bt.BARTRegressor(**QUICK, k="learned").fit(friedman.X, scale * friedman.y).posterior_ for scale in (1.0, 1024.0)
    ]
    assert learned[0].leaf_sd.shape == (2, learned[0].draws)
    np.testing.assert_allclose(learned[1].leaf_sd, 1024 * learned[0].leaf_sd, rtol=1e-9)
    least, most = (times * learned[0].model.leaf_sd for times in (1 / 1024, 8))
    assert (learned[0].leaf_sd >= least).all() and (learned[0].leaf_sd <= most).all()
    assert bt.BARTRegressor(**QUICK).fit(friedman.X, friedman.y).posterior_.leaf_sd is None


# ---- kinds of prediction --------------------------------------------------------------------------------------------


def test_numbers(friedman: bt.datasets.Dataset) -> None:
    model = bt.BARTRegressor(**QUICK | {"trees": 40, "warmup": 200, "draws": 200}).fit(friedman.X, friedman.y)
    mean = model.predict(friedman.X)
    low, high = model.predict(friedman.X, kind="interval", prob=0.9).T
    draws, new = (model.predict(friedman.X, kind=kind) for kind in ("draws", "predictive"))
    assert draws.shape == new.shape == (2, 200, 150)
    np.testing.assert_allclose(draws.mean(axis=(0, 1)), mean, rtol=1e-6)
    np.testing.assert_allclose(np.quantile(draws, [0.05, 0.95], axis=(0, 1)), [low, high], rtol=1e-6)
    np.testing.assert_array_equal(new, model.predict(friedman.X, kind="predictive"))
    outer = model.predict(friedman.X, kind="predictive_interval", prob=0.8)
    np.testing.assert_allclose(outer, np.quantile(new, [0.1, 0.9], axis=(0, 1)).T, rtol=1e-6)
    # A new value is a draw of the mean plus noise of that draw's σ.
    noise = (new - draws) / model.posterior_.sigma[..., None]
    assert abs(noise.mean()) < 4 / np.sqrt(noise.size)
    assert abs(noise.std() - 1) < 4 / np.sqrt(2 * noise.size)
    assert model.score(friedman.X, friedman.y) > 0.8


@pytest.mark.parametrize("classes", [2, 3])
def test_classes(friedman: bt.datasets.Dataset, classes: int) -> None:
    y = friedman.y > np.median(friedman.y) if classes == 2 else three_classes(friedman)
    model = bt.BARTClassifier(**QUICK | {"warmup": 100, "draws": 200}).fit(friedman.X, y)
    assert model.classes_.tolist() == sorted(set(y.tolist()))
    mean, draws = model.predict_proba(friedman.X), model.predict_proba(friedman.X, kind="draws")
    assert draws.shape == (2, 200, 150, classes)
    np.testing.assert_allclose(draws.sum(axis=-1), 1, rtol=1e-6)
    np.testing.assert_allclose(draws.mean(axis=(0, 1)), mean, rtol=1e-5, atol=1e-7)
    interval = model.predict_proba(friedman.X, kind="interval", prob=0.5)
    expected = np.moveaxis(np.quantile(draws, [0.25, 0.75], axis=(0, 1)), 0, -1)
    np.testing.assert_allclose(interval, expected, rtol=1e-5, atol=1e-7)
    assert (model.predict(friedman.X) == model.classes_[mean.argmax(axis=1)]).all()
    assert model.score(friedman.X, y) > 0.8
    new = model.posterior_.predict(friedman.X, kind="predictive")
    error = np.sqrt(mean * (1 - mean) / 400)
    shares = np.stack([(new == k).mean(axis=(0, 1)) for k in range(classes)], axis=-1)
    assert (np.abs(shares - mean) < 5 * error + 1e-3).all()
    with pytest.raises(bt.InputError, match="no kind of prediction 'vote'"):
        model.posterior_.predict(friedman.X, kind="vote")


def test_wrong_kinds(friedman: bt.datasets.Dataset) -> None:
    model = bt.BARTRegressor(**QUICK).fit(friedman.X, friedman.y)
    with pytest.raises(bt.InputError, match="no kind of prediction 'means'"):
        model.predict(friedman.X, kind="means")  # type: ignore[arg-type]
    with pytest.raises(bt.InputError, match="prob=90"):
        model.predict(friedman.X, kind="interval", prob=90)


# ---- what the likelihood is -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("added", [False, True])
def test_log_likelihood_of_numbers(friedman: bt.datasets.Dataset, weighted: bool, added: bool) -> None:
    """A row of weight w has noise of variance σ²/w around its offset and the sum of trees."""
    generator = np.random.default_rng(1)
    weight = generator.uniform(0.2, 5, 150) if weighted else None
    offset = generator.normal(size=150) if added else None
    model = bt.BARTRegressor(**QUICK).fit(friedman.X, friedman.y, sample_weight=weight, offset=offset)
    fits = model.predict(friedman.X, kind="draws", offset=offset)
    sd = model.posterior_.sigma[..., None] / np.sqrt(1 if weight is None else weight)
    expected = norm.logpdf(friedman.y, fits, sd).sum(axis=-1)
    np.testing.assert_allclose(model.posterior_.log_likelihood, expected, rtol=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
def test_log_likelihood_of_classes(friedman: bt.datasets.Dataset, classes: int) -> None:
    """A row of weight w counts as w rows."""
    y = np.digitize(friedman.y, np.quantile(friedman.y, np.arange(1, classes) / classes))
    weight = np.random.default_rng(1).integers(1, 4, 150)
    model = bt.BARTClassifier(**QUICK).fit(friedman.X, y, sample_weight=weight)
    probability = model.predict_proba(friedman.X, kind="draws")[..., np.arange(150), y]
    expected = (weight * np.log(probability)).sum(axis=-1)
    np.testing.assert_allclose(model.posterior_.log_likelihood, expected, rtol=1e-4)


def test_rows_of_weight_zero_are_as_good_as_absent(friedman: bt.datasets.Dataset) -> None:
    weight = np.r_[np.zeros(50), np.ones(100)]
    X = friedman.X.to_numpy()
    with_zeros = bt.BARTRegressor(**QUICK).fit(X, friedman.y, sample_weight=weight)
    without = bt.BARTRegressor(**QUICK).fit(X[50:], friedman.y[50:], sample_weight=weight[50:])
    np.testing.assert_array_equal(with_zeros.posterior_.log_likelihood, without.posterior_.log_likelihood)


def test_the_unit_of_weights_is_that_of_the_noise(friedman: bt.datasets.Dataset) -> None:
    """Four times the weights are twice the σ, whichever way it is guessed."""
    for sigma in ("linear", "naive"):
        scales = []
        for weight in (1.0, 4.0):
            design = bt.make_design(friedman.X, friedman.y, task="regression", sample_weight=np.full(150, weight))
            scales.append(bt.BART(sigma=sigma).resolve(design).calibration.scale)
        assert scales[1] == pytest.approx(4 * scales[0])


def test_classes_have_whole_weights() -> None:
    data = bt.datasets.load("kyphosis")
    with pytest.raises(bt.InputError, match="whole numbers as weights"):
        bt.BARTClassifier(**QUICK).fit(data.X, data.y, sample_weight=np.full(81, 0.5))


# ---- offsets --------------------------------------------------------------------------------------------------------


def test_an_offset_is_taken_off_the_response(friedman: bt.datasets.Dataset) -> None:
    offset = np.linspace(-3, 3, 150)
    with_offset = bt.BARTRegressor(**QUICK).fit(friedman.X, friedman.y, offset=offset)
    of_rest = bt.BARTRegressor(**QUICK).fit(friedman.X, friedman.y - offset)
    np.testing.assert_array_equal(with_offset.posterior_.ensemble.values, of_rest.posterior_.ensemble.values)
    plain = with_offset.predict(friedman.X, offset=np.zeros(150))
    np.testing.assert_allclose(with_offset.predict(friedman.X, offset=offset), plain + offset, rtol=1e-6, atol=1e-6)


def test_a_model_with_an_offset_asks_for_that_of_new_rows(friedman: bt.datasets.Dataset, tmp_path: Path) -> None:
    """Adding nothing without a word would give wrong predictions."""
    model = bt.BARTRegressor(**QUICK).fit(friedman.X, friedman.y, offset=np.ones(150))
    model.posterior_.save(tmp_path / "model.baytree")
    for posterior in (model.posterior_, bt.load(tmp_path / "model.baytree")):
        for kind in ("mean", "interval", "draws", "predictive", "predictive_interval"):
            with pytest.raises(bt.InputError, match=r"fitted with an offset.*give offset="):
                posterior.predict(friedman.X, kind)
        assert posterior.predict(friedman.X, offset=np.zeros(150)).shape == (150,)
        assert posterior.predict(friedman.X, "sigma").shape == (150,)
    with pytest.raises(bt.InputError, match="fitted with an offset"):
        model.score(friedman.X, friedman.y)
    classes = bt.BARTClassifier(**QUICK).fit(friedman.X, friedman.y > 14, offset=np.ones(150))
    for predict in (classes.predict, classes.predict_proba):
        with pytest.raises(bt.InputError, match="fitted with an offset"):
            predict(friedman.X)


def test_an_offset_of_two_classes() -> None:
    data, offset = bt.datasets.load("kyphosis"), np.linspace(-1, 1, 81)
    model = bt.BARTClassifier(**QUICK).fit(data.X, data.y, offset=offset)
    probability = model.predict_proba(data.X, kind="draws", offset=offset)[..., 1]
    fits = sum_of_trees(model.posterior_, data.X) + model.posterior_.model.centre[0]
    np.testing.assert_allclose(probability, ndtr(fits + offset), atol=1e-6)


def test_predictions_of_a_table_in_parts(friedman: bt.datasets.Dataset) -> None:
    offset = np.linspace(-1, 1, 150)
    posterior = bt.BARTRegressor(**QUICK).fit(friedman.X, friedman.y, offset=offset).posterior_
    tables, offsets = [friedman.X[:20], friedman.X[20:]], [offset[:20], offset[20:]]
    parts = list(posterior.stream(tables, kind="predictive", offsets=offsets))
    assert [part.shape for part in parts] == [(2, 40, 20), (2, 40, 130)]
    whole = posterior.predict(friedman.X, kind="predictive", offset=offset)
    np.testing.assert_array_equal(np.concatenate(parts, axis=-1), whole)
    with pytest.raises(bt.InputError, match="give offsets="):
        posterior.stream(tables)


def sum_of_trees(posterior: bt.BARTPosterior, X: Any) -> np.ndarray:
    """What the trees add up to, by walking each as it is written down; shape (chains, draws, rows)."""
    rows = X.to_dicts()

    def value(node: dict[str, Any], row: dict[str, Any]) -> float:
        while not node["leaf"]:
            node = node["left" if row[node["feature"]] <= node["threshold"] else "right"]
        return node["value"]

    trees = [
        [
            [posterior.tree(chain, draw, tree).to_dict() for tree in range(posterior.ensemble.trees)]
            for draw in range(posterior.draws)
        ]
        for chain in range(posterior.chains)
    ]
    return np.array([[[sum(value(tree, row) for tree in draw) for row in rows] for draw in chain] for chain in trees])


def test_offsets_that_cannot_be(friedman: bt.datasets.Dataset) -> None:
    with pytest.raises(bt.InputError, match="two classes"):
        bt.BARTClassifier(**QUICK).fit(friedman.X, three_classes(friedman), offset=np.ones(150))
    with pytest.raises(bt.InputError, match="one offset for each row"):
        bt.BARTRegressor(**QUICK).fit(friedman.X, friedman.y, offset=np.ones(7))
    design = bt.make_design(friedman.X, friedman.y, task="regression", offset=np.ones(150))
    with pytest.raises(bt.InputError, match="takes no offset"):
        bt.sample(bt.CART(), design, progress=False)
    model = bt.BARTRegressor(**QUICK).fit(friedman.X, friedman.y)
    with pytest.raises(bt.InputError):
        model.predict(friedman.X, offset=np.ones(7))


# ---- columns --------------------------------------------------------------------------------------------------------


def test_levels_and_missing_values_are_part_of_the_model() -> None:
    generator = np.random.default_rng(3)
    kind = generator.choice(["a", "b", "c", "d"], 300)
    x = generator.normal(size=300)
    missing = generator.random(300) < 0.3
    y = 3.0 * np.isin(kind, ["a", "c"]) + 5.0 * missing + generator.normal(scale=0.3, size=300)
    X = pd.DataFrame({"kind": kind, "x": np.where(missing, np.nan, x)})
    model = bt.BARTRegressor(**QUICK | {"warmup": 200, "draws": 100, "min_leaf": 2}).fit(X, y)
    new = pd.DataFrame({"kind": ["a", "b", "c", "d"] * 2, "x": [0.0] * 4 + [None] * 4})
    np.testing.assert_allclose(model.predict(new), [3, 0, 3, 0, 8, 5, 8, 5], atol=0.5)
    with pytest.warns(UserWarning, match="none of its values was seen"):
        unseen = model.predict(pd.DataFrame({"kind": ["z", None], "x": [0.0, 0.0]}))
    assert unseen[0] == unseen[1]


def test_numbers_as_labels(friedman: bt.datasets.Dataset) -> None:
    X = np.column_stack([friedman.X["x1"], np.arange(150) % 5])
    model = bt.BARTRegressor(**QUICK, categorical_features=[1]).fit(X, friedman.y)
    assert [column.kind for column in model.posterior_.schema.columns] == ["numeric", "categorical"]


def test_more_cuts_than_a_byte_has(friedman: bt.datasets.Dataset) -> None:
    x = np.linspace(0, 1, 1000)
    model = bt.BARTRegressor(**QUICK | {"warmup": 200, "draws": 100}, max_cuts=None).fit(x[:, None], np.sin(6 * x))
    assert len(model.posterior_.schema.columns[0].cuts) == 999
    assert np.abs(model.predict(x[:, None]) - np.sin(6 * x)).mean() < 0.1


def test_columns_are_matched_by_name(friedman: bt.datasets.Dataset) -> None:
    model = bt.BARTRegressor(**QUICK).fit(friedman.X, friedman.y)
    assert model.feature_names_in_.tolist() == friedman.X.columns
    assert model.n_features_in_ == 10
    reversed_columns = friedman.X.select(friedman.X.columns[::-1])
    np.testing.assert_array_equal(
        model.posterior_.predict(reversed_columns), model.posterior_.predict(friedman.X.to_pandas())
    )
    with pytest.raises(bt.InputError, match="no column 'x1'"):
        model.posterior_.predict(friedman.X.rename({"x1": "one"}))


# ---- knowledge ------------------------------------------------------------------------------------------------------


def every_tree(posterior: bt.BARTPosterior) -> list[bt.Tree]:
    chains, draws, trees = posterior.ensemble.tree_index.shape
    return [posterior.tree(c, d, t) for c in range(chains) for d in range(0, draws, 10) for t in range(trees)]


@pytest.mark.parametrize(
    "known",
    [
        bt.Forbid("x1", "x2"),
        bt.Only(0, ["x4", "x5"]),
        bt.MaxDepth(1),
        bt.MaxLeaves(2),
        bt.Interact([["x1", "x2"]]),
        bt.Box(x1="<=0.5"),
        bt.Forbid("x3", below="x4") & bt.Weights(x3=5, x4=5),
    ],
    ids=str,
)
def test_knowledge_holds_in_every_tree(friedman: bt.datasets.Dataset, known: bt.Knowledge) -> None:
    posterior = bt.BARTRegressor(**QUICK, beta=0.5, knowledge=known).fit(friedman.X, friedman.y).posterior_
    free = bt.BARTRegressor(**QUICK, beta=0.5).fit(friedman.X, friedman.y).posterior_
    assert all(is_allowed(tree, known) for tree in every_tree(posterior))
    # The saboteur: without the knowledge it does not hold.
    assert not all(is_allowed(tree, known) for tree in every_tree(free))


def is_allowed(tree: bt.Tree, known: bt.Knowledge) -> bool:
    """Whether single trees of the same rows would be allowed by the prior: a chain can start there or not."""
    design = bt.datasets.friedman(150, seed=1).design()
    try:
        bt.sample(
            bt.CART(bt.GrowTree(min_leaf=1) & known), design, init=tree, warmup=0, draws=1, chains=1, progress=False
        )
    except bt.InputError:
        return False
    return True


@pytest.mark.parametrize("init", ["root", "grow"])
def test_monotone_in_every_draw(friedman: bt.datasets.Dataset, init: str) -> None:
    grid = pl.DataFrame({name: np.full(20, 0.5) for name in friedman.X.columns}).with_columns(x4=np.linspace(0, 1, 20))
    falling = {"monotonic_cst": {"x4": -1}}
    for options, sign in (({"knowledge": bt.Monotone(x4=+1)}, 1), (falling, -1)):
        model = bt.BARTRegressor(**QUICK, **options, init=init).fit(friedman.X, friedman.y)
        steps = sign * np.diff(model.predict(grid, kind="draws"), axis=-1)
        assert steps.min() > -1e-5  # as far as float adds up
        assert steps.max() > 0.1 or sign < 0


def test_sparse_weights_find_the_columns() -> None:
    """Friedman's function asks about the first five of many columns."""
    data = bt.datasets.friedman(200, p=30, seed=2)
    sparse = bt.BARTRegressor(**QUICK | {"trees": 20, "warmup": 300, "draws": 200}, knowledge=bt.Weights("sparse"))
    posterior = sparse.fit(data.X, data.y).posterior_
    weights = np.exp(posterior.log_weights)
    assert weights.shape == (2, 200, 30)
    np.testing.assert_allclose(weights.sum(axis=-1), 1)
    assert posterior.concentration.shape == (2, 200)
    assert weights.mean(axis=(0, 1))[:5].sum() > 0.7
    even = bt.BARTRegressor(**QUICK | {"trees": 20, "warmup": 300, "draws": 200}).fit(data.X, data.y).posterior_
    use = [sum(one.summary().variable_use[name] for name in data.X.columns[:5]) for one in (posterior, even)]
    assert use[0] > use[1] + 0.1


# ---- what goes wrong ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"trees": 0}, "trees=0: choose a whole number, 1 or more"),
        ({"trees": 2.5}, "trees=2.5"),
        ({"k": 0}, "k=0: choose a positive number, or 'learned'"),
        ({"k": "learn"}, "k='learn': choose a positive number, or 'learned'"),
        ({"alpha": 1.5}, "alpha=1.5"),
        ({"beta": -1}, "beta=-1"),
        ({"min_leaf": 0}, "min_leaf=0"),
        ({"nu": -3}, "nu=-3: choose a positive number"),
        ({"q": 1.0}, "q=1.0 is a probability"),
        ({"sigma": "lineal"}, "no sigma 'lineal'. Did you mean 'linear'?"),
        ({"sigma": 0}, "sigma=0"),
        ({"sigma": float("nan")}, "sigma=nan"),
        ({"proposal": "swap"}, "no proposal 'swap'. Choose from: auto, birth_death, change"),
        ({"proposal": {"birth_death": -1}}, "birth_death"),
        ({"init": "leaf"}, "no init 'leaf'. Choose from: root, grow"),
        ({"knowledge": "x1"}, "knowledge='x1': give a constraint"),
        ({"knowledge": bt.Forbid("x77")}, "no column 'x77'"),
        ({"draws": 0}, "draws=0"),
        ({"chains": 0}, "chains=0"),
        ({"warmup": -1}, "warmup=-1"),
        ({"thin": 0}, "thin=0"),
        ({"random_state": -1}, "seed=-1"),
    ],
)
def test_bad_values(friedman: bt.datasets.Dataset, options: dict[str, Any], said: str) -> None:
    with pytest.raises(bt.InputError) as error:
        bt.BARTRegressor(**QUICK | options).fit(friedman.X, friedman.y)
    assert said in str(error.value)


def test_bad_models(friedman: bt.datasets.Dataset) -> None:
    design = friedman.design()
    with pytest.raises(bt.InputError, match="give a GrowTree"):
        bt.BART(prior="growtree.slp")  # type: ignore[arg-type]
    with pytest.raises(bt.InputError, match="use rule='variable'"):
        bt.BART(prior=bt.GrowTree(rule="uniform"))
    with pytest.raises(bt.InputError, match="not tempered"):
        bt.sample(bt.BART(trees=2), design, temperatures=3, progress=False)
    with pytest.raises(bt.InputError, match="can begin at a tree"):
        bt.sample(bt.BART(trees=2), design, init={"leaf": True}, progress=False)
    with pytest.raises(bt.InputError, match="a single tree has too few rules: use BART"):
        bt.CART(bt.GrowTree() & bt.Weights("sparse"))
    with pytest.raises(bt.InputError, match="rescale it"):
        bt.sample(bt.BART(trees=2), bt.make_design([[1.0], [2.0]], [0.0, 1e35], task="regression"), progress=False)


@pytest.mark.parametrize("scale", [2.0**-30, 2.0**30])
def test_the_unit_of_the_response_does_not_matter(friedman: bt.datasets.Dataset, scale: float) -> None:
    """Powers of two, so that not a bit changes."""
    plain, scaled = (bt.BARTRegressor(**QUICK).fit(friedman.X, friedman.y * by).posterior_ for by in (1.0, scale))
    np.testing.assert_array_equal(scaled.ensemble.values, plain.ensemble.values * np.float32(scale))
    np.testing.assert_array_equal(scaled.sigma, plain.sigma * scale)
    np.testing.assert_allclose(scaled.log_likelihood, plain.log_likelihood - 150 * np.log(scale))


def test_nothing_left_to_explain() -> None:
    x = np.arange(20.0)
    model = bt.BARTRegressor(**QUICK).fit(x[:, None], x + 7, offset=x)
    np.testing.assert_allclose(model.predict(x[:, None], offset=x), x + 7, atol=0.5)


# ---- objects --------------------------------------------------------------------------------------------------------


def test_clone_and_search(friedman: bt.datasets.Dataset) -> None:
    quick = bt.BARTRegressor(**QUICK, knowledge=bt.Forbid("x9"))
    assert clone(quick).get_params() == quick.get_params()
    search = GridSearchCV(quick, {"trees": [2, 20]}, cv=2).fit(friedman.X.to_pandas(), friedman.y)
    assert search.best_params_["trees"] == 20


def test_the_summary_says_what_was_fitted(friedman: bt.datasets.Dataset) -> None:
    posterior = bt.BARTRegressor(**QUICK, knowledge=bt.MaxDepth(3)).fit(friedman.X, friedman.y).posterior_
    summary, use = posterior.summary(), posterior.variable_use()
    text = str(summary)
    assert "regression of 'y': 150 rows, 10 columns" in text
    assert f"sum of 10 trees, of {posterior.ensemble.leaves.mean():.2f} leaves on average" in text
    assert "sigma" in text and summary.verdict in text and "known: " in text
    assert json.loads(json.dumps(summary.to_dict()))["variable_use"] == summary.variable_use
    assert repr(posterior) == "<BARTPosterior: 2 chains × 40 draws of 10 trees, response 'y'>"
    assert sum(summary.variable_use.values()) == pytest.approx(1)
    assert summary.variable_use == dict(zip(use.columns, use.mean.tolist(), strict=True))
    assert list(summary.variable_use.values()) == sorted(summary.variable_use.values(), reverse=True)


def test_of_several_classes_each_has_a_sum(friedman: bt.datasets.Dataset) -> None:
    posterior = bt.BARTClassifier(**QUICK).fit(friedman.X, three_classes(friedman)).posterior_
    summary = posterior.summary()
    assert (summary.sums, summary.trees, posterior.ensemble.trees) == (3, 10, 30)
    assert "\n3 sums of 10 trees, of " in str(summary)
    assert "40 draws of 3 × 10 trees," in repr(posterior)


@pytest.mark.parametrize("word", ["nonsense", "AVX2", "name", "__class__"])
def test_registers_that_there_are_none_of(
    friedman: bt.datasets.Dataset, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAYTREE_SIMD", "")  # as if it were unset
    fitted = copy(bt.BARTRegressor(**QUICK).fit(friedman.X, friedman.y).posterior_)  # has predicted nothing yet
    monkeypatch.setenv("BAYTREE_SIMD", word)
    for attempt in (lambda: bt.BARTRegressor(**QUICK).fit(friedman.X, friedman.y), lambda: fitted.predict(friedman.X)):
        with pytest.raises(bt.InputError, match=f"no BAYTREE_SIMD '{word}'.*Choose from: plain, avx2, avx512"):
            attempt()
