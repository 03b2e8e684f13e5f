"""Tables to designs: files, data frames and arrays as validated, binned columns with a response."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from ..text import counted
from ..validation import is_whole, require_field_types
from .binning import MAX_BINS, Column, learn_column
from .response import Response, Task
from .training import Training, matched_columns, training_of_arrays, training_of_table


@dataclass(frozen=True)
class Schema:
    """All that predicting needs to know about the training table.

    Attributes
    ----------
    columns : tuple of Column
        The predictors (covariates).
    response : Response
        What is predicted.
    named : bool
        Whether the training table had column names, by which new frames are matched; else they are matched by
        position, as arrays always are.
    """

    columns: tuple[Column, ...]
    response: Response
    named: bool = True

    @cached_property
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
            ``uint32`` bins, shape (rows, columns).
        """
        rows, values = matched_columns(table, self.columns, self.named)
        bins = np.empty((rows, len(self.columns)), dtype=np.uint32)
        for j, (column, found) in enumerate(zip(self.columns, values, strict=True)):
            bins[:, j] = column.bins_of(found)
        return bins

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
        schema = cls(columns, Response.from_dict(record["response"]), record["named"])
        require_field_types(schema)
        return schema


class AnyDesign(ABC):
    """What designs of all kinds have: a validated table with its response.

    Attributes
    ----------
    schema : Schema or LinearSchema
        Names, levels and the response.
    y : numpy.ndarray
        ``float64`` values, or ``int32`` positions in the classes.
    weight : numpy.ndarray or None
        Positive ``float64`` weights of the rows; None when all are 1.
    offset : numpy.ndarray or None
        What is added to the prediction of each row, if anything.
    seen : numpy.ndarray of shape (rows,), or None
        Whether the response of each row was seen; None where all were.
    shaped_by : str
        The option of its reader that shapes it besides the table.
    """

    schema: Any
    y: np.ndarray
    weight: np.ndarray | None
    offset: np.ndarray | None
    seen: np.ndarray | None
    shaped_by: ClassVar[str]

    @cached_property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The predictors."""
        columns: tuple[Column, ...] = self.schema.columns
        return columns

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the predictors."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def response(self) -> Response:
        """What is predicted."""
        response: Response = self.schema.response
        return response

    @cached_property
    def classes(self) -> np.ndarray | None:
        """The class labels, or None of a numeric response."""
        classes: np.ndarray | None = self.schema.response.classes
        return classes

    @abstractmethod
    def at(self, rows: Any) -> np.ndarray:
        """Some rows as the schema encodes them."""

    @abstractmethod
    def describe(self) -> str:
        """The table in words."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A short hash of all of it."""


@dataclass(frozen=True, eq=False)
class Design(AnyDesign):
    """A validated table, binned, with its response.

    Attributes
    ----------
    schema : Schema
        Names, cuts, levels and the response.
    bins : tuple of numpy.ndarray
        The bins of each column, contiguous; ``uint8`` where they fit, else ``uint16``.
    y : numpy.ndarray
        ``int32`` positions in the classes, or ``float64`` values.
    weight : numpy.ndarray or None
        Positive ``float64`` weights of the rows; None when all are 1.
    offset : numpy.ndarray or None
        ``float64`` numbers that are added to what the trees give for each row; of sums of trees only.
    """

    schema: Schema
    bins: tuple[np.ndarray, ...]
    y: np.ndarray
    weight: np.ndarray | None = None
    offset: np.ndarray | None = None

    seen = None
    shaped_by = "max_cuts"

    def __repr__(self) -> str:
        shape = f"{counted(self.rows, 'row')}, {counted(len(self.columns), 'column')}"
        return f"<Design: {shape}, response {self.response.name!r}>"

    def describe(self) -> str:
        """The table in words: rows, columns by kind, missing values and the response."""
        missing = [
            int(np.count_nonzero(bins == column.missing_bin)) if column.has_missing else 0
            for column, bins in zip(self.columns, self.bins, strict=True)
        ]
        return described(self.columns, missing, self.response, self.y, self.weight)

    def at(self, rows: Any) -> np.ndarray:
        """Some rows as `Schema.encode` gives them, shape (rows, columns)."""
        return np.column_stack([column[rows] for column in self.bins]).astype(np.uint32)

    def take(self, rows: np.ndarray) -> Design:
        """Some of the rows, by their numbers, with the columns, cut points and classes of all."""
        bins = tuple(column[rows] for column in self.bins)
        weight, offset = (None if given is None else given[rows] for given in (self.weight, self.offset))
        return replace(self, bins=bins, y=self.y[rows], weight=weight, offset=offset)

    def fingerprint(self) -> str:
        """A short hash of the schema, the bins, the response and the weights."""
        return hashed(self.schema.to_dict(), *self.bins, self.y, self.weight, self.offset)


