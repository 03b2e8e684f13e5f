"""Hierarchical mixtures of experts: soft trees by EM, on-line and by Bayes."""

from ..data.matrix import LinearSchema
from ..posterior.registry import Family, register
from .model import HME
from .posterior import HMEPosterior

register(Family(HME, HMEPosterior, LinearSchema))
