"""Variances that are products of trees, by brute force: every tuple of trees of a small space, with its probability.

What cannot be integrated in closed form is integrated on even grids of the logarithms of leaf values, where densities
are smooth and fall off fast on both sides. Like the enumeration this shares no code with baytree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import optimize, stats
from scipy.special import gammaln, psi

from reference.bart.normal_sums import Noise, SumSpace
from reference.bart.tuples import Floats, Ints, Tuples

# Of the logarithm of a leaf value, about that of its scale.
GRID = np.arange(-4.0, 10.0, 0.5)


@dataclass(frozen=True)
class Factor:
    """A leaf value v ~ νλ/χ²_ν of which ``number`` make up the variance that ``noise`` describes.

    The logarithm of their product has the mean and variance of that of σ².
    """

    noise: Noise
    number: int

    @cached_property
    def nu(self) -> float:
        spread = stats.loggamma(self.noise.nu / 2).var() / self.number
        return 2 * math.exp(optimize.bisect(lambda log: stats.loggamma(math.exp(log)).var() - spread, -7, 14))

    @cached_property
    def rate(self) -> float:
        """νλ/2."""
        noise = self.noise
        scaled = noise.guess**2 * stats.chi2.ppf(1 - noise.q, noise.nu) / 2
        mean = math.log(scaled) - stats.loggamma(noise.nu / 2).mean()
        return math.exp(mean / self.number + stats.loggamma(self.nu / 2).mean())

    @property
    def grid(self) -> Floats:
        """Values, evenly spaced in their logarithms."""
        return np.exp(math.log(2 * self.rate / self.nu) + GRID)

    def log_density(self, value: Floats) -> Floats:
        """Of the logarithm of a value."""
        shape = self.nu / 2
        return shape * math.log(self.rate) - gammaln(shape) - shape * np.log(value) - self.rate / value

    def log_marginal(self, squares: Floats, number: Floats) -> Floats:
        """The log of ∫ v^(−number/2) exp(−squares/2v) p(v) dv."""
        shape = self.nu / 2
        log_constant = shape * math.log(self.rate) - gammaln(shape)
        return log_constant + gammaln(shape + number / 2) - (shape + number / 2) * np.log(self.rate + squares / 2)

    def mean_log(self, squares: Floats, number: Floats) -> Floats:
        """E(log v) after so many squares."""
        return np.log(self.rate + squares / 2) - psi((self.nu + number) / 2)

    def share(self, value: Floats, squares: Floats, number: Floats) -> Floats:
        """P(v < value) after so many squares: uniform where these are draws."""
        return stats.chi2.sf((2 * self.rate + squares) / value, self.nu + number)


@dataclass(frozen=True, eq=False, kw_only=True)
class ProductSpace(Tuples):
    """One or two trees whose product is the variance of responses of known mean, which is half way of their range."""

    noise: Noise

    @cached_property
    def factor(self) -> Factor:
        return Factor(self.noise, self.trees)

    @cached_property
    def mean(self) -> SumSpace:
        """What is known of the mean."""
        return SumSpace(name=self.name, space=self.space, noise=self.noise)

    @cached_property
    def squares(self) -> Floats:
        return self.mean.row_weights * (self.mean.response - self.mean.centre) ** 2

    def by_leaf(self, of_rows: Floats, tree: int) -> Floats:
        """Ensemble over the rows of each leaf, the rows being the last axis."""
        inside = self.leaf_of[tree] == np.arange(self.space.leaves[tree])[:, None]
        return of_rows @ inside.T.astype(float)

    def integrals(self, state: int, power: float) -> tuple[float, Floats]:
        """The log-likelihood of a state to a power, up to a constant, and E(log s²) at each row."""
        first, *others = self.parts[state]
        axes = [self.factor.grid] * (int(self.space.leaves[others[0]]) if others else 0)
        mesh = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes)) if axes else np.ones((1, 1))
        at_rows = mesh[:, self.leaf_of[others[0]]] if others else np.ones((1, len(self.squares)))
        number = self.by_leaf(np.full(len(self.squares), power), first)
        squares = self.by_leaf(power * self.squares / at_rows, first)
        log_joint = self.factor.log_marginal(squares, number).sum(axis=1) - power * np.log(at_rows).sum(axis=1) / 2
        if axes:
            log_joint += self.factor.log_density(mesh).sum(axis=1) + len(axes) * math.log(GRID[1] - GRID[0])
        total = np.logaddexp.reduce(log_joint)
        log_values = self.factor.mean_log(squares, number)[:, self.leaf_of[first]] + np.log(at_rows)
        return float(total), np.exp(log_joint - total) @ log_values

    def posterior(self, power: float) -> tuple[Floats, Floats]:
        """The probability of each state, and E(log s²) at each row."""
        each = [self.integrals(state, power) for state in range(len(self.parts))]
        log_joint = self.log_prior + [log for log, _ in each]
        target = np.exp(log_joint - np.logaddexp.reduce(log_joint))
        return target, target @ np.stack([means for _, means in each])

    def value_share(self, states: Ints, values: Floats, power: float, row: int) -> Floats:
        """P(v < drawn v | state, y) at a row, of a single tree."""
        trees = self.parts[:, 0]
        leaf = [self.leaf_of[tree, row] for tree in trees]
        squares = np.array([self.by_leaf(power * self.squares, tree)[k] for tree, k in zip(trees, leaf, strict=True)])
        ones = np.full(len(self.squares), power)
        number = np.array([self.by_leaf(ones, tree)[k] for tree, k in zip(trees, leaf, strict=True)])
        return self.factor.share(values, squares[states], number[states])


@dataclass(frozen=True, eq=False, kw_only=True)
class BothSpace(Tuples):
    """A tree of the mean, and one of the variance."""

    noise: Noise
    k: float = 1.0

    @property
    def slots(self) -> int:
        return 2

    @cached_property
    def mean(self) -> SumSpace:
        return SumSpace(name=self.name, space=self.space, noise=self.noise, k=self.k)

    @cached_property
    def factor(self) -> Factor:
        return Factor(self.noise, 1)

    def integrals(self, state: int, power: float) -> tuple[float, Floats]:
        """The log-likelihood of a state to a power, and E(f − centre) and E(log s²) at each row."""
        mean_tree, tree = self.parts[state]
        mesh = np.stack(np.meshgrid(*[self.factor.grid] * int(self.space.leaves[tree]), indexing="ij"), axis=-1)
        mesh = mesh.reshape(-1, self.space.leaves[tree])
        at_rows = mesh[:, self.leaf_of[tree]]
        rows = at_rows.shape[1]
        log_joint = self.factor.log_density(mesh).sum(axis=1) + mesh.shape[1] * math.log(GRID[1] - GRID[0])
        fits = np.zeros_like(at_rows)
        if power > 0:
            shared = self.mean.sigma_mu**2 * self.mean.together[mean_tree]
            noise = at_rows / self.mean.row_weights
            covariance = shared + noise[:, :, None] / power * np.eye(rows)
            response = self.mean.response - self.mean.centre
            solved = np.linalg.solve(covariance, np.broadcast_to(response, at_rows.shape)[..., None])[..., 0]
            fits = solved @ shared
            log_normal = np.linalg.slogdet(covariance)[1] + solved @ response
            # To the power, noise is larger by 1/power and lacks some of its constants.
            log_joint += 0.5 * ((1 - power) * np.log(noise).sum(axis=1) - rows * math.log(power) - log_normal)
        total = np.logaddexp.reduce(log_joint)
        return float(total), np.exp(log_joint - total) @ np.concatenate([fits, np.log(at_rows)], axis=1)

    def posterior(self, power: float) -> tuple[Floats, Floats]:
        """The probability of each state, and E(f − centre) and E(log s²) at each row."""
        each = [self.integrals(state, power) for state in range(len(self.parts))]
        log_joint = self.log_prior + [log for log, _ in each]
        target = np.exp(log_joint - np.logaddexp.reduce(log_joint))
        return target, target @ np.stack([means for _, means in each])