def described(
    columns: Sequence[Column], missing: Sequence[int], response: Response, y: np.ndarray, weight: np.ndarray | None
) -> str:
    """A table in words: rows, columns by kind, missing values by column and the response."""
    kinds = Counter(column.kind for column in columns)
    lacking = [f"{column.name} {count:,}" for column, count in zip(columns, missing, strict=True) if count]
    return "\n".join(
        [
            counted(len(y), "row") + ("" if weight is None else f", total weight {weight.sum():g}"),
            f"{counted(len(columns), 'column')}: " + ", ".join(f"{count} {kind}" for kind, count in kinds.items()),
            "missing values: " + (", ".join(lacking) or "none"),
            f"response {response.name!r} ({response.task}): {_described_response(response, y)}",
        ]
    )


def _described_response(response: Response, y: np.ndarray) -> str:
    if response.classes is None:
        unit = np.abs(y).max()  # whose square, or whose sum over rows, may be beyond float64
        mean, sd = unit * (y / unit).mean(), unit * (y / unit).std(ddof=1)
        return f"mean {mean:.4g}, sd {sd:.4g}, {y.min():g} to {y.max():g}"
    counts = np.bincount(y, minlength=len(response.classes))
    return ", ".join(f"{label} {count:,}" for label, count in zip(response.classes, counts, strict=True))


def hashed(record: dict[str, Any], *arrays: np.ndarray | None) -> str:
    """A short hash of JSON-safe values and of the bytes of arrays, those that are None left out."""
    digest = hashlib.blake2b(json.dumps(record).encode(), digest_size=8)
    for array in arrays:
        if array is not None:
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


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
    _require_max_cuts(max_cuts)
    training = training_of_table(
        source, target, task=task, weight=weight, offset=offset, categorical=categorical, drop=drop
    )
    return _design(training, max_cuts)


def make_design(
    X: Any,
    y: Any,
    *,
    task: Task,
    names: Sequence[str] | None = None,
    target: str | None = None,
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
    target : str, optional
        The name of the response; by default that of the series y, else ``y``.
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
    _require_max_cuts(max_cuts)
    training = training_of_arrays(
        X,
        y,
        task=task,
        names=names,
        target=target,
        sample_weight=sample_weight,
        offset=offset,
        categorical_features=categorical_features,
    )
    return _design(training, max_cuts)


def _design(training: Training, max_cuts: int | None) -> Design:
    columns, bins = [], []
    for name, values, categorical in training.predictors():
        column = learn_column(name, values, categorical=categorical, max_cuts=max_cuts)
        columns.append(column)
        bins.append(column.bins_of(values).astype(np.uint8 if column.n_bins <= 256 else np.uint16))
    schema = Schema(tuple(columns), training.response, training.table.named)
    return Design(schema, tuple(bins), training.y, training.weight, training.offset)


def _require_max_cuts(max_cuts: int | None) -> None:
    if max_cuts is None:
        return
    if not is_whole(max_cuts) or not 1 <= max_cuts < MAX_BINS:
        raise InputError(f"max_cuts={max_cuts!r}; choose a whole number from 1 to {MAX_BINS - 1:,}, or None for all")
