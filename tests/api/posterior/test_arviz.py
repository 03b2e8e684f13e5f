"""Posteriors of all families as ArviZ takes them, with the likelihood of each row."""

import builtins
import json
import warnings
from dataclasses import replace
from typing import Any

import arviz_stats
import numpy as np
import pytest
from scipy import stats

import baytree as bt
from baytree.bart.prediction import largest_probabilities, log_largest
from baytree.cart.prediction import TreeBlock
from baytree.data.design import AnyDesign
from families import EVERY, NUMBERS, bins, drawn, matrix

# One tree, or draws from one mean field, are too few for ArviZ.
DRAWN = [name for name, case in EVERY.items() if case.has_chains or name == "subset: enumerated"]


def seen_rows(design: AnyDesign) -> np.ndarray:
    """The rows whose response was seen."""
    return np.arange(design.rows) if design.seen is None else np.flatnonzero(design.seen)


@pytest.mark.parametrize("name", EVERY)
def test_groups(name: str) -> None:
    posterior, design = drawn(name), EVERY[name].design
    groups = ["posterior", "sample_stats", "log_likelihood", "observed_data", "constant_data"]
    tree = posterior.to_datatree(design, predictive=True)
    assert list(tree.children) == [*groups, "posterior_predictive"]
    assert list(posterior.to_datatree(design).children) == groups
    for group in ("posterior", "sample_stats", "log_likelihood", "posterior_predictive"):
        for variable in tree[group].data_vars.values():
            assert variable.dims[:2] == ("chain", "draw")
            assert variable.shape[:2] == (posterior.chains, posterior.draws)
    for group in ("posterior", "sample_stats"):
        assert tree[group].attrs["inference_library"] == "baytree"
        assert tree[group].attrs["inference_library_version"] == bt.__version__
        assert json.loads(tree[group].attrs["sampler"]) == posterior.model.shares
        assert json.loads(tree[group].attrs["model"]) == json.loads(json.dumps(posterior.model.to_dict()))
    np.testing.assert_array_equal(tree.sample_stats.joint_log_likelihood, posterior.log_likelihood)
    assert "log_likelihood" not in tree.sample_stats
    rows, kinds = (
        EVERY[name].rows,
        posterior.predict(EVERY[name].rows, ("mean", "draws", "predictive"), **EVERY[name].options),
    )
    seen = seen_rows(design)
    expected = tree.posterior["mu" if design.classes is None else "probability"]
    if name.startswith("cart"):  # what the leaves predict, their parameters integrated out
        np.testing.assert_allclose(expected.mean(("chain", "draw")), kinds["mean"], rtol=1e-12)
    else:
        np.testing.assert_array_equal(expected, kinds["draws"][:, :, seen])
    new, observed = tree.posterior_predictive.y, tree.observed_data.y
    assert expected.dims[2] == new.dims[2] == observed.dims[0] == tree.log_likelihood.y.dims[2] == "row"
    if design.classes is None:
        np.testing.assert_array_equal(new, kinds["predictive"][:, :, seen])
        np.testing.assert_array_equal(observed, design.y[seen])
    else:
        labels = [str(label) for label in design.classes]
        assert expected.coords["class"].to_numpy().tolist() == labels
        np.testing.assert_array_equal(new, np.array(labels)[kinds["predictive"]][:, :, seen])
        np.testing.assert_array_equal(observed, np.array(labels)[design.y][seen])
    table = tree.constant_data["bins" if isinstance(design, bt.Design) else "matrix"]
    np.testing.assert_array_equal(table, posterior.schema.encode(rows)[seen])
    assert table.coords["row"].to_numpy().tolist() == seen.tolist()
    for other in ("weight", "offset"):
        given = getattr(design, other)
        assert (other in tree.constant_data) == (given is not None)
        if given is not None:
            np.testing.assert_array_equal(tree.constant_data[other], given)


@pytest.mark.parametrize("name", EVERY)
def test_without_a_design(name: str) -> None:
    posterior = drawn(name)
    tree = posterior.to_datatree()
    assert list(tree.children) == ["posterior", "sample_stats"]
    assert set(tree.posterior.data_vars) == set(posterior.variables)
    with pytest.raises(bt.InputError, match="predictive=True: new responses are drawn at the rows of a design"):
        posterior.to_datatree(predictive=True)


