"""Tables to designs: files, data frames and arrays as validated, binned columns with a response."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from .cells import has_categorical_type, plain_array
from .columns import MAX_CODES, Column, learn_column
from .errors import InputError, did_you_mean, unknown_choice
from .files import require_unique
from .response import Response, Task, learn_offset, learn_response, learn_weight, response_vector
from .tables import Table, table_of
from .words import counted

__all__ = ["Column", "Design", "Response", "Schema", "make_design", "read"]


@dataclass(frozen=True)
class Schema:
    """All that predicting needs to know about the training table.

    Attributes
    ----------
    columns : tuple of Column
        The predictors.
    response : Response
        What is predicted.
    named : bool
        Whether the training table had column names, by which new frames are matched; else they are matched by
        position, as arrays always are.
    """

    columns: tuple[Column, ...]
    response: Response
    named: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the predictors."""
        return tuple(column.name for column in self.columns)

    @property
    def cuts(self) -> list[list[float]]:
        """The cut points of each predictor; none of a categorical one."""
        return [column.cuts.tolist() for column in self.columns]

    def encode(self, table: Any) -> np.ndarray:
        """Bin the predictors of a new table.

        Parameters
        ----------
        table : path, frame or two-dimensional array-like
            Frames and files are matched by column name, in any order and with any other columns; arrays by position.

        Returns
        -------
        numpy.ndarray
            ``uint32`` codes, shape (rows, columns).
        """
        source = table_of(table, text=[column.name for column in self.columns if column.kind == "categorical"])
        positions = self._positions(source)
        codes = np.empty((source.rows, len(self.columns)), dtype=np.uint32)
        for j, (column, position) in enumerate(zip(self.columns, positions, strict=True)):
            codes[:, j] = column.encode(source.raw(position))
        return codes

    def _positions(self, source: Table) -> Sequence[int]:
        if self.named and source.named:
            absent = [name for name in self.names if name not in source.names]
            if absent:
                lines = [f"no column {name!r}.{did_you_mean(name, source.names)}" for name in absent]
                raise InputError(" ".join([*lines, f"The table has: {', '.join(source.names)}"]))
            return [source.position(name) for name in self.names]
        if len(source.names) != len(self.columns):
            raise InputError(
                f"X has {len(source.names)} features, but baytree is expecting {len(self.columns)} features as input: "
                f"{_listed(self.names)}"
            )
        return range(len(self.columns))

    def to_dict(self) -> dict[str, Any]:
        """The schema as JSON-safe values, exact to the last bit."""
        return {
            "columns": [column.to_dict() for column in self.columns],
            "response": self.response.to_dict(),
            "named": self.named,
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Schema:
        """The schema that `to_dict` described."""
        columns = tuple(Column.from_dict(column) for column in record["columns"])
        return cls(columns, Response.from_dict(record["response"]), record["named"])


@dataclass(frozen=True, eq=False)
class Design:
    """A validated table, binned, with its response.

    Attributes
    ----------
    schema : Schema
        Names, cuts, levels and the response.
    codes : tuple of numpy.ndarray
        The codes of each column, contiguous; ``uint8`` where they fit, else ``uint16``.
    y : numpy.ndarray
        ``int32`` positions in the classes, or ``float64`` values.
    weight : numpy.ndarray or None
        Positive ``float64`` weights of the rows; None when all are 1.
    offset : numpy.ndarray or None
        ``float64`` numbers that are added to what the trees give for each row; of sums of trees only.
    """

    schema: Schema
    codes: tuple[np.ndarray, ...]
    y: np.ndarray
    weight: np.ndarray | None = None
    offset: np.ndarray | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The predictors."""
        return self.schema.columns

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the predictors."""
        return self.schema.names

    @property
    def response(self) -> Response:
        """What is predicted."""
        return self.schema.response

    @property
    def classes(self) -> np.ndarray | None:
        """The class labels, or None of a numeric response."""
        return self.response.classes

    def __repr__(self) -> str:
        shape = f"{counted(self.rows, 'row')}, {counted(len(self.columns), 'column')}"
        return f"<Design: {shape}, response {self.response.name!r}>"

    def describe(self) -> str:
        """The table in words: rows, columns by kind, missing values and the response."""
        kinds = Counter(column.kind for column in self.columns)
        missing = {
            column.name: int(np.count_nonzero(codes == column.missing_code))
            for column, codes in zip(self.columns, self.codes, strict=True)
            if column.has_missing
        }
        lines = [
            counted(self.rows, "row") + ("" if self.weight is None else f", total weight {self.weight.sum():g}"),
            f"{counted(len(self.columns), 'column')}: " + ", ".join(f"{count} {kind}" for kind, count in kinds.items()),
            "missing values: " + (", ".join(f"{name} {count:,}" for name, count in missing.items()) or "none"),
            f"response {self.response.name!r} ({self.response.task}): {self._describe_response()}",
        ]
        return "\n".join(lines)

    def _describe_response(self) -> str:
        if self.classes is None:
            return f"mean {self.y.mean():.4g}, sd {self.y.std(ddof=1):.4g}, {self.y.min():g} to {self.y.max():g}"
        counts = np.bincount(self.y, minlength=len(self.classes))
        return ", ".join(f"{label} {count:,}" for label, count in zip(self.classes, counts, strict=True))


def require_design(design: Any) -> None:
    """Raise InputError for anything but a design."""
    if not isinstance(design, Design):
        raise InputError(
            f"a Design is needed, not {type(design).__name__}; make one with read, make_design or .design()"
        )


def read(
    source: Any,
    target: str,
    *,
    task: Task = "auto",
    weight: str | None = None,
    offset: str | None = None,
    categorical: str | Iterable[str] = (),
    drop: str | Iterable[str] = (),
    max_cuts: int | None = 255,
) -> Design:
    """Read a design from a file or a data frame that holds predictors and response.

    Parameters
    ----------
    source : path or frame
        A ``.csv``, ``.csv.gz``, ``.tsv``, ``.tsv.gz`` or ``.parquet`` file, or a pandas, polars or pyarrow frame. In a
        text file empty cells, ``NA``, ``N/A``, ``n/a``, ``#N/A``, ``NaN``, ``nan``, ``null`` and ``?`` are missing.
    target : str
        The column to predict.
    task : {"auto", "classification", "regression"}
        Under ``"auto"`` numbers with other than two distinct values are regressed, all else classified.
    weight : str, optional
        The column that says how many copies of itself a row counts as; rows of weight 0 are dropped.
    offset : str, optional
        The column of numbers that are added to what a sum of trees gives for each row.
    categorical : str or iterable of str
        Columns whose numbers are labels. Text is categorical without saying so.
    drop : str or iterable of str
        Columns to leave out.
    max_cuts : int or None
        The most cuts of a numeric column; None for every one (at most 65,535).

    Returns
    -------
    Design
    """
    categorical, drop = _name_set(categorical), _name_set(drop)
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
    return _design(
        table,
        positions=[i for i, name in enumerate(table.names) if name not in others | drop],
        y=table.raw(table.position(target)),
        target=target,
        task=task,
        weight=None if weight is None else (weight, table.raw(table.position(weight))),
        offset=None if offset is None else (offset, table.raw(table.position(offset))),
        categorical=categorical,
        max_cuts=max_cuts,
    )


def make_design(
    X: Any,
    y: Any,
    *,
    task: Task,
    names: Sequence[str] | None = None,
    target: str = "y",
    sample_weight: Any = None,
    offset: Any = None,
    categorical_features: Any = None,
    max_cuts: int | None = 255,
) -> Design:
    """Make a design of predictors and a response that are held apart, as scikit-learn has them.

    Parameters
    ----------
    X : frame or two-dimensional array-like
        The predictors.
    y : series or array-like
        The response, one value a row.
    task : {"classification", "regression", "auto"}
        What kind of response it is.
    names : sequence of str, optional
        Names of the columns; by default the frame's, else ``x0``, ``x1``, …
    target : str
        The name of the response.
    sample_weight : array-like, optional
        How many copies of itself each row counts as; rows of weight 0 are dropped.
    offset : array-like, optional
        Numbers that are added to what a sum of trees gives for each row.
    categorical_features : None, "from_dtype", or array-like of bool, int or str
        Columns whose numbers are labels, by mask, position or name. Text and categorical types are categorical without
        saying so, and alone under None and ``"from_dtype"``.
    max_cuts : int or None
        The most cuts of a numeric column; None for every one (at most 65,535).

    Returns
    -------
    Design
    """
    table = table_of(X)
    if names is not None:
        if len(names) != len(table.names):
            raise InputError(
                f"{counted(len(names), 'name')} for {counted(len(table.names), 'column')}; give one for each column"
            )
        require_unique(names)
        table = Table(tuple(names), table.rows, True, table.raw)
    _require_shape(table.rows, len(table.names))
    return _design(
        table,
        positions=range(len(table.names)),
        y=response_vector(y),
        target=target,
        task=task,
        weight=None if sample_weight is None else ("sample_weight", sample_weight),
        offset=None if offset is None else ("offset", offset),
        categorical=_categorical_names(categorical_features, table.names),
        max_cuts=max_cuts,
    )


def _design(
    table: Table,
    *,
    positions: Sequence[int],
    y: Any,
    target: str,
    task: Task,
    weight: tuple[str, Any] | None,
    offset: tuple[str, Any] | None,
    categorical: Collection[str],
    max_cuts: int | None,
) -> Design:
    _require_shape(table.rows, len(positions))
    _require_max_cuts(max_cuts)
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
    columns, codes = [], []
    for position in positions:
        cells = table.cells(position)[kept]
        name = table.names[position]
        declared = name in categorical or has_categorical_type(table.raw(position))
        column = learn_column(name, cells, declared_categorical=declared, max_cuts=max_cuts)
        columns.append(column)
        codes.append(column.encode(cells).astype(np.uint8 if column.n_codes <= 256 else np.uint16))
    if weights is not None:
        weights = None if (weights[kept] == 1).all() else np.ascontiguousarray(weights[kept])
    added = None if offset is None else np.ascontiguousarray(learn_offset(*offset, table.rows)[kept])
    return Design(Schema(tuple(columns), response, table.named), tuple(codes), np.ascontiguousarray(y), weights, added)


def _require_shape(rows: int, width: int) -> None:
    if width == 0:
        raise InputError(f"0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required; add a predictor column")
    if rows < 2:
        raise InputError(f"{rows} sample{'s' if rows == 0 else ''}; at least 2 rows are needed")


def _require_max_cuts(max_cuts: int | None) -> None:
    if max_cuts is None:
        return
    whole = isinstance(max_cuts, (int, np.integer)) and not isinstance(max_cuts, bool)
    if not whole or not 1 <= max_cuts < MAX_CODES:
        raise InputError(f"max_cuts={max_cuts!r}; choose a whole number from 1 to {MAX_CODES - 1:,}, or None for all")


def _name_set(names: str | Iterable[str]) -> frozenset[str]:
    return frozenset([names] if isinstance(names, str) else names)


def _categorical_names(features: Any, names: tuple[str, ...]) -> frozenset[str]:
    """The columns that scikit-learn's `categorical_features` points at."""
    if features is None or (isinstance(features, str) and features == "from_dtype"):
        return frozenset()
    chosen = np.atleast_1d(np.asarray(features))
    if chosen.dtype.kind == "b":
        if chosen.shape != (len(names),):
            raise InputError(f"categorical_features: mask of shape {chosen.shape} for {len(names)} columns")
        chosen = np.flatnonzero(chosen)
    if chosen.dtype.kind in "iu":
        outside = chosen[(chosen < 0) | (chosen >= len(names))]
        if outside.size:
            raise InputError(f"categorical_features: no column {outside[0]}; positions go from 0 to {len(names) - 1}")
        return frozenset(names[i] for i in chosen)
    if chosen.size == 0:
        return frozenset()
    for name in chosen.tolist():
        if name not in names:
            raise unknown_choice("column", name, names)
    return frozenset(chosen.tolist())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
