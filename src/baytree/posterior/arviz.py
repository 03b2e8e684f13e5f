"""Posteriors for ArviZ: the schema of its DataTrees, filled with what draws have in the way of numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.design import AnyDesign
from ..data.matrix import LinearSchema
from ..errors import InputError

if TYPE_CHECKING:
    from xarray import DataTree

    from .base import BasePosterior


class Variable(NamedTuple):
    """Numbers with names for their axes.

    Attributes
    ----------
    values : numpy.ndarray
        The numbers; of draws, the first axes are chains and draws.
    dims : mapping of str to sequence
        The other axes in order, each with its labels.
    """

    values: np.ndarray
    dims: Mapping[str, Sequence[Any]] = MappingProxyType({})


def with_prior(log_likelihood: np.ndarray, log_prior: np.ndarray, power: float = 1.0) -> dict[str, Variable]:
    """The log prior of each draw, and the log density, up to a constant, that chains draw from."""
    return {"log_prior": Variable(log_prior), "lp": Variable(power * log_likelihood + log_prior)}


def to_datatree(posterior: BasePosterior, design: AnyDesign | None, predictive: bool) -> DataTree:
    """What `BasePosterior.to_datatree` promises."""
    try:
        from arviz_base import from_dict
    except ImportError as error:
        raise InputError("a DataTree needs ArviZ and xarray; install them: pip install 'baytree[arviz]'") from error
    if predictive and design is None:
        raise InputError("predictive=True: new responses are drawn at the rows of a design; give it as well")
    groups = {"posterior": dict(posterior.variables), "sample_stats": dict(posterior.sample_stats)}
    if design is not None:
        for name, variables in _of_design(posterior, design, predictive).items():
            groups[name] = groups.get(name, {}) | variables
    named = {name: variable for variables in groups.values() for name, variable in variables.items()}
    arrays = {
        group: {name: variable.values for name, variable in variables.items()} for group, variables in groups.items()
    }
    return from_dict(
        arrays,
        dims={name: list(variable.dims) for name, variable in named.items() if variable.dims},
        coords={dim: list(labels) for variable in named.values() for dim, labels in variable.dims.items()},
        attrs=dict.fromkeys(("/", "posterior", "sample_stats"), _attributes(posterior)),
    )


def _of_design(posterior: BasePosterior, design: AnyDesign, predictive: bool) -> dict[str, dict[str, Variable]]:
    """What is predicted at the rows whose response was seen, how likely these responses are, and the table."""
    bins, given, classes = posterior.bins_of(design), posterior.given_by(design), design.classes
    seen = np.arange(design.rows) if design.seen is None else np.flatnonzero(design.seen)
    rows: dict[str, Sequence[Any]] = {"row": seen.tolist()}
    outputs: dict[str, Sequence[Any]] = {"output": range(design.y.shape[1])} if design.y.ndim > 1 else {}
    labels = np.asarray([] if classes is None else classes).astype(str)
    of_classes: dict[str, Sequence[Any]] = {} if classes is None else {"class": labels.tolist()}
    expected = posterior.prediction.expected(bins, **given)[:, :, seen]
    observed = design.y if classes is None else labels[design.y]
    linear = isinstance(design.schema, LinearSchema)
    columns: dict[str, Sequence[Any]] = {"term": design.schema.matrix_names} if linear else {"column": design.names}
    constant = {"matrix" if linear else "bins": Variable(bins[seen], rows | columns)}
    constant |= {
        name: Variable(values[seen], rows)
        for name, values in (("weight", design.weight), ("offset", design.offset))
        if values is not None
    }
    groups = {
        "posterior": {"mu" if classes is None else "probability": Variable(expected, rows | outputs | of_classes)},
        # ArviZ leaves out the outputs here: a row has one likelihood, that of all its outputs.
        "log_likelihood": {"y": Variable(posterior.pointwise_log_likelihood(design)[:, :, seen], rows)},
        "observed_data": {"y": Variable(observed[seen], rows | outputs)},
        "constant_data": constant,
    }
    if predictive:
        new = posterior.prediction.predict(bins, "predictive", **given)[:, :, seen]
        groups["posterior_predictive"] = {"y": Variable(new if classes is None else labels[new], rows | outputs)}
    return groups


def _attributes(posterior: BasePosterior) -> dict[str, Any]:
    """What the draws are and where they came from, in types that every file format takes."""
    return {
        "inference_library": "baytree",
        "inference_library_version": version("baytree"),
        "sampler": json.dumps(posterior.model.shares),
        "model": json.dumps(posterior.model.to_dict()),
        "response": posterior.schema.response.name,
        "tuning_steps": posterior.settings.warmup,
        "thin": posterior.settings.thin,
        "seed": str(posterior.settings.seed),
    }
