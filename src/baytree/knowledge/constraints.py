"""All kinds of constraints. A new one is listed here, and a model file then knows it by its `kind`."""

from __future__ import annotations

from .box import Box
from .columns import Forbid, Only
from .groups import Interact
from .monotone import Monotone
from .size import MaxDepth, MaxLeaves
from .weights import SparseWeights, Weights

CONSTRAINTS = (Box, Monotone, Interact, Forbid, Only, MaxDepth, MaxLeaves, Weights, SparseWeights)
