"""Faults of the samplers, to be injected: a statistical test must reject each of them, or it shows nothing."""

from collections.abc import Iterator
from contextlib import contextmanager

from baytree import _core


@contextmanager
def injected(name: str) -> Iterator[None]:
    """Have every chain of this process make a fault of core/include/baytree/testing/fault.hpp."""
    if not hasattr(_core, "testing"):
        raise RuntimeError("this build of baytree has no faults: make one for development, as by `make test`")
    before = _core.testing.inject(_core.testing.Fault[name])
    try:
        yield
    finally:
        _core.testing.inject(before)
