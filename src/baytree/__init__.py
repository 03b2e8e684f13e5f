"""Bayesian tree learning: a posterior over trees you can read, and a prior you can write."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from . import datasets, slp
from .bart_model import BART
from .bart_posterior import BARTPosterior
from .data import Design, make_design, read
from .edit_tree import EditTree
from .errors import FileError, InputError, InterruptedSampling
from .families import load
from .knowledge import (
    Box,
    Forbid,
    Interact,
    Knowledge,
    MaxDepth,
    MaxLeaves,
    Monotone,
    Only,
    Weights,
    read_knowledge,
)
from .leaves import Categorical, Gaussian
from .models import CART
from .nulls import additive_null, permutation_null
from .posterior import Posterior
from .priors import GrowTree
from .sampling import converge, extend, resume, sample
from .trees import Tree

if TYPE_CHECKING:
    from .bart import BARTClassifier, BARTRegressor
    from .cart import CARTClassifier, CARTRegressor

__version__ = version("baytree")

__all__ = [
    "BART",
    "CART",
    "BARTClassifier",
    "BARTPosterior",
    "BARTRegressor",
    "Box",
    "CARTClassifier",
    "CARTRegressor",
    "Categorical",
    "Design",
    "EditTree",
    "FileError",
    "Forbid",
    "Gaussian",
    "GrowTree",
    "InputError",
    "Interact",
    "InterruptedSampling",
    "Knowledge",
    "MaxDepth",
    "MaxLeaves",
    "Monotone",
    "Only",
    "Posterior",
    "Tree",
    "Weights",
    "additive_null",
    "converge",
    "datasets",
    "extend",
    "load",
    "make_design",
    "permutation_null",
    "read",
    "read_knowledge",
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
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name], __name__), name)
    raise AttributeError(f"module 'baytree' has no attribute {name!r}")
