"""Prior knowledge: what is known about a tree before any data are seen, said without a program."""

# The order in which the constraints are imported is that in which files, options and errors list them.
# isort: off
from .base import Constraint as Constraint
from .box import Box
from .monotone import Monotone
from .groups import Interact
from .columns import Forbid, Only
from .size import MaxDepth, MaxLeaves
from .weights import Weights

# isort: on
from .joined import Knowledge
from .toml import read_knowledge

__all__ = [
    "Box",
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
