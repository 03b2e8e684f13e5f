"""Sums of trees by brute force: every tuple of trees of a small space, with its probability given the responses.

Given the trees, leaf values and noise are normal, so the responses are too: y − centre − offset has the covariance
σ² W⁻¹ + σ_μ² Σ_j Z_j Z_jᵀ, where Z_j says which leaf of tree j each row lies in. Like the enumeration this shares no
code with baytree: it works with whole covariance matrices and never with residuals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats

from reference.bart.tuples import Floats, Ints, Tuples
from reference.trees.enumeration import Normal


@dataclass(frozen=True)
class Noise:
    """σ² ~ νλ/χ²_ν with P(σ < guess) = q; where ν is infinite, σ is the guess."""

    guess: float
    nu: float = math.inf
    q: float = 0.9

    @cached_property
    def log_grid(self) -> Floats:
        """Even steps of log σ, far into both tails."""
        return math.log(self.guess) + (np.zeros(1) if math.isinf(self.nu) else np.arange(-4.0, 8.0, 0.025))

    @cached_property
    def log_prior(self) -> Floats:
        """The log probability of each step of the grid: by the trapezoidal rule, as all is smooth."""
        if math.isinf(self.nu):
            return np.zeros(1)
        scaled = self.guess**2 * stats.chi2.ppf(1 - self.q, self.nu)  # νλ
        chi2 = scaled * np.exp(-2 * self.log_grid)
        log_density = stats.chi2.logpdf(chi2, self.nu) + np.log(chi2)
        return log_density - np.logaddexp.reduce(log_density)


@dataclass(frozen=True, eq=False, kw_only=True)
class SumSpace(Tuples):
    """Sums of trees with normal noise: a response is centre + offset + the sum of its leaves' values + noise."""

    noise: Noise
    k: float = 2.0
    offset: tuple[float, ...] | None = None

    # ---- the scale of the response -----------------------------------------------------------------------------------

    @cached_property
    def response(self) -> Floats:
        y = np.array(self.space.table.response)
        return y if self.offset is None else y - self.offset

    @cached_property
    def centre(self) -> float:
        """Half way between the smallest and the largest response."""
        return float(self.response.min() + self.response.max()) / 2

    @cached_property
    def sigma_mu(self) -> float:
        return float(np.ptp(self.response)) / (2 * self.k * math.sqrt(self.trees))

    @property
    def leaf(self) -> Normal:
        """The leaf model of a single tree where σ is known."""
        return Normal(self.centre, self.sigma_mu, self.noise.guess)

    @cached_property
    def row_weights(self) -> Floats:
        weight = self.space.table.weight
        return np.ones(len(self.response)) if weight is None else np.array(weight)

    # ---- the posterior -----------------------------------------------------------------------------------------------

    @cached_property
    def together(self) -> Floats:
        """Z Zᵀ of each tree of the space: 1 where two rows share a leaf."""
        return (self.leaf_of[:, :, None] == self.leaf_of[:, None, :]).astype(float)

    def shared(self, states: Ints, part: int | None) -> Floats:
        """In how many trees of a state two rows share a leaf, or whether they do in one of its trees."""
        trees = range(self.trees) if part is None else [part]
        return np.sum([self.together[self.parts[states, tree]] for tree in trees], axis=0)

    def covariance(self, states: Ints, sigma: Floats, power: float) -> Floats:
        """Of the responses, where a likelihood to a power is that of noise so much larger."""
        noise = (sigma**2)[:, None] / (power * self.row_weights)
        return self.sigma_mu**2 * self.shared(states, None) + noise[:, :, None] * np.eye(len(self.response))

    def log_likelihood(self, sigma: Floats, power: float) -> Floats:
        """The log of ∫ p(y | f, σ)^power p(f | trees) df for each state and each σ, (states, sigmas).

        With rows scaled by the root of their weights, the noise is σ² I: one set of eigenvectors serves every σ.
        """
        if power == 0:
            return np.zeros((len(self.parts), len(sigma)))
        root = np.sqrt(power * self.row_weights)
        shared = self.shared(np.arange(len(self.parts)), None) * root[:, None] * root
        values, vectors = np.linalg.eigh(shared)
        turned = (root * (self.response - self.centre)) @ vectors
        variance = self.sigma_mu**2 * values[:, :, None] + sigma**2
        log_normal = -0.5 * np.sum(np.log(2 * np.pi * variance) + turned[:, :, None] ** 2 / variance, axis=1)
        noise = 2 * np.pi * sigma**2 / self.row_weights[:, None]
        return log_normal + np.sum(np.log(root)) + 0.5 * np.sum(np.log(noise / power) - power * np.log(noise), axis=0)

    def joint(self, power: float) -> Floats:
        """The probability of each state with each step of σ's grid, (states, steps)."""
        if power not in self._joint:
            log_likelihood = self.log_likelihood(np.exp(self.noise.log_grid), power)
            log_joint = self.log_prior[:, None] + self.noise.log_prior + log_likelihood
            unnormalised = np.exp(log_joint - log_joint.max())
            self._joint[power] = unnormalised / unnormalised.sum()
        return self._joint[power]

    @cached_property
    def _joint(self) -> dict[float, Floats]:
        return {}

    def target(self, power: float) -> Floats:
        """The probability of each state."""
        return self.joint(power).sum(axis=1)

    def sigma_share(self, states: Ints, sigma: Floats, power: float) -> Floats:
        """P(σ < sigma | state, y): uniform where sigma is a draw."""
        joint = self.joint(power)
        shares = np.cumsum(joint, axis=1) / joint.sum(axis=1, keepdims=True)
        grid = self.noise.log_grid
        step = grid[1] - grid[0]
        place = np.clip((np.log(sigma) - grid[0]) / step + 0.5, 0, len(grid) - 1)
        before = place.astype(np.int64)
        padded = np.concatenate([np.zeros((len(shares), 1)), shares], axis=1)
        low, high = padded[states, before], padded[states, before + 1]
        return low + (place - before) * (high - low)

    def moments(
        self, states: Ints, sigma: Floats, power: float, row: int, part: int | None = None
    ) -> tuple[Floats, Floats]:
        """The mean and the standard deviation of f − centre − offset at a row, or of one tree's part of it."""
        reach = self.sigma_mu**2 * self.shared(states, part)[:, row]
        if power == 0:
            return np.zeros(len(states)), np.sqrt(reach[:, row])
        solved = np.linalg.solve(self.covariance(states, sigma, power), reach[:, :, None])[..., 0]
        return solved @ (self.response - self.centre), np.sqrt(reach[:, row] - np.sum(reach * solved, axis=1))

    def value_share(
        self, states: Ints, sigma: Floats, values: Floats, power: float, row: int, part: int | None = None
    ) -> Floats:
        """P(value < drawn value | state, σ, y) at a row, of the sum or of one tree: uniform where these are draws."""
        mean, spread = self.moments(states, sigma, power, row, part)
        return stats.norm.cdf(values, mean, spread)
