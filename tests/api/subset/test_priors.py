"""Priors of subset selection say what they are documented to say."""

from __future__ import annotations

import json
from itertools import product
from math import comb, log
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from scipy.stats import betabinom, invgamma

from baytree import _core
from baytree.data.matrix import make_linear_design
from baytree.data.standardise import standardise
from baytree.errors import InputError
from baytree.subset.calibration import best_scale, noise_prior
from baytree.subset.priors import (
    BetaBinomial,
    ExpectedSize,
    GPrior,
    HyperG,
    HyperGN,
    Independent,
    Ridge,
    SizePrior,
    model_prior_of,
    prior_from_dict,
)

NAMES = ("a", "b", "c", "d")
PRIORS = [
    Independent(),
    Independent(0.2),
    Independent({"a": 0.9, "c": 0.1}),
    BetaBinomial(),
    BetaBinomial(2, 7.5),
    SizePrior([0.5, 0, 0.25, 0.25]),
    ExpectedSize(1.3),
    *(GPrior(), GPrior(7), GPrior("eb"), HyperG(), HyperG(4), HyperGN(2.5), Ridge(), Ridge(0.3)),
]


def probabilities(prior):
    """The probability of each model of four units, from what the core is given."""
    sizes, odds = prior.log_sizes(len(NAMES)), prior.log_odds(NAMES)
    models = list(product((0, 1), repeat=len(NAMES)))
    logs = np.array([sizes[sum(model)] + odds @ model for model in models])
    return models, np.exp(logs - logsumexp(logs))


def size_distribution(prior):
    models, probability = probabilities(prior)
    return np.bincount([sum(model) for model in models], weights=probability)


def inclusion(prior):
    models, probability = probabilities(prior)
    return probability @ np.array(models)


class TestModelPriors:
    def test_independent_units_have_their_probabilities(self):
        for w in (0.01, 0.2, 0.5, 0.97):
            np.testing.assert_allclose(inclusion(Independent(w)), w)
        np.testing.assert_allclose(inclusion(Independent({"b": 0.9, "d": 0.3})), [0.5, 0.9, 0.5, 0.3])
        models, probability = probabilities(Independent({"b": 0.9, "d": 0.3}))
        each = np.array([0.5, 0.9, 0.5, 0.3])
        np.testing.assert_allclose(probability, [np.prod(np.where(model, each, 1 - each)) for model in models])

    @pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 7.5), (0.5, 30)])
    def test_beta_binomial_sizes(self, a, b):
        prior = BetaBinomial(a, b)
        np.testing.assert_allclose(size_distribution(prior), betabinom(4, a, b).pmf(range(5)))
        # As documented it is normalised by itself.
        sizes = prior.log_sizes(30)
        assert abs(logsumexp(sizes + [log(comb(30, u)) for u in range(31)])) < 1e-10

    def test_uniform_over_sizes_by_default(self):
        np.testing.assert_allclose(size_distribution(BetaBinomial()), 1 / 5)

    def test_any_sizes(self):
        np.testing.assert_allclose(size_distribution(SizePrior([5, 0, 3, 2])), [0.5, 0, 0.3, 0.2, 0])
        np.testing.assert_allclose(size_distribution(SizePrior(np.array([1, 1, 1, 1, 1, 9, 9]))), 1 / 5)
        np.testing.assert_allclose(size_distribution(SizePrior([1e308] * 5)), 1 / 5)
        assert SizePrior([1.0, 0.0]).log_sizes(2).tolist() == [0, -np.inf, -np.inf]
        sizes = SizePrior([1, 2, 3]).log_sizes(1000)
        assert np.isfinite(sizes[:3]).all()
        assert abs(logsumexp(sizes[:3] + [log(comb(1000, u)) for u in range(3)])) < 1e-9

    def test_expected_size(self):
        for prior in (ExpectedSize(1.3), model_prior_of(1.3)):
            assert abs(size_distribution(prior) @ range(5) - 1.3) < 1e-12
        assert ExpectedSize(1).log_odds([]).tolist() == []

    def test_no_free_units(self):
        for prior in (Independent(0.3), BetaBinomial(), SizePrior([1, 2]), ExpectedSize(2)):
            assert prior.log_sizes(0).tolist() == [0]
            assert prior.log_odds([]).size == 0

    def test_what_means_a_prior(self):
        prior = BetaBinomial(1, 3)
        assert model_prior_of(prior) is prior
        assert model_prior_of(5) == ExpectedSize(5)
        for wrong in ("five", None, True, GPrior()):
            with pytest.raises(InputError, match="give an expected size, or one of: Independent, BetaBinomial"):
                model_prior_of(wrong)


