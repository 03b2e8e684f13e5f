"""Chains side by side on threads, in blocks, with progress, Ctrl-C and checkpoints."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, Generic, cast

from .. import _core
from ..data.design import AnyDesign
from ..diagnostics.comparison import Rows
from ..errors import FileError
from ..mcmc.contract import Chain, Model, PosteriorType
from ..mcmc.progress import Progress
from ..mcmc.settings import RunSettings
from ..posterior.base import BasePosterior, Part, model_header
from ..posterior.registry import FAMILIES
from ..storage import ModelWriter

# Chains run this long before Python looks at progress and Ctrl-C; at first one iteration, however long it takes.
BLOCK_SECONDS = 0.1
FIRST_BLOCK = 1
CHECKPOINT_SECONDS = 5.0
# What a run adds to the state of a chain.
PROGRESS = ("warmed", "drawn", "toward")


class Interrupt:
    """Turns Ctrl-C into a request to stop at the next block, so that nothing that was drawn is lost.

    A block is an iteration at least, which may take minutes. Who presses Ctrl-C again does not want to wait for it: the
    chains stop wherever they are, with KeyboardInterrupt, and cannot go on from there.
    """

    def __init__(self) -> None:
        self.requested = False
        self.progress: Progress | None = None  # where to say that it was heard
        self._previous: Any = None

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():
            previous = signal.getsignal(signal.SIGINT)
            if previous is signal.default_int_handler:
                self._previous = previous
                signal.signal(signal.SIGINT, self._request)
        return self

    def _request(self, *_: Any) -> None:
        if self.requested:
            _core.interrupt(True)
        elif self.progress:
            self.progress.say("stopping … (Ctrl-C again: at once)")
        self.requested = True

    def __exit__(self, *error: object) -> None:
        _core.interrupt(False)
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)


class Run(Generic[PosteriorType]):
    """MCMC chains on their way through warm-up (burn-in) and draws."""

    def __init__(
        self,
        model: Model[PosteriorType, Any],
        design: AnyDesign,
        settings: RunSettings,
        monitored: Rows,
        threads: int,
        progress: bool,
    ) -> None:
        self.model, self.design, self.settings, self.monitored = model, design, settings, monitored
        self.chains: Sequence[Chain] = model.chains(design, settings.seed, settings.chains, settings)
        self.parts: list[list[Part]] = [[] for _ in self.chains]
        self.warmed = self.drawn = self.toward = 0  # iterations of warm-up, draws, iterations towards the next draw
        self.writer: ModelWriter | None = None
        self._threads = threads
        self.threads = min(threads, settings.chains)
        self.threads_of_chain = max(1, threads // settings.chains)  # which its rungs share
        self.progress = Progress(settings.warmup, settings.draws, settings.temperatures) if progress else None
        self._block = FIRST_BLOCK  # iterations; adapted to the time a block takes

    def record_in(self, checkpoint: str | os.PathLike[str]) -> None:
        """Write a model file while sampling, which begins with the states of now."""
        self.writer = ModelWriter.begin_run(checkpoint, self.header())
        try:
            self._checkpoint()
        except BaseException:
            self.writer.discard()
            raise

    def header(self) -> dict[str, Any]:
        return model_header(self.model, self.design.schema, self.settings)

    def begin_at(self, init: Any) -> None:
        """Put every chain at a state that a person gave."""
        for chain in self.chains:
            self.model.begin_at(chain, self.design, init)

    def go_on_from(self, states: Sequence[Mapping[str, Any]], parts: Sequence[Sequence[Part]]) -> None:
        """Put every chain where it stopped, and its draws before the ones to come."""
        self._restore(states)
        self.parts = [list(blocks) for blocks in parts]
        self.warmed, self.drawn, self.toward = (states[0][name] for name in PROGRESS)

    def begin_anew(self, states: Sequence[Mapping[str, Any]]) -> None:
        """Put every chain where it stopped, and take all before as warm-up."""
        self._restore(states)
        for chain in self.chains:
            chain.end_warm_up()
        self.warmed = self.settings.warmup

    def _restore(self, states: Sequence[Mapping[str, Any]]) -> None:
        try:
            for chain, state in zip(self.chains, states, strict=True):
                self.model.restore(chain, state)
        except (KeyError, TypeError, IndexError, ValueError, AttributeError, ArithmeticError) as error:
            raise FileError(f"the states of the chains are damaged ({error!r:.200}); sample anew") from error

    def complete_or_stop(self, interrupt: Interrupt, least: int, deadline: float = math.inf) -> PosteriorType | None:
        """Run to the end of the settings, Ctrl-C or a time; None where fewer than `least` draws were made by then."""
        interrupt.progress = self.progress
        try:
            return self._complete_or_stop(interrupt, least, deadline)
        except BaseException:
            if self.writer:
                self.writer.close()
            raise

    def _complete_or_stop(self, interrupt: Interrupt, least: int, deadline: float) -> PosteriorType | None:
        with ThreadPoolExecutor(self.threads) as pool, self.progress or nullcontext():
            self._pool = pool
            self._run_blocks(interrupt, deadline)
        states = self._checkpoint()
        if self.drawn < least:
            return None
        posterior = FAMILIES[self.model.family].posterior.from_parts(
            self.model, self.design.schema, self.settings, self.parts, states, self.monitored
        )
        return cast(PosteriorType, posterior)  # the registry pairs them

    def finish(self, posterior: BasePosterior) -> None:
        """Put the file, if there is one, in its place; where somebody removed it by now, write it again."""
        if (writer := self.writer) is None:
            return
        try:
            writer.record("diagnostics", posterior.diagnostics().to_dict())
            writer.finish()
        except FileError:
            if writer.is_there():
                raise
            writer.close()
            posterior.save(writer.path)
        except BaseException:
            writer.close()
            raise

    def followed_by(self, settings: RunSettings, states: Sequence[dict[str, Any]]) -> Run[PosteriorType]:
        """The round after this one, which goes on from these states, or begins anew where the ladder is another."""
        run = Run(self.model, self.design, settings, self.monitored, self._threads, self.progress is not None)
        if settings.temperatures == self.settings.temperatures:
            run.begin_anew(states)
        if self.writer:
            run.writer, self.writer = self.writer, None
            run.writer.begin_again(run.header(), run.states())
        return run

    def _run_blocks(self, interrupt: Interrupt, deadline: float) -> None:
        checkpointed = began = time.monotonic()
        while self.drawn < self.settings.draws and not interrupt.requested and began < deadline:
            began = time.monotonic()
            iterations = self._next_block()
            if self.progress:
                likelihoods = [chain.log_likelihood for chain in self.chains]
                self.progress.update(self.warmed, self.drawn, likelihoods, self._acceptance())
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

    def nothing_kept(self, why: str) -> str:
        """Say that there are no draws, and what can go on all the same."""
        if self.writer is None:
            return f"{why}: nothing is kept"
        self.writer.close()
        return f"{why}; it can be resumed from {self.writer.unfinished}"

    def _on_every_chain(self, work: Callable[[Any], Any]) -> None:
        for _ in self._pool.map(work, self.chains):
            pass

    def _acceptance(self) -> float:
        return sum(sum(c.accepted) for c in self.chains) / max(sum(sum(c.turns) for c in self.chains), 1)

    def states(self) -> list[dict[str, Any]]:
        """Where the chains are."""
        reached = {name: getattr(self, name) for name in PROGRESS}
        return [self.model.state_of(chain) | reached for chain in self.chains]

    def _checkpoint(self) -> list[dict[str, Any]]:
        """Collect what the chains recorded since the last time, with a file write it, and give their states."""
        taken = []
        for chain, parts in zip(self.chains, self.parts, strict=True):
            part = self.model.take(chain)
            if len(part["log_likelihood"]):
                parts.append(part)
            taken.append(part if len(part["log_likelihood"]) else {})
        states = self.states()
        if self.writer:
            try:
                self.writer.append(taken, states)
            except FileError:
                if self.writer.is_there():
                    raise
            if not self.writer.is_there():
                self._write_anew(states)
        return states

    def _write_anew(self, states: Sequence[Mapping[str, Any]]) -> None:
        """Begin the file again with all that was drawn: somebody removed it, and the run need not end for that."""
        assert self.writer is not None
        self.writer.close()
        self.writer = ModelWriter.begin_run(self.writer.path, self.header())
        for block in list(zip(*self.parts, strict=True)) or [tuple({} for _ in self.chains)]:
            self.writer.append(block, states)
