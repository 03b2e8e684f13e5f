"""One column of any table library, in one canonical form: numbers or labels."""

from __future__ import annotations

import datetime
import math
import numbers
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal

import narwhals as nw
import numpy as np

from ..errors import CellError, InputError, InputTypeError
from ..text import counted

Kind = Literal["numeric", "boolean", "categorical"]

DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
CATEGORICAL_TYPES = (nw.Categorical, nw.Enum)
NESTED = (list, tuple, dict, set, frozenset, np.ndarray)
BOOLEANS = (bool, np.bool_)
REALS = (numbers.Real, Decimal, np.bool_)
# Past this a float's integer digits are noise, so it is written as a float.
LARGEST_PLAIN_INTEGER = 1e15
# Where at least this share of a text column is numbers, the other values may be slips.
MOSTLY_NUMBERS = 0.9
ODD_VALUES_NAMED = 3


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """The values of one column.

    Attributes
    ----------
    kind : {"numeric", "boolean", "categorical"}
        What the values are.
    values : numpy.ndarray
        ``float64`` with NaN for missing; of a categorical column, ``object`` holding str with None for missing.
    order : tuple of str
        The order of the labels where the source has one; else empty, and labels are sorted by name.
    declared_categorical : bool
        Whether the column's own library calls it categorical, be its labels text or numbers.
    """

    kind: Kind
    values: np.ndarray
    order: tuple[str, ...] = ()
    declared_categorical: bool = False

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: np.ndarray | slice) -> ColumnValues:
        return replace(self, values=self.values[rows])

    @property
    def missing(self) -> np.ndarray:
        """Where a value is missing."""
        where: np.ndarray = self.values == np.array(None) if self.kind == "categorical" else np.isnan(self.values)
        return where

    def as_labels(self) -> ColumnValues:
        """The same values as labels; those of numbers keep the order of the numbers."""
        if self.kind == "categorical":
            return self
        present = ~self.missing
        distinct, inverse = np.unique(self.values[present], return_inverse=True)
        if self.kind == "boolean":
            distinct = distinct.astype(bool)
        order = tuple(label_of(value) for value in distinct.tolist())
        values = np.full(len(self), None, dtype=object)
        values[present] = np.array(order, dtype=object)[inverse]
        return ColumnValues("categorical", values, order, self.declared_categorical)

    @cached_property
    def distinct_labels(self) -> tuple[tuple[str, ...], np.ndarray]:
        """The distinct labels in order, and of each value its label's position, -1 where missing."""
        labels = self.as_labels()
        present = set(labels.values) - {None}
        distinct = tuple(filter(present.__contains__, labels.order)) if labels.order else tuple(sorted(present))
        position = {None: -1} | {label: i for i, label in enumerate(distinct)}
        return distinct, np.fromiter(map(position.__getitem__, labels.values), np.int64, len(labels))


def label_of(value: Any) -> str:
    """A value as a label: a whole number is written without a point, so 3 and 3.0 are one level."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, BOOLEANS):
        return "true" if value else "false"
    if isinstance(value, REALS):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < LARGEST_PLAIN_INTEGER else repr(number)
    return str(value)


def warn_of_odd_values(name: str, values: ColumnValues, remedy: str) -> None:
    """Warn where a few values that are no numbers make categories of a column that is otherwise numbers.

    Parameters
    ----------
    name : str
        The column's name.
    values : ColumnValues
        Its values.
    remedy : str
        What to do if it is meant to be categorical.
    """
    found = odd_values(values)
    if found is None:
        return
    odd, in_numbers, total = found
    named = list(odd)
    shown = ", ".join(map(repr, named[:ODD_VALUES_NAMED])) + (", …" if len(named) > ODD_VALUES_NAMED else "")
    warnings.warn(
        f"column {name!r}: {in_numbers:,} of {total:,} values are numbers, but not {shown}: it is treated as "
        f"categories; correct them, the first at row index {odd[named[0]]}, or {remedy}",
        stacklevel=2,
    )


def odd_values(values: ColumnValues) -> tuple[dict[str, int], int, int] | None:
    """Of a column of labels that are mostly numbers, those that are none, each with the first row that has it.

    Gives them with how many of the values are numbers, and how many there are; None where they are not few.
    """
    if values.kind != "categorical":
        return None
    labels, positions = values.distinct_labels
    counts = np.bincount(positions[positions >= 0], minlength=len(labels))
    odd = np.array([not is_number_text(label) for label in labels], dtype=bool)
    total = int(counts.sum())
    in_numbers = total - int(counts[odd].sum())
    if not odd.any() or in_numbers < MOSTLY_NUMBERS * total:
        return None
    first = {labels[label]: int((positions == label).argmax()) for label in np.flatnonzero(odd)}
    return dict(sorted(first.items(), key=lambda item: item[1])), in_numbers, total


def is_number_text(label: str) -> bool:
    """Whether a text is a number."""
    try:
        return math.isfinite(float(label)) and "_" not in label
    except ValueError:
        return False


def plain_array(name: str, values: Any) -> np.ndarray:
    """A column of any library as a one-dimensional array of its natural type.

    Missing values are NaN, None or a library's own NA.
    """
    return _array(name, nw.from_native(values, series_only=True, pass_through=True))


def column_values(name: str, values: Any) -> ColumnValues:
    """Bring a column into canonical form.

    Parameters
    ----------
    name : str
        The column's name, for errors.
    values : series or one-dimensional array-like
        A column of any table library or an array.

    Returns
    -------
    ColumnValues

    Raises
    ------
    InputError
        If numbers are infinite or complex, or values are dates, bytes or nested.
    """
    series = nw.from_native(values, series_only=True, pass_through=True)
    found = array_values(name, _array(name, series))
    if not isinstance(series, nw.Series) or not isinstance(series.dtype, CATEGORICAL_TYPES):
        return found
    found = replace(found.as_labels(), declared_categorical=True)
    if isinstance(series.dtype, nw.Enum):
        return replace(found, order=tuple(label_of(level) for level in series.dtype.categories))
    return found


def has_categorical_type(values: Any) -> bool:
    """Whether a column's own library calls it categorical, be its labels text or numbers."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    return isinstance(series, nw.Series) and isinstance(series.dtype, CATEGORICAL_TYPES)