@pytest.mark.parametrize("name", ["cart: numbers", "bart: weights", "subset: sampled", "hme: numbers"])
def test_another_design(name: str) -> None:
    posterior = drawn(name)
    other = EVERY["hme: numbers" if name in ("cart: numbers", "bart: weights") else "cart: numbers"].design
    with pytest.raises(bt.InputError, match="not the columns and cut points"):
        posterior.to_datatree(other)


def test_what_a_draw_has_in_the_way_of_numbers() -> None:
    cart, subset, bart = (drawn(name) for name in ("cart: numbers", "subset: sampled", "bart: weights"))
    tree = cart.to_datatree()
    np.testing.assert_array_equal(tree.posterior.n_leaves, cart.n_leaves)
    np.testing.assert_allclose(tree.posterior.asks.mean(("chain", "draw")), list(cart.inclusion().values()))
    assert tree.posterior.asks.coords["column"].to_numpy().tolist() == list(cart.schema.names)
    np.testing.assert_array_equal(tree.sample_stats.lp, cart.log_likelihood + cart.log_prior)
    same = tree.sample_stats.tree.to_numpy() == tree.sample_stats.tree.to_numpy()[0, 0]
    equal = [[cart.tree(chain, draw) == cart.tree(0, 0) for draw in range(15)] for chain in range(2)]
    np.testing.assert_array_equal(same, equal)
    tree = subset.to_datatree()
    np.testing.assert_array_equal(tree.posterior.sigma, subset.sigma)
    np.testing.assert_allclose(tree.posterior.included.mean(("chain", "draw")), subset.inclusion().frequency)
    found = dict(zip(subset.coefficients().names, subset.coefficients().sd, strict=True))
    for name in subset.schema.matrix_names:
        np.testing.assert_allclose(tree.posterior.coefficient.sel(term=name).std(), found[name])
    np.testing.assert_array_equal(bart.to_datatree().posterior.sigma, bart.sigma)


def test_learned_weights_of_columns() -> None:
    design = bt.datasets.friedman(50).design()
    options: dict[str, Any] = {"warmup": 5, "draws": 5, "chains": 2, "seed": 1}
    model = bt.BART(trees=5, k="learned", prior=bt.GrowTree(beta=2.0) & bt.Weights("sparse"))
    posterior = bt.sample(model, design, progress=False, **options)
    tree = posterior.to_datatree()
    assert {"sigma", "leaf_sd", "concentration", "column_weight"} < set(tree.posterior.data_vars)
    np.testing.assert_allclose(tree.posterior.column_weight.sum("column"), 1, rtol=1e-4)


# ---- the likelihood of each row --------------------------------------------------------------------------------------


def weights_of(design: Any) -> np.ndarray:
    return np.ones(design.rows) if design.weight is None else design.weight


def of_classes(name: str) -> np.ndarray:
    """From the probabilities of `predict`; a row of weight w counts as w equal rows."""
    posterior, design = drawn(name), EVERY[name].design
    share = posterior.predict(EVERY[name].rows, "draws", **EVERY[name].options)
    return weights_of(design) * np.log(share[:, :, np.arange(design.rows), design.y])


def of_normal_noise(name: str) -> np.ndarray:
    """From what `predict` expects and the drawn σ; of a row of weight w the noise has the variance σ²/w."""
    posterior, design = drawn(name), EVERY[name].design
    mean = posterior.predict(EVERY[name].rows, "draws", **EVERY[name].options)
    return stats.norm.logpdf(design.y, mean, posterior.sigma[..., None] / np.sqrt(weights_of(design)))


def of_mixtures(name: str) -> np.ndarray:
    """Leaf by leaf in the unit of the response, from the trees."""
    posterior, design = drawn(name), EVERY[name].design
    inputs, outputs = posterior.inputs.matrix(EVERY[name].rows), posterior.outputs
    found = np.empty((posterior.chains, posterior.draws, design.rows))
    for chain in range(posterior.chains):
        for draw in range(posterior.draws):
            tree = posterior.tree(chain, draw)
            mean = outputs.original(tree.experts.means(inputs))
            if posterior.model.expert == "poisson":
                density = stats.poisson.pmf(design.y.reshape(-1, 1), mean)
            else:
                sd = np.sqrt(tree.experts.variance[:, None]) * outputs.scale
                density = stats.norm.pdf(design.y.reshape(design.rows, -1), mean, sd)
            share = np.exp(tree.log_paths(inputs))
            found[chain, draw] = np.log((share * density.prod(axis=-1)).sum(axis=0))
    return weights_of(design) * found


