"""Sampling: draw, go on, go on until the chains agree, finish what was killed."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

from ..data.design import AnyDesign
from ..diagnostics.predictions import training_rows
from ..errors import FileError, InputError
from ..mcmc.contract import Model, PosteriorType, refuse_init, require_model, require_same_data
from ..mcmc.settings import RunSettings
from ..mcmc.tempering import Tempering
from ..mcmc.threads import threads_of
from ..posterior.base import BasePosterior
from ..posterior.registry import family_of, read_header
from ..storage import ModelWriter, open_model, partial_path
from ..trees.tree import Tree
from ..validation import is_number, require_whole, seed_of
from .interrupt import Interrupt
from .run import Run

AnyPosterior = TypeVar("AnyPosterior", bound=BasePosterior)


def sample(
    model: Model[PosteriorType, Any],
    design: AnyDesign,
    *,
    warmup: int = 1000,
    draws: int = 1000,
    thin: int = 1,
    chains: int = 4,
    temperatures: int = 1,
    ladder: str = "adaptive",
    swap_every: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: bool = True,
    init: Tree | Mapping[str, Any] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> PosteriorType:
    """Draw trees, sums of trees, linear models or mixtures of experts from the posterior, by MCMC.

    The same model, design and seed give the same draws to the bit, for any number of threads.

    Parameters
    ----------
    model : CART, BART, Subset, HME or HMDT
        The model. Where its method needs no chains, what is said of them below does not matter.
    design : Design, LinearDesign or SequenceDesign
        The data, as a matrix for a `Subset` or an `HME`, as sequences for an `HMDT`.
    warmup, draws : int
        Iterations of each chain to throw away first (burn-in), and draws to keep.
    thin : int
        Iterations between draws.
    chains : int
        Number of chains.
    temperatures, ladder, swap_every
        How each chain is tempered (replica exchange): see `Tempering`. One temperature is no tempering.
    seed : int, optional
        Between 0 and 2**64 − 1; a random one by default, kept in the posterior's settings.
    threads : int, optional
        By default one for each processor, but no more than chains and temperatures can use.
    progress : bool
        Whether to show progress on standard error.
    init : Tree or mapping, optional
        Where the chains of a `CART` begin, as a tree or as `Tree.from_dict` takes it; by default each at its own
        draw from the prior.
    checkpoint : path, optional
        A model file to write while sampling. Until it is complete it lies beside its place, as ``PATH.partial``; a run
        that was killed goes on from there with `resume`.

    Returns
    -------
    Posterior
        With fewer draws if Ctrl-C was pressed during the draws.
    """
    require_model(model)
    model.require(design)
    for name, value in (("draws", draws), ("thin", thin), ("chains", chains)):
        require_whole(name, value, 1)
    require_whole("warmup", warmup, 0)
    seed = seed_of(seed)
    model = model.resolve(design)
    for line in model.warnings(design):
        warnings.warn(line, stacklevel=2)
    tempering, monitored = Tempering(temperatures, ladder, swap_every), training_rows(design)
    settings = RunSettings(
        int(chains),
        int(warmup),
        int(draws),
        int(thin),
        seed,
        design.rows,
        design.fingerprint(),
        **vars(tempering),
        offset=design.offset is not None,
    )
    if (found := model.without_chains(design, settings, monitored, threads_of(threads))) is not None:
        if init is not None:
            refuse_init()
        if checkpoint is not None:
            cast(BasePosterior, found).save(checkpoint)
        return found
    run = Run(model, design, settings, monitored, threads, progress)
    if init is not None:
        run.begin_at(init)
    if checkpoint is not None:
        run.record_in(checkpoint)
    return run.complete()


def extend(
    posterior: AnyPosterior, design: AnyDesign, *, draws: int = 1000, threads: int | None = None, progress: bool = True
) -> AnyPosterior:
    """Go on where the chains stopped, exactly as if more draws had been asked for at first.

    Parameters
    ----------
    posterior : Posterior
        What was drawn so far.
    design : Design
        The data it was drawn from.
    draws : int
        How many draws to add to each chain.
    threads, progress
        As for `sample`.
    """
    posterior.model.require(design)
    require_whole("draws", draws, 1)
    posterior.require_chains()
    require_same_data(design, posterior.settings.data)
    settings = replace(posterior.settings, draws=posterior.draws + int(draws))
    run = Run(posterior.model, design, settings, training_rows(design), threads, progress)
    parts = [[posterior.part(chain, 0, posterior.draws)] for chain in range(posterior.chains)]
    run.go_on_from(posterior.states, parts)
    return run.complete()


def converge(
    posterior: AnyPosterior,
    design: AnyDesign,
    *,
    time_limit: float = 600.0,
    threads: int | None = None,
    progress: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
) -> AnyPosterior:
    """Go on until the chains agree: each time twice as long, all that was drawn before being warm-up.

    So the draws keep their number, and lie twice as far apart each time. Chains agree when
    `Posterior.diagnostics` says so: R-hat below 1.01 for the predictions, the log-likelihood and the number of leaves,
    with enough effective draws.

    Parameters
    ----------
    posterior : Posterior
        What was drawn so far. It is given back as it is where its chains agree.
    design : Design
        The data it was drawn from.
    time_limit : float
        Seconds after which to stop, whether the chains agree or not.
    threads, progress
        As for `sample`.
    checkpoint : path, optional
        A model file to write, each time when it is complete.

    Returns
    -------
    Posterior
        That of the last round that was at least half drawn when the time was over or Ctrl-C was pressed.
    """
    posterior.model.require(design)
    require_time_limit(time_limit)
    if not posterior.has_chains:
        return posterior
    require_same_data(design, posterior.settings.data)
    monitored = training_rows(design)
    deadline = time.monotonic() + float(time_limit)
    with Interrupt() as interrupt:
        while not _agree(posterior, design) and not interrupt.requested and time.monotonic() < deadline:
            before = posterior.settings
            settings = replace(before, warmup=before.warmup + posterior.draws * before.thin, thin=2 * before.thin)
            run = Run(posterior.model, design, settings, monitored, threads, progress)
            run.begin_anew(posterior.states)
            if checkpoint is not None:
                run.record_in(checkpoint)
            further = run.complete_or_stop(interrupt, (settings.draws + 1) // 2, deadline)
            if further is None and run.writer:
                run.writer.discard()
            posterior = further or posterior
            if run.drawn < settings.draws:
                break
    return posterior


def require_time_limit(seconds: Any) -> None:
    """Refuse what is no time."""
    if not is_number(seconds) or not seconds > 0:
        raise InputError(f"time_limit={seconds!r}: choose a positive number of seconds")


def _agree(posterior: BasePosterior, design: AnyDesign) -> bool:
    """Whether the chains agree at the rows that summaries look at, too."""
    found = posterior.diagnostics()
    return (found if found.predictions else posterior.diagnostics(design)).agree


def resume(
    checkpoint: str | os.PathLike[str], design: AnyDesign, *, threads: int | None = None, progress: bool = True
) -> Any:
    """Finish a run that was killed, from its last checkpoint.

    Parameters
    ----------
    checkpoint : path
        What was given to `sample`.
    design : Design
        The data.
    threads, progress
        As for `sample`.
    """
    if not partial_path(checkpoint).is_file():
        raise FileError(f"{partial_path(checkpoint)}: no such file; there is no unfinished run to resume")
    with open_model(partial_path(checkpoint)) as reader:
        model, _, settings = read_header(reader)
        model.require(design)
        states = [model.upgraded(state) for state in reader.states()]
        kind = family_of(model).posterior
        parts = [kind.read_parts(reader, chain) for chain in range(len(states))]
    if len(states) != settings.chains:
        raise FileError(f"{partial_path(checkpoint)}: the run stopped before it began; remove the file and begin anew")
    require_same_data(design, settings.data)
    run = Run(model, design, settings, training_rows(design), threads, progress)
    try:
        run.go_on_from(states, parts)
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise FileError(f"{partial_path(checkpoint)}: damaged: {error}; remove the file and begin anew") from error
    run.writer = ModelWriter.reopen_run(checkpoint)
    return run.complete()
