"""Rounds of a run: each goes on from the one before, its warm-up, until the chains agree or the effort is spent."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace
from typing import Generic, cast

from ..data.design import AnyDesign
from ..errors import InputError, InterruptedSampling
from ..mcmc.contract import AnyModel, PosteriorType
from ..mcmc.effort import UNLIMITED, USUAL_EFFORT, budget_of
from ..mcmc.settings import RunSettings
from ..posterior.base import BasePosterior
from .run import Interrupt, Run

# What part of the effort the first round takes, and one with another ladder.
FIRST_SHARE, LADDER_SHARE = 1 / 64, 1 / 16
# How many temperatures are tried where chains at one do not agree, and the most that are chosen then.
TRIED, FEWEST, MOST = 12, 4, 32
# A ladder stays where it has at most so many times more or fewer rungs than its barrier asks for.
NEAR_ENOUGH = 1.4


def first_round(
    model: AnyModel, design: AnyDesign, settings: RunSettings, *, warmup: int | None, thin: int | None
) -> RunSettings:
    """The settings of the first round, what was left open chosen: it takes a small part of the effort."""
    if settings.effort is None:
        return replace(settings, warmup=1000 if warmup is None else warmup, thin=thin or 1)
    if thin is None:
        thin = _thin(model, design, settings, FIRST_SHARE * _usual_budget(settings))
    return replace(settings, warmup=settings.draws * thin if warmup is None else warmup, thin=thin)


def next_round(posterior: BasePosterior, design: AnyDesign) -> RunSettings | None:
    """The settings of the round that follows one that is complete; None where it was the last.

    Where chains at one temperature are far from agreement, some rungs are tried; from how often their swaps were
    rejected comes the communication barrier Λ, and with it how many serve best, about 2Λ [1]_. Chains on another
    ladder begin anew.

    References
    ----------
    .. [1] Syed, Bouchard-Côté, Deligiannidis and Doucet (2022), Non-reversible parallel tempering: a scalable highly
       parallel MCMC scheme, JRSS B 84, 321–350.
    """
    settings, model = posterior.settings, posterior.model
    if settings.effort is None or _is_enough(posterior):
        return None
    spent = settings.spent + work_of(model, design, settings)
    left = budget_of(settings.effort) - spent
    if model.tempers and settings.free_ladder and (wanted := _wanted_rungs(posterior)) is not None:
        # Where the barrier asks for more than anybody has, one rung is as good, and stays.
        tempered = replace(settings, temperatures=1 if wanted > MOST else wanted, free_ladder=wanted <= MOST)
        work = min(LADDER_SHARE * _usual_budget(settings), left)
        thin = _thin(model, design, tempered, work)
        anew = replace(tempered, warmup=settings.draws * thin, thin=thin, spent=spent)
        if work_of(model, design, anew) <= left:
            return anew
    further = longer(settings)
    every = settings.draws * settings.chains * model.iteration_work(design, settings.temperatures)
    if further.thin * every > left:
        further = replace(further, thin=int(left / every))
    return further if further.thin >= settings.thin else None


def longer(settings: RunSettings) -> RunSettings:
    """The settings of a round twice as far as all before, which is its warm-up: what is kept is the last half."""
    return replace(settings, warmup=settings.iterations, thin=2 * settings.thin)


def _usual_budget(settings: RunSettings) -> float:
    """The work that rounds take parts of: that of the effort, but never more than usual, so that larger ones go on."""
    assert settings.effort is not None
    return min(budget_of(settings.effort), budget_of(USUAL_EFFORT))


def _thin(model: AnyModel, design: AnyDesign, settings: RunSettings, work: float) -> int:
    """How far apart draws lie in a round, half of it warm-up, that takes so much work; at least 1."""
    iteration = settings.chains * model.iteration_work(design, settings.temperatures)
    return max(1, int(work / (2 * settings.draws * iteration)))


def work_of(model: AnyModel, design: AnyDesign, settings: RunSettings) -> float:
    """What these chains take from their beginning to their last draw."""
    return settings.chains * settings.iterations * model.iteration_work(design, settings.temperatures)


def _is_enough(posterior: BasePosterior) -> bool:
    """Whether longer chains would tell no more; predictions, which cost most, are compared last."""
    return posterior.series_diagnostics().is_enough and posterior.diagnostics().is_enough


def _wanted_rungs(posterior: BasePosterior) -> int | None:
    """How many temperatures the chains should have instead; None where they have about as many."""
    there = posterior.settings.temperatures
    if there == 1:
        return TRIED if posterior.diagnostics().grade == "not yet" else None
    barrier = posterior.swaps().barrier
    if not math.isfinite(barrier):  # some pairs had no turn yet
        return None
    wanted = max(math.ceil(2 * barrier) + 2, FEWEST)
    return None if there / NEAR_ENOUGH <= wanted <= there * NEAR_ENOUGH else wanted


class Rounds(Generic[PosteriorType]):
    """A run on its way through its rounds.

    Parameters
    ----------
    run : Run
        Its round of now.
    kept : Posterior, optional
        What was drawn in the round before.
    time_limit : float, optional
        Seconds after which to stop, whether the chains agree or not.
    """

    def __init__(
        self, run: Run[PosteriorType], kept: PosteriorType | None = None, time_limit: float | None = None
    ) -> None:
        self.run, self.kept, self.time_limit = run, kept, time_limit
        self._deadline = math.inf if time_limit is None else time.monotonic() + time_limit

    def complete(self) -> PosteriorType:
        """Run until the chains agree, the effort is spent, the time is over or Ctrl-C is pressed.

        Of a round that was stopped less than half drawn, the one before is kept.
        """
        try:
            with Interrupt() as interrupt:
                while (further := self._round(interrupt)) is not None:
                    self.run = self.run.followed_by(further, cast(BasePosterior, self.kept).states)
                if self.kept is None and not interrupt.requested:
                    raise InputError(
                        f"time_limit={self.time_limit:g} was over before the first draw; allow more, or fewer chains, "
                        "or a shorter warmup"
                    )
        except KeyboardInterrupt:
            if self.kept is None:
                raise KeyboardInterrupt(self.run.nothing_kept("sampling was stopped at once")) from None
            self._go_back()
        except BaseException:
            if self.run.writer:
                self.run.writer.close()
            raise
        if self.kept is None:
            raise KeyboardInterrupt(self.run.nothing_kept("sampling was interrupted before the first draw"))
        kept = cast(BasePosterior, self.kept)
        if kept.draws < kept.settings.draws:
            warnings.warn(
                f"sampling was interrupted: {kept.draws:,} of {kept.settings.draws:,} draws are kept",
                InterruptedSampling,
                stacklevel=3,
            )
        for line in kept.swaps().warnings() if kept.tempered else ():
            warnings.warn(line, stacklevel=3)
        return self.kept

    def _round(self, interrupt: Interrupt) -> RunSettings | None:
        """Complete the round of now; the settings of the next one, if there is one."""
        asked = self.run.settings.draws
        least = 1 if self.kept is None else (asked + 1) // 2
        drawn = self.run.complete_or_stop(interrupt, least, self._deadline)
        if drawn is None:
            if self.kept is not None:
                self._go_back()
            return None
        self.kept = drawn
        posterior = cast(BasePosterior, drawn)
        stopped = posterior.draws < asked or interrupt.requested or time.monotonic() >= self._deadline
        further = None if stopped else next_round(posterior, self.run.design)
        if further is None:
            self.run.finish(posterior)
        return further

    def _go_back(self) -> None:
        """Let what the round before drew be what a file holds."""
        if writer := self.run.writer:
            self.run.writer = None
            writer.discard()
            cast(BasePosterior, self.kept).save(writer.path)


def unlimited(settings: RunSettings) -> RunSettings:
    """The settings of chains that go on until they agree, on the ladder that they have."""
    return replace(settings, effort=UNLIMITED, free_ladder=False)
