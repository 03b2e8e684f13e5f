"""Small mixtures of experts whose posterior can be had without sampling.

All decisions, which leaf each row has, are listed. Given the decisions the gates and the experts fall apart: an expert
of numbers has a marginal likelihood in closed form, a logit model of two coefficients one by Gauss–Hermite quadrature.
Nothing here knows baytree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

POINTS = 60


@dataclass(frozen=True)
class Mixture:
    """A mixture and its data; ``outputs`` of classes are their numbers, one a row."""

    name: str
    kind: str  # "linear", "constant" or "classes"
    inputs: tuple[tuple[float, ...], ...]
    outputs: tuple[tuple[float, ...], ...]
    depth: int = 1
    branching: int = 2
    classes: int = 0
    gate_sd: float = 1.5
    sd: float = 1.2
    nu: float = 4.0
    scale: tuple[float, ...] = (0.5,)
    points: int = POINTS

    @cached_property
    def x(self) -> Floats:
        return np.array(self.inputs)

    @cached_property
    def y(self) -> Floats:
        """Numbers, or indicators of the classes."""
        return np.eye(self.classes)[np.array(self.outputs, dtype=int)[:, 0]] if self.classes else np.array(self.outputs)

    @property
    def seen(self) -> Floats:
        """What experts see."""
        return self.x[:, -1:] if self.kind == "constant" else self.x

    @property
    def leaves(self) -> int:
        return self.branching**self.depth

    @cached_property
    def states(self) -> Ints:
        """The leaf of each row in every state, (states, rows)."""
        number = np.arange(self.leaves ** len(self.x))
        return number[:, None] // self.leaves ** np.arange(len(self.x)) % self.leaves

    def number_of(self, leaf: Ints) -> Ints:
        """The numbers of states, (…, rows)."""
        return leaf @ self.leaves ** np.arange(len(self.x))

    # ---- the posterior ----------------------------------------------------------------------------------------------

    def solved(self, power: float) -> tuple[Floats, Floats]:
        """P(decisions | y), and the posterior means of what `quantities` computes, the likelihood having a power."""
        parts = [*self._gates(), *(self._expert(leaf, power) for leaf in range(self.leaves))]
        log_joint = sum(log_total for log_total, _ in parts)
        probability = special.softmax(log_joint)
        moments = np.concatenate([moments for _, moments in parts], axis=1)
        return probability, probability @ moments

    def log_evidence(self, power: float) -> float:
        """log ∫ Σ p(parameters, decisions) P(y | …)^power."""
        parts = [*self._gates(), *(self._expert(leaf, power) for leaf in range(self.leaves))]
        return float(special.logsumexp(sum(log_total for log_total, _ in parts)))

    def quantities(self, gates: Floats, coefficients: Floats, variance: Floats | None) -> Floats:
        """Functions of parameters, (draws, numbers), whose means exist.

        Logit models: each coefficient and its square. Regressions, for each output: 1/σ², β/σ² and β²/σ².
        """
        draws = len(gates)
        by_node = gates.reshape(draws, -1, (self.branching - 1) * self.x.shape[1])
        found = [np.concatenate([by_node, by_node**2], axis=2).reshape(draws, -1)]
        if variance is None:
            by_leaf = coefficients.reshape(draws, self.leaves, -1)
            found.append(np.concatenate([by_leaf, by_leaf**2], axis=2).reshape(draws, -1))
        else:
            precision = 1 / variance.reshape(draws, self.leaves, 1, -1)
            by_output = coefficients.reshape(draws, self.leaves, self.seen.shape[1], -1)
            parts = np.concatenate([precision, by_output * precision, by_output**2 * precision], axis=2)
            found.append(np.moveaxis(parts, 3, 2).reshape(draws, -1))
        return np.concatenate(found, axis=1)

    def _gates(self) -> list[tuple[Floats, Floats]]:
        """Of each node, level by level: log P(its decisions) in every state, and the moments of its coefficients."""
        found, under = [], self.leaves
        for _ in range(self.depth):
            child = under // self.branching
            for node in range(self.leaves // under):
                here = self.states // under == node
                found.append(self._logit(here, self.states // child % self.branching, self.branching, self.gate_sd))
            under = child
        return found

    def _expert(self, leaf: int, power: float) -> tuple[Floats, Floats]:
        """The same of a leaf: log P(y of its rows)."""
        here = self.states == leaf
        if not self.classes:
            return self._regression(here, power)
        chosen = np.broadcast_to(self.y.argmax(axis=1), here.shape)
        return self._logit(here, chosen, self.classes, self.sd, power)

    def _logit(
        self, here: NDArray[np.bool_], chosen: Ints, classes: int, sd: float, power: float = 1.0
    ) -> tuple[Floats, Floats]:
        grid, log_weight = _normal_grid((classes - 1) * self.x.shape[1], self.points)
        grid = grid * sd
        scores = np.einsum("gkc,nc->gnk", grid.reshape(len(grid), classes - 1, -1), self.x)
        log_share = special.log_softmax(np.concatenate([scores, np.zeros((*scores.shape[:2], 1))], axis=2), axis=2)
        log_product = np.tile(log_weight, (len(here), 1))
        for row in range(len(self.x)):
            log_product += power * np.where(here[:, row, None], log_share[:, row, :].T[chosen[:, row]], 0.0)
        log_total = special.logsumexp(log_product, axis=1)
        weight = np.exp(log_product - log_total[:, None])
        return log_total, weight @ np.concatenate([grid, grid**2], axis=1)

    def _regression(self, here: NDArray[np.bool_], power: float) -> tuple[Floats, Floats]:
        size = self.seen.shape[1]
        log_total, moments = [], []
        for rows in here:
            x, y, n = self.seen[rows], self.y[rows], power * rows.sum()
            precision = np.eye(size) / self.sd**2 + power * x.T @ x
            covariance = np.linalg.inv(precision)
            mean = covariance @ (power * x.T @ y)
            total, of_state = 0.0, []
            for output, scale in enumerate(self.scale):
                shape, before = self.nu / 2, self.nu * scale / 2
                after = (
                    before + (power * y[:, output] @ y[:, output] - mean[:, output] @ precision @ mean[:, output]) / 2
                )
                total += shape * np.log(before) - (shape + n / 2) * np.log(after)
                total += special.gammaln(shape + n / 2) - special.gammaln(shape) - n / 2 * np.log(2 * np.pi)
                total -= (np.linalg.slogdet(precision)[1] + 2 * size * np.log(self.sd)) / 2
                inverse = (shape + n / 2) / after
                of_state += [[inverse], mean[:, output] * inverse, mean[:, output] ** 2 * inverse + np.diag(covariance)]
            log_total.append(total)
            moments.append(np.concatenate(of_state))
        return np.array(log_total), np.array(moments)

    # ---- densities of given parameters ------------------------------------------------------------------------------

    def log_prior(self, gates: Floats, coefficients: Floats, variance: Floats | None) -> float:
        """The log density of one draw of parameters."""
        gates_part = stats.norm(0, self.gate_sd).logpdf(gates).sum()
        if variance is None:
            return float(gates_part + stats.norm(0, self.sd).logpdf(coefficients).sum())
        of_leaf = variance.reshape(self.leaves, -1)
        shape = self.nu / 2
        noise = stats.invgamma(shape, scale=shape * np.array(self.scale)).logpdf(of_leaf).sum()
        beta = coefficients.reshape(self.leaves, -1, of_leaf.shape[1])
        return float(gates_part + noise + stats.norm(0, self.sd * np.sqrt(of_leaf[:, None, :])).logpdf(beta).sum())

    def log_mixture(self, gates: Floats, coefficients: Floats, variance: Floats | None) -> float:
        """log P(y | parameters), by products along every path."""
        n, columns = self.x.shape
        nodes = gates.reshape(-1, self.branching - 1, columns)
        total = 0.0
        for row in range(n):
            shares, place = np.ones(1), 0
            for _ in range(self.depth):
                at = nodes[place : place + len(shares)] @ self.x[row]
                place += len(shares)
                branch = special.softmax(np.column_stack([at, np.zeros(len(shares))]), axis=1)
                shares = (shares[:, None] * branch).ravel()
            if variance is None:
                at = coefficients.reshape(self.leaves, -1, columns) @ self.x[row]
                density = special.softmax(np.column_stack([at, np.zeros(self.leaves)]), axis=1) @ self.y[row]
            else:
                means = self.seen[row] @ coefficients.reshape(self.leaves, self.seen.shape[1], -1)
                density = stats.norm(means, np.sqrt(variance.reshape(means.shape))).pdf(self.y[row]).prod(axis=1)
            total += np.log(shares @ density)
        return float(total)


def _normal_grid(dimensions: int, points: int) -> tuple[Floats, Floats]:
    """Points and log weights of a standard normal distribution."""
    at, weight = np.polynomial.hermite_e.hermegauss(points)
    axes = np.meshgrid(*[at] * dimensions, indexing="ij")
    weights = np.meshgrid(*[np.log(weight / weight.sum())] * dimensions, indexing="ij")
    return np.stack([axis.ravel() for axis in axes], axis=1), np.sum([one.ravel() for one in weights], axis=0)


WITH_ONES = ((-1.2, 1.0), (-0.7, 1.0), (-0.1, 1.0), (0.4, 1.0), (0.8, 1.0), (1.5, 1.0))
ALONE = ((-1.2,), (0.7,), (0.9,), (1.6,))

LINES = Mixture("lines", "linear", WITH_ONES, ((0.9,), (0.6,), (-0.5,), (0.3,), (1.4,), (2.2,)))
PAIRS = Mixture(
    "pairs", "constant", ALONE, ((1.0, 0.2), (-1.0, 0.1), (-0.8, 1.5), (-1.9, 1.1)), branching=3, scale=(0.5, 0.3)
)
DEEP = Mixture("deep", "linear", WITH_ONES[1:5], ((1.0,), (-1.5,), (0.2,), (1.8,)), depth=2)
ONE_LEAF = Mixture("one leaf", "linear", WITH_ONES[:3], ((0.9,), (0.6,), (-0.5,)), depth=0)
TWO_CLASSES = Mixture("two classes", "classes", WITH_ONES, ((0,), (0,), (1,), (0,), (1,), (1,)), classes=2)
THREE_CLASSES = Mixture("three classes", "classes", ALONE, ((0,), (2,), (1,), (2,)), branching=3, classes=3)
MIXTURES = [LINES, PAIRS, DEEP, ONE_LEAF, TWO_CLASSES, THREE_CLASSES]
