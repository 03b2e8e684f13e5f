"""Ctrl-C as a request to stop at the next block."""

from __future__ import annotations

import signal
import threading
from typing import Any

from ..mcmc.progress import Progress


class Interrupt:
    """Turns Ctrl-C into a request to stop at the next block, so that nothing that was drawn is lost."""

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
        first, self.requested = not self.requested, True
        if first and self.progress:
            self.progress.say("stopping …")

    def __exit__(self, *error: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
