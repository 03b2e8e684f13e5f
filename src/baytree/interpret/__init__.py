"""Structure discovery: what a sum of trees says about the columns, and how it depends on them; one tree for all."""

from __future__ import annotations

from .dependence import Curves, Dependence, Surface, ice, partial_dependence, two_way_dependence
from .importance import Interactions, VariableUse, interactions, variable_use
from .null import Null
from .shap import Shap, shap
from .summary_tree import SummaryTree

__all__ = [
    "Curves",
    "Dependence",
    "Interactions",
    "Null",
    "Shap",
    "SummaryTree",
    "Surface",
    "VariableUse",
    "ice",
    "interactions",
    "partial_dependence",
    "shap",
    "two_way_dependence",
    "variable_use",
]