class TestParameterPriors:
    def test_what_the_core_is_told(self):
        told = [prior.native(50) for prior in (GPrior(), GPrior(7), GPrior("eb"), HyperG(), HyperGN(4), Ridge(2))]
        assert {kind for kind, _ in told} == set(_core.CoefficientPrior.__members__)
        assert told == [("fixed", 50), ("fixed", 7), ("empirical", 0), ("hyper_g", 3), ("hyper_gn", 4), ("ridge", 2)]


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_to_dict_is_exact(prior):
    assert prior_from_dict(json.loads(json.dumps(prior.to_dict()))) == prior


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Independent(0), "w=0: choose a probability between 0 and 1"),
        (lambda: Independent(1.0), "w=1.0: choose a probability"),
        (lambda: Independent("half"), "w='half': choose a probability"),  # type: ignore[arg-type]
        (lambda: Independent({"a": 2}), "w['a']=2: choose a probability"),
        (lambda: Independent({"z": 0.1}).log_odds(NAMES), "no free unit 'z'. Choose from: a, b, c, d"),
        (lambda: BetaBinomial(0), "a=0: choose a positive number"),
        (lambda: BetaBinomial(1, float("nan")), "b=nan: choose a positive number"),
        (lambda: SizePrior(3), "h=3: give the probabilities of sizes 0, 1, 2"),  # type: ignore[arg-type]
        (lambda: SizePrior([0.5, -0.5]), "h[1]=-0.5: a probability cannot be negative"),
        (lambda: SizePrior([]), "no size has a positive probability"),
        (lambda: SizePrior([0, 0, 0, 1]).log_sizes(2), "only so many are free"),
        (lambda: ExpectedSize(-1), "k=-1: choose a positive number"),
        (lambda: ExpectedSize(4).log_odds(NAMES), "an expected size of 4 with 4 free units; choose less than 4"),
        (
            lambda: GPrior("units"),  # type: ignore[arg-type]
            "no c 'units'. Did you mean 'unit'? Choose from: unit, eb, a positive number",
        ),
        (lambda: GPrior(0), "c=0: choose a positive number"),
        (lambda: HyperG(2), "a=2: choose more than 2"),
        (lambda: HyperGN(float("inf")), "a=inf: choose more than 2"),
        (lambda: Ridge(True), "c=True: choose a positive number"),
    ],
)
def test_errors(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)


def linear(n, p, noise, seed=1, **options):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, p) + rng.normal(size=p)
    y = X[:, 0] / X[:, 0].std() + noise * rng.normal(size=n) + 3
    return X, y, make_linear_design(X, y, **options)


