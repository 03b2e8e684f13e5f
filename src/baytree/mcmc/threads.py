"""How many threads there are to run on."""

from __future__ import annotations

import os

from ..validation import require_whole


def threads_of(asked: int | None) -> int:
    """The threads that were asked for, or one for each processor that this process may use."""
    if asked is not None:
        require_whole("threads", asked, 1)
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
