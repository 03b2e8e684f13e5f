"""Sums of trees with Student noise by brute force: every tuple of trees of a small space, with its probability.

What there is to integrate over is σ, the degrees of freedom and what the trees say of each cell of the space, which is
normal of few dimensions: all on even grids, where densities are smooth and fall off. Nothing is augmented.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats

from reference.bart.normal_sums import SumSpace
from reference.bart.tuples import Floats, Ints

FREEDOMS = np.array([1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64])
# Of standard normal numbers, and of log σ about that of its guess.
NORMALS = np.arange(-5.2, 5.4, 0.4)
LOG_SIGMAS = np.arange(-3.0, 4.0, 0.25)


@dataclass(frozen=True, eq=False, kw_only=True)
class StudentSums(SumSpace):
    """Sums of trees with noise σ t_d / √w; a state is a tuple of trees and a place of d in the list."""

    rate: float = 0.1  # of the prior of d

    @cached_property
    def kept(self) -> Floats:
        """The responses that are no outliers."""
        distance = np.abs(self.response - np.median(self.response))
        return self.response[distance <= 6 * 1.4826 * np.median(distance)]

    @cached_property
    def centre(self) -> float:
        return float(self.kept.min() + self.kept.max()) / 2

    @cached_property
    def sigma_mu(self) -> float:
        return float(np.ptp(self.kept)) / (2 * self.k * math.sqrt(self.trees))

    @cached_property
    def log_prior_of_freedom(self) -> Floats:
        logs = 2 * np.log(FREEDOMS) - self.rate * FREEDOMS
        return logs - np.logaddexp.reduce(logs)

    @cached_property
    def log_sigmas(self) -> tuple[Floats, Floats]:
        """Values of log σ and the logarithms of their probabilities."""
        noise = self.noise
        if math.isinf(noise.nu):
            return np.array([math.log(noise.guess)]), np.zeros(1)
        grid = math.log(noise.guess) + LOG_SIGMAS
        chi2 = noise.guess**2 * stats.chi2.ppf(1 - noise.q, noise.nu) * np.exp(-2 * grid)
        logs = stats.chi2.logpdf(chi2, noise.nu) + np.log(chi2)
        return grid, logs - np.logaddexp.reduce(logs)

    @cached_property
    def cell_of(self) -> Ints:
        """Rows that share a leaf in every tree have the same number."""
        return np.unique(self.leaf_of.T, axis=0, return_inverse=True)[1].ravel()

    def fits(self, state: int) -> tuple[Floats, Floats]:
        """What the trees may say of each row (mesh, rows), and the log probabilities of that."""
        _, first = np.unique(self.cell_of, return_index=True)
        shared = self.sigma_mu**2 * self.shared(np.array([state]), None)[0][np.ix_(first, first)]
        values, vectors = np.linalg.eigh(shared)
        some = values > 1e-9 * values.max()
        mesh = np.stack(np.meshgrid(*[NORMALS] * int(some.sum()), indexing="ij"), axis=-1).reshape(-1, some.sum())
        log_weight = -(mesh**2).sum(axis=1) / 2
        at_cells = mesh @ (vectors[:, some] * np.sqrt(values[some])).T
        return at_cells[:, self.cell_of], log_weight - np.logaddexp.reduce(log_weight)

    @cached_property
    def posterior(self) -> tuple[Floats, Floats]:
        """The probability of each state with each d, and the means of what `quantities` has."""
        log_sigma, prior_of_sigma = self.log_sigmas
        log_joint = np.empty((len(self.parts), len(FREEDOMS), len(log_sigma)))
        means = np.empty((*log_joint.shape, 2 * len(self.response) + 2))
        for state in range(len(self.parts)):
            fits, log_weight = self.fits(state)
            both = np.concatenate([fits, fits**2], axis=1)
            for place, sigma in enumerate(np.exp(log_sigma)):
                scaled = self.row_weights * ((self.response - self.centre - fits) / sigma) ** 2
                for d, freedom in enumerate(FREEDOMS):
                    constant = stats.t.logpdf(0, freedom) + np.log(self.row_weights) / 2 - math.log(sigma)
                    logs = log_weight - (freedom + 1) / 2 * np.log1p(scaled / freedom).sum(axis=1)
                    total = np.logaddexp.reduce(logs)
                    log_joint[state, d, place] = total + constant.sum()
                    moments = np.exp(logs - total) @ both
                    means[state, d, place] = [*moments, log_sigma[place], log_sigma[place] ** 2]
        log_joint += self.log_prior[:, None, None] + self.log_prior_of_freedom[:, None] + prior_of_sigma
        joint = np.exp(log_joint - log_joint.max())
        joint /= joint.sum()
        return joint.sum(axis=2).ravel(), np.tensordot(joint, means, axes=3)

    @cached_property
    def prior(self) -> tuple[Floats, Floats]:
        """The same before any data."""
        log_sigma, prior_of_sigma = self.log_sigmas
        target = np.exp(self.log_prior[:, None] + self.log_prior_of_freedom).ravel()
        squares = self.trees * self.sigma_mu**2 * np.ones(len(self.response))
        of_sigma = np.exp(prior_of_sigma) @ np.stack([log_sigma, log_sigma**2], axis=1)
        return target, np.concatenate([0 * squares, squares, of_sigma])

    @cached_property
    def labels(self) -> dict[str, Ints]:
        """What states with a d have in common."""
        found = {name: np.repeat(labels, len(FREEDOMS)) for name, labels in self.groupings.items()}
        return found | {"degrees of freedom": np.tile(np.arange(len(FREEDOMS)), len(self.parts))}
