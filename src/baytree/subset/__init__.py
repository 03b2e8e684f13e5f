"""Bayesian variable selection in the linear model: every subset's probability, and averages over models."""

from ..data.matrix import LinearSchema
from ..posterior.registry import Family, register
from .model import Subset
from .posterior import SubsetPosterior

register(Family(Subset, SubsetPosterior, LinearSchema))
