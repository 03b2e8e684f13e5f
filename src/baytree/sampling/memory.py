"""Whether a run can fit into memory, told before anything is allocated."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from ..data.design import AnyDesign
from ..errors import InputError
from ..mcmc.contract import AnyModel
from ..mcmc.settings import RunSettings
from ..text import counted

# Where Linux says what a container may use.
CGROUP = Path("/sys/fs/cgroup/memory.max")
# What chains recorded, and the posterior that is put together of it, are there at once.
COPIES = 2
# What a chain of any family takes, whatever its model.
CHAIN = 1 << 14


def require_memory(model: AnyModel, design: AnyDesign, settings: RunSettings) -> None:
    """Raise InputError for a run that takes more memory than there is, by about what its family predicts."""
    of_chain, of_draw = model.predicted_bytes(design, settings)
    of_states = settings.chains * (CHAIN + of_chain)
    of_draws = COPIES * settings.chains * settings.draws * of_draw
    chains = counted(settings.chains, "chain")
    for needed, what, remedy in (
        (of_states, f"the states of {chains}", "choose a smaller model, or fewer chains or temperatures"),
        (
            of_draws,
            f"{settings.draws:,} draws of {chains}",
            "ask for fewer; a larger thin spreads them over as long a run",
        ),
    ):
        require_room(needed, what, remedy)


def require_room(needed: int, what: str, remedy: str) -> None:
    """Raise InputError for what takes more bytes than there are."""
    most = memory_limit()
    if needed > most:
        raise InputError(f"{what} would take about {_size(needed)} of memory, and there are {_size(most)}; {remedy}")


def memory_limit() -> int:
    """How many bytes this process may take: those of the machine, or less where a limit is set."""
    limits = [sys.maxsize]
    with suppress(ImportError, AttributeError):  # not on Windows
        import resource

        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            limits.append(soft)
    if CGROUP.is_file() and (said := CGROUP.read_text(encoding="ascii").strip()).isdecimal():
        limits.append(int(said))
    return min(limits)


def _size(number: int) -> str:
    return f"{number / 1e9:,.1f} GB"
