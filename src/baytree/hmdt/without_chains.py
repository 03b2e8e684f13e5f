"""The fit of a model: EM from several initialisations, of which the best end counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..diagnostics.comparison import Rows
from ..hme.fitting.em import Settings
from ..mcmc.settings import RunSettings
from ..mcmc.tempering import NO_TEMPERING
from .data.design import SequenceDesign
from .fitting import em
from .fitting.initialisation import initial_markov_trees
from .model import HMDT
from .posterior import HMDTPosterior, Went


def fit(model: HMDT, design: SequenceDesign, seed: int, threads: int = 1) -> em.MarkovFit:
    """Fit a tree.

    Parameters
    ----------
    model : HMDT
        What to fit, resolved.
    design : SequenceDesign
        The data.
    seed : int
        Of the trees at which EM begins.
    threads : int
        That share the sequences.
    """
    sequences, generator = model.sequences(design), np.random.default_rng(seed)
    settings = Settings(ridge=float(model.ridge), epochs=model.epochs, tolerance=model.tol)
    begins = initial_markov_trees(model, sequences, model.inputs(design.schema), generator)
    fits = [em.fit(begin, sequences, settings, model.exact, threads) for begin in begins]
    return max(fits, key=lambda fit: fit.objective[-1])


def fit_posterior(
    model: HMDT, design: SequenceDesign, settings: RunSettings, monitored: Rows, threads: int
) -> HMDTPosterior:
    """The tree that EM found, as a posterior of one draw.

    Parameters
    ----------
    model, design, threads
        As for `fit`.
    settings : RunSettings
        The seed.
    monitored : Rows
        The rows at which predictions are looked at.
    """
    found = fit(model, design, settings.seed, threads)
    drawn = {
        "log_likelihood": np.array(found.log_likelihood),
        "log_prior": np.array(-em.penalty(found.tree, float(model.ridge))),
    }
    part = {name: values[None] for name, values in (model.layout.flat(found.tree) | drawn).items()}
    went = Went(list(found.objective), found.converged, design.sequences, int(design.seen.sum()))
    settings = replace(settings, chains=1, draws=1, warmup=0, thin=1, **vars(NO_TEMPERING))
    return HMDTPosterior.from_parts(model, design.schema, settings, [[part]], [vars(went)], monitored)
