"""The families that the command line knows, one module each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...errors import InputError
from ...mcmc.contract import AnyModel
from ...posterior import registry
from ...validation import unknown_choice
from .bart import BARTFamily
from .base import Family
from .cart import CARTFamily
from .hme import HMEFamily
from .subset import SubsetFamily

AnyFamily = Family[Any, Any]

# In the order in which people are told of them; the first is the one that is fitted where none is named.
FAMILIES: dict[str, AnyFamily] = {
    family.name: family for family in (CARTFamily(), BARTFamily(), SubsetFamily(), HMEFamily())
}


def family_named(name: str | None) -> AnyFamily:
    """The family of a name; without one the first."""
    if name is None:
        return next(iter(FAMILIES.values()))
    if name not in FAMILIES:
        raise unknown_choice("model", name, FAMILIES)
    return FAMILIES[name]


def family_of(model: AnyModel, file: Path) -> AnyFamily:
    """The family of a model that a file holds."""
    name = registry.family_of(model).name
    if name not in FAMILIES:
        raise InputError(
            f"{file}: holds a model of the family {name!r}, which the command line cannot read; in Python baytree.load "
            "does"
        )
    return FAMILIES[name]
