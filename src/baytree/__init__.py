"""Bayesian tree learning: a posterior over trees you can read, and a prior you can write."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from . import datasets, slp
from .bart_model import BART
from .bart_posterior import BARTPosterior
from .data.design import Design, make_design, read
from .data.matrix import LinearDesign, make_linear_design, read_linear
from .edit_tree import EditTree
from .errors import FileError, InputError, InterruptedSampling
from .families import load
from .hme.model import HME
from .hme.posterior import HMEPosterior
from .knowledge import Box, Forbid, Interact, Knowledge, MaxDepth, MaxLeaves, Monotone, Only, Weights, read_knowledge
from .leaves import Categorical, Gaussian
from .models import CART
from .nulls import additive_null, permutation_null
from .posterior import Posterior
from .priors import GrowTree
from .sampling import converge, extend, resume, sample
from .subset.model import Subset
from .subset.posterior import SubsetPosterior
from .subset.priors import BetaBinomial, ExpectedSize, GPrior, HyperG, HyperGN, Independent, Ridge, SizePrior
from .trees.tree import Tree

if TYPE_CHECKING:
    from .bart import BARTClassifier, BARTRegressor
    from .cart import CARTClassifier, CARTRegressor
    from .linear import SubsetRegressor, SubsetSelector
    from .markov import HMDTClassifier, HMDTRegressor
    from .soft import HMEClassifier, HMERegressor

__version__ = version("baytree")

__all__ = [
    "BART",
    "CART",
    "HME",
    "BARTClassifier",
    "BARTPosterior",
    "BARTRegressor",
    "BetaBinomial",
    "Box",
    "CARTClassifier",
    "CARTRegressor",
    "Categorical",
    "Design",
    "EditTree",
    "ExpectedSize",
    "FileError",
    "Forbid",
    "GPrior",
    "Gaussian",
    "GrowTree",
    "HMDTClassifier",
    "HMDTRegressor",
    "HMEClassifier",
    "HMEPosterior",
    "HMERegressor",
    "HyperG",
    "HyperGN",
    "Independent",
    "InputError",
    "Interact",
    "InterruptedSampling",
    "Knowledge",
    "LinearDesign",
    "MaxDepth",
    "MaxLeaves",
    "Monotone",
    "Only",
    "Posterior",
    "Ridge",
    "SizePrior",
    "Subset",
    "SubsetPosterior",
    "SubsetRegressor",
    "SubsetSelector",
    "Tree",
    "Weights",
    "additive_null",
    "converge",
    "datasets",
    "extend",
    "load",
    "make_design",
    "make_linear_design",
    "permutation_null",
    "read",
    "read_knowledge",
    "read_linear",
    "resume",
    "sample",
    "slp",
]

# The estimators import scikit-learn, which takes a second; the rest of baytree does without.
_LAZY = {
    "BARTClassifier": ".bart",
    "BARTRegressor": ".bart",
    "CARTClassifier": ".cart",
    "CARTRegressor": ".cart",
    "HMDTClassifier": ".markov",
    "HMDTRegressor": ".markov",
    "HMEClassifier": ".soft",
    "HMERegressor": ".soft",
    "SubsetRegressor": ".linear",
    "SubsetSelector": ".linear",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name], __name__), name)
    raise AttributeError(f"module 'baytree' has no attribute {name!r}")
