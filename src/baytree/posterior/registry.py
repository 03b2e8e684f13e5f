"""The families of models, and the files that hold their posteriors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..bart.model import BART
from ..bart.posterior import BARTPosterior
from ..cart.model import CART
from ..cart.posterior import Posterior
from ..data.design import AnyDesign, Schema, require_design
from ..data.matrix import LinearSchema
from ..diagnostics.convergence import Diagnostics
from ..errors import FileError, InputError
from ..hme.model import HME
from ..hme.posterior import HMEPosterior
from ..mcmc.settings import RunSettings
from ..storage import ModelReader, open_model
from ..subset.model import Subset, require_linear
from ..subset.posterior import SubsetPosterior

Model = CART | BART | Subset | HME
AnyPosterior = Posterior | BARTPosterior | SubsetPosterior | HMEPosterior

FAMILIES: dict[str, tuple[type[Model], type[AnyPosterior]]] = {
    "cart": (CART, Posterior),
    "bart": (BART, BARTPosterior),
    "subset": (Subset, SubsetPosterior),
    "hme": (HME, HMEPosterior),
}
# The families that take a table as a matrix of numbers.
LINEAR = (Subset, HME)


def require_model(model: Any) -> None:
    """Raise InputError for anything but a model."""
    if not isinstance(model, Model):
        raise InputError(f"model={model!r} is not a model; give a CART, a BART, a Subset or an HME")


def require_design_of(model: Model, design: AnyDesign) -> None:
    """Raise InputError for anything but a design of the kind that a model takes."""
    if isinstance(model, LINEAR):
        require_linear(design)
    else:
        require_design(design)


def posterior_type(model: Model) -> type[AnyPosterior]:
    """What holds the draws of a model."""
    return next(posterior for kind, posterior in FAMILIES.values() if isinstance(model, kind))


def load(path: str | os.PathLike[str]) -> AnyPosterior:
    """Read a model file.

    Parameters
    ----------
    path : path
        A file that a posterior's ``save`` or ``baytree fit`` wrote.
    """
    with open_model(path) as reader:
        try:
            return read_posterior(reader).check()
        except FileError:
            raise
        except ValueError as error:
            raise FileError(f"{path}: damaged: {error}; restore a copy") from error


def read_posterior(reader: ModelReader) -> AnyPosterior:
    """The posterior of an open model file."""
    model, schema, settings = read_header(reader)
    kind = posterior_type(model)
    states = [model.upgraded(state) for state in reader.states()]
    parts = [kind.read_parts(reader, chain, settings) for chain in range(len(states))]
    # Files of earlier versions, and of runs that were not finished, have none.
    found = reader.header().get("diagnostics")
    recorded = None if found is None else Diagnostics.from_dict(found)
    return kind.from_parts(model, schema, settings, parts, states, recorded=recorded)  # type: ignore[arg-type]


def read_header(reader: ModelReader) -> tuple[Model, Schema | LinearSchema, RunSettings]:
    """What an open model file says besides the draws."""
    header = reader.header()
    record: Mapping[str, Any] = header["model"]
    if record["family"] not in FAMILIES:
        raise FileError(f"{reader.path}: a model of the family {record['family']!r}, which this baytree does not know")
    model, _ = FAMILIES[record["family"]]
    schema: type[Schema | LinearSchema] = LinearSchema if model in LINEAR else Schema
    return model.from_dict(record), schema.from_dict(header["schema"]), RunSettings(**header["plan"])
