"""Structure discovery: what a sum of trees says about the columns, and how it depends on them."""

from __future__ import annotations

from .dependence import Curves, Dependence, Surface, ice, partial_dependence, two_way_dependence
from .importance import Interactions, VariableUse, interactions, variable_use
from .null import Null
from .shap import Shap, shap

__all__ = [
    "Curves",
    "Dependence",
    "Interactions",
    "Null",
    "Shap",
    "Surface",
    "VariableUse",
    "ice",
    "interactions",
    "partial_dependence",
    "shap",
    "two_way_dependence",
    "variable_use",
]
