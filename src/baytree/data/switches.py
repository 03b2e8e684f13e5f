"""How the core computes, as far as the environment may say: the bits are the same."""

from __future__ import annotations

import os
from enum import Enum
from typing import TypeVar

from .. import _core
from ..validation import unknown_choice

REGISTERS, ROWS = "BAYTREE_SIMD", "BAYTREE_ROWS"

Switch = TypeVar("Switch", bound=Enum)


def widest_registers() -> _core.Simd:
    """The widest registers that may be used: those of ``BAYTREE_SIMD``, or all that there are."""
    widths = list(_core.Simd)
    return _chosen(REGISTERS, widths, usual=widths[-1])


def row_form() -> _core.RowForm:
    """How the rows of nodes are kept: as ``BAYTREE_ROWS`` says, or as suits the table."""
    return _chosen(ROWS, list(_core.RowForm), usual=_core.RowForm.suited)


def _chosen(variable: str, switches: list[Switch], usual: Switch) -> Switch:
    names = {switch.name: switch for switch in switches}
    asked = os.environ.get(variable) or usual.name
    if asked not in names:
        raise unknown_choice(variable, asked, list(names))
    return names[asked]
