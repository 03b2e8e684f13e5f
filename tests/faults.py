"""Faults of the samplers, to be injected: a statistical test must reject each of them, or it shows nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from baytree import _core

# Only builds for the tests have it, so that its types are nowhere.
testing: Any = getattr(_core, "testing", None)


@contextmanager
def injected(name: str) -> Iterator[None]:
    """Have every chain of this process make a fault of core/include/baytree/testing/fault.hpp."""
    if testing is None:
        raise RuntimeError("this build of baytree has no faults: make one for development, as by `make test`")
    before = testing.inject(testing.Fault[name])
    try:
        yield
    finally:
        testing.inject(before)
