"""What tests in several folders share."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture
def _heeds_ctrl_c() -> Iterator[None]:
    """Whoever runs the tests may ignore Ctrl-C, as a job in the background does."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)
