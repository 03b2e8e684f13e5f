"""Forward dynamics of a four-joint arm in three dimensions: a data generator.

A stand-in for the system-identification data of Jordan and Jacobs (1994), whose arm parameters and sampling ranges were
not published. From twelve inputs (four joint angles, four joint velocities, four joint torques) predict the four joint
accelerations::

    (M(q) + diag(ARMATURE)) qdd + c(q, qd) + g(q) = tau

M is the link mass matrix, c the Coriolis and centrifugal torques and g the gravity torques, all from one recursive
Newton-Euler pass over the whole sample. The arm is a shoulder with three intersecting axes and an elbow::

    joint 1  yaw,   about the vertical z
    joint 2  pitch, about y
    joint 3  roll,  about the upper arm's own axis x
    joint 4  elbow, about y, 0.30 m along the upper arm

At q = 0 both links lie along x, horizontal. A positive pitch lowers the arm. The upper arm is a solid rod (2.0 kg,
0.30 m, radius 0.05 m), the forearm with the hand another (1.5 kg, 0.34 m, radius 0.04 m, centre of mass at 0.16 m).
ARMATURE is the reflected rotor inertia of each motor.

Every input is uniform on its range below, all twelve independent, and there is no noise. The ranges were chosen so that
a linear fit has a relative error near the published 0.31.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

AXES = np.array([[0.0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 0]])
OFFSETS = np.array([[0.0, 0, 0], [0, 0, 0], [0, 0, 0], [0.30, 0, 0]])  # m
MASS = np.array([0.0, 0.0, 2.0, 1.5])  # kg
COM = np.array([[0.0, 0, 0], [0, 0, 0], [0.15, 0, 0], [0.16, 0, 0]])  # m
GRAVITY = 9.81  # m/s^2
ARMATURE = np.array([0.04, 0.04, 0.04, 0.04])  # kg m^2

ANGLE_LOW = np.deg2rad([-90.0, -90.0, -90.0, 10.0])
ANGLE_HIGH = np.deg2rad([90.0, 90.0, 90.0, 140.0])
VELOCITY_MAX = np.array([3.5, 3.5, 3.5, 3.5])  # rad/s
TORQUE_MAX = np.array([4.0, 4.0, 2.0, 2.0])  # N m

INPUTS = tuple(f"{kind}{joint}" for kind in ("q", "qd", "tau") for joint in (1, 2, 3, 4))
OUTPUTS = tuple(f"qdd{joint}" for joint in (1, 2, 3, 4))


class Sample(NamedTuple):
    """Inputs with columns `INPUTS` and accelerations with columns `OUTPUTS`, for training and for testing."""

    X_train: np.ndarray
    Y_train: np.ndarray
    X_test: np.ndarray
    Y_test: np.ndarray


def simulate(n_train: int = 15000, n_test: int = 5000, seed: int = 0) -> Sample:
    """Draw motions of the arm.

    Parameters
    ----------
    n_train, n_test : int
        Number of motions.
    seed : int
        Of NumPy's PCG64 generator; one seed, one data set.

    Returns
    -------
    Sample
    """
    rng = np.random.default_rng(seed)
    n = n_train + n_test
    q = rng.uniform(ANGLE_LOW, ANGLE_HIGH, (n, 4))
    qd = rng.uniform(-VELOCITY_MAX, VELOCITY_MAX, (n, 4))
    tau = rng.uniform(-TORQUE_MAX, TORQUE_MAX, (n, 4))
    x, y = np.hstack([q, qd, tau]), forward_dynamics(q, qd, tau)
    return Sample(x[:n_train], y[:n_train], x[n_train:], y[n_train:])


def forward_dynamics(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Joint accelerations (n, 4)."""
    bias = inverse_dynamics(q, qd, np.zeros_like(q))
    inertia = mass_matrix(q) + np.diag(ARMATURE)
    return np.linalg.solve(inertia, (tau - bias)[..., None])[..., 0]


def mass_matrix(q: np.ndarray) -> np.ndarray:
    """M(q), shape (n, 4, 4), without the armature."""
    still = np.zeros_like(q)
    columns = []
    for j in range(q.shape[1]):
        unit = np.zeros_like(q)
        unit[:, j] = 1.0
        columns.append(inverse_dynamics(q, still, unit, gravity=0.0))
    return np.stack(columns, axis=2)


def inverse_dynamics(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, gravity: float = GRAVITY) -> np.ndarray:
    """Joint torques (n, 4) for the given motion, without the armature."""
    n, joints = q.shape
    w, wd, a = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
    a[:, 2] = gravity  # an upward acceleration of the base stands for gravity
    rotations, forces, moments = [], [], []
    for i in range(joints):
        rot = _rotation(AXES[i], q[:, i])
        a = a + np.cross(wd, OFFSETS[i]) + np.cross(w, np.cross(w, OFFSETS[i]))
        w, wd, a = (np.einsum("nji,nj->ni", rot, v) for v in (w, wd, a))
        spin = AXES[i] * qd[:, i : i + 1]
        wd = wd + AXES[i] * qdd[:, i : i + 1] + np.cross(w, spin)
        w = w + spin
        centre = a + np.cross(wd, COM[i]) + np.cross(w, np.cross(w, COM[i]))
        rotations.append(rot)
        forces.append(MASS[i] * centre)
        moments.append(wd @ INERTIA[i] + np.cross(w, w @ INERTIA[i]))
    tau = np.zeros((n, joints))
    force, moment = np.zeros((n, 3)), np.zeros((n, 3))
    reach = np.zeros(3)  # from this joint to the next
    for i in reversed(range(joints)):
        moment = moments[i] + moment + np.cross(COM[i], forces[i]) + np.cross(reach, force)
        force = forces[i] + force
        tau[:, i] = moment @ AXES[i]
        force = np.einsum("nij,nj->ni", rotations[i], force)
        moment = np.einsum("nij,nj->ni", rotations[i], moment)
        reach = OFFSETS[i]
    return tau


def relative_error(y_test: np.ndarray, prediction: np.ndarray, y_train: np.ndarray) -> np.ndarray:
    """Test MSE over the MSE of predicting the training mean, for each output."""
    base = ((y_test - y_train.mean(axis=0)) ** 2).mean(axis=0)
    error: np.ndarray = ((y_test - prediction) ** 2).mean(axis=0) / base
    return error


def _rod(mass: float, length: float, radius: float) -> np.ndarray:
    """Inertia of a solid rod along x about its centre."""
    across = mass * (3 * radius**2 + length**2) / 12
    return np.diag([mass * radius**2 / 2, across, across])


def _rotation(axis: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Rotation matrices (n, 3, 3) taking link coordinates to its parent's."""
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    sin, cos = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    rotations: np.ndarray = np.eye(3) + sin * k + (1 - cos) * (k @ k)
    return rotations


INERTIA = np.stack([np.zeros((3, 3)), np.zeros((3, 3)), _rod(2.0, 0.30, 0.05), _rod(1.5, 0.34, 0.04)])
