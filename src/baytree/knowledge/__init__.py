"""What is known about a tree before any data are seen, said without a program."""

from .base import Constraint
from .constraints import Box, Forbid, Interact, MaxDepth, MaxLeaves, Monotone, Only, Weights
from .files import read_knowledge
from .joined import Knowledge

__all__ = [
    "Box",
    "Constraint",
    "Forbid",
    "Interact",
    "Knowledge",
    "MaxDepth",
    "MaxLeaves",
    "Monotone",
    "Only",
    "Weights",
    "read_knowledge",
]
