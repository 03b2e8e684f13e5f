"""Structure discovery: what a sum of trees says about the columns, and how it depends on them; one tree for all."""

from __future__ import annotations

from .checks import Calibration, PredictiveCheck, calibration, predictive_check
from .dependence import Curves, Dependence, Surface, ice, partial_dependence, two_way_dependence
from .importance import Interactions, VariableUse, interactions, variable_use
from .null import Null
from .shap import Shap, shap
from .summary_tree import SummaryTree

__all__ = [
    "Calibration",
    "Curves",
    "Dependence",
    "Interactions",
    "Null",
    "PredictiveCheck",
    "Shap",
    "SummaryTree",
    "Surface",
    "VariableUse",
    "calibration",
    "ice",
    "interactions",
    "partial_dependence",
    "predictive_check",
    "shap",
    "two_way_dependence",
    "variable_use",
]
