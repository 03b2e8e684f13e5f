"""Ensembles of many small trees, added up: BART, Bayesian additive regression trees."""

from ..data.design import Schema
from ..posterior.registry import Family, register
from .model import BART
from .posterior import BARTPosterior

register(Family(BART, BARTPosterior, Schema))
