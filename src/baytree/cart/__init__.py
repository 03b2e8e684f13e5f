"""Single trees: Bayesian CART, classification and regression trees."""

from ..data.design import Schema
from ..posterior.registry import Family, register
from .model import CART
from .posterior import Posterior

register(Family(CART, Posterior, Schema))
