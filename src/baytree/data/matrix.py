"""Tables to linear designs: the design matrix of a linear model, its columns in units that enter or leave together."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Literal

import numpy as np

from ..errors import InputError
from ..text import counted
from ..validation import require_field_types
from .binning import Column, learn_column
from .design import AnyDesign, described, hashed
from .interactions import interaction_name, pairs_of, require_width
from .response import Response, Task
from .training import Training, matched_columns, training_of_arrays, training_of_table
from .values import ColumnValues

UnitKind = Literal["numeric", "boolean", "categorical", "interaction"]


@dataclass(frozen=True)
class Unit:
    """Columns of the matrix that enter a model, or leave it, together.

    Attributes
    ----------
    name : str
        The predictor's name, or ``"a:b"`` of an interaction of a and b.
    kind : {"numeric", "boolean", "categorical", "interaction"}
        What it is.
    begin, end : int
        Its columns of the matrix. A factor with a single level has none.
    parents : tuple of int
        The positions of the two units of an interaction; else empty.
    """

    name: str
    kind: UnitKind
    begin: int
    end: int
    parents: tuple[int, ...] = ()

    @property
    def columns(self) -> slice:
        """Its columns of the matrix."""
        return slice(self.begin, self.end)


@dataclass(frozen=True)
class LinearSchema:
    """All that predicting needs to know about the training table.

    A numeric or boolean predictor is one column of the matrix, a factor with L levels L − 1 indicators, against its
    first level. Where training rows lack a value, one more column indicates those; a number that is missing is
    replaced by the mean. An interaction has all products of the two predictors' columns, each less its mean, so that
    the main effects keep their meaning.

    Attributes
    ----------
    columns : tuple of Column
        The predictors; without cut points.
    centres : tuple of float
        The (weighted) means of their columns of the matrix over the training rows, missing numbers left out.
    pairs : tuple of (int, int)
        The predictors that interact, by position.
    response : Response
        What is predicted.
    named : bool
        Whether the training table had column names, by which new frames are matched; else they are matched by
        position, as arrays always are.
    """

    columns: tuple[Column, ...]
    centres: tuple[float, ...]
    pairs: tuple[tuple[int, int], ...]
    response: Response
    named: bool = True

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the predictors."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """What enters or leaves together: the predictors in order, then the interactions."""
        units: list[Unit] = []
        end = 0
        for column in self.columns:
            begin, end = end, end + len(_matrix_names(column))
            units.append(Unit(column.name, column.kind, begin, end))
        for pair in self.pairs:
            first, second = (units[parent] for parent in pair)
            begin, end = end, end + (first.end - first.begin) * (second.end - second.begin)
            units.append(Unit(interaction_name(self.names, pair), "interaction", begin, end, pair))
        return tuple(units)

    @property
    def width(self) -> int:
        """The number of columns of the matrix."""
        return self.units[-1].end

    @cached_property
    def matrix_names(self) -> tuple[str, ...]:
        """The names of the columns of the matrix, such as ``age``, ``sex=male``, ``age missing``, ``age:sex=male``."""
        names = [_matrix_names(column) for column in self.columns]
        names += [[":".join(pair) for pair in product(names[a], names[b])] for a, b in self.pairs]
        return tuple(name for of_unit in names for name in of_unit)

    def encode(self, table: Any) -> np.ndarray:
        """Make the matrix of a new table.

        A level that was never seen counts as missing. Where training saw no missing values, what is missing is replaced
        by the means of the training rows, with a warning: so it adds nothing to the prediction for an average row.

        Parameters
        ----------
        table : path, frame or two-dimensional array-like
            Frames and files are matched by column name, in any order and with any other columns; arrays by position.

        Returns
        -------
        numpy.ndarray
            ``float64``, shape (rows, width), each column contiguous.
        """
        rows, values = matched_columns(table, self.columns, self.named)
        matrix = np.empty((rows, self.width), order="F")
        for unit, column, found in zip(self.units, self.columns, values, strict=False):
            matrix[:, unit.columns] = block = _block(column, found)
            unknown = 0 if column.has_missing else int(np.isnan(block).any(axis=1).sum())
            if unknown:
                warnings.warn(
                    f"column {column.name!r}: {counted(unknown, 'value')} missing or never seen, which no training row "
                    "had; the means of the training rows take their place. Fill them in if you know better",
                    stacklevel=2,
                )
        self.complete(matrix)
        return matrix

    def complete(self, matrix: np.ndarray) -> None:
        """Put the means where NaN stands in the columns of the predictors, and fill in those of the interactions."""
        for column, centre in zip(matrix.T, self.centres, strict=False):
            column[np.isnan(column)] = centre
        for unit in self.units[len(self.columns) :]:
            first, second = (self.units[parent] for parent in unit.parents)
            each = product(range(first.begin, first.end), range(second.begin, second.end))
            for at, (a, b) in enumerate(each, unit.begin):
                with np.errstate(over="ignore", invalid="ignore"):
                    matrix[:, at] = (matrix[:, a] - self.centres[a]) * (matrix[:, b] - self.centres[b])
                if not np.isfinite(matrix[:, at]).all():
                    raise InputError(
                        f"interaction {unit.name!r}: products of its values exceed float64; rescale its columns"
                    )

    def to_dict(self) -> dict[str, Any]:
        """The schema as JSON-safe values, exact to the last bit."""
        return {
            "columns": [column.to_dict() for column in self.columns],
            "centres": list(self.centres),
            "pairs": [list(pair) for pair in self.pairs],
            "response": self.response.to_dict(),
            "named": self.named,
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> LinearSchema:
        """The schema that `to_dict` described."""
        schema = cls(
            columns=tuple(Column.from_dict(column) for column in record["columns"]),
            centres=tuple(record["centres"]),
            pairs=tuple((first, second) for first, second in record["pairs"]),
            response=Response.from_dict(record["response"]),
            named=record["named"],
        )
        require_field_types(schema)
        schema._check()
        return schema

    def _check(self) -> None:
        """Raise InputError for what no table gives."""
        parents, columns = {one for pair in self.pairs for one in pair}, len(self.columns)
        if not columns or not parents <= set(range(columns)) or not np.isfinite(self.centres).all():
            raise InputError("the columns of the matrix are damaged")
        if len(self.centres) != self.units[columns - 1].end:
            raise InputError("the means of the columns are missing")


@dataclass(frozen=True, eq=False)
class LinearDesign(AnyDesign):
    """A validated table as the matrix of a linear model, with its response.

    Attributes
    ----------
    schema : LinearSchema
        Names, levels, means, units and the response.
    matrix : numpy.ndarray
        ``float64``, shape (rows, width), each column contiguous; in the units of the table.
    y : numpy.ndarray
        ``float64`` values, of several outputs with a column for each; of classes their ``int32`` positions.
    weight : numpy.ndarray or None
        Positive ``float64`` weights of the rows; None when all are 1.
    like : array, optional
        Of PyTorch, CuPy or JAX: methods that can compute with arrays of its kind, precision and device do so.
    """

    schema: LinearSchema
    matrix: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None = None
    like: Any = None

    # Linear models take none: subtract one from the response.
    offset = None
    seen = None
    shaped_by = "interactions"

    @property
    def units(self) -> tuple[Unit, ...]:
        """What enters or leaves together."""
        return self.schema.units

    def at(self, rows: Any) -> np.ndarray:
        """Some rows of the matrix, as `LinearSchema.encode` gives them."""
        return self.matrix[rows]

    def __repr__(self) -> str:
        shape = f"{counted(self.rows, 'row')}, {counted(len(self.units), 'unit')}"
        return f"<LinearDesign: {shape}, response {self.response.name!r}>"

    def describe(self) -> str:
        """The table in words: rows, columns by kind, missing values, the response, and the matrix."""
        columns, units = self.columns, self.units
        # Where there are any, the last column of a predictor indicates them.
        missing = [
            int(self.matrix[:, unit.end - 1].sum()) if column.has_missing else 0
            for column, unit in zip(columns, units, strict=False)
        ]
        interactions = len(units) - len(columns)
        matrix = f"matrix: {counted(self.schema.width, 'column')} in {counted(len(units), 'unit')}"
        if interactions:
            matrix += f", of which {counted(interactions, 'interaction')}"
        return f"{described(columns, missing, self.response, self.y, self.weight)}\n{matrix}"

    def fingerprint(self) -> str:
        """A short hash of the schema, the matrix, the response and the weights."""
        return hashed(self.schema.to_dict(), self.matrix.T, self.y, self.weight)


def require_linear(design: Any) -> None:
    """Raise InputError for anything but a linear design."""
    if not isinstance(design, LinearDesign):
        raise InputError(
            f"a linear model needs a LinearDesign, not {type(design).__name__}; make one with read_linear or "
            "make_linear_design"
        )


def read_linear(
    source: Any,
    target: str,
    *,
    task: Task = "regression",
    weight: str | None = None,
    categorical: str | Iterable[str] = (),
    drop: str | Iterable[str] = (),
    interactions: str | Iterable[tuple[str | int, str | int]] | None = None,
) -> LinearDesign:
    """Read a linear design from a file or a data frame that holds predictors and response.

    Parameters
    ----------
    source : path or frame
        What `read` takes.
    target : str
        The column to predict.
    task : {"auto", "classification", "regression"}
        Whether it holds numbers, as linear models need, or classes; of ``"auto"``, numbers with more than two values
        are regressed.
    weight : str, optional
        The column of weights: the noise of a row of weight w has variance σ²/w. Rows of weight 0 are dropped.
    categorical : str or iterable of str
        Columns whose numbers are labels. Text is categorical without saying so.
    drop : str or iterable of str
        Columns to leave out.
    interactions : None, "all", or iterable of pairs
        The pairs of predictors, by name or position, whose interactions may enter; ``"all"`` for every pair.

    Returns
    -------
    LinearDesign
    """
    training = training_of_table(
        source, target, task=task, weight=weight, offset=None, categorical=categorical, drop=drop
    )
    return linear_design_of(training, interactions)


def make_linear_design(
    X: Any,
    y: Any,
    *,
    task: Task = "regression",
    sample_weight: Any = None,
    categorical_features: Any = None,
    interactions: str | Iterable[tuple[str | int, str | int]] | None = None,
    names: Sequence[str] | None = None,
    target: str | None = None,
) -> LinearDesign:
    """Make a linear design of predictors and a response that are held apart, as scikit-learn has them.

    Parameters
    ----------
    X : frame or two-dimensional array-like
        The predictors.
    y : series or array-like
        The response, one number or class a row.
    task : {"auto", "classification", "regression"}
        Whether it holds numbers, as linear models need, or classes.
    sample_weight : array-like, optional
        Weights: the noise of a row of weight w has variance σ²/w. Rows of weight 0 are dropped.
    categorical_features : None, "from_dtype", or array-like of bool, int or str
        Columns whose numbers are labels, by mask, position or name. Text and categorical types are categorical without
        saying so, and alone under None and ``"from_dtype"``.
    interactions : None, "all", or iterable of pairs
        The pairs of predictors, by name or position, whose interactions may enter; ``"all"`` for every pair.
    names : sequence of str, optional
        Names of the columns; by default the frame's, else ``x0``, ``x1``, …
    target : str, optional
        The name of the response; by default that of the series y, else ``y``.

    Returns
    -------
    LinearDesign
    """
    training = training_of_arrays(
        X,
        y,
        task=task,
        names=names,
        target=target,
        sample_weight=sample_weight,
        offset=None,
        categorical_features=categorical_features,
    )
    return linear_design_of(training, interactions)


def weighted_mean(values: np.ndarray, weight: np.ndarray | None) -> float:
    """The mean of what is not NaN, exact where all values are equal and finite at any scale; 0 of nothing."""
    present = ~np.isnan(values)
    values = values[present]
    if not values.size:
        return 0.0
    low, high = float(values.min()), float(values.max())
    largest = max(-low, high)
    if low == high:
        return low
    return largest * float(np.average(values / largest, weights=None if weight is None else weight[present]))


def linear_design_of(training: Training, interactions: Any = None) -> LinearDesign:
    """The linear design of what a model learns from, whatever its response."""
    columns, blocks = [], []
    for name, values, categorical in training.predictors():
        columns.append(learn_column(name, values, categorical=categorical, max_cuts=0))
        blocks.append(_block(columns[-1], values))
    centres = tuple(weighted_mean(column, training.weight) for block in blocks for column in block.T)
    pairs = pairs_of(interactions, tuple(column.name for column in columns))
    schema = LinearSchema(tuple(columns), centres, pairs, training.response, training.table.named)
    require_width(schema.width)
    matrix = np.empty((len(training.y), schema.width), order="F")
    for unit, block in zip(schema.units, blocks, strict=False):
        matrix[:, unit.columns] = block
    schema.complete(matrix)
    return LinearDesign(schema, matrix, training.y, training.weight)


def _matrix_names(column: Column) -> list[str]:
    """The names of a predictor's columns of the matrix."""
    names = [column.name]
    if column.kind == "categorical":
        names = [f"{column.name}={level}" for level in column.levels[1:]]
    return names + [f"{column.name} missing"] * column.has_missing


def _block(column: Column, values: ColumnValues) -> np.ndarray:
    """A predictor's columns of the matrix, with NaN where its value is not known."""
    if column.kind == "categorical":
        bins = column.bins_of(values)
        indicated = [*range(1, column.observed), *[column.missing_bin] * column.has_missing]
        block = (bins[:, None] == indicated).astype(np.float64)
        if not column.has_missing:
            block[bins == column.missing_bin] = np.nan
        return block
    numbers = column.numbers(values)
    return np.column_stack([numbers, np.isnan(numbers)]) if column.has_missing else numbers[:, None]
