"""Runs that are killed in the middle."""

from collections.abc import Callable
from typing import Any

from baytree.sampling import run as sampling


class Killed(BaseException):
    """Stands for a process that is gone."""


def killed_after(blocks: int) -> Callable[[sampling.Run[Any]], int]:
    """`Run._next_block` of a run that gets no further."""
    usual, done = sampling.Run._next_block, iter(range(blocks))

    def next_block(run: sampling.Run[Any]) -> int:
        if next(done, None) is None:
            raise Killed
        return usual(run)

    return next_block
