"""Posteriors for ArviZ: the schema of its DataTrees, filled with what trees have in the way of numbers."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.design import Design
from ..errors import InputError

if TYPE_CHECKING:
    from xarray import DataTree

    from .posterior import Posterior


def to_datatree(posterior: Posterior, design: Design | None) -> DataTree:
    """What `Posterior.to_datatree` promises."""
    try:
        from arviz_base import from_dict
    except ImportError as error:
        raise InputError("a DataTree needs ArviZ and xarray; install them: pip install 'baytree[arviz]'") from error
    asks = posterior.forest.asks(len(posterior.schema.columns))
    groups: dict[str, dict[str, Any]] = {
        "posterior": {"n_leaves": posterior.n_leaves, "asks": asks[posterior.tree_index].astype(np.int8)},
        "sample_stats": {
            "lp": posterior.model.power * posterior.log_likelihood + posterior.log_prior,
            "log_likelihood": posterior.log_likelihood,
            "log_prior": posterior.log_prior,
            "tree": posterior.forest.identity[posterior.tree_index],
        },
    }
    dims = {"asks": ["column"]}
    coords: dict[str, list[Any]] = {"column": list(posterior.schema.names)}
    if design is not None:
        _add_design(posterior, design, groups)
        dims |= {"bins": ["row", "column"], "y": ["row"], "weight": ["row"]}
        dims |= {"probability": ["row", "class"], "mu": ["row"]}
        coords |= {"row": list(range(design.rows))}
        if design.classes is not None:
            coords["class"] = [str(label) for label in design.classes]
    attrs = dict.fromkeys(("/", "posterior", "sample_stats"), _attributes(posterior))
    return from_dict(groups, coords=coords, dims=dims, attrs=attrs)


def _add_design(posterior: Posterior, design: Design, groups: dict[str, dict[str, Any]]) -> None:
    """The training table, and the predictions at its rows."""
    bins = posterior.bins_of(design)
    predicted = np.concatenate(list(posterior.prediction.mean_draws(bins)), axis=2)
    y = design.y if design.classes is None else np.asarray(design.classes)[design.y].astype(str)
    groups["posterior"] |= {"mu": predicted[..., 0]} if design.classes is None else {"probability": predicted}
    groups["observed_data"] = {"y": y}
    groups["constant_data"] = {"bins": bins, **({} if design.weight is None else {"weight": design.weight})}


def _attributes(posterior: Posterior) -> dict[str, Any]:
    """What the draws are and where they came from, in types that every file format takes."""
    return {
        "inference_library": "baytree",
        "inference_library_version": version("baytree"),
        "sampler": json.dumps(posterior.model.to_dict()["proposal"]),
        "model": json.dumps(posterior.model.to_dict()),
        "response": posterior.schema.response.name,
        "tuning_steps": posterior.settings.warmup,
        "thin": posterior.settings.thin,
        "seed": str(posterior.settings.seed),
    }
