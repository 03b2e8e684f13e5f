"""Priors over trees. A new one is listed here, and a model file then knows it by its `kind`."""

from __future__ import annotations

from typing import Any

from ..slp import Program
from .edit_tree import EditTree
from .grow_tree import GrowTree

PRIORS: dict[str, Any] = {"grow_tree": GrowTree, "edit_tree": EditTree, "program": Program}
