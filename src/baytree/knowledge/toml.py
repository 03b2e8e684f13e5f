"""Knowledge from a TOML file."""

from __future__ import annotations

import os
import tomllib

from ..data.files import read_text
from ..errors import InputError
from ..validation import unknown_choice
from .base import Constraint
from .entries import telling
from .joined import Knowledge


def read_knowledge(path: str | os.PathLike[str]) -> Knowledge:
    """Read constraints from a TOML file.

    Every entry is optional; columns are called by their names. For example:

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
        record = tomllib.loads(read_text(path))
    except RecursionError as error:
        raise InputError(f"{path}: lists or tables lie too deep in each other; two levels are enough") from error
    except ValueError as error:  # of a number that is too long, too
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: is not TOML: {error}; correct it there") from error
    kinds = {entry: kind for kind in Constraint.kinds.values() for entry in kind.entries}
    constraints: list[Constraint] = []
    for key, value in record.items():
        with telling(f"{path}: "):
            if key not in kinds:
                raise unknown_choice("entry", key, kinds)
            constraints += kinds[key].from_toml(key, value)
    with telling(f"{path}: "):
        return Knowledge(tuple(constraints))
