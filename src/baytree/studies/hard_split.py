"""A split and two linear functions that learn from a teacher of the same kind, at high temperature [1]_.

Student and teacher are ``y(x) = N^(−1/2) (w₁·x)`` where v·x > 0 and ``N^(−1/2) (w₂·x)`` where not, with N inputs and
vectors of length √N. Trained by the Gibbs distribution of the squared error ½ (y − y*)² on P = αN examples, at a high
temperature 1/β with α̃ = αβ finite, the student's density is proportional to exp(−N α̃ ε_g), and all depends on the
overlaps of its three vectors with the teacher's, which are taken to be orthogonal.

References
----------
.. [1] Saul and Jordan (1995), as on Jordan's slides, Bayesian learning in probabilistic decision trees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# π √(1 + π²/8): where the student begins to find the teacher's split.
CRITICAL = float(np.pi * np.sqrt(1 + np.pi**2 / 8))
# Overlaps this near to those that cannot be have no entropy.
EDGE = 1e-12


def generalisation_error(
    overlaps: np.ndarray, within: np.ndarray | float = 0.0, of_teacher: np.ndarray | float = 0.0
) -> np.ndarray:
    """ε_g = E ½ (y − y*)² over Gaussian inputs.

    With θ the angle between the splits, cos θ = R_v, and Δ the difference of the entries for w₁ and w₂,

    ``ε_g = 1 − (1 − θ/π) (R₁ + R₂)/2 − (θ/π) (C₁ + C₂)/2 − [ΔX ΔY + ΔZ ΔT − R_v (ΔX ΔZ + ΔY ΔT)] / (2π sin θ)``.

    The slides have Z = T = 0, and + in place of the − before the last term. With a plus it is not what students of
    Gaussian inputs do, as a test shows; the critical point is the same for both.

    Parameters
    ----------
    overlaps : numpy.ndarray of shape (…, 3, 3)
        ``[[R_v, X₁, X₂], [Y₁, R₁, C₁], [Y₂, C₂, R₂]]``: rows are v, w₁, w₂ of the student and columns v*, w₁*, w₂* of
        the teacher, inner products over N.
    within, of_teacher : numpy.ndarray of shape (…, 2) or 0
        Z and T: the overlaps of v with w₁ and w₂, of the student and of the teacher.
    """
    of_split = np.clip(overlaps[..., 0, 0], -1 + EDGE, 1 - EDGE)
    angle, sine = np.arccos(of_split), np.sqrt(1 - of_split**2)
    x = overlaps[..., 0, 1] - overlaps[..., 0, 2]
    y = overlaps[..., 1, 0] - overlaps[..., 2, 0]
    z, t = (np.asarray(of)[..., 0] - np.asarray(of)[..., 1] if np.ndim(of) else 0.0 for of in (within, of_teacher))
    same = 0.5 * (overlaps[..., 1, 1] + overlaps[..., 2, 2])
    other = 0.5 * (overlaps[..., 1, 2] + overlaps[..., 2, 1])
    mixed = x * y + z * t - of_split * (x * z + y * t)
    return 1 - (1 - angle / np.pi) * same - angle / np.pi * other - mixed / (2 * np.pi * sine)


def free_energy(at: np.ndarray, load: float) -> float:
    """α̃ ε_g less the entropy, for each of the N inputs.

    The entropy is ½ log det(Q − 𝓡𝓡'), with 𝓡 the overlaps with the teacher and Q those within the student, which are 1
    on its diagonal: the volume of students with these overlaps.

    Parameters
    ----------
    at : numpy.ndarray of shape (12,)
        The overlaps, row by row, and those of v with w₁, of v with w₂ and of w₁ with w₂.
    load : float
        α̃.
    """
    overlaps, (first, second, between) = at[:9].reshape(3, 3), at[9:]
    of_student = np.array([[1, first, second], [first, 1, between], [second, between, 1]])
    left = np.linalg.eigvalsh(of_student - overlaps @ overlaps.T)
    if left.min() <= EDGE:
        return np.inf
    return load * float(generalisation_error(overlaps, at[9:11])) - 0.5 * float(np.log(left).sum())


def symmetric_phase(load: float) -> np.ndarray:
    """The overlaps below the transition: no split, and each w as near to w₁* as to w₂*.

    α̃ = 4r / (1 − 2r²) with r the overlap of a w with either.
    """
    r = (np.sqrt(16 + 8 * load**2) - 4) / (4 * load)
    at = np.zeros(12)
    at[[4, 5, 7, 8]] = r
    at[11] = 2 * r**2
    return at


def stability(load: float) -> float:
    """The least curvature of the free energy at the symmetric phase; below 0 the student leaves it."""
    centre, step = symmetric_phase(load), 1e-4
    moves = step * np.eye(12)
    curvature = np.array(
        [
            [
                sum(
                    i * j * free_energy(centre + i * moves[a] + j * moves[b], load)
                    for i, j in ((1, 1), (1, -1), (-1, 1), (-1, -1))
                )
                for b in range(12)
            ]
            for a in range(12)
        ]
    ) / (4 * step**2)
    return float(np.linalg.eigvalsh(curvature).min())


def critical_load() -> float:
    """Where the symmetric phase loses its stability, by numerical differentiation of the free energy."""
    from scipy.optimize import brentq

    return float(brentq(stability, 3, 6, xtol=1e-6))


def equilibrium(load: float, start: np.ndarray | None = None) -> np.ndarray:
    """The overlaps with the least free energy, of those reached downhill from both phases.

    Parameters
    ----------
    load : float
        α̃.
    start : numpy.ndarray, optional
        Overlaps to begin with as well, such as those of a larger α̃.
    """
    from scipy.optimize import minimize

    tilted = symmetric_phase(load)
    tilted[[0, 4, 5, 7, 8]] += 0.05 * np.array([1, 1, -1, -1, 1])
    starts = [symmetric_phase(load), tilted, *([] if start is None else [start])]
    options = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 40_000, "maxfev": 40_000, "adaptive": True}
    found = [minimize(free_energy, at, args=(load,), method="Nelder-Mead", options=options) for at in starts]
    return np.asarray(min(found, key=lambda one: one.fun).x)


@dataclass(frozen=True, eq=False)
class Simulated:
    """What students drawn from the Gibbs distribution do.

    Attributes
    ----------
    error : numpy.ndarray of shape (loads, chains)
        The mean of ε_g of each chain.
    split : numpy.ndarray of shape (loads, chains)
        The mean of |R_v|.
    """

    error: np.ndarray
    split: np.ndarray


def simulate(loads: np.ndarray, inputs: int, sweeps: int, chains: int, rng: np.random.Generator) -> Simulated:
    """Draw students with density proportional to exp(−N α̃ ε_g) by Metropolis' algorithm.

    A step turns one of the three vectors by a random angle towards a random direction, which is symmetric on the
    sphere. Its size is tuned in the first half of the sweeps, which is thrown away. Chains begin near the teacher: from
    elsewhere those of a large α̃ come to students without the teacher's split and stay there for long.

    Parameters
    ----------
    loads : numpy.ndarray
        Values of α̃, each with its own chains.
    inputs : int
        N.
    sweeps, chains : int
        Steps of each vector, and chains of each load.
    rng : numpy.random.Generator
        Where they come from.
    """
    shape = (len(loads), chains)
    teacher = np.eye(3, inputs)
    students = teacher + 0.01 * rng.normal(size=(*shape, 3, inputs))
    students /= np.linalg.norm(students, axis=-1, keepdims=True)
    scale = np.full((*shape, 3), 0.5)
    current = _error_of(students, teacher)
    errors, splits = [], []
    for sweep in range(sweeps):
        for vector in range(3):
            candidate = students.copy()
            candidate[..., vector, :] = _turned(students[..., vector, :], scale[..., vector], rng)
            found = _error_of(candidate, teacher)
            accepted = np.log(rng.random(shape)) < -inputs * loads[:, None] * (found - current)
            students = np.where(accepted[..., None, None], candidate, students)
            current = np.where(accepted, found, current)
            if sweep < sweeps // 2:
                scale[..., vector] = np.clip(scale[..., vector] * np.exp(0.1 * (accepted - 0.3)), 1e-3, np.pi)
        if sweep >= sweeps // 2:
            errors.append(current)
            splits.append(np.abs(students[..., 0, 0]))
    return Simulated(np.mean(errors, axis=0), np.mean(splits, axis=0))


def _error_of(students: np.ndarray, teacher: np.ndarray) -> np.ndarray:
    within = np.einsum("...n,...kn->...k", students[..., 0, :], students[..., 1:, :])
    return generalisation_error(students @ teacher.T, within)


def _turned(vectors: np.ndarray, scale: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Unit vectors, each turned by a normal angle towards a uniform direction at a right angle to it."""
    towards = rng.normal(size=vectors.shape)
    towards -= np.sum(towards * vectors, axis=-1, keepdims=True) * vectors
    towards /= np.linalg.norm(towards, axis=-1, keepdims=True)
    angle = (scale * rng.normal(size=scale.shape))[..., None]
    return np.cos(angle) * vectors + np.sin(angle) * towards
