"""Knowledge from a TOML file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import FileError, InputError
from ..validation import unknown_choice
from .base import Constraint
from .box import Box
from .columns import Forbid, Only
from .groups import Interact
from .joined import Knowledge
from .monotone import Monotone
from .size import MaxDepth, MaxLeaves
from .weights import Weights


def read_knowledge(path: str | os.PathLike[str]) -> Knowledge:
    """Read constraints from a TOML file.

    Every entry is optional; columns are called by their names.

    ```toml
    max_depth = 4
    max_leaves = 8
    forbid = ["id", "name"]
    interact = [["age", "glucose"], ["dose"]]

    [weights]             # or weights = "sparse", above, to learn them with a sum of trees
    age = 3.0

    [monotone]
    age = 1               # or -1

    [[box]]               # as many as there are boxes
    glucose = "<=127"
    age = "<=28"

    [[only]]
    depth = 0
    features = ["age", "glucose"]

    [[forbid_below]]
    features = ["dose"]
    below = "sex"         # a column, or a depth
    ```

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    Knowledge
        To be joined to a prior by ``&``.
    """
    try:
        record = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not TOML: {error}; correct it there") from error
    constraints: list[Constraint] = []
    for key, value in record.items():
        with _telling(f"{path}: "):
            if key not in _READERS:
                raise unknown_choice("entry", key, _READERS)
            constraints += _READERS[key](key, value)
    with _telling(f"{path}: "):
        return Knowledge(tuple(constraints))


Constraints = Iterator[Constraint]


def _whole(key: str, value: Any, constraint: Callable[[int], Constraint]) -> Constraints:
    if not isinstance(value, int):
        raise InputError(f"{key} = {value!r}: give a whole number, such as {key} = 4")
    yield constraint(value)


def _by_column(key: str, value: Any, constraint: Callable[[dict[str, Any]], Constraint]) -> Constraints:
    if not isinstance(value, dict):
        raise InputError(f"{key} = {value!r}: give a table, [{key}], with a line for each column")
    with _telling(f"[{key}]: "):
        yield constraint(value)


def _weights(key: str, value: Any) -> Constraints:
    if value == "sparse":
        yield Weights(value)
    elif isinstance(value, str):
        raise InputError(f"{key} = {value!r}: give a table, [{key}], with a line for each column, or 'sparse'")
    else:
        yield from _by_column(key, value, Weights)


def _boxes(key: str, value: Any) -> Constraints:
    for number, table in _tables(key, value):
        with _telling(f"[[{key}]] {number}: "):
            yield Box(table)


def _only(key: str, value: Any) -> Constraints:
    for number, table in _tables(key, value):
        with _telling(f"[[{key}]] {number}: "):
            _require_keys(table, ("depth", "features"))
            yield Only(table["depth"], tuple(_names("features", table["features"])))


def _forbid(key: str, value: Any) -> Constraints:
    yield Forbid(*_names(key, value))


def _forbid_below(key: str, value: Any) -> Constraints:
    for number, table in _tables(key, value):
        with _telling(f"[[{key}]] {number}: "):
            _require_keys(table, ("features", "below"))
            yield Forbid(*_names("features", table["features"]), below=table["below"])


def _interact(key: str, value: Any) -> Constraints:
    if not isinstance(value, list) or not all(isinstance(group, list) for group in value):
        raise InputError(f"{key} = {value!r}: give a list of groups, such as [['a', 'b'], ['c']]")
    yield Interact(tuple(tuple(_names(key, group)) for group in value))


_READERS: dict[str, Callable[[str, Any], Constraints]] = {
    "max_depth": lambda key, value: _whole(key, value, MaxDepth),
    "max_leaves": lambda key, value: _whole(key, value, MaxLeaves),
    "forbid": _forbid,
    "forbid_below": _forbid_below,
    "interact": _interact,
    "only": _only,
    "weights": _weights,
    "monotone": lambda key, value: _by_column(key, value, Monotone),
    "box": _boxes,
}


def _tables(key: str, value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise InputError(f"{key} = {value!r}: give tables, each behind a line [[{key}]]")
    return enumerate(value, start=1)


def _names(key: str, value: Any) -> list[str]:
    # A number would be a position, which nobody can see in a file.
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{key} = {value!r}: give a list of names of columns, such as ['age', 'sex']")
    return value


def _require_keys(table: dict[str, Any], keys: tuple[str, ...]) -> None:
    for key in table:
        if key not in keys:
            raise unknown_choice("entry", key, keys)
    for key in keys:
        if key not in table:
            raise InputError(f"{key} is missing; write {' and '.join(keys)}")


@contextmanager
def _telling(where: str) -> Iterator[None]:
    """Name the place in front of an error."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}{error}") from None
