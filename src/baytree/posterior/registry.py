"""The families there are, and the files that hold their posteriors.

A family is known once its package has said `register`; ``import baytree`` imports them all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.design import Schema
from ..data.matrix import LinearSchema
from ..diagnostics.convergence import Diagnostics
from ..errors import FileError
from ..mcmc.contract import AnyModel
from ..mcmc.settings import RunSettings
from ..storage import ModelReader, open_model
from .base import BasePosterior


@dataclass(frozen=True)
class Family:
    """A family of models.

    Attributes
    ----------
    name : str
        What model files and the command line call it.
    model : type of Model
        What is sampled.
    posterior : type of BasePosterior
        What holds the draws.
    schema : type
        What the training table is described by: columns in bins, or as a matrix.
    """

    name: str
    model: type[AnyModel]
    posterior: type[BasePosterior]
    schema: type[Schema | LinearSchema]


FAMILIES: dict[str, Family] = {}


def register(family: Family) -> None:
    """Make a family known to `baytree.sample`, `baytree.load` and the command line."""
    FAMILIES[family.name] = family


def family_of(model: AnyModel) -> Family:
    """The family that a model belongs to."""
    return next(family for family in FAMILIES.values() if isinstance(model, family.model))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model file.

    Parameters
    ----------
    path : path
        A file that a posterior's ``save`` or ``baytree fit`` wrote.

    Returns
    -------
    Posterior
        Of the family that was fitted: a `Posterior`, a `BARTPosterior`, and so on.
    """
    with open_model(path) as reader:
        try:
            return read_posterior(reader).check()
        except FileError:
            raise
        except ValueError as error:
            raise FileError(f"{path}: damaged: {error}; restore a copy") from error


def read_posterior(reader: ModelReader) -> BasePosterior:
    """The posterior of an open model file."""
    model, schema, settings = read_header(reader)
    kind = family_of(model).posterior
    states = [model.upgraded(state) for state in reader.states()]
    parts = [kind.read_parts(reader, chain) for chain in range(len(states))]
    for name, array in (item for blocks in parts for block in blocks for item in block.items()):
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise FileError(f"{reader.path}: damaged: {name} holds what is no number; restore a copy")
    # Files of earlier versions, and of runs that were not finished, have none.
    found = reader.header.get("diagnostics")
    recorded = None if found is None else Diagnostics.from_dict(found)
    return kind.from_parts(model, schema, settings, parts, states, recorded=recorded)


def read_header(reader: ModelReader) -> tuple[AnyModel, Any, RunSettings]:
    """What an open model file says besides the draws: the model, the schema of the table, and the settings."""
    header = reader.header
    record: Mapping[str, Any] = header["model"]
    if record["family"] not in FAMILIES:
        raise FileError(f"{reader.path}: a model of the family {record['family']!r}, which this baytree does not know")
    family = FAMILIES[record["family"]]
    model, schema = family.model.from_dict(record), family.schema.from_dict(header["schema"])
    return model, schema, RunSettings(**header["plan"])
