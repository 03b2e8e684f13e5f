"""Sums of trees with Student noise against quadrature: trees, leaf values, σ and degrees of freedom."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import baytree as bt
from baytree.mcmc.mixtures import MixtureSpec
from exact.bart.chains import design_of, model, read
from faults import injected
from reference.agreement import Disagreement, assert_agrees, assert_means_agree
from reference.bart.normal_sums import Noise
from reference.bart.spaces import THREE
from reference.bart.student_sums import FREEDOMS, StudentSums
from reference.bart.tuples import Floats

BOTH: MixtureSpec = {"birth_death": 1, "change": 1}
POWERS = pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])

# The noise of the last row is so large that another number stands for its response; where all is loud, of most rows.
FAR = replace(THREE, name="far", response=(0.1, 0.4, 1.3, 0.8, -0.6, 30.0))
NEAR = replace(THREE, name="near", response=(0.1, 0.4, 1.3, 0.8, -0.6, 3.0))
WEIGHTED = replace(FAR, name="weighted", weight=(0.5, 2.0, 1.0, 1.25, 3.0, 0.75))
SPACES = (
    StudentSums(name="near", space=NEAR, noise=Noise(0.5, nu=3.0)),
    StudentSums(name="far", space=FAR, noise=Noise(0.5, nu=5.0)),
    StudentSums(name="weighted", space=WEIGHTED, noise=Noise(0.8, nu=5.0, q=0.75), k=1.0),
    StudentSums(name="loud", space=NEAR, noise=Noise(4.0, nu=5.0), k=0.5),
    StudentSums(name="two of near", space=NEAR, trees=2, noise=Noise(0.8)),
    StudentSums(name="two of far", space=FAR, trees=2, noise=Noise(0.4), k=1.0),
)


def name(value: object) -> str:
    return str(getattr(value, "name", value))


def sample(sums: StudentSums, power: float, draws: int = 6000) -> bt.BARTPosterior:
    bart = replace(model(sums, BOTH, power), noise="student")
    return bt.sample(bart, design_of(sums), warmup=500, draws=draws, thin=20, chains=4, seed=1, progress=False)


def fits_of(sums: StudentSums, post: bt.BARTPosterior) -> Floats:
    """f − centre at each row, (chains, draws, rows)."""
    at_rows: Floats = read(sums, post.ensemble, post.sigma).at_rows.sum(axis=2)
    return at_rows


def check(sums: StudentSums, post: bt.BARTPosterior, power: float) -> None:
    """Compare trees, degrees of freedom, σ and fits with their exact distribution."""
    assert post.sigma is not None and post.freedom is not None
    target, means = sums.posterior if power else sums.prior
    states = read(sums, post.ensemble, post.sigma).states * len(FREEDOMS) + np.searchsorted(FREEDOMS, post.freedom)
    assert_agrees(states, target, sums.labels)
    fits, log_sigma = fits_of(sums, post), np.log(post.sigma)[..., None]
    assert_means_agree(np.concatenate([fits, fits**2, log_sigma, log_sigma**2], axis=-1), means)


@POWERS
@pytest.mark.parametrize("sums", SPACES, ids=name)
def test_trees_values_and_noise(sums: StudentSums, power: float) -> None:
    post = sample(sums, power)
    np.testing.assert_allclose(post.model.leaf_sd, sums.sigma_mu)
    np.testing.assert_allclose(post.model.centre, sums.centre)
    check(sums, post, power)
    assert post.sigma is not None and post.freedom is not None
    scale = post.sigma[..., None] / np.sqrt(sums.row_weights)
    logs = stats.t.logpdf(sums.response, post.freedom[..., None], fits_of(sums, post) + sums.centre, scale)
    np.testing.assert_allclose(post.log_likelihood, logs.sum(axis=-1), rtol=0, atol=1e-3)
    np.testing.assert_allclose(post.pointwise_log_likelihood(design_of(sums)), logs, rtol=0, atol=1e-3)


# ---- saboteurs -------------------------------------------------------------------------------------------------------


def test_scales_that_do_not_know_the_residuals_are_caught() -> None:
    with injected("student_scale"), pytest.raises(Disagreement):
        check(SPACES[0], sample(SPACES[0], 1.0), 1.0)


def test_rows_far_off_that_do_not_pull_are_caught() -> None:
    with injected("student_far"), pytest.raises(Disagreement):
        check(SPACES[3], sample(SPACES[3], 1.0), 1.0)


@pytest.mark.parametrize(
    ("sums", "other"),
    [
        (SPACES[0], {"noise": Noise(0.55, nu=3.0)}),
        (SPACES[1], {"rate": 0.2}),
        (SPACES[2], {"space": FAR}),
        (SPACES[5], {"k": 1.1}),
    ],
    ids=["sigma", "freedom", "weights", "k"],
)
def test_another_model_is_caught(sums: StudentSums, other: dict[str, Any]) -> None:
    """The draws of one model against the reference of another that differs a little."""
    with pytest.raises(Disagreement):
        check(replace(sums, **other), sample(sums, 1.0), 1.0)
