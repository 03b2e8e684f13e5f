"""The families that the command line knows, one module each, which has its object as ``FAMILY``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from ...errors import InputError
from ...mcmc.contract import AnyModel
from ...validation import unknown_choice
from .base import Family

AnyFamily = Family[Any, Any]

# Of the name of each module here; "base" is the contract.
FAMILIES: dict[str, AnyFamily] = {
    module.name: import_module(f".{module.name}", __name__).FAMILY
    for module in iter_modules(__path__)
    if module.name != "base"
}


def family_named(name: str) -> AnyFamily:
    """The family of a name."""
    if name not in FAMILIES:
        raise unknown_choice("model", name, FAMILIES)
    return FAMILIES[name]


def family_of(model: AnyModel, file: Path) -> AnyFamily:
    """The family of a model that a file holds."""
    if model.family not in FAMILIES:
        raise InputError(
            f"{file}: holds a model of the family {model.family!r}, which the command line cannot read; in Python "
            "baytree.load does"
        )
    return FAMILIES[model.family]
