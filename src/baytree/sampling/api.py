"""Sampling: draw, go on, go on until the chains agree, finish what was killed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeVar, cast

from ..data.design import AnyDesign
from ..diagnostics.comparison import training_rows
from ..errors import FileError, InputError
from ..mcmc.contract import Model, PosteriorType, refuse_init
from ..mcmc.effort import AUTO, is_auto, require_effort, usual_effort
from ..mcmc.progress import Progress
from ..mcmc.settings import RunSettings
from ..posterior.base import BasePosterior
from ..posterior.registry import read_run, require_model
from ..storage import ModelWriter, is_begun, open_model, partial_path
from ..text import duration
from ..trees.tree import Tree
from ..validation import require_positive, require_whole, seed_of, threads_of
from .memory import require_memory
from .rounds import Rounds, first_round, longer, unlimited, work_of
from .run import Run

# Runs that take more seconds than this say so before they begin.
WORTH_SAYING = 120.0

AnyPosterior = TypeVar("AnyPosterior", bound=BasePosterior)


def sample(
    model: Model[PosteriorType, Any],
    design: AnyDesign,
    *,
    effort: str | float | None = None,
    warmup: int | Literal["auto"] = AUTO,
    draws: int = 1000,
    thin: int | Literal["auto"] = AUTO,
    chains: int = 4,
    temperatures: int | Literal["auto"] = AUTO,
    ladder: str = "adaptive",
    swap_every: int | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: bool = True,
    init: Tree | Mapping[str, Any] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> PosteriorType:
    """Draw from the posterior of a model, by MCMC: trees, sums of trees, linear models, mixtures of experts.

    The run goes on until its chains agree, or its effort is spent: in rounds, each as long as all before, which is its
    warm-up. The same model, design and seed give the same draws to the bit, for any number of threads and on every
    machine, for effort is counted in work and not in time.

    Parameters
    ----------
    model : Model
        Of any family, such as `CART` or `BART`. Where its method needs no chains, what is said of them below does not
        matter.
    design : Design, LinearDesign or SequenceDesign
        The data, as a matrix for a `Subset` or an `HME`, as sequences for an `HMDT`.
    effort : {"quick", "default", "thorough", "unlimited"} or float, optional
        How much work the run may take until its chains agree: about 1 second, 20 seconds, 5 minutes on a laptop with
        two processors, or no limit; a number is seconds of one processor. The first round is made in any case. By
        default ``"default"``, or what the environment variable ``BAYTREE_EFFORT`` says; where `warmup` is a number,
        that and the others stand, and there is one round.
    warmup : int or "auto"
        Iterations of each chain to throw away first (burn-in); of a run in rounds, before the draws of the first one.
    draws : int
        Draws of each chain to keep. Longer runs have as many, further apart.
    thin : int or "auto"
        Iterations between draws, in the first round of several.
    chains : int
        Number of chains.
    temperatures : int or "auto"
        How many temperatures each chain is run at (parallel tempering, replica exchange); 1 is no tempering. The run
        chooses so many as serve best where chains at one temperature do not agree.
    ladder, swap_every
        How the temperatures are chosen, and how often they exchange their states: see `Tempering`.
    time_limit : float, optional
        Seconds after which to stop, whether the chains agree or not; what is drawn then depends on the machine.
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
    require_whole("draws", draws, 1)
    require_whole("chains", chains, 1)
    asked = {name: number_of(name, value, least) for name, value, least in (("warmup", warmup, 0), ("thin", thin, 1))}
    if time_limit is not None:
        require_positive("time_limit", time_limit)
    seed, threads = seed_of(seed), threads_of(threads)
    model = model.resolve(design)
    if asked["warmup"] is not None:  # so chains are wanted
        model = model.drawn_by_chains()
    for line in model.warnings(design):
        warnings.warn(line, stacklevel=2)
    monitored = training_rows(design)
    in_rounds = effort is not None or asked["warmup"] is None
    free_ladder = is_auto("temperatures", temperatures)
    settings = RunSettings(
        temperatures=1 if free_ladder else cast(int, temperatures),
        ladder=ladder,
        swap_every=swap_every,
        chains=int(chains),
        warmup=0,
        draws=int(draws),
        thin=1,
        seed=seed,
        rows=design.rows,
        data=design.fingerprint(),
        offset=design.offset is not None,
        effort=(usual_effort() if effort is None else require_effort(effort)) if in_rounds else None,
        # Chains on another ladder begin anew, elsewhere than they were put.
        free_ladder=free_ladder and in_rounds and init is None,
    )
    settings = first_round(model, design, settings, **asked)
    require_memory(model, design, settings)
    if init is not None:
        model = model.drawn_by_chains()
    found = model.without_chains(design, settings, monitored, threads)
    if found is not None and not isinstance(found, str):
        if init is not None:
            refuse_init()
        if checkpoint is not None:
            cast(BasePosterior, found).save(checkpoint)
        return found
    if found is not None and progress:
        Progress(0, 0).say(f"chains draw: {found}")
    model = model.drawn_by_chains()
    if progress and (seconds := work_of(model, design, settings) / min(threads, settings.chains)) > WORTH_SAYING:
        whole = "this run" if settings.effort is None else "the first round alone"
        Progress(0, 0).say(f"{whole} takes about {duration(seconds)}; Ctrl-C keeps what was drawn by then")
    run = Run(model, design, settings, monitored, threads, progress)
    if init is not None:
        run.begin_at(init)
    if checkpoint is not None:
        run.record_in(checkpoint)
    return Rounds(run, time_limit=time_limit).complete()


