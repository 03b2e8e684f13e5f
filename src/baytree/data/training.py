"""The rows and columns that a model learns from, and new tables matched to them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..errors import InputError
from ..text import counted, listed
from ..validation import did_you_mean, position_of, texts
from .binning import Column
from .files import require_unique
from .frames import Table, name_of, table_of
from .response import Response, Task, learn_offset, learn_response, learn_weight, response_vector
from .values import ColumnValues, column_values, has_categorical_type, plain_array


@dataclass(frozen=True, eq=False)
class Training:
    """A table's predictors with a checked response, at the rows of positive weight.

    Attributes
    ----------
    table : Table
        The source, all its rows.
    positions : sequence of int
        Which of its columns are the predictors.
    categorical : collection of str
        Columns that are declared categorical.
    kept : slice or numpy.ndarray
        Which of its rows have a positive weight.
    response : Response
        What is predicted.
    y : numpy.ndarray
        ``int32`` positions in the classes, or ``float64`` values, of the kept rows.
    weight : numpy.ndarray or None
        Positive ``float64`` weights of the kept rows; None when all are 1.
    offset : numpy.ndarray or None
        ``float64`` numbers of the kept rows.
    """

    table: Table
    positions: Sequence[int]
    categorical: Collection[str]
    kept: slice | np.ndarray
    response: Response
    y: np.ndarray
    weight: np.ndarray | None
    offset: np.ndarray | None

    def predictors(self) -> Iterator[tuple[str, ColumnValues, bool]]:
        """The name of each predictor, its values, and whether it was said to be categorical; one at a time."""
        table, kept = self.table, self.kept
        named = ((table.names[at], table.raw(at)) for at in self.positions)
        return ((name, column_values(name, raw)[kept], name in self.categorical) for name, raw in named)


def training_of_table(
    source: Any,
    target: str,
    *,
    task: Task,
    weight: str | None,
    offset: str | None,
    categorical: str | Iterable[str],
    drop: str | Iterable[str],
) -> Training:
    """Learn from a file or a data frame that holds predictors and response, as `read` describes."""
    categorical, drop = (
        frozenset([given] if isinstance(given, str) else texts(option, given))
        for option, given in (("categorical", categorical), ("drop", drop))
    )
    table = table_of(source, text=categorical)
    if not table.named:
        raise InputError("read() takes a file or a data frame with named columns; give arrays to an estimator's fit")
    named = {"target": target, "weight": weight, "offset": offset}
    others = {name for name in named.values() if name is not None}
    for name in (*sorted(others), *sorted(categorical), *sorted(drop)):
        table.position(name)
    for (first, one), (second, other) in combinations(named.items(), 2):
        if one is not None and one == other:
            raise InputError(f"column {one!r} cannot be both {first} and {second}; name two columns")
    for option, chosen in (("drop", drop), ("categorical", categorical)):
        if chosen & others:
            taken = _listed(sorted(chosen & others))
            raise InputError(f"{option} names {taken}, the target, weight or offset; remove it")
    return _training(
        table,
        positions=[i for i, name in enumerate(table.names) if name not in others | drop],
        y=table.raw(table.position(target)),
        target=target,
        task=task,
        weight=None if weight is None else (weight, table.raw(table.position(weight))),
        offset=None if offset is None else (offset, table.raw(table.position(offset))),
        categorical=categorical,
    )


def training_of_arrays(
    X: Any,
    y: Any,
    *,
    task: Task,
    names: Sequence[str] | None,
    target: str | None,
    sample_weight: Any,
    offset: Any,
    categorical_features: Any,
) -> Training:
    """Learn from predictors and a response that are held apart, as `make_design` describes."""
    table = table_of(X)
    if names is not None:
        names = texts("names", names)
        if len(names) != len(table.names):
            raise InputError(
                f"{counted(len(names), 'name')} for {counted(len(table.names), 'column')}; give one for each column"
            )
        require_unique(names)
        table = Table(tuple(names), table.rows, True, table.raw)
    target = name_of(y) if target is None else target
    if not isinstance(target, str):
        raise InputError(f"target={target!r}: give text, the name of the response")
    _require_shape(table.rows, len(table.names))
    return _training(
        table,
        positions=range(len(table.names)),
        y=response_vector(y),
        target=target,
        task=task,
        weight=None if sample_weight is None else ("sample_weight", sample_weight),
        offset=None if offset is None else ("offset", offset),
        categorical=_categorical_names(categorical_features, table.names),
    )


def matched_columns(table: Any, columns: Sequence[Column], named: bool) -> tuple[int, Iterator[ColumnValues]]:
    """The number of rows of a new table, and its columns in the order of the training columns.

    Parameters
    ----------
    table : path, frame or two-dimensional array-like
        Frames and files are matched by column name, in any order and with any other columns; arrays by position.
    columns : sequence of Column
        The training columns.
    named : bool
        Whether they had names.

    Returns
    -------
    rows : int
    values : iterator
        Those of each column, converted one at a time.
    """
    source = table_of(table, text=[column.name for column in columns if column.kind == "categorical"])
    names = [column.name for column in columns]
    return source.rows, map(column_values, names, map(source.raw, _positions(source, names, named)))


def _positions(source: Table, names: Sequence[str], named: bool) -> Sequence[int]:
    if named and source.named:
        absent = [name for name in names if name not in source.names]
        if absent:
            near = {name: did_you_mean(name, source.names) for name in absent}
            lines = [f"no column {name!r}.{said}" for name, said in near.items() if said]
            if others := [repr(name) for name, said in near.items() if not said]:
                lines.append(f"no column{'s' if len(others) > 1 else ''} {listed(others)}.")
            raise InputError(" ".join([*lines, f"The table has: {', '.join(source.names)}"]))
        at = {name: position for position, name in enumerate(source.names)}
        return [at[name] for name in names]
    if len(source.names) != len(names):
        raise InputError(
            f"X has {len(source.names)} features, but baytree is expecting {len(names)} features as input: "
            f"{_listed(names)}"
        )
    return range(len(names))


def _training(
    table: Table,
    *,
    positions: Sequence[int],
    y: Any,
    target: str,
    task: Task,
    weight: tuple[str, Any] | None,
    offset: tuple[str, Any] | None,
    categorical: Collection[str],
) -> Training:
    _require_shape(table.rows, len(positions))
    if task == "auto" and has_categorical_type(y):
        task = "classification"
    y = plain_array(target, y)
    if len(y) != table.rows:
        raise InputError(f"X and y have inconsistent numbers of samples: {table.rows:,} and {len(y):,}; align them")
    weights = None if weight is None else learn_weight(*weight, table.rows)
    kept = slice(None) if weights is None or weights.all() else weights > 0
    y = y[kept]
    if len(y) < 2:
        raise InputError(f"{len(y)} sample of positive weight; at least 2 rows are needed")
    response, y = learn_response(target, y, task)
    if weights is not None:
        weights = None if (weights[kept] == 1).all() else np.ascontiguousarray(weights[kept])
    added = None if offset is None else np.ascontiguousarray(learn_offset(*offset, table.rows)[kept])
    return Training(table, positions, categorical, kept, response, np.ascontiguousarray(y), weights, added)


def _require_shape(rows: int, width: int) -> None:
    if width == 0:
        raise InputError(f"0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required; add a predictor column")
    if rows < 2:
        raise InputError(f"{rows} sample{'s' if rows == 0 else ''}; at least 2 rows are needed")


def _categorical_names(features: Any, names: tuple[str, ...]) -> frozenset[str]:
    """The columns that scikit-learn's `categorical_features` points at."""
    if features is None or (isinstance(features, str) and features == "from_dtype"):
        return frozenset()
    chosen = np.atleast_1d(np.asarray(features))
    if chosen.dtype.kind == "b":
        if chosen.shape != (len(names),):
            raise InputError(f"categorical_features: mask of shape {chosen.shape} for {len(names)} columns")
        chosen = np.flatnonzero(chosen)
    return frozenset(names[position_of("categorical_features", one, names)] for one in chosen.tolist())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
