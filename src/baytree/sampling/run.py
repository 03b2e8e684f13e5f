"""Chains side by side on threads, in blocks, with progress, Ctrl-C and checkpoints."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, cast

from ..data.design import AnyDesign
from ..diagnostics.predictions import Rows
from ..errors import InterruptedSampling
from ..mcmc.contract import Chain, Model, PosteriorType
from ..mcmc.progress import Progress
from ..mcmc.settings import RunSettings
from ..mcmc.threads import threads_of
from ..posterior.base import Part, model_header
from ..posterior.registry import family_of
from ..storage import ModelWriter
from .interrupt import Interrupt

# Chains run this long before Python looks at progress and Ctrl-C.
BLOCK_SECONDS = 0.1
CHECKPOINT_SECONDS = 5.0


class Run(Generic[PosteriorType]):
    """MCMC chains on their way through warm-up (burn-in) and draws."""

    def __init__(
        self,
        model: Model[PosteriorType, Any],
        design: AnyDesign,
        settings: RunSettings,
        monitored: Rows,
        threads: int | None,
        progress: bool,
    ) -> None:
        threads = threads_of(threads)
        self.model, self.design, self.settings, self.monitored = model, design, settings, monitored
        self.chains: Sequence[Chain] = model.chains(design, settings.seed, settings.chains, settings.tempering)
        self.parts: list[list[Part]] = [[] for _ in self.chains]
        self.warmed = self.drawn = self.toward = 0  # iterations of warm-up, draws, iterations towards the next draw
        self.writer: ModelWriter | None = None
        self.threads = min(threads, settings.chains)
        self.threads_of_chain = max(1, threads // settings.chains)  # which its rungs share
        self.progress = Progress(settings.warmup, settings.draws, enabled=progress)
        self._block = 64  # iterations; adapted to the time a block takes

    def record_in(self, checkpoint: str | os.PathLike[str]) -> None:
        """Write a model file while sampling."""
        self.writer = ModelWriter.begin_run(checkpoint, model_header(self.model, self.design.schema, self.settings))

    def begin_at(self, init: Any) -> None:
        """Put every chain at a state that a person gave."""
        for chain in self.chains:
            self.model.begin_at(chain, self.design, init)

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

    def complete(self) -> PosteriorType:
        """Run to the end of the settings, or to Ctrl-C."""
        with Interrupt() as interrupt:
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

    def complete_or_stop(self, interrupt: Interrupt, least: int, deadline: float = math.inf) -> PosteriorType | None:
        """Run to the end of the settings, Ctrl-C or a time; None where fewer than `least` draws were made by then."""
        interrupt.progress = self.progress
        if self.writer:
            self._checkpoint()  # the first states, so that a run can be resumed from the start on
        with ThreadPoolExecutor(self.threads) as pool, self.progress:
            self._pool = pool
            self._run_blocks(interrupt, deadline)
        states = self._checkpoint()
        if self.drawn < least:
            return None
        posterior = family_of(self.model).posterior.from_parts(
            self.model, self.design.schema, self.settings, self.parts, states, self.monitored
        )
        if self.writer:
            self.writer.record("diagnostics", posterior.diagnostics().to_dict())
            self.writer.finish()
        return cast(PosteriorType, posterior)  # the registry pairs them

    def _run_blocks(self, interrupt: Interrupt, deadline: float) -> None:
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

    def _checkpoint(self) -> list[dict[str, Any]]:
        """Collect what the chains recorded since the last time, with a file write it, and give their states."""
        taken = []
        for chain, parts in zip(self.chains, self.parts, strict=True):
            part = self.model.take(chain)
            if len(part["log_likelihood"]):
                parts.append(part)
            taken.append(part if len(part["log_likelihood"]) else {})
        states = self._states()
        if self.writer:
            self.writer.append(taken, states)
        return states

    def _states(self) -> list[dict[str, Any]]:
        """Everything a chain needs to go on exactly where it is, as JSON-safe values."""
        return [
            self.model.state_of(chain) | {"warmed": self.warmed, "drawn": self.drawn, "toward": self.toward}
            for chain in self.chains
        ]
