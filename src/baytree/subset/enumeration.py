"""The posterior of a linear model whose subsets are few enough to look at each."""

from __future__ import annotations

import numpy as np

from .. import _core
from ..data.matrix import LinearDesign
from ..diagnostics.comparison import Rows
from ..mcmc.settings import RunSettings
from .draws import ranges
from .model import Subset
from .moments import Moments
from .posterior import ENUMERATED, ENUMERATED_ARRAYS, SubsetPosterior

# How many of the most probable models are kept.
LISTED_MODELS = 10_000


def enumerate_models(model: Subset, design: LinearDesign, settings: RunSettings, monitored: Rows) -> SubsetPosterior:
    """Look at every model, and draw from them.

    Parameters
    ----------
    model : Subset
        The model, resolved.
    design : LinearDesign
        The data.
    settings : RunSettings
        How many draws to make; they are independent.
    monitored : Rows
        The rows at which predictions are looked at.
    """
    generator = np.random.Generator(np.random.Philox(settings.seed))
    number = settings.chains * settings.draws
    found = _core.enumerate_subsets(
        model.native(design), LISTED_MODELS, np.sort(generator.random(number)), settings.seed
    )
    columns = model.columns_of(design.schema)
    width = np.array([len(columns[unit]) for unit in model.possible_units(design.schema)])
    first = found["drawn_begin"][:-1]
    sizes = np.diff(found["drawn_begin"])
    first_column = np.concatenate([[0], np.cumsum(width[found["drawn_unit"]])])[found["drawn_begin"]]
    parts = []
    # The models come in the order of the enumeration, and independent draws in none.
    for chosen in generator.permutation(number).reshape(settings.chains, settings.draws):
        of_columns = ranges(first_column[chosen], np.diff(first_column)[chosen])
        part = {
            "unit": found["drawn_unit"][ranges(first[chosen], sizes[chosen])],
            "begin": np.concatenate([[0], np.cumsum(sizes[chosen])]),
            "mean": found["mean"][of_columns],
            "model": np.arange(settings.draws),
            "log_likelihood": found["drawn_log_likelihood"][chosen],
            "log_prior": found["drawn_log_prior"][chosen],
            **{name: found[name][chosen] for name in ("sigma", "level", "shrinkage")},
            "coefficient": found["coefficient"][of_columns],
        }
        parts.append([part])
    every = {name: np.atleast_1d(np.asarray(found[name])) for name in ENUMERATED_ARRAYS} | Moments.of(found).to_arrays()
    known = {ENUMERATED + name: values for name, values in every.items()}
    parts[0][0] |= known
    return SubsetPosterior.from_parts(model, design.schema, settings, parts, [{} for _ in parts], monitored)
