"""Posteriors of methods that need no chains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.matrix import LinearDesign
from ..diagnostics.comparison import Rows
from ..mcmc.settings import RunSettings
from ..mcmc.tempering import NO_TEMPERING
from .fitting.methods import fit, prior_of
from .fitting.recording import OF_FIELD, centre_of, part_of, recorded
from .model import HME
from .posterior import HMEPosterior


def fit_posterior(model: HME, design: LinearDesign, settings: RunSettings, monitored: Rows) -> HMEPosterior:
    """The posterior of a model whose method needs no chains.

    Parameters
    ----------
    model : HME
        The model, resolved.
    design : LinearDesign
        The data.
    settings : RunSettings
        The seed, and of a mean field how many draws to make.
    monitored : Rows
        The rows at which predictions are looked at.
    """
    found = fit(model, design, settings.seed)
    part, went = recorded(model, found, model.rows(design))
    if found.field is not None:
        drawn = found.field.draws(settings.draws, np.random.default_rng([settings.seed, OF_FIELD]))
        log_prior = [found.field.log_prior(tree, prior_of(model)) for tree in drawn]
        part = part_of(model, [tree.to_numpy() for tree in drawn], log_prior, model.rows(design))
        went = replace(went, live=found.field.live.tolist(), centre=centre_of(model, found.tree.to_numpy()))
    draws = len(part["log_prior"])
    settings = replace(settings, chains=1, draws=draws, warmup=0, thin=1, **vars(NO_TEMPERING))
    return HMEPosterior.from_parts(model, design.schema, settings, [[part]], [went.to_state()], monitored)
