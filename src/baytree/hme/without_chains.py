"""Posteriors of methods that need no chains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.matrix import LinearDesign
from ..diagnostics.predictions import Rows
from ..mcmc.settings import RunSettings
from .fitting import Fitted, fit, prior_of
from .model import HME
from .posterior import HMEPosterior
from .recording import OF_FIELD, centre_of, part_of, recorded


def fit_posterior(model: HME, design: LinearDesign, settings: RunSettings, monitored: Rows) -> HMEPosterior:
    """The posterior of a model whose method needs no chains.

    Parameters
    ----------
    model : HME
        The model, resolved.
    design : LinearDesign
        The data.
    settings : RunSettings
        The seed, and how many draws to make where the method gives more than one tree.
    monitored : Rows
        The rows at which predictions are looked at.
    """
    return posterior_of(model, design, settings, fit(model, design, settings.seed), monitored)


def posterior_of(
    model: HME, design: LinearDesign, settings: RunSettings, found: Fitted, monitored: Rows | None = None
) -> HMEPosterior:
    """The one tree that a method found, as a posterior; of a mean field as many draws as the settings say."""
    part, state = recorded(model, found, model.rows(design))
    if found.field is not None:
        drawn = found.field.draws(settings.draws, np.random.default_rng([settings.seed, OF_FIELD]))
        log_prior = [found.field.log_prior(tree, prior_of(model)) for tree in drawn]
        part = part_of(model, [tree.to_numpy() for tree in drawn], log_prior, model.rows(design))
        state |= {"live": found.field.live.tolist(), "centre": centre_of(model, found.tree.to_numpy())}
    settings = replace(settings, chains=1, draws=len(part["log_prior"]), warmup=0, thin=1)
    return HMEPosterior.from_parts(model, design.schema, settings, [[part]], [state], monitored)
