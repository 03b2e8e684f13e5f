"""What tests in several folders share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

# Most tests ask for no agreement of chains: runs, of commands in other processes as well, are of one round.
os.environ["BAYTREE_EFFORT"] = "0"


@pytest.fixture
def _heeds_ctrl_c() -> Iterator[None]:
    """Whoever runs the tests may ignore Ctrl-C, as a job in the background does."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)
