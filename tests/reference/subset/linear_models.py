"""Linear models by brute force: every subset of the units of a small table, with its probability given the responses.

Given the columns, y is Student: after the intercept is projected out, its scale matrix is λ(I + XΣX'), rows by rows.
Like the enumeration of trees this shares no code with baytree: it works with the rows, by the eigenvalues of whole
matrices, and never with cross products, factors or what a model explains.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, linalg, optimize, special, stats

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

# Multiples of a projection that are tried as c or g, in logarithms: beyond them nothing changes.
LEAST, MOST = -60.0, 80.0


@dataclass(frozen=True)
class Student:
    """The density of responses whose scale matrix is λ(I + gM), relative to that with g = 0.

    Attributes
    ----------
    eigenvalues : array (N,)
        Of M.
    squares : array (N,)
        Of the responses along the eigenvectors of M.
    prior_freedom, prior_square : float
        ν and νλ of σ² ~ IG(ν/2, νλ/2). With ν = 0 the density is improper, but its ratios are not.
    """

    eigenvalues: Floats
    squares: Floats
    prior_freedom: float
    prior_square: float

    @classmethod
    def of(cls, matrix: Floats, y: Floats, nu: float, lam: float) -> Student:
        eigenvalues, vectors = linalg.eigh(matrix)
        # What rounding leaves of zeros would count where g is huge.
        return cls(np.where(eigenvalues < 1e-10, 0.0, eigenvalues), (vectors.T @ y) ** 2, nu, nu * lam)

    def log_ratio(self, g: float) -> float:
        """log p(y | g) − log p(y | 0)."""
        spread = 1 + g * self.eigenvalues
        power = (len(self.squares) + self.prior_freedom) / 2
        total = self.prior_square + self.squares.sum()
        # What is explained, or what is left: of the two the smaller is the one that rounding hardly hurts.
        explained = np.sum(self.squares * (g * self.eigenvalues / spread)) / total
        left = (self.prior_square + np.sum(self.squares / spread)) / total
        log_left = math.log1p(-explained) if explained < 0.5 else math.log(left)
        return float(-0.5 * np.log(spread).sum() - power * log_left)


@dataclass(frozen=True)
class Given:
    """What is known of β and σ² when a model and the spread of its coefficients are: β is normal, σ² IG(E, rest/2)."""

    mean: Floats
    spread: Floats  # as a multiple of σ²
    rest: float

    @classmethod
    def of(cls, x: Floats, y: Floats, prior: Floats, nu: float, lam: float) -> Given:
        """From the joint distribution of β and the rows, whose scale matrix is I + xPx' where P is the prior's of β."""
        gain = np.linalg.solve(np.eye(len(y)) + x @ prior @ x.T, x @ prior).T
        return cls(gain @ y, prior - gain @ x @ prior, nu * lam + float(y @ (y - x @ gain @ y)))

    @classmethod
    def shrunk(cls, x: Floats, y: Floats, g: float, nu: float, lam: float) -> Given:
        """The same of a g-prior, by singular values, however large g is."""
        left, values, right = linalg.svd(x, full_matrices=False)
        along, back = left.T @ y, right.T / values
        rest = nu * lam + float(np.sum((y - left @ along) ** 2) + np.sum(along**2) / (1 + g))
        shrinkage = 1 / (1 + 1 / g) if g else 0.0
        return cls(shrinkage * back @ along, shrinkage * back @ back.T, rest)


# ---- how coefficients are spread -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GPrior:
    """β ~ N(0, σ² c (X'X)⁻¹), where c may be ``"unit"``, the number of rows, or ``"eb"``, the best for each model."""

    c: float | str

    def log_ratio(self, y: Student, rows: int) -> float:
        return y.log_ratio(self.spread(y, rows))

    def spread(self, y: Student, rows: int) -> float:
        """c itself."""
        if self.c != "eb":
            return float(rows if self.c == "unit" else self.c)
        best = optimize.minimize_scalar(
            lambda log_c: -y.log_ratio(math.exp(log_c)), bounds=(LEAST, MOST), method="bounded", options={"xatol": 1e-9}
        )
        # Nothing is gained but by rounding.
        return math.exp(best.x) if best.fun < -1e-12 else 0.0


@dataclass(frozen=True)
class HyperG:
    """g of a g-prior has the density (a − 2)/2 · (1 + g)^(−a/2); of ``per_row`` g/n has it instead."""

    a: float
    per_row: bool = False

    def log_density(self, y: Student, rows: int, log_g: float) -> float:
        """Of y and log g."""
        g, scale = math.exp(log_g), rows if self.per_row else 1.0
        log_prior = math.log((self.a - 2) / 2 / scale) - self.a / 2 * math.log1p(g / scale)
        return log_prior + y.log_ratio(g) + log_g

    def log_ratio(self, y: Student, rows: int) -> float:
        if not y.eigenvalues.any():
            return 0.0
        grid = np.linspace(LEAST, MOST, 281)
        values = [self.log_density(y, rows, log_g) for log_g in grid]
        top = int(np.argmax(values))

        def scaled(log_g: float) -> float:
            return math.exp(self.log_density(y, rows, log_g) - values[top])

        edges = [grid[0], *(grid[top] + offset for offset in (-8, -2, 0, 2, 8)), grid[-1]]
        area = sum(integrate.quad(scaled, low, high, epsabs=1e-13, epsrel=1e-11)[0] for low, high in pairwise(edges))
        return values[top] + math.log(area)


@dataclass(frozen=True)
class Ridge:
    """β ~ N(0, σ² c I) for columns in units of their noise and of mean square one."""

    c: float

    def log_ratio(self, y: Student, rows: int) -> float:
        return y.log_ratio(self.c)


Slab = GPrior | HyperG | Ridge


# ---- which units are in ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Independent:
    """Each free unit is in with a probability of its own."""

    probability: tuple[float, ...]

    def chance(self, members: Flags) -> Floats:
        inside = np.array(self.probability)
        return np.prod(np.where(members, inside, 1 - inside), axis=1)


@dataclass(frozen=True)
class SizePrior:
    """A size has its probability, and all subsets of a size are alike."""

    probability: tuple[float, ...]

    def chance(self, members: Flags) -> Floats:
        units = members.shape[1]
        size = members.sum(axis=1)
        h = np.zeros(units + 1)
        h[: len(self.probability)] = self.probability
        return h[size] / special.comb(units, size)


def beta_binomial(units: int, a: float, b: float) -> SizePrior:
    """Each unit is in with a probability that all share, drawn from a beta distribution."""
    return SizePrior(tuple(stats.betabinom.pmf(np.arange(units + 1), units, a, b)))


ModelPrior = Independent | SizePrior


# ---- the models ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Table:
    """Rows, and which units their columns belong to.

    ``unit`` says it of each column, in order. Units of ``always`` are in every model. ``parents`` are the main effects
    of an interaction.
    """

    name: str
    matrix: Floats
    y: Floats
    unit: tuple[int, ...]
    weight: Floats | None = None
    intercept: bool = True
    always: tuple[int, ...] = ()
    parents: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return len(self.y)

    @property
    def units(self) -> int:
        return self.unit[-1] + 1

    @cached_property
    def free(self) -> list[int]:
        """The units that a model may have or not."""
        return [unit for unit in range(self.units) if unit not in self.always]

    @cached_property
    def row_weights(self) -> Floats:
        return np.ones(self.rows) if self.weight is None else self.weight

    @cached_property
    def complement(self) -> Floats:
        """An orthonormal basis of what an intercept leaves of the rows, or of all, (rows, N)."""
        return linalg.null_space(np.sqrt(self.row_weights)[None]) if self.intercept else np.eye(self.rows)

    def left(self, rows: Floats) -> Floats:
        """What an intercept leaves of columns, each row in units of its noise."""
        return np.tensordot(self.complement.T, (rows.T * np.sqrt(self.row_weights)).T, axes=1)

    @cached_property
    def response(self) -> Floats:
        return self.left(self.y)

    @cached_property
    def columns(self) -> Floats:
        """The columns, whose squares sum to the number of rows except where they are constant, (N, columns)."""
        left = self.left(self.matrix)
        mean_square = np.sum(left**2, axis=0) / self.rows
        constant = mean_square < 1e-20
        return np.where(constant, 0.0, left / np.sqrt(np.where(constant, 1.0, mean_square)))

    @cached_property
    def members(self) -> Flags:
        """Whether each unit is in each model, (models, units): bit k of a model's number says it of free unit k."""
        number = np.arange(2 ** len(self.free))[:, None]
        inside = np.ones((len(number), self.units), dtype=bool)
        inside[:, self.free] = number >> np.arange(len(self.free)) & 1
        return inside

    def model(self, units: Ints) -> int:
        """The number of the model that has these units."""
        return sum(1 << self.free.index(unit) for unit in units if unit not in self.always)


@cache
def log_likelihoods(table: Table, slab: Slab, nu: float, lam: float) -> Floats:
    """log p(y | model) − log p(y | no column) of every model; with a g-prior −∞ where columns are dependent."""
    value = np.full(len(table.members), -math.inf)
    for model, members in enumerate(table.members):
        x = table.columns[:, members[list(table.unit)]]
        if isinstance(slab, Ridge):
            shape = x @ x.T
        elif x.shape[1] == 0 or np.linalg.matrix_rank(x, tol=1e-6) == x.shape[1]:
            shape = x @ np.linalg.pinv(x)
        else:
            continue
        value[model] = slab.log_ratio(Student.of(shape, table.response, nu, lam), table.rows)
    return value


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearModels:
    """All models of a table and their probabilities, one entry a model in everything."""

    table: Table
    slab: Slab
    prior: ModelPrior
    nu: float = 3.0
    lam: float = 0.3
    heredity: str | None = None

    @property
    def log_likelihood(self) -> Floats:
        return log_likelihoods(self.table, self.slab, self.nu, self.lam)

    @cached_property
    def exists(self) -> Flags:
        """Whether a model obeys heredity and, with a g-prior, its columns are independent."""
        members = self.table.members
        exist = self.log_likelihood > -math.inf
        for unit, parents in self.table.parents.items():
            inside = members[:, list(parents)]
            obeys = {None: True, "weak": inside.any(axis=1), "strong": inside.all(axis=1)}[self.heredity]
            exist &= ~members[:, unit] | obeys
        return exist

    @cached_property
    def log_prior(self) -> Floats:
        """Of all models together, before some of them are found not to exist, probabilities sum to one."""
        chance = self.prior.chance(self.table.members[:, self.table.free])
        with np.errstate(divide="ignore"):
            return np.where(self.exists, np.log(chance), -math.inf)

    def target(self, power: float) -> Floats:
        """The distribution of a chain over models."""
        likelihood = np.where(self.exists, self.log_likelihood, 0.0)
        return special.softmax(self.log_prior + power * likelihood)

    @cached_property
    def sizes(self) -> Ints:
        """The number of free units."""
        return self.table.members[:, self.table.free].sum(axis=1)

    @cached_property
    def groupings(self) -> dict[str, Ints]:
        """What models have in common, for those that are too rare to be judged alone."""
        inside = {f"unit {unit}": self.table.members[:, unit].astype(np.int64) for unit in self.table.free}
        return {"size": self.sizes} | inside


# ---- moments ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Moments:
    """What is expected of all columns' coefficients, 0 where a model lacks them, and of the noise."""

    mean: Floats
    square: Floats  # E(ββ')
    sigma: float
    variance: float

    @classmethod
    def of(cls, models: LinearModels) -> Moments:
        """Over all models, and over the spreads of their coefficients where those have a prior."""
        table, width = models.table, len(models.table.unit)
        half = (len(table.response) + models.nu) / 2
        mean, square, sigma, variance = np.zeros(width), np.zeros((width, width)), 0.0, 0.0
        for members, probability in zip(table.members, models.target(1.0), strict=True):
            if probability == 0:
                continue
            inside = members[list(table.unit)]
            x = table.columns[:, inside]
            for spread, share in spreads(models, x):
                noise = models.nu, models.lam
                if isinstance(models.slab, Ridge):
                    given = Given.of(x, table.response, spread * np.eye(x.shape[1]), *noise)
                else:
                    given = Given.shrunk(x, table.response, spread, *noise)
                weight, of_noise = probability * share, given.rest / (2 * half - 2)
                mean[inside] += weight * given.mean
                of_model = np.outer(given.mean, given.mean) + of_noise * given.spread
                square[np.ix_(inside, inside)] += weight * of_model
                variance += weight * of_noise
                ratio = math.exp(special.gammaln(half - 0.5) - special.gammaln(half))
                sigma += weight * math.sqrt(given.rest / 2) * ratio
        return cls(mean, square, sigma, variance)


def spreads(models: LinearModels, x: Floats) -> list[tuple[float, float]]:
    """The spreads c or g of the coefficients of a model, each with its probability."""
    slab, rows = models.slab, models.table.rows
    y = Student.of(x @ np.linalg.pinv(x), models.table.response, models.nu, models.lam)
    if isinstance(slab, Ridge):
        return [(slab.c, 1.0)]
    if isinstance(slab, GPrior):
        return [(slab.spread(y, rows), 1.0)]
    if not x.shape[1]:
        return [(1.0, 1.0)]
    # The trapezoidal rule in log g, whose error falls exponentially.
    grid = np.arange(LEAST, MOST, 0.2)
    density = np.array([slab.log_density(y, rows, log_g) for log_g in grid])
    share = special.softmax(density)
    return [(math.exp(log_g), p) for log_g, p in zip(grid, share, strict=True) if p > 1e-18]
