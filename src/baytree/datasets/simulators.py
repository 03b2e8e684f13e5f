"""Tables drawn from a model that is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..data.columns import frame_of
from ..errors import InputError
from . import arm_dynamics as arm
from .dataset import Dataset


def friedman(n: int = 500, p: int = 10, noise: float = 1.0, seed: int = 0) -> Dataset:
    """Simulate Friedman's function of five predictors among p, all uniform on (0, 1).

    y = 10 sin(π x1 x2) + 20 (x3 - 0.5)² + 10 x4 + 5 x5 + noise · N(0, 1) (Friedman 1991).

    Parameters
    ----------
    n : int
        Number of rows.
    p : int
        Number of predictors, at least 5; those after the fifth do not matter.
    noise : float
        Standard deviation of the noise.
    seed : int
        Of NumPy's generator.

    Returns
    -------
    Dataset
    """
    if n < 2 or p < 5 or not noise >= 0:
        raise InputError(f"friedman(n={n}, p={p}, noise={noise}): n must be at least 2, p at least 5, noise at least 0")
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, p))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    y += noise * rng.standard_normal(n)
    return Dataset(
        name="friedman",
        title="Friedman's function of five predictors",
        source="simulated; Friedman 1991",
        target="y",
        X=frame_of({f"x{j + 1}": x[:, j] for j in range(p)}),
        y=y,
        outputs=("y",),
    )


def robot_arm(n_train: int = 15000, n_test: int = 5000, seed: int = 0) -> Dataset:
    """Simulate the accelerations of a four-joint arm; the rows for testing are in ``test``.

    Parameters
    ----------
    n_train, n_test : int
        Number of rows.
    seed : int
        Of NumPy's generator.

    Returns
    -------
    Dataset
        With four responses, ``qdd1`` to ``qdd4``.
    """
    if n_train < 2 or n_test < 0:
        raise InputError(f"robot_arm(n_train={n_train}, n_test={n_test}): at least 2 and at least 0 rows are needed")
    sample = arm.simulate(n_train, n_test, seed)

    def part(x: np.ndarray, y: np.ndarray, test: Dataset | None = None) -> Dataset:
        return Dataset(
            name="robot_arm",
            title="Forward dynamics of a robot arm with four joints",
            source="our own simulator, after Jordan and Jacobs 1994",
            target=arm.OUTPUTS[0],
            X=frame_of(dict(zip(arm.INPUTS, x.T, strict=True))),
            y=y,
            outputs=arm.OUTPUTS,
            test=test,
        )

    return part(sample.X_train, sample.Y_train, part(sample.X_test, sample.Y_test))


SIMULATORS: dict[str, Callable[..., Dataset]] = {"friedman": friedman, "robot_arm": robot_arm}