def array_values(name: str, array: np.ndarray) -> ColumnValues:
    """The values of what `plain_array` gave, as `column_values` describes them."""
    if array.ndim != 1:
        raise InputError(f"column {name!r} has shape {array.shape}; a column must be one-dimensional")
    match array.dtype.kind:
        case "b":
            return ColumnValues("boolean", array.astype(np.float64))
        case "i" | "u" | "f":
            return ColumnValues("numeric", _finite(name, array.astype(np.float64)))
        case "O" | "U" | "T":
            return _object_values(name, array.astype(object, copy=False))
        case "c":
            raise _complex(name)
        case "M" | "m":
            raise _dates(name)
        case _:
            raise InputTypeError(f"column {name!r} has type {array.dtype}; convert it to numbers or text, or drop it")


def _array(name: str, values: Any) -> np.ndarray:
    """The array of a narwhals series, or of whatever NumPy makes one of."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.filled(values.astype(object), None)
    if not isinstance(values, nw.Series):
        return np.asarray(values)
    if values.dtype.is_nested():
        raise _nested(name, str(values.dtype))
    if isinstance(values.dtype, (nw.Decimal, nw.Int128, nw.UInt128)):
        values = values.cast(nw.Float64)
    array: np.ndarray = values.to_numpy()
    if isinstance(values.dtype, CATEGORICAL_TYPES) and array.dtype == object:
        # The dictionary of an Arrow column has no entry for null: its codes there mean nothing.
        array = array.copy()
        array[values.is_null().to_numpy()] = None
    return array


def _object_values(name: str, array: np.ndarray) -> ColumnValues:
    missing = np.fromiter(map(_is_missing, array), bool, len(array))
    present = array[~missing]
    types = set(map(type, present))
    _require_supported(name, types)
    if all(issubclass(one, REALS) for one in types):
        values = np.full(len(array), np.nan)
        try:
            values[~missing] = present.astype(np.float64)
        except OverflowError as error:
            raise InputError(f"column {name!r} holds a number too large for float64 (inf); rescale it") from error
        all_booleans = bool(types) and all(issubclass(one, BOOLEANS) for one in types)
        return ColumnValues("boolean" if all_booleans else "numeric", _finite(name, values))
    labels = np.full(len(array), None, dtype=object)
    labels[~missing] = present if types == {str} else [label_of(value) for value in present]
    return ColumnValues("categorical", labels)


def _is_missing(value: Any) -> bool:
    # pandas' NA and NaT, told by name so that pandas need not be imported.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, Decimal)) and bool(value != value)


def _finite(name: str, values: np.ndarray) -> np.ndarray:
    infinite = np.isinf(values)
    if infinite.any():
        row, number = int(infinite.argmax()), int(infinite.sum())
        more = f", and {counted(number - 1, 'further cell')} likewise" if number > 1 else ""
        raise CellError(
            name, row, float(values[row]), f"is an infinite value{more}; replace it with a finite or missing value"
        )
    return values


def _require_supported(name: str, types: Iterable[type]) -> None:
    for one in types:
        if issubclass(one, NESTED):
            raise _nested(name, one.__name__)
        # pandas' Period, told by name so that pandas need not be imported.
        if issubclass(one, DATES) or one.__name__ == "Period":
            raise _dates(name)
        # What only says where it lies in memory has another label each time.
        if (one.__str__, one.__repr__) == (object.__str__, object.__repr__) or issubclass(one, Callable):  # type: ignore[arg-type]
            raise InputTypeError(
                f"column {name!r} holds objects of type {one.__name__}; convert them to numbers or text, or drop it"
            )
        if issubclass(one, bytes):
            raise InputTypeError(f"column {name!r} holds bytes; decode them to text, or drop the column")
        if issubclass(one, numbers.Complex) and not issubclass(one, REALS):
            raise _complex(name)


def _nested(name: str, what: str) -> InputTypeError:
    return InputTypeError(
        f"column {name!r} holds nested values: a cell argument must be a string or a number, not {what!r}; "
        "flatten it into columns of their own, or drop it"
    )


def _dates(name: str) -> InputTypeError:
    return InputTypeError(
        f"column {name!r} holds dates or times; turn it into numbers (year, month, days since a start), or drop it"
    )


def _complex(name: str) -> InputError:
    return InputError(f"Complex data not supported: column {name!r}; split it into a real and an imaginary column")
