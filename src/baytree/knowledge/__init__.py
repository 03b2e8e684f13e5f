"""Prior knowledge: what is known about a tree before any data are seen, said without a program."""

from .base import Constraint
from .box import Box
from .columns import Forbid, Only
from .groups import Interact
from .joined import Knowledge
from .monotone import Monotone
from .size import MaxDepth, MaxLeaves
from .toml import read_knowledge
from .weights import Weights

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
