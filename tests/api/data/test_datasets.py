"""The bundled data are those of the papers, and the simulators are exact."""

from __future__ import annotations

import numpy as np
import pytest

from baytree import datasets
from baytree.datasets import arm_dynamics as arm
from baytree.errors import InputError

SHAPES = {
    "kyphosis": (81, 3),
    "breast_cancer": (683, 9),
    "pima": (768, 8),
    "letter": (20000, 16),
    "waveform": (5000, 40),
    "heart": (270, 13),
    "concrete": (1030, 8),
    "boston": (506, 13),
    "friedman": (500, 10),
    "robot_arm": (15000, 12),
}
CLASS_COUNTS = {
    "kyphosis": {"absent": 64, "present": 17},
    "breast_cancer": {"benign": 444, "malignant": 239},
    "pima": {"neg": 500, "pos": 268},
    "waveform": {0: 1692, 1: 1653, 2: 1655},
    "heart": {"absent": 150, "present": 120},
}


def test_every_set_has_its_shape_and_gives_a_design():
    assert set(datasets.names()) == set(SHAPES)
    for name, shape in SHAPES.items():
        data = datasets.load(name)
        assert data.X.shape == shape
        assert data.name == name
        assert data.title
        assert data.source
        design = data.design(max_cuts=15)
        assert design.rows == len(data.y) == shape[0]
        assert design.names == tuple(data.X.columns)
        assert design.response.name == data.target
        assert data.target not in data.X.columns


@pytest.mark.parametrize("name", CLASS_COUNTS)
def test_class_counts(name):
    design = datasets.load(name).design()
    assert dict(zip(design.classes.tolist(), np.bincount(design.y).tolist(), strict=True)) == CLASS_COUNTS[name]


def test_letter_has_26_classes():
    counts = np.bincount(datasets.load("letter").design().y)
    assert (len(counts), counts.min(), counts.max()) == (26, 734, 813)


@pytest.mark.parametrize(("name", "mean", "sd"), [("boston", 22.533, 9.197), ("concrete", 35.818, 16.706)])
def test_responses(name, mean, sd):
    y = datasets.load(name).design().y
    assert (round(y.mean(), 3), round(y.std(ddof=1), 3)) == (mean, sd)


def test_nominal_codes_of_heart_are_levels():
    columns = {column.name: column for column in datasets.load("heart").design().columns}
    assert {name for name, column in columns.items() if column.kind == "categorical"} == {
        "chest_pain",
        "rest_ecg",
        "thal",
    }
    assert columns["thal"].levels == ("3", "6", "7")


def test_options_go_to_read():
    data = datasets.load("heart")
    assert {column.kind for column in data.design(categorical=()).columns} == {"numeric"}
    assert datasets.load("waveform").design(task="regression").response.kind == "numeric"


def test_cautions():
    assert "Indigenous" in datasets.load("pima").caution
    assert "segregation" in datasets.load("boston").caution
    assert datasets.load("kyphosis").caution == datasets.load("concrete").caution == ""


def test_unknown_name():
    with pytest.raises(InputError, match=r"no data set 'kyphosys'\. Did you mean 'kyphosis'\? Choose from: kyphosis, "):
        datasets.load("kyphosys")


def test_friedman():
    data = datasets.friedman(n=50, p=7, noise=0.0, seed=3)
    x = data.X.to_numpy()
    expected = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    assert data.X.columns == [f"x{j}" for j in range(1, 8)]
    np.testing.assert_allclose(data.y, expected)
    assert np.array_equal(datasets.friedman(seed=1).y, datasets.friedman(seed=1).y)
    assert not np.array_equal(datasets.friedman(seed=1).y, datasets.friedman(seed=2).y)
    residual = datasets.friedman(n=2000, noise=2.0).y - datasets.friedman(n=2000, noise=0.0).y
    assert abs(residual.std() - 2.0) < 4 * 2.0 / np.sqrt(2 * 2000)


@pytest.mark.parametrize("settings", [{"p": 4}, {"n": 1}, {"noise": -1.0}, {"noise": float("nan")}])
def test_friedman_settings(settings):
    with pytest.raises(InputError, match="friedman"):
        datasets.friedman(**settings)


class TestRobotArm:
    def test_dataset(self):
        data = datasets.robot_arm(n_train=30, n_test=12, seed=5)
        sample = arm.simulate(30, 12, 5)
        assert np.array_equal(data.X.to_numpy(), sample.X_train)
        assert np.array_equal(data.y, sample.Y_train)
        assert np.array_equal(data.test.X.to_numpy(), sample.X_test)
        assert np.array_equal(data.test.y, sample.Y_test)
        assert np.array_equal(data.design(target="qdd3").y, sample.Y_train[:, 2])
        with pytest.raises(InputError, match="no response 'qdd5'"):
            data.design(target="qdd5")
        with pytest.raises(InputError, match="at least 2"):
            datasets.robot_arm(n_train=1)

    def test_first_row_is_that_of_the_reference_generator(self):
        sample = arm.simulate()
        np.testing.assert_allclose(
            sample.Y_train[0], [-8.448456954336898, 16.90232001970303, 8.707661973896784, -15.96187787294122], rtol=1e-9
        )
        np.testing.assert_allclose(sample.X_train[0, [0, 11]], [0.43027783071234316, -0.6282879057449517], rtol=1e-12)

    def test_dynamics_invert(self):
        rng = np.random.default_rng(1)
        q, qd, tau = rng.uniform(-1, 1, (3, 4, 4))
        mass = arm.mass_matrix(q)
        np.testing.assert_allclose(mass, mass.transpose(0, 2, 1), atol=1e-12)
        assert (np.linalg.eigvalsh(mass) > 0).all()
        qdd = arm.forward_dynamics(q, qd, tau)
        np.testing.assert_allclose(arm.inverse_dynamics(q, qd, qdd) + arm.ARMATURE * qdd, tau, atol=1e-10)

    def test_power_is_the_change_of_kinetic_energy(self):
        """With gravity's torque paid for, tau · qd equals the derivative of qd' M qd / 2 along the motion."""
        rng = np.random.default_rng(2)
        q, qd, tau = rng.uniform(-1, 1, (3, 6, 4))
        qdd = arm.forward_dynamics(q, qd, tau)
        gravity = arm.inverse_dynamics(q, np.zeros_like(q), np.zeros_like(q))

        def kinetic(t):
            velocity = qd + t * qdd
            inertia = arm.mass_matrix(q + t * qd + t**2 / 2 * qdd) + np.diag(arm.ARMATURE)
            return 0.5 * np.einsum("ni,nij,nj->n", velocity, inertia, velocity)

        h = 1e-5
        np.testing.assert_allclose((kinetic(h) - kinetic(-h)) / (2 * h), ((tau - gravity) * qd).sum(axis=1), rtol=1e-5)

    def test_linear_fit_has_the_documented_relative_error(self):
        x, y, x_test, y_test = arm.simulate()
        slopes = np.linalg.lstsq(np.c_[np.ones(len(x)), x], y, rcond=None)[0]
        error = arm.relative_error(y_test, np.c_[np.ones(len(x_test)), x_test] @ slopes, y)
        assert abs(error.mean() - 0.31) < 0.02