def number_of(name: str, value: Any, least: int) -> int | None:
    """A whole number that was asked for; None where that was left to the run."""
    if is_auto(name, value):
        return None
    require_whole(name, value, least)
    return int(value)


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
    _require_posterior(posterior)
    posterior.model.require(design)
    require_whole("draws", draws, 1)
    threads = threads_of(threads)
    posterior.require_chains()
    _require_same_data(design, posterior.settings.data)
    settings = replace(posterior.settings, draws=posterior.draws + int(draws), effort=None)
    require_memory(posterior.model, design, settings)
    run = Run(posterior.model, design, settings, training_rows(design), threads, progress)
    parts = [[posterior.part(chain, 0, posterior.draws)] for chain in range(posterior.chains)]
    run.go_on_from(posterior.states, parts)
    return Rounds(run).complete()


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
        A model file to write when that is done; a run that was killed goes on with `resume`.

    Returns
    -------
    Posterior
        That of the last round that was at least half drawn when the time was over or Ctrl-C was pressed.
    """
    _require_posterior(posterior)
    posterior.model.require(design)
    require_positive("time_limit", time_limit)
    threads = threads_of(threads)
    if not posterior.has_chains:
        return posterior
    _require_same_data(design, posterior.settings.data)
    found = posterior.diagnostics()
    if (found if found.predictions else posterior.diagnostics(design)).agree:
        return posterior
    settings = unlimited(longer(posterior.settings))
    run = Run(posterior.model, design, settings, training_rows(design), threads, progress)
    run.begin_anew(posterior.states)
    if checkpoint is not None:
        run.record_in(checkpoint)
    return Rounds(run, posterior, time_limit).complete()


def _require_posterior(posterior: Any) -> None:
    if not isinstance(posterior, BasePosterior):
        raise InputError(f"posterior={posterior!r} is not a posterior; give what sample or load gave")


def resume(
    checkpoint: str | os.PathLike[str],
    design: AnyDesign,
    *,
    time_limit: float | None = None,
    threads: int | None = None,
    progress: bool = True,
) -> Any:
    """Finish a run that was killed, from its last checkpoint.

    Parameters
    ----------
    checkpoint : path
        What was given to `sample`.
    design : Design
        The data.
    time_limit, threads, progress
        As for `sample`.
    """
    if time_limit is not None:
        require_positive("time_limit", time_limit)
    partial = partial_path(checkpoint)
    if not partial.is_file():
        raise FileError(f"{partial}: no such file; there is no unfinished run to resume")
    if not is_begun(partial):
        raise FileError(f"{partial}: the run was killed before it began; begin anew")
    writer = ModelWriter.reopen_run(checkpoint)  # from here on nobody else writes what is read
    try:
        with open_model(partial) as reader:
            model, _, settings, states, parts = read_run(reader)
        model.require(design)
        _require_same_data(design, settings.data)
        run = Run(model, design, settings, training_rows(design), threads_of(threads), progress)
        run.go_on_from(states, parts)
    except BaseException:
        writer.close()
        raise
    run.writer = writer
    return Rounds(run, time_limit=time_limit).complete()


def _require_same_data(design: AnyDesign, fingerprint: str) -> None:
    """Raise InputError unless a design is the one that draws came from."""
    if fingerprint != design.fingerprint():
        raise InputError(
            f"these are not the data that the draws came from; give the same table, with the same {design.shaped_by}"
        )