EXPECTED = {
    "cart: three classes": of_classes,
    "cart: monotone classes": of_classes,
    "cart: tempered": of_classes,
    "bart: weights": of_normal_noise,
    "bart: soft": of_normal_noise,
    "bart: two classes": of_classes,
    "bart: two classes, offset": of_classes,
    "bart: three classes": of_classes,
    "subset: sampled": of_normal_noise,
    "subset: enumerated": of_normal_noise,
    "hme: numbers": of_mixtures,
    "hme: tempered": of_mixtures,
    "hme: three classes": of_classes,
    "hme: mean field, two classes": of_classes,
    "hme: one tree": of_mixtures,
    "hme: counts": of_mixtures,
    "hme: two outputs": of_mixtures,
}


@pytest.mark.parametrize("name", EXPECTED)
def test_likelihoods_of_rows(name: str) -> None:
    posterior, design = drawn(name), EVERY[name].design
    found = posterior.to_datatree(design).log_likelihood.y.to_numpy()
    expected = EXPECTED[name](name)
    # Probabilities of three classes are integrals, whose error shows in the logarithm of small ones.
    known = expected > np.log(1e-3) if name == "bart: three classes" else np.full(expected.shape, True)
    np.testing.assert_allclose(found[known], expected[known], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_less(found[~known], np.log(2e-3))


# Those that condition on all parameters, so that the likelihood is the product over the rows.
PRODUCTS = [name for name in EVERY if name.startswith(("bart", "hme", "hmdt"))]


@pytest.mark.parametrize("name", PRODUCTS)
def test_rows_add_up_to_the_joint_likelihood(name: str) -> None:
    posterior, design = drawn(name), EVERY[name].design
    found = posterior.pointwise_log_likelihood(design).sum(axis=-1)
    if not name.startswith("bart"):  # their joint likelihood is of outputs in standard units
        found = found + weights_of(design)[seen_rows(design)].sum() * np.log(posterior.outputs.scale).sum()
    # The chains of sums of trees keep residuals in single precision.
    np.testing.assert_allclose(found, posterior.log_likelihood, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("name", EVERY)
def test_blocks_of_rows_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    posterior, design = drawn(name), EVERY[name].design
    whole = posterior.pointwise_log_likelihood(design)
    monkeypatch.setattr("baytree.posterior.prediction.BLOCK_NUMBERS", 500)
    np.testing.assert_allclose(posterior.pointwise_log_likelihood(design), whole, rtol=1e-12)


@pytest.mark.parametrize("far", [1.0, 5.0, 20.0])
def test_classes_that_hardly_ever_win(far: float) -> None:
    """Of two variables the second exceeds the first with probability Φ(difference / √2); one far below is none."""
    found = log_largest(np.array([far, 0.0, -200.0]).reshape(1, 3, 1), np.array([1]))
    assert found[0, 0] == pytest.approx(stats.norm.logcdf(-far / np.sqrt(2)), rel=1e-9)


def test_small_probabilities_and_usual_ones_meet() -> None:
    fits = np.random.default_rng(0).normal(scale=1.5, size=(200, 4, 20))
    share, found = largest_probabilities(fits), np.stack([log_largest(fits, np.full(20, k)) for k in range(4)], -1)
    near = (share > 1e-4) & (share < 1e-3)
    assert near.sum() > 100
    np.testing.assert_allclose(found[near], np.log(share[near]), rtol=1e-3)


# ---- leave-one-out ---------------------------------------------------------------------------------------------------

LONG: dict[str, Any] = {"warmup": 200, "draws": 250, "thin": 1, "seed": 1}


@pytest.mark.parametrize("name", DRAWN)
def test_every_row_is_an_observation(name: str) -> None:
    posterior, data = EVERY[name].sample(**LONG), EVERY[name].design
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows that sway the fit
        found = arviz_stats.loo(posterior.to_datatree(data), pointwise=True)
    assert found.n_data_points == data.rows
    assert found.elpd_i.shape == (data.rows,)
    pointwise = posterior.pointwise_log_likelihood(data).reshape(-1, data.rows)
    inside = (np.logaddexp.reduce(pointwise, axis=0) - np.log(len(pointwise))).sum()
    assert found.elpd < inside, "a row is predicted worse by the others alone"


def test_models_are_compared() -> None:
    trees = {}
    for name in ("cart: numbers", "bart: soft", "subset: sampled", "hme: numbers"):
        data = bins() if isinstance(EVERY[name].design, bt.Design) else matrix()
        trees[name] = replace(EVERY[name], design=data).sample(**LONG).to_datatree(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = arviz_stats.compare(trees)
    assert set(found.index) == set(trees)
    assert found.index[-1] == "cart: numbers", "of a sum of two effects"


def one_leaf() -> tuple[bt.Posterior, bt.Design]:
    """Trees that are all one leaf, whose posterior and predictions are known."""
    design = bt.make_design(np.arange(12.0)[:, None], NUMBERS[:12], task="regression")
    options: dict[str, Any] = {"warmup": 1, "draws": 5000, "chains": 2, "seed": 1, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # every tree is one leaf
        return bt.sample(bt.CART(bt.GrowTree(min_leaf=12)), design, **options), design


def without_each(posterior: bt.Posterior, design: bt.Design) -> np.ndarray:
    """log P(y_i | all others) of each row of one leaf, a Student t density, in closed form."""
    leaf = posterior.model.leaf
    assert isinstance(leaf, bt.Gaussian)
    found = []
    for row, value in enumerate(design.y):
        rest = np.delete(design.y, row)
        kappa, nu, n = leaf.kappa + len(rest), leaf.nu + len(rest), len(rest)
        mean = (leaf.kappa * leaf.mean + rest.sum()) / kappa
        squares = leaf.nu * leaf.scale + ((rest - rest.mean()) ** 2).sum()
        squares += leaf.kappa * n / kappa * (rest.mean() - leaf.mean) ** 2
        found.append(stats.t.logpdf(value, nu, mean, np.sqrt(squares / nu * (1 + 1 / kappa))))
    return np.array(found)


def test_leaving_one_out_is_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the closed form; the saboteur takes the densities of the leaves with their parameters integrated out."""
    posterior, design = one_leaf()
    exact, tree = without_each(posterior, design), posterior.to_datatree(design)
    batches = [tree.isel(draw=slice(begin, begin + 500)) for begin in range(0, 5000, 500)]
    found = np.array([arviz_stats.loo(batch, pointwise=True).elpd_i for batch in batches])
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - exact) < 4 * error).all()

    def integrated(block: TreeBlock, y: np.ndarray, weight: Any) -> np.ndarray:
        usual = log_density(block, y, weight)
        return np.broadcast_to(np.logaddexp.reduce(usual, axis=0) - np.log(len(usual)), usual.shape)

    log_density = TreeBlock.log_density
    monkeypatch.setattr(TreeBlock, "log_density", integrated)
    wrong = posterior.pointwise_log_likelihood(design)[0, 0]
    assert (np.abs(wrong - exact) > 4 * error).sum() > 6


# ---- what ArviZ makes of it ------------------------------------------------------------------------------------------


def test_arviz_finds_what_the_diagnostics_find() -> None:
    design = bt.datasets.load("kyphosis").design()
    posterior = bt.sample(bt.CART(), design, warmup=100, draws=100, chains=3, seed=2, progress=False)
    with np.errstate(invalid="ignore"):
        summary = arviz_stats.summary(posterior.to_datatree(), round_to="none")
        rhat = arviz_stats.rhat(posterior.to_datatree(design))
    found = posterior.diagnostics()
    assert summary.loc["n_leaves", "r_hat"] == pytest.approx(found.leaves.rhat)
    assert summary.loc["n_leaves", "ess_bulk"] == pytest.approx(found.leaves.ess_bulk)
    assert float(rhat["probability"].max()) == pytest.approx(found.predictions.largest_rhat)


@pytest.mark.parametrize("name", ["cart: numbers", "bart: weights", "subset: sampled", "hme: numbers"])
def test_a_datatree_without_arviz(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def missing(module: str, *arguments: Any, **options: Any) -> Any:
        if module == "arviz_base":
            raise ImportError(module)
        return usual(module, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(bt.InputError, match=r"pip install 'baytree\[arviz\]'"):
        drawn(name).to_datatree()