class TestNoise:
    @pytest.mark.parametrize("nu", [0.5, 1, 3, 10, 50])
    @pytest.mark.parametrize(("low", "high"), [(1, 1.01), (0.5, 1), (1e-6, 3), (40, 1e4)])
    def test_no_other_scale_gives_the_interval_more_probability(self, nu, low, high):
        def outside(log_scale):
            prior = invgamma(nu / 2, scale=nu * np.exp(log_scale) / 2)
            return prior.cdf(low) + prior.sf(high)

        found = log(best_scale(low, high))
        assert log(low) < found < log(low * high) / 2
        searched = minimize_scalar(outside, bounds=(log(low), log(high)), method="bounded")
        assert outside(found) <= searched.fun * (1 + 1e-12)
        assert outside(found) < min(outside(found - 0.1), outside(found + 0.1))

    def test_the_order_and_the_distance_of_the_ends_do_not_matter(self):
        assert best_scale(2.0, 2.0) == 2.0
        np.testing.assert_allclose(best_scale(2.0, 5.0), best_scale(5.0, 2.0), rtol=1e-14)
        np.testing.assert_allclose(best_scale(2.0, 2.0 * (1 + 1e-9)), 2.0, rtol=1e-8)

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("intercept", [False, True])
    def test_the_ends_are_the_residual_variances(self, weighted, intercept):
        weight = np.random.default_rng(2).uniform(0.2, 4, 60) if weighted else np.ones(60)
        X, y, design = linear(60, 7, 0.5, sample_weight=weight)
        X = np.column_stack([X, np.ones(60)]) if intercept else X
        root = np.sqrt(weight)
        fit = np.linalg.lstsq(X * root[:, None], y * root)[0]
        full = weight @ (y - X @ fit) ** 2 / (60 - X.shape[1])
        mean = np.average(y, weights=weight) if intercept else 0
        empty = weight @ (y - mean) ** 2 / (60 - intercept)
        nu, scale = noise_prior(design, intercept=intercept)
        assert nu == 3
        np.testing.assert_allclose(scale, best_scale(full, empty), rtol=1e-9)

    def test_dependent_and_constant_columns_change_nothing(self):
        X, y, design = linear(40, 4, 1.0)
        more = np.column_stack([X[:, 0] - 2 * X[:, 1], X, np.full(40, 0.1), X[:, 2], np.zeros(40)])
        np.testing.assert_allclose(noise_prior(make_linear_design(more, y)), noise_prior(design), rtol=1e-9)

    def test_units_do_not_matter(self):
        X, y, design = linear(40, 4, 1.0)
        scale = noise_prior(design)[1]
        np.testing.assert_allclose(noise_prior(make_linear_design(X * 1e150 - 3e151, y))[1], scale, rtol=1e-9)
        np.testing.assert_allclose(noise_prior(make_linear_design(X * 1e-200, y))[1], scale, rtol=1e-9)
        np.testing.assert_allclose(noise_prior(make_linear_design(X, y * 1e60 - 1e61))[1], scale * 1e120, rtol=1e-9)
        for factor in (1e160, 1e-170):
            with pytest.raises(InputError, match="whose square is out of range; rescale it"):
                noise_prior(make_linear_design(X, y * factor))

    def test_too_few_rows(self):
        for n, p in ((10, 10), (10, 9), (10, 300)):
            _, y, design = linear(n, p, 1.0)
            variance = y.var(ddof=1)
            np.testing.assert_allclose(noise_prior(design), (3, best_scale(variance / 2, variance)), rtol=1e-12)

    def test_an_exact_fit(self):
        _, y, design = linear(30, 4, 0.0)
        variance = y.var(ddof=1)
        np.testing.assert_allclose(noise_prior(design)[1], best_scale(1e-6 * variance, variance), rtol=1e-12)

    def test_nothing_that_varies(self):
        y = np.array([1.0, 2.0, 4.0, 8.0])
        scale = noise_prior(make_linear_design(np.ones((4, 2)), y))[1]
        np.testing.assert_allclose(scale, y.var(ddof=1))

    def test_what_is_given_is_kept(self):
        _, _, design = linear(30, 4, 0.0)
        assert noise_prior(design, 5, 2) == (5, 2)
        assert noise_prior(design, 0) == noise_prior(design, 0, 2) == (0, 0)
        nus: list[Any] = [-1, float("inf"), "many"]
        for nu in nus:
            with pytest.raises(InputError, match=r"nu=.*: choose 0 or more"):
                noise_prior(design, nu=nu)
        scales: list[Any] = [0, -1.0, "best", None]
        for scale in scales:
            with pytest.raises(InputError, match=r"scale=.*: choose a positive number, or 'auto'"):
                noise_prior(design, scale=scale)


