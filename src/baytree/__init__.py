"""Bayesian tree learning: a posterior over trees you can read, and a prior you can write."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from . import datasets, knowledge, slp
from .bart.model import BART
from .bart.null import additive_null, permutation_null
from .bart.posterior import BARTPosterior
from .cart.bounds import Bounds, bounds
from .cart.leaves import Categorical, Gaussian
from .cart.model import CART
from .cart.posterior import Posterior
from .data.design import Design, make_design, read
from .data.matrix import LinearDesign, make_linear_design, read_linear
from .errors import ConvergenceWarning, FileError, InputError, InterruptedSampling
from .hmdt.data.design import SequenceDesign, make_sequence_design
from .hmdt.model import HMDT
from .hmdt.posterior import HMDTPosterior
from .hme.model import HME
from .hme.posterior import HMEPosterior
from .knowledge import *  # noqa: F403 (its `__all__` is ours)
from .posterior.compare import compare
from .posterior.registry import load
from .priors.edit_tree import EditTree
from .priors.grow_tree import GrowTree
from .sampling.api import converge, extend, resume, sample
from .sampling.tuning import Trial, Tuning, tune
from .subset.model import Subset
from .subset.posterior import SubsetPosterior
from .subset.priors import BetaBinomial, ExpectedSize, GPrior, HyperG, HyperGN, Independent, Ridge, SizePrior
from .trees.tree import Tree

if TYPE_CHECKING:
    from . import plot
    from .bart.estimators import BARTClassifier, BARTRegressor
    from .cart.estimators import CARTClassifier, CARTRegressor
    from .hmdt.estimators import HMDTClassifier, HMDTRegressor
    from .hme.estimators import HMEClassifier, HMERegressor
    from .subset.estimators import SubsetRegressor, SubsetSelector

__version__ = version("baytree")

__all__ = [
    "BART",
    "CART",
    "HMDT",
    "HME",
    "BARTClassifier",
    "BARTPosterior",
    "BARTRegressor",
    "BetaBinomial",
    "Bounds",
    "CARTClassifier",
    "CARTRegressor",
    "Categorical",
    "ConvergenceWarning",
    "Design",
    "EditTree",
    "ExpectedSize",
    "FileError",
    "GPrior",
    "Gaussian",
    "GrowTree",
    "HMDTClassifier",
    "HMDTPosterior",
    "HMDTRegressor",
    "HMEClassifier",
    "HMEPosterior",
    "HMERegressor",
    "HyperG",
    "HyperGN",
    "Independent",
    "InputError",
    "InterruptedSampling",
    "LinearDesign",
    "Posterior",
    "Ridge",
    "SequenceDesign",
    "SizePrior",
    "Subset",
    "SubsetPosterior",
    "SubsetRegressor",
    "SubsetSelector",
    "Tree",
    "Trial",
    "Tuning",
    "additive_null",
    "bounds",
    "compare",
    "converge",
    "datasets",
    "extend",
    "load",
    "make_design",
    "make_linear_design",
    "make_sequence_design",
    "permutation_null",
    "plot",
    "read",
    "read_linear",
    "resume",
    "sample",
    "slp",
    "tune",
]
__all__ += knowledge.__all__

# The estimators import scikit-learn, which takes a second; the rest of baytree does without.
_ESTIMATORS = {
    "bart": ("BARTClassifier", "BARTRegressor"),
    "cart": ("CARTClassifier", "CARTRegressor"),
    "hmdt": ("HMDTClassifier", "HMDTRegressor"),
    "hme": ("HMEClassifier", "HMERegressor"),
    "subset": ("SubsetRegressor", "SubsetSelector"),
}


def __getattr__(name: str) -> Any:
    if name == "plot":
        return import_module(".plot", __name__)
    for family, estimators in _ESTIMATORS.items():
        if name in estimators:
            return getattr(import_module(f".{family}.estimators", __name__), name)
    raise AttributeError(f"module 'baytree' has no attribute {name!r}")
