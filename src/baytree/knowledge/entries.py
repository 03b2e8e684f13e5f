"""Entries of a TOML file, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from ..errors import InputError
from ..validation import unknown_choice

Read = TypeVar("Read")


def tables_of(
    entry: str, value: Any, read: Callable[[dict[str, Any]], Read], keys: tuple[str, ...] | None = None
) -> list[Read]:
    """What is read from each of several tables, which have these keys where any are given."""
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise InputError(f"{entry} = {value!r}: give tables, each behind a line [[{entry}]]")
    found = []
    for number, table in enumerate(value, start=1):
        with telling(f"[[{entry}]] {number}: "):
            if keys is not None:
                _require_keys(table, keys)
            found.append(read(table))
    return found


def names_of(entry: str, value: Any) -> tuple[str, ...]:
    """Names of columns."""
    # A number would be a position, which nobody can see in a file.
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{entry} = {value!r}: give a list of names of columns, such as ['age', 'sex']")
    return tuple(value)


def _require_keys(table: dict[str, Any], keys: tuple[str, ...]) -> None:
    for key in table:
        if key not in keys:
            raise unknown_choice("entry", key, keys)
    for key in keys:
        if key not in table:
            raise InputError(f"{key} is missing; write {' and '.join(keys)}")


@contextmanager
def telling(where: str) -> Iterator[None]:
    """Name the place in front of an error."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}{error}") from None
