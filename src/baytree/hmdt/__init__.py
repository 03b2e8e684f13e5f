"""Hidden Markov decision trees: mixtures of experts whose decisions last."""

from ..data.matrix import LinearSchema
from ..posterior.registry import Family, register
from .model import HMDT
from .posterior import HMDTPosterior

register(Family(HMDT, HMDTPosterior, LinearSchema))