class TestStandard:
    @pytest.mark.parametrize("intercept", [False, True])
    def test_centred_and_scaled(self, intercept):
        weight = np.random.default_rng(2).uniform(0.2, 4, 60)
        X, y, design = linear(60, 7, 0.5, sample_weight=weight)
        standard = standardise(design, intercept=intercept)
        root = np.sqrt(weight)
        assert standard.freedom == 60 - intercept
        for matrix, raw, centre, scale in (
            (standard.matrix, X, standard.centre, standard.scale),
            (standard.y, y, standard.mean, standard.unit),
        ):
            np.testing.assert_allclose((matrix**2).sum(axis=0), 60, rtol=1e-12)
            np.testing.assert_allclose((matrix.T / root).T * scale + centre, raw, rtol=1e-9, atol=1e-9)
            if intercept:
                np.testing.assert_allclose(root @ matrix, 0, atol=1e-11)
            else:
                assert not np.any(centre)

    def test_values_far_from_zero_keep_their_digits(self):
        noise = np.random.default_rng(4).integers(-50, 50, 200).astype(float)
        standard = standardise(make_linear_design(np.column_stack([noise, noise + 2**45]), noise))
        np.testing.assert_allclose(standard.matrix[:, 1], standard.matrix[:, 0], rtol=1e-13, atol=1e-13)

    def test_what_does_not_vary(self):
        almost = np.where(np.arange(10) % 2, 0.3, 0.1 + 0.2)
        X = np.column_stack([almost, np.full(10, 0.1), np.zeros(10), np.arange(10)])
        y = np.arange(10.0) ** 2
        standard = standardise(make_linear_design(X, y))
        assert standard.kept.tolist() == [False, False, False, True]
        assert standard.scale[:3].tolist() == [1, 1, 1]
        assert standardise(make_linear_design(X, y), intercept=False).kept.tolist() == [True, True, False, True]
        with pytest.raises(InputError, match=r"its values differ from 0\.3 by no more than rounding"):
            standardise(make_linear_design(X, almost))

    @pytest.mark.parametrize(
        ("first", "second"),
        [("aabbccab", "uvuvuvww"), ("abcdabcdabcd", "uvwxxuvwxuvw"), ("aaab", "uuvu")],
        ids=["a cell is empty", "more products than rows", "nothing beyond the main effects"],
    )
    def test_levels_that_never_meet(self, first, second):
        X = np.column_stack([list(first), list(second)])
        design = make_linear_design(X, np.arange(len(X)) ** 2.0, interactions=[(0, 1)])
        standard = standardise(design)
        main, products = slice(0, design.units[2].begin), design.units[2].columns
        assert standard.kept[main].all()
        rank = np.linalg.matrix_rank(standard.matrix)
        assert rank < design.schema.width
        assert np.linalg.matrix_rank(standard.matrix[:, standard.kept]) == standard.kept.sum() == rank
        assert standard.kept[products].any() == (first != "aaab")

    def test_numbers_at_the_edge_of_their_range(self):
        x = np.array([1.7e308, -1.7e308, 1e308, 0.5e308])
        standard = standardise(
            make_linear_design(np.column_stack([x, x * 1e-310, np.arange(4) * 5e-324]), [1, 2, 3, 5])
        )
        np.testing.assert_allclose((standard.matrix**2).sum(axis=0), 4)
        assert np.isfinite(standard.scale).all()
        with pytest.raises(InputError, match="column 'x0': its values, times √weight, spread beyond float64"):
            standardise(make_linear_design(x[:, None], [1, 2, 3, 5], sample_weight=[10, 20, 30, 90]))
