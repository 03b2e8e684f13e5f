"""Soft rules against quadrature over their bandwidths, on a table so small that every tree is known."""

import numpy as np
import pytest
from scipy.special import expit

import baytree as bt
from baytree.diagnostics import effective_size

# One column of three values: the trees of at most one question are a leaf and two splits.
CODES = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2])
Y = np.array([0.1, -0.4, 0.2, 0.9, 0.3, 0.7, 1.4, 1.1, 1.9, 1.2])
ALPHA, BANDWIDTH, SIGMA = 0.7, 0.2, 0.5
CUTS = 2


def model(moves: object = "auto", power: float = 1.0) -> bt.BART:
    prior = bt.GrowTree(ALPHA, 1.0, min_leaf=1) & bt.MaxDepth(1)
    return bt.BART(
        trees=1, prior=prior, nu=float("inf"), sigma=SIGMA, split="soft", bandwidth=BANDWIDTH, moves=moves, power=power
    )


def exact(bart: bt.BART, power: float) -> tuple[np.ndarray, float, np.ndarray]:
    """P(leaf, cut 0, cut 1), E(bandwidth | a split) and E f(x) of the three values."""
    assert bart.calibration is not None
    y = Y - bart.calibration.centre[0]
    leaf_sd = bart.calibration.leaf_sd
    step = 1e-3
    bandwidths = np.arange(step / 2, 20 * BANDWIDTH, step)
    density = np.exp(-bandwidths / BANDWIDTH) / BANDWIDTH * step

    def fitted(shares: np.ndarray) -> tuple[float, np.ndarray]:
        """The marginal likelihood to the power 0 or 1, and the mean fit of the three values."""
        rows = shares[CODES]
        covariance = SIGMA**2 * np.eye(len(y)) + leaf_sd**2 * rows @ rows.T
        if power == 0:
            return 1.0, np.zeros(3)
        solved = np.linalg.solve(covariance, y)
        _, log_det = np.linalg.slogdet(covariance)
        likelihood = np.exp(-0.5 * (y @ solved + log_det + len(y) * np.log(2 * np.pi)))
        return likelihood, leaf_sd**2 * shares @ rows.T @ solved

    weight, fits = fitted(np.ones((3, 1)))
    weights, means, widths = [(1 - ALPHA) * weight], [(1 - ALPHA) * weight * fits], 0.0
    for cut in range(CUTS):
        total, mean = 0.0, np.zeros(3)
        for bandwidth, mass in zip(bandwidths, density, strict=True):
            right = expit(((np.arange(3) + 0.5) / 3 - (cut + 1) / 3) / bandwidth)
            likelihood, fits = fitted(np.column_stack([1 - right, right]))
            part = ALPHA / CUTS * mass * likelihood
            total, mean, widths = total + part, mean + part * fits, widths + part * bandwidth
        weights.append(total)
        means.append(mean)
    everything = sum(weights)
    return (
        np.array(weights) / everything,
        widths / sum(weights[1:]),
        sum(means) / everything + bart.calibration.centre[0],
    )


def deviations(moves: object, power: float) -> np.ndarray:
    """How far estimates are from the truth, in Monte Carlo standard errors."""
    design = bt.make_design(CODES[:, None].astype(float), Y, task="regression")
    post = bt.sample(model(moves, power), design, warmup=500, draws=20_000, chains=2, thin=2, seed=3, progress=False)
    shares, bandwidth, fits = exact(post.model, power)
    forest, index = post.mean.forest, post.mean.tree_index[..., 0]
    first = forest.begin.astype(int)[index]
    kind = np.where(forest.feature[first] < 0, 0, 1 + forest.cut[first].astype(int))
    series = [(kind == one).astype(float) for one in range(3)]
    truths = [*shares]
    assert post.mean.bandwidths is not None
    widths = np.zeros(kind.size)
    widths[kind.ravel() > 0] = post.mean.bandwidths  # one a split, in the order of the draws
    series.append(np.where(kind > 0, widths.reshape(kind.shape), 0.0))
    truths.append(bandwidth * (1 - shares[0]))
    drawn = post.predict(np.arange(3.0)[:, None], kind="draws")
    for value in range(3):
        series.append(drawn[..., value])
        truths.append(fits[value])
    found = []
    for values, truth in zip(series, truths, strict=True):
        size = sum(effective_size(chain) for chain in values)
        found.append((values.mean() - truth) / (values.std() / np.sqrt(size) + 1e-12))
    return np.array(found)


@pytest.mark.parametrize("power", [0.0, 1.0], ids=["prior", "posterior"])
@pytest.mark.parametrize("moves", [{"birth_death": 1, "bandwidth": 1}, "auto"], ids=["births", "auto"])
def test_soft_rules(moves: object, power: float) -> None:
    assert np.abs(deviations(moves, power)).max() < 4.5


@pytest.mark.parametrize("wrong", ["wrong:birth_death", "wrong:bandwidth"])
def test_wrong_moves_are_caught(wrong: str) -> None:
    moves = {wrong: 1, ("birth_death" if "bandwidth" in wrong else "bandwidth"): 1}
    assert np.abs(deviations(moves, 1.0)).max() > 6
