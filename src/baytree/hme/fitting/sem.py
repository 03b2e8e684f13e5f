"""Error bars of soft trees: a normal approximation at the mode, whose Hessian SEM finds from EM's own steps [1]_.

EM's map M has the mode θ̂ as its fixed point. With its derivative there, the *rate* DM, the information of the rows is

``I_obs = I_com (1 − DM)``,

where I_com, the complete-data information, is what the decisions would add up to if they were known, and DM is the
share of it that is missing. The ridge counts as a normal prior and is in both.

References
----------
.. [1] Meng and Rubin (1991), Using EM to obtain asymptotic variance–covariance matrices: the SEM algorithm, Journal of
   the American Statistical Association 86, 899–909.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ..numeric.arrays import Array, eye_like, namespace, to_kind_of
from ..tree.experts import Gaussian
from ..tree.soft_tree import Responsibilities, SoftTree, responsibilities
from . import em
from .complete import Block, blocks, information_of, slope_of, tree_at, vector_of

# The rate takes two steps of EM a parameter.
MOST_PARAMETERS = 2000
# Parameters are perturbed by this share of their standard error if the decisions were known.
PERTURBATION = 1e-3
# Newton's method for an M step from close by; it ends when it moves less than this, or fails.
MOST_NEWTON_STEPS, STILL = 20, 1e-11
# A fit counts as the mode when the normal approximation puts the mode this close to it: a square in standard errors.
AT_MODE = 1e-6
# Steps of EM in each of the rounds that go to the mode.
ROUNDS, EPOCHS = 20, 100


@dataclass(frozen=True)
class ErrorBars:
    """The normal approximation of the posterior around a mode.

    Attributes
    ----------
    tree : SoftTree
        The mode.
    complete, rate, information, covariance : array of shape (parameters, parameters)
        I_com, DM, I_obs and its inverse, in the order of `complete.vector_of`.
    """

    tree: SoftTree
    complete: Array
    rate: Array
    information: Array
    covariance: Array

    @property
    def standard_errors(self) -> Array:
        """Of each parameter; of variances that of their logarithm."""
        xp = namespace(self.covariance)
        return xp.sqrt(xp.linalg.diagonal(self.covariance))

    def draws(self, count: int, generator: np.random.Generator) -> list[SoftTree]:
        """Soft trees from the approximation.

        Parameters
        ----------
        count : int
            How many.
        generator : numpy.random.Generator
            Where they come from.
        """
        xp = namespace(self.covariance)
        centre = vector_of(self.tree)
        root = xp.linalg.cholesky(self.covariance)
        noise = to_kind_of(centre, generator.normal(size=(count, centre.shape[0])))
        found = centre + xp.matmul(noise, xp.matrix_transpose(root))
        return [tree_at(self.tree, found[draw, :]) for draw in range(count)]


@dataclass(frozen=True)
class Problem:
    """What EM maximises.

    Attributes
    ----------
    X, Y, weight : array
        Inputs, outputs and weights.
    ridge : float
        The penalty.
    """

    X: Array
    Y: Array
    weight: Array
    ridge: float

    def objective(self, tree: SoftTree) -> float:
        """The penalised log-likelihood."""
        return em.penalised(tree, tree.log_likelihood(self.X, self.Y), self.weight, self.ridge)

    def decisions(self, tree: SoftTree) -> Responsibilities:
        """The E step."""
        return responsibilities(tree, self.X, self.Y)

    def blocks(self, tree: SoftTree, found: Responsibilities) -> list[Block]:
        """Of the complete-data objective."""
        return list(blocks(tree, self.X, self.Y, self.weight, found, self.ridge))

    def slope(self, tree: SoftTree) -> Array:
        """The derivative of the penalised log-likelihood."""
        return slope_of(self.blocks(tree, self.decisions(tree)))


def error_bars(tree: SoftTree, problem: Problem) -> ErrorBars:
    """The normal approximation at a mode.

    Parameters
    ----------
    tree : SoftTree
        A fit by EM, whose M steps were full ones, at the mode; see `to_mode`.
    problem : Problem
        What it was fitted to.
    """
    found = _ahead(tree, problem)
    covariance = _inverse(found.information)
    if not found.distance <= AT_MODE:
        raise InputError(
            f"error bars need EM at its mode, and the mode is {np.sqrt(found.distance):.2g} standard errors away; run "
            "EM on with full M steps, more epochs and a smaller tol"
        )
    return ErrorBars(tree, found.complete, found.rate, found.information, covariance)


def to_mode(tree: SoftTree, problem: Problem) -> SoftTree:
    """Go on with EM, full M steps, until the fit is the mode.

    Rounds of EM alternate with the step that its rate says all further ones would add up to, ``(1 − DM)⁻¹ (M(θ) − θ)``;
    that step is taken where the penalised log-likelihood rises.

    Parameters
    ----------
    tree : SoftTree
        Where to begin.
    problem : Problem
        What to fit.
    """
    settings = em.Settings(ridge=problem.ridge, steps=25, epochs=EPOCHS, tolerance=0.0)
    for _ in range(ROUNDS):
        tree = em.fit(tree, problem.X, problem.Y, problem.weight, settings).tree
        found = _ahead(tree, problem)
        # Where the information is not positive definite the distance can be negative, and the step lead to a saddle.
        if abs(found.distance) <= AT_MODE / 100:
            return tree
        further = tree_at(tree, vector_of(tree) + found.move)
        if found.distance > 0 and problem.objective(further) >= problem.objective(tree):
            tree = further
    raise InputError(
        f"EM did not come to a mode within {ROUNDS * EPOCHS:,} more epochs; raise ridge or choose a smaller depth"
    )


@dataclass(frozen=True)
class _Ahead:
    """I_com and DM at a tree, and the way that EM would still go from there."""

    complete: Array
    rate: Array
    move: Array

    @property
    def information(self) -> Array:
        """I_obs; its two halves differ by the error of the rate alone."""
        xp = namespace(self.rate)
        found = xp.matmul(self.complete, eye_like(self.rate, self.rate.shape[0]) - self.rate)
        return 0.5 * (found + xp.matrix_transpose(found))

    @property
    def distance(self) -> float:
        """The square of that way in standard errors."""
        xp = namespace(self.rate)
        return float(xp.sum(self.move * xp.matmul(self.information, self.move)))


def _ahead(tree: SoftTree, problem: Problem) -> _Ahead:
    xp = namespace(problem.X)
    _require_inside(tree)
    at = vector_of(tree)
    size = at.shape[0]
    if size > MOST_PARAMETERS:
        raise InputError(
            f"error bars of {size:,} parameters would take {2 * size:,} steps of EM; choose a smaller depth, for "
            f"at most {MOST_PARAMETERS:,} parameters"
        )
    complete = information_of(problem.blocks(tree, problem.decisions(tree)))
    diagonal = xp.linalg.diagonal(complete)
    if not bool(xp.all(diagonal > 0)):
        raise _indefinite()
    scale = PERTURBATION / xp.sqrt(diagonal)
    here = vector_of(_em_step(tree, tree, problem))
    directions = eye_like(at, size)
    columns = []
    for j in range(size):
        step = scale[j] * directions[j, :]
        up, down = (_em_step(tree_at(tree, at + sign * step), tree, problem) for sign in (1.0, -1.0))
        columns.append((vector_of(up) - vector_of(down)) / (2 * scale[j]))
    rate = xp.stack(columns, axis=1)
    move = xp.linalg.solve(eye_like(rate, size) - rate, (here - at)[:, None])[:, 0]
    return _Ahead(complete, rate, move)


def _em_step(tree: SoftTree, near: SoftTree, problem: Problem) -> SoftTree:
    """M(θ): the decisions at θ, and what maximises the complete-data objective given them, sought from a tree nearby.

    Newton's method without a line search, which stops where rounding hides what a step gains: the rate needs M to more
    digits than the objective shows.
    """
    xp = namespace(problem.X)
    found = problem.decisions(tree)
    for _ in range(MOST_NEWTON_STEPS):
        steps = [_solved(part) for part in problem.blocks(near, found)]
        move = xp.concat(steps)
        near = tree_at(near, vector_of(near) + move)
        if float(xp.max(xp.abs(move))) <= STILL:
            return near
    raise InputError("an M step near the mode did not converge; raise ridge")


def _solved(part: Block) -> Array:
    return namespace(part.slope).linalg.solve(part.information, part.slope[:, None])[:, 0]


def _inverse(information: Array) -> Array:
    """The inverse of a matrix that must be positive definite."""
    xp = namespace(information)
    diagonal = xp.linalg.diagonal(information)
    if not bool(xp.all(diagonal > 0)):
        raise _indefinite()
    scale = xp.sqrt(diagonal)
    outer = scale[:, None] * scale[None, :]
    try:
        root = xp.linalg.cholesky(information / outer)
    except Exception as error:  # each library of arrays has its own
        raise _indefinite() from error
    if not bool(xp.all(xp.isfinite(root))):
        raise _indefinite()
    half = xp.linalg.solve(root, eye_like(root, root.shape[0]))
    return xp.matmul(xp.matrix_transpose(half), half) / outer


def _indefinite() -> InputError:
    return InputError(
        "error bars: the information is not positive definite, as some gate or leaf is not determined by the rows; "
        "raise ridge or choose a smaller depth"
    )


def _require_inside(tree: SoftTree) -> None:
    """A variance at its floor has no slope of zero, and so no normal approximation."""
    if isinstance(tree.experts, Gaussian):
        xp = namespace(tree.experts.variance)
        at_floor = xp.any(tree.experts.variance <= tree.experts.least, axis=-1)
        if bool(xp.any(at_floor)):
            leaf = int(xp.argmax(xp.astype(at_floor, xp.int64)))
            raise InputError(
                f"error bars: leaf {leaf} fits its rows exactly, its variance is at the floor; choose a smaller depth"
            )
