"""Sums of trees with soft rules by quadrature: every tuple of trees of a small space, its bandwidths integrated out.

Given trees and bandwidths, leaf values and noise are normal, so the responses are too: y − centre has the covariance
σ² W⁻¹ + σ_μ² Z Zᵀ, where Z says which share of each row each leaf has. A bandwidth is exponential, so its distribution
function is uniform, and Gauss and Legendre's rule averages over it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit

from reference.bart.normal_sums import SumSpace
from reference.bart.tuples import Floats
from reference.trees.enumeration import Rule, Tree

# Nodes for each of so many bandwidths, which `test_soft_rules` holds against more of them.
NODES = (1, 60, 30, 16, 12)


@dataclass(frozen=True, eq=False, kw_only=True)
class SoftSums(SumSpace):
    """Sums of trees whose rules on numbers are soft, with known noise; ``bandwidth`` is the mean of the bandwidths."""

    bandwidth: float = 0.2
    nodes: tuple[int, ...] = NODES

    def is_soft(self, rule: Rule) -> bool:
        """Whether a rule compares numbers: level sets do not, and neither does the question whether one is missing."""
        column = self.space.table.columns[rule.feature]
        return column.kind == "numeric" and rule.cut < column.observed - 1

    def soft_rules(self, tree: Tree) -> int:
        """The number of bandwidths of a tree."""
        return sum(rule is not None and self.is_soft(rule) for rule in tree)

    def shares(self, tree: Tree, bandwidths: Floats) -> Floats:
        """Which share of each row each leaf has, (points, rows, leaves), given bandwidths (points, soft rules)."""
        rules, widths = iter(tree), iter(bandwidths.T)

        def walk(share: Floats) -> Iterator[Floats]:
            rule = next(rules)
            if rule is None:
                yield share
                return
            right = self.gate(rule, next(widths) if self.is_soft(rule) else None)
            yield from walk(share * (1 - right))
            yield from walk(share * right)

        return np.stack(list(walk(np.ones((len(bandwidths), len(self.response))))), axis=-1)

    def gate(self, rule: Rule, widths: Floats | None) -> Floats:
        """Which share of each row goes right, (points, rows)."""
        column = self.space.table.columns[rule.feature]
        bins = np.array(column.bins)
        hard = np.array([[float(not column.goes_left(rule, code)) for code in column.bins]])
        if widths is None:
            return hard
        distance = (bins + 0.5 - (rule.cut + 1)) / column.observed
        return np.where(bins == column.observed, hard, expit(distance / widths[:, None]))

    def points(self, bandwidths: int) -> tuple[Floats, Floats]:
        """Nodes, (points, bandwidths), and weights of an average over so many bandwidths."""
        at, weight = np.polynomial.legendre.leggauss(self.nodes[bandwidths])
        above = (1 - at) / 2  # the cube root of P(B > b), by which the tail has nodes enough
        one, weight = -3 * self.bandwidth * np.log(above), 3 * above**2 * weight / 2
        axes = np.meshgrid(*[one] * bandwidths, indexing="ij")
        weights = np.prod(np.meshgrid(*[weight] * bandwidths, indexing="ij"), axis=0)
        return np.stack([axis.ravel() for axis in axes], axis=-1) if axes else np.empty((1, 0)), np.ravel(weights)

    def target(self, power: float) -> Floats:
        """The probability of each state."""
        log_target = self.log_prior + self.averages(power)[0]
        unnormalised = np.exp(log_target - log_target.max())
        return unnormalised / unnormalised.sum()

    def means(self, power: float) -> Floats:
        """Over all states: of f − centre at each row, of its square, and of all bandwidths and their densities."""
        return self.target(power) @ self.averages(power)[1]

    def averages(self, power: float) -> tuple[Floats, Floats]:
        """The log marginal likelihood of each state, and its own means; the power of the likelihood is 0 or 1."""
        if power not in self._averages:
            trees = list(self.space.trees)
            found = [self._average([trees[one] for one in part], power) for part in self.parts]
            self._averages[power] = np.array([one for one, _ in found]), np.stack([means for _, means in found])
        return self._averages[power]

    @cached_property
    def _averages(self) -> dict[float, tuple[Floats, Floats]]:
        return {}

    def _average(self, trees: list[Tree], power: float) -> tuple[float, Floats]:
        soft = [self.soft_rules(tree) for tree in trees]
        points, weights = self.points(sum(soft))
        ends = np.cumsum([0, *soft])
        parts = [self.shares(tree, points[:, a:b]) for tree, a, b in zip(trees, ends[:-1], ends[1:], strict=True)]
        share = np.concatenate([np.broadcast_to(part, (len(points), *part.shape[1:])) for part in parts], axis=-1)
        reach = self.sigma_mu**2 * share @ np.moveaxis(share, 1, 2)
        mean, variance = np.zeros(reach.shape[:2]), np.diagonal(reach, axis1=1, axis2=2)
        log_likelihood = np.zeros(len(points))
        if power == 1:
            y = self.response - self.centre
            covariance = reach + np.diag(self.noise.guess**2 / self.row_weights)
            solved = np.linalg.solve(covariance, np.concatenate([np.broadcast_to(y, mean.shape)[..., None], reach], -1))
            mean = np.einsum("pij,pj->pi", reach, solved[..., 0])
            variance = variance - np.einsum("pij,pji->pi", reach, solved[..., 1:])
            log_likelihood = -0.5 * (np.linalg.slogdet(2 * np.pi * covariance)[1] + solved[..., 0] @ y)
        most = log_likelihood.max()
        mass = weights * np.exp(log_likelihood - most)
        bandwidths = np.stack([points.sum(axis=1), np.exp(-points / self.bandwidth).sum(axis=1)], axis=1)
        found = np.concatenate([mean, mean**2 + variance, bandwidths], axis=1)
        return float(most + np.log(mass.sum())), mass @ found / mass.sum()
