"""The data of the published experiments, bundled, and simulators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import robot_arm as arm
from .data.design import Design, read
from .data.files import read_file
from .data.response import Task
from .errors import InputError, unknown_choice

if TYPE_CHECKING:
    import polars as pl

BUNDLED = Path(__file__).with_name("bundled")

MLBENCH = "R package mlbench 2.1-3 (GPL-2)"
OPENML = "from GitHub datasets/openml-datasets (marked ODC-PDDL)"


@dataclass(frozen=True, kw_only=True)
class About:
    """What a person should know about a data set before using it.

    Attributes
    ----------
    title : str
        The set in one line.
    source : str
        Where it comes from, and its licence.
    target : str
        The response that is predicted unless told otherwise.
    caution : str
        What to heed before using the data; empty where nothing is known.
    categorical : tuple of str
        The predictors whose numbers are labels.
    task : {"auto", "classification", "regression"}
        How `baytree.data.design.read` should take the response.
    """

    title: str
    source: str
    target: str
    caution: str = ""
    categorical: tuple[str, ...] = ()
    task: Task = "auto"


ABOUT = {
    "kyphosis": About(
        title="Spinal deformity after surgery on 81 children",
        source="R package rpart 4.1.19 (GPL-2 or later); Chambers and Hastie 1992",
        target="kyphosis",
    ),
    "breast_cancer": About(
        title="Wisconsin breast cancer: 683 biopsies with nine cytological scores",
        source=f"{MLBENCH}; UCI, W. H. Wolberg, asks to be cited. The 16 of 699 rows with a missing value are dropped",
        target="class",
    ),
    "pima": About(
        title="Diabetes among 768 Pima women, with the original zeros for values not measured",
        source=f"{MLBENCH}; NIDDK, formerly UCI",
        target="diabetes",
        caution=(
            "Health records of an identifiable Indigenous community, used far outside the study they were given for. "
            "Use them only to reproduce published figures, not in examples and tutorials."
        ),
    ),
    "letter": About(
        title="Letter recognition: 20,000 images of 26 capitals in 16 features",
        source=f"{MLBENCH}; UCI, Frey and Slate 1991",
        target="letter",
    ),
    "waveform": About(
        title="Three classes of noisy waveforms, 5,000 rows of 40 values, the last 19 pure noise",
        source=f"UCI Waveform version 2, Breiman et al. 1984, the distributed file; {OPENML}",
        target="class",
        task="classification",
    ),
    "heart": About(
        title="Statlog heart disease: 270 patients",
        source=f"UCI Statlog (Heart); {OPENML}",
        target="heart_disease",
        categorical=("chest_pain", "rest_ecg", "thal"),
    ),
    "boston": About(
        title="Median house values of 506 Boston census tracts",
        source=f"{MLBENCH}; Harrison and Rubinfeld 1978, uncorrected medv",
        target="medv",
        caution=(
            "The column b is built from the share of Black residents of a town on the assumption that segregation "
            "raises prices. Use the set only to reproduce published figures, not in examples and tutorials."
        ),
    ),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset(About):
    """A data set with what is known about it.

    Attributes
    ----------
    name : str
        The name to load it by.
    X : polars.DataFrame
        The predictors.
    y : numpy.ndarray
        The response; of several responses a matrix, with `outputs` its columns.
    outputs : tuple of str
        The names of the responses; the first is the default target.
    test : Dataset or None
        Held-out rows, where the set defines them.
    """

    name: str
    X: pl.DataFrame = field(repr=False)
    y: np.ndarray = field(repr=False)
    outputs: tuple[str, ...]
    test: Dataset | None = field(default=None, repr=False)

    def design(self, *, target: str | None = None, **options: Any) -> Design:
        """The predictors and one response as a design.

        Parameters
        ----------
        target : str, optional
            One of `outputs`.
        **options
            Passed on to `baytree.data.design.read`, over this set's own ``task`` and ``categorical``.

        Returns
        -------
        Design
        """
        import polars as pl

        target = self.target if target is None else target
        if target not in self.outputs:
            raise unknown_choice("response", target, self.outputs)
        y = self.y if self.y.ndim == 1 else self.y[:, self.outputs.index(target)]
        options = {"task": self.task, "categorical": self.categorical} | options
        return read(self.X.with_columns(pl.Series(target, y)), target, **options)


def names() -> tuple[str, ...]:
    """The names that `load` knows."""
    return (*ABOUT, *SIMULATORS)


def load(name: str) -> Dataset:
    """Load a bundled data set, or simulate one with its default settings.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Dataset
    """
    if name in SIMULATORS:
        return SIMULATORS[name]()
    if name not in ABOUT:
        raise unknown_choice("data set", name, names())
    about = ABOUT[name]
    table = read_file(BUNDLED / f"{name}.csv.gz")
    y = table[about.target].to_numpy()
    return Dataset(**vars(about), name=name, X=table.drop(about.target), y=y, outputs=(about.target,))


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
    import polars as pl

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
        X=pl.DataFrame(x, schema=[f"x{j + 1}" for j in range(p)]),
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
    import polars as pl

    if n_train < 2 or n_test < 0:
        raise InputError(f"robot_arm(n_train={n_train}, n_test={n_test}): at least 2 and at least 0 rows are needed")
    sample = arm.simulate(n_train, n_test, seed)

    def part(x: np.ndarray, y: np.ndarray, test: Dataset | None = None) -> Dataset:
        return Dataset(
            name="robot_arm",
            title="Forward dynamics of a robot arm with four joints",
            source="our own simulator, after Jordan and Jacobs 1994",
            target=arm.OUTPUTS[0],
            X=pl.DataFrame(x, schema=list(arm.INPUTS)),
            y=y,
            outputs=arm.OUTPUTS,
            test=test,
        )

    return part(sample.X_train, sample.Y_train, part(sample.X_test, sample.Y_test))


SIMULATORS: dict[str, Callable[..., Dataset]] = {"friedman": friedman, "robot_arm": robot_arm}
