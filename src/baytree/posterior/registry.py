"""The families there are, and the files that hold their posteriors.

A family is known once its package has said `register`; ``import baytree`` imports them all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..data.design import Schema
from ..data.matrix import LinearSchema
from ..diagnostics.convergence import Diagnostics
from ..errors import FileError, InputError
from ..mcmc.contract import AnyModel, Model
from ..mcmc.settings import RunSettings
from ..storage import ModelReader, open_model, partial_path, place_of
from ..validation import require_field_types
from .base import BasePosterior, Part


@dataclass(frozen=True)
class Family:
    """A family of models.

    Attributes
    ----------
    model : type of Model
        What is sampled.
    posterior : type of BasePosterior
        What holds the draws.
    schema : type
        What the training table is described by: columns in bins, or as a matrix.
    """

    model: type[AnyModel]
    posterior: type[BasePosterior]
    schema: type[Schema | LinearSchema]


FAMILIES: dict[str, Family] = {}
# What model files of 0.1 call otherwise, in their headers and in models.
RENAMED = {"plan": "settings", "start": "init", "moves": "proposal"}


def register(family: Family) -> None:
    """Make a family known to `baytree.sample`, `baytree.load` and the command line."""
    FAMILIES[family.model.family] = family


def require_model(model: Any) -> None:
    """Raise InputError for anything but a model of a family."""
    if not isinstance(model, Model):
        names = ", ".join(sorted(family.model.__name__ for family in FAMILIES.values()))
        raise InputError(f"model={model!r} is not a model; give one of: {names}")


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
    if not os.path.exists(place_of(path)) and os.path.exists(partial_path(path)):
        raise FileError(f"{path}: no such file yet; its run is not finished, and in {partial_path(path)}")
    with open_model(path) as reader:
        model, schema, settings, states, parts = read_run(reader)
        if states and not any(parts) and states[0].get("drawn") == 0:
            raise FileError(f"{path}: {_said_of_warm_up(states, settings)}")
        # Files of earlier versions, and of runs that were not finished, have none.
        found = reader.header.get("diagnostics")
        recorded = None if found is None else Diagnostics.from_dict(found)
        kind = FAMILIES[model.family].posterior
        return kind.from_parts(model, schema, settings, parts, states, recorded=recorded).check()


def _said_of_warm_up(states: Sequence[Mapping[str, Any]], settings: RunSettings) -> str:
    warmed, of = states[0]["warmed"], settings.warmup
    if warmed < of:
        return f"a run in its warm-up, {warmed:,} of {of:,} iterations when this was written; there are no draws yet"
    return "a run that has only just ended its warm-up; there are no draws yet"


def read_run(reader: ModelReader) -> tuple[AnyModel, Any, RunSettings, list[dict[str, Any]], list[list[Part]]]:
    """All that an open model file says: as `read_header`, and the chains' states and what they recorded."""
    model, schema, settings = read_header(reader)
    states, parts = reader.states, reader.parts()
    FAMILIES[model.family].posterior.require_types(parts)
    return model, schema, settings, [model.upgraded(state) for state in states], parts


def read_header(reader: ModelReader) -> tuple[AnyModel, Any, RunSettings]:
    """What an open model file says besides the draws: the model, the schema of the table, and the settings."""
    header = _named_anew(reader.header)
    record = _named_anew(header["model"])
    if record["family"] not in FAMILIES:
        raise FileError(f"{reader.path}: a model of the family {record['family']!r}, which this baytree does not know")
    family = FAMILIES[record["family"]]
    model, schema = family.model.from_dict(record), family.schema.from_dict(header["schema"])
    require_field_types(model)
    settings = RunSettings(**header["settings"])
    settings.check()
    return model, schema, settings


def _named_anew(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record by the names of this version."""
    return {RENAMED.get(name, name): record[name] for name in record}
