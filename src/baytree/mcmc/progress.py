"""Progress on standard error: a bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

PLAIN_SECONDS = 5.0


class Progress:
    """Shows how far the chains are, their mean log-likelihood and the share of iterations that changed the tree.

    Parameters
    ----------
    warmup, draws : int
        How many there will be.
    temperatures : int
        At how many each chain is run.
    """

    def __init__(self, warmup: int, draws: int, temperatures: int = 1) -> None:
        self._warmup, self._draws = warmup, draws
        self._at = f", {temperatures} temperatures" if temperatures > 1 else ""
        self._bar: Any = None
        self._said = 0.0

    def __enter__(self) -> Progress:
        self._said = time.monotonic()
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            text = TextColumn("[progress.description]{task.description}")
            state = TextColumn("{task.fields[state]}")
            self._bar = Bar(
                text, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), state, console=Console(stderr=True)
            )
            self._tasks = {
                phase: self._bar.add_task(phase, total=total, state="", visible=total > 0)
                for phase, total in (("warm-up", self._warmup), ("draws", self._draws))
            }
            self._bar.start()
        return self

    def update(self, warmed: int, drawn: int, log_likelihoods: Sequence[float], acceptance: float) -> None:
        """Say where the chains are now.

        Parameters
        ----------
        warmed, drawn : int
            Iterations of warm-up and draws so far.
        log_likelihoods : sequence of float
            Of each chain, now.
        acceptance : float
            The share of iterations that changed the tree.
        """
        mean = sum(log_likelihoods) / len(log_likelihoods)
        state = f"log-likelihood {mean:.1f}, acceptance {acceptance:.0%}{self._at}"
        if self._bar:
            phase = "draws" if drawn else "warm-up"
            self._bar.update(self._tasks["warm-up"], completed=warmed, state="")
            self._bar.update(self._tasks["draws"], completed=drawn, state="")
            self._bar.update(self._tasks[phase], state=state)
            return
        finished = drawn == self._draws
        if finished or time.monotonic() - self._said > PLAIN_SECONDS:
            self._said = time.monotonic()
            self.say(f"warm-up {warmed:,}/{self._warmup:,}, draws {drawn:,}/{self._draws:,}, {state}")

    def say(self, line: str) -> None:
        """Print a line, above the bar if there is one."""
        if self._bar:
            self._bar.console.print(line)
            return
        with suppress(OSError):  # nobody reads on: no reason to stop
            print(line, file=sys.stderr, flush=True)

    def __exit__(self, *error: object) -> None:
        if self._bar:
            self._bar.stop()
