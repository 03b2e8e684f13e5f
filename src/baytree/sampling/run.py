"""Sampling: chains side by side on threads, in blocks, with progress, Ctrl-C and checkpoints."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, overload

from ..bart.model import BART
from ..bart.posterior import BARTPosterior
from ..cart.model import CART, move_to
from ..cart.posterior import Posterior
from ..data.design import AnyDesign, Design
from ..data.matrix import LinearDesign
from ..diagnostics.predictions import training_rows
from ..errors import FileError, InputError, InterruptedSampling
from ..hme.model import BY_CHAINS, HME
from ..hme.posterior import HMEPosterior
from ..hme.without_chains import fit_posterior
from ..mcmc.progress import Progress
from ..mcmc.settings import RunSettings, model_header
from ..mcmc.tempering import Tempering
from ..posterior.base import Part
from ..posterior.registry import (
    LINEAR,
    AnyPosterior,
    Model,
    posterior_type,
    read_header,
    require_design_of,
    require_model,
)
from ..storage import ModelWriter, open_model, partial_path
from ..subset.enumeration import enumerate_models
from ..subset.model import Subset
from ..subset.posterior import SubsetPosterior
from ..trees.tree import Tree, tree_of
from ..validation import is_number, require_whole, seed_of

# Chains run this long before Python looks at progress and Ctrl-C.
BLOCK_SECONDS = 0.1
CHECKPOINT_SECONDS = 5.0


@overload
def sample(model: CART, design: Design, **options: Any) -> Posterior: ...
@overload
def sample(model: BART, design: Design, **options: Any) -> BARTPosterior: ...
@overload
def sample(model: Subset, design: LinearDesign, **options: Any) -> SubsetPosterior: ...
@overload
def sample(model: HME, design: LinearDesign, **options: Any) -> HMEPosterior: ...
@overload
def sample(model: Model, design: AnyDesign, **options: Any) -> AnyPosterior: ...
def sample(  # type: ignore[misc]
    model: Any,
    design: Any,
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
    start: Tree | Mapping[str, Any] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> AnyPosterior:
    """Draw trees, sums of trees, linear models or mixtures of experts from the posterior.

    The same model, design and seed give the same draws to the bit, for any number of threads.

    Parameters
    ----------
    model : CART, BART, Subset or HME
        The model. Where its method needs no chains, what is said of them below does not matter.
    design : Design or LinearDesign
        The data, as a matrix for a `Subset` or an `HME`.
    warmup, draws : int
        Iterations of each chain to throw away first, and draws to keep.
    thin : int
        Iterations between draws.
    chains : int
        Number of chains.
    temperatures, ladder, swap_every
        How each chain is tempered: see `Tempering`. One temperature is no tempering.
    seed : int, optional
        Between 0 and 2**64 − 1; a random one by default, kept in the posterior's settings.
    threads : int, optional
        By default one for each processor, but no more than chains and temperatures can use.
    progress : bool
        Whether to show progress on standard error.
    start : Tree or mapping, optional
        Where the chains start, as a tree or as `Tree.from_dict` takes it; by default each at its own draw from the
        prior.
    checkpoint : path, optional
        A model file to write while sampling. Until it is complete it lies beside its place, as ``PATH.partial``; a run
        that was killed goes on from there with `resume`.

    Returns
    -------
    Posterior
        With fewer draws if Ctrl-C was pressed during the draws.
    """
    require_model(model)
    require_design_of(model, design)
    for name, value in (("draws", draws), ("thin", thin), ("chains", chains)):
        require_whole(name, value, 1)
    require_whole("warmup", warmup, 0)
    seed = seed_of(seed)
    model = model.resolve(design)
    for line in model.warnings(design):
        warnings.warn(line, stacklevel=2)
    tempering = Tempering(temperatures, ladder, swap_every)
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
    if (found := _without_chains(model, design, settings)) is not None:
        if start is not None:
            raise InputError("only a chain over single trees can start at a tree; leave start out")
        if checkpoint is not None:
            found.save(checkpoint)
        return found
    run = _Run(model, design, settings, threads, progress)
    if start is not None:
        run.start_at(start)
    if checkpoint is not None:
        run.writer = ModelWriter.begin_run(checkpoint, model_header(model, design.schema, settings))
    return run.complete()


def _without_chains(model: Model, design: AnyDesign, settings: RunSettings) -> AnyPosterior | None:
    """The posterior of a model whose method needs no chains; None where it does."""
    if isinstance(model, Subset) and model.method == "enumerate":
        return enumerate_models(model, design, settings, training_rows(design))  # type: ignore[arg-type]
    if isinstance(model, HME) and model.method not in BY_CHAINS:
        return fit_posterior(model, design, settings, training_rows(design))  # type: ignore[arg-type]
    return None


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
    require_design_of(posterior.model, design)
    require_whole("draws", draws, 1)
    if not posterior.has_chains:
        raise InputError(
            f"method={posterior.model.method!r} has no chains that could go on: sample anew"  # type: ignore[union-attr]
        )
    settings = replace(posterior.settings, draws=posterior.draws + int(draws))
    run = _Run(posterior.model, design, settings, threads, progress)
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
    require_design_of(posterior.model, design)
    require_time_limit(time_limit)
    if not posterior.has_chains:
        return posterior
    deadline = time.monotonic() + float(time_limit)
    with _Interrupt() as interrupt:
        while not _agree(posterior, design) and not interrupt.requested and time.monotonic() < deadline:
            before = posterior.settings
            settings = replace(before, warmup=before.warmup + posterior.draws * before.thin, thin=2 * before.thin)
            run = _Run(posterior.model, design, settings, threads, progress)
            run.begin_anew(posterior.states)
            if checkpoint is not None:
                run.writer = ModelWriter.begin_run(checkpoint, model_header(run.model, design.schema, settings))
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


def _agree(posterior: AnyPosterior, design: AnyDesign) -> bool:
    """Whether the chains agree at the rows that summaries look at, too."""
    found = posterior.diagnostics()
    return (found if found.predictions else posterior.diagnostics(design)).agree


def resume(
    checkpoint: str | os.PathLike[str], design: AnyDesign, *, threads: int | None = None, progress: bool = True
) -> AnyPosterior:
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
        require_design_of(model, design)
        states = [model.upgraded(state) for state in reader.states()]
        parts = [posterior_type(model).read_parts(reader, chain, settings) for chain in range(len(states))]
    if len(states) != settings.chains:
        raise FileError(f"{partial_path(checkpoint)}: the run stopped before it began; remove the file and begin anew")
    run = _Run(model, design, settings, threads, progress)
    try:
        run.go_on_from(states, parts)
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise FileError(f"{partial_path(checkpoint)}: damaged: {error}; remove the file and begin anew") from error
    run.writer = ModelWriter.reopen_run(checkpoint)
    return run.complete()


class _Run:
    """Chains on their way through warm-up and draws."""

    def __init__(
        self, model: Any, design: AnyDesign, settings: RunSettings, threads: int | None, progress: bool
    ) -> None:
        if threads is not None:
            require_whole("threads", threads, 1)
        if settings.data != design.fingerprint():
            same = "interactions" if isinstance(model, LINEAR) else "max_cuts"
            raise InputError(
                f"these are not the data that the draws came from; give the same table, with the same {same}"
            )
        self.model, self.schema, self.settings = model, design.schema, settings
        self.monitored = training_rows(design)
        self.chains: list[Any] = model.chains(design, settings.seed, settings.chains, settings.tempering)
        self.parts: list[list[Part]] = [[] for _ in self.chains]
        self.warmed = self.drawn = self.toward = 0  # iterations of warm-up, draws, iterations towards the next draw
        self.writer: ModelWriter | None = None
        threads = threads or _processors()
        self.threads = min(threads, settings.chains)
        self.threads_of_chain = max(1, threads // settings.chains)  # which its rungs share
        self.progress = Progress(settings.warmup, settings.draws, enabled=progress)
        self._block = 64  # iterations; adapted to the time a block takes

    def start_at(self, tree: Tree | Mapping[str, Any]) -> None:
        """Put every chain at one tree."""
        if not isinstance(self.model, CART):
            raise InputError("only a chain over single trees can start at a tree; leave start out")
        start = tree_of(self.schema, tree)
        for chain in self.chains:
            move_to(chain, start)

    def go_on_from(self, states: Sequence[Mapping[str, Any]], parts: Sequence[Sequence[Part]]) -> None:
        """Put every chain where it stopped, and its draws before the ones to come."""
        for number, (chain, state) in enumerate(zip(self.chains, states, strict=True)):
            self.model.restore(chain, state)
            self.parts[number] = list(parts[number])
        self.warmed, self.drawn, self.toward = (states[0][name] for name in ("warmed", "drawn", "toward"))

    def begin_anew(self, states: Sequence[Mapping[str, Any]]) -> None:
        """Put every chain where it stopped, and take all before as warm-up."""
        for chain, state in zip(self.chains, states, strict=True):
            self.model.restore(chain, state)
            chain.end_warm_up()
        self.warmed = self.settings.warmup

    def complete(self) -> AnyPosterior:
        """Run to the end of the settings, or to Ctrl-C."""
        with _Interrupt() as interrupt:
            posterior = self.complete_or_stop(interrupt, 1)
        if posterior is None:
            raise KeyboardInterrupt(self._nothing_kept())
        if self.drawn < self.settings.draws:
            warnings.warn(
                f"sampling was interrupted: {self.drawn:,} of {self.settings.draws:,} draws are kept",
                InterruptedSampling,
                stacklevel=3,
            )
        return posterior

    def complete_or_stop(self, interrupt: _Interrupt, least: int, deadline: float = math.inf) -> AnyPosterior | None:
        """Run to the end of the settings, Ctrl-C or a time; None where fewer than `least` draws were made by then."""
        interrupt.progress = self.progress
        if self.writer:
            self._checkpoint()  # the first states, so that a run can be resumed from the start on
        with ThreadPoolExecutor(self.threads) as pool, self.progress:
            self._pool = pool
            self._run_blocks(interrupt, deadline)
        self._checkpoint()
        if self.drawn < least:
            return None
        kind: Any = posterior_type(self.model)
        posterior = kind.from_parts(self.model, self.schema, self.settings, self.parts, self._states(), self.monitored)
        if self.writer:
            self.writer.record("diagnostics", posterior.diagnostics().to_dict())
            self.writer.finish()
        return posterior

    def _run_blocks(self, interrupt: _Interrupt, deadline: float) -> None:
        checkpointed = began = time.monotonic()
        while self.drawn < self.settings.draws and not interrupt.requested and began < deadline:
            began = time.monotonic()
            iterations = self._next_block()
            self.progress.update(self.warmed, self.drawn, [c.log_likelihood for c in self.chains], self._acceptance())
            seconds = max(time.monotonic() - began, 1e-6)
            self._block = max(1, int(iterations * min(4.0, BLOCK_SECONDS / seconds)))
            if time.monotonic() - checkpointed > CHECKPOINT_SECONDS:
                self._checkpoint()
                checkpointed = time.monotonic()

    def _next_block(self) -> int:
        """Advance every chain by about a block; gives the number of iterations."""
        warmup, thin = self.settings.warmup, self.settings.thin
        if self.warmed < warmup:
            iterations = min(self._block, warmup - self.warmed)
            self._on_every_chain(lambda chain: chain.warm_up(iterations, self.threads_of_chain))
            self.warmed += iterations
            if self.warmed == warmup:
                self._on_every_chain(lambda chain: chain.end_warm_up())
        elif self._block < thin - self.toward:
            iterations = self._block
            self._on_every_chain(lambda chain: chain.advance(iterations, self.threads_of_chain))
            self.toward += iterations
        elif self.toward:
            iterations = thin - self.toward
            self._on_every_chain(lambda chain: chain.draw(1, iterations, self.threads_of_chain))
            self.drawn, self.toward = self.drawn + 1, 0
        else:
            draws = min(self._block // thin, self.settings.draws - self.drawn)
            iterations = draws * thin
            self._on_every_chain(lambda chain: chain.draw(draws, thin, self.threads_of_chain))
            self.drawn += draws
        return iterations

    def _nothing_kept(self) -> str:
        if self.writer is None:
            return "sampling was interrupted before the first draw: there is nothing to keep"
        self.writer.close()
        return f"sampling was interrupted before the first draw; it can be resumed from {self.writer.unfinished}"

    def _on_every_chain(self, work: Callable[[Any], Any]) -> None:
        for _ in self._pool.map(work, self.chains):
            pass

    def _acceptance(self) -> float:
        return sum(sum(c.accepted) for c in self.chains) / max(sum(sum(c.turns) for c in self.chains), 1)

    def _checkpoint(self) -> None:
        """Collect what the chains recorded since the last time and, with a file, write it."""
        taken = []
        for chain, parts in zip(self.chains, self.parts, strict=True):
            part = self.model.take(chain)
            if len(part["log_likelihood"]):
                parts.append(part)
            taken.append(part if len(part["log_likelihood"]) else {})
        if self.writer:
            self.writer.append(taken, self._states())

    def _states(self) -> list[dict[str, Any]]:
        """Everything a chain needs to go on exactly where it is, as JSON-safe values."""
        return [
            self.model.state_of(chain) | {"warmed": self.warmed, "drawn": self.drawn, "toward": self.toward}
            for chain in self.chains
        ]


class _Interrupt:
    """Turns Ctrl-C into a request to stop at the next block, so that nothing that was drawn is lost."""

    def __init__(self) -> None:
        self.requested = False
        self.progress: Progress | None = None  # where to say that it was heard
        self._previous: Any = None

    def __enter__(self) -> _Interrupt:
        if threading.current_thread() is threading.main_thread():
            previous = signal.getsignal(signal.SIGINT)
            if previous is signal.default_int_handler:
                self._previous = previous
                signal.signal(signal.SIGINT, self._request)
        return self

    def _request(self, *_: Any) -> None:
        first, self.requested = not self.requested, True
        if first and self.progress:
            self.progress.say("stopping …")

    def __exit__(self, *error: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)


def _processors() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
