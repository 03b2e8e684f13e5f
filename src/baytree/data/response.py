"""What is predicted, and the weight of each row: classes as positions or real numbers, checked."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, get_args

import narwhals as nw
import numpy as np

from ..errors import CellError, InputError
from ..text import counted
from ..validation import unknown_choice
from .values import ColumnValues, array_values, is_number_text, odd_values, plain_array

Task = Literal["auto", "classification", "regression"]
TASKS = get_args(Task)
# Sums and squares of weights stay numbers up to here, in single precision, too.
HEAVIEST = 1e15


@dataclass(frozen=True, eq=False)
class Response:
    """The column that is predicted.

    Attributes
    ----------
    name : str
        The column's name.
    kind : {"categorical", "numeric"}
        Classes or real numbers.
    classes : numpy.ndarray or None
        The original class labels, sorted; None of a numeric response.
    """

    name: str
    kind: Literal["categorical", "numeric"]
    classes: np.ndarray | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Response) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    @property
    def task(self) -> Literal["classification", "regression"]:
        """What predicting it is called."""
        return "regression" if self.classes is None else "classification"

    def place_of(self, label: Any = None) -> int:
        """The place of a class, of two by default the second; 0 where there are none."""
        if self.classes is None:
            if label is not None:
                raise InputError(f"of={label!r}: {self.name!r} has no classes; leave it out")
            return 0
        if label is None and len(self.classes) == 2:
            return 1
        found = np.flatnonzero(self.classes == label)
        if not len(found):
            raise unknown_choice("class", label, map(str, self.classes))
        return int(found[0])

    def to_dict(self) -> dict[str, Any]:
        """The response as JSON-safe values, exact to the last bit and with the labels' type."""
        classes = None
        if self.classes is not None:
            classes = {"dtype": self.classes.dtype.str, "labels": self.classes.tolist()}
        return {"name": self.name, "kind": self.kind, "classes": classes}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Response:
        """The response that `to_dict` described; the types of its fields are the schema's to check."""
        classes = record["classes"]
        response = cls(record["name"], record["kind"], None if classes is None else _labels(**classes))
        if (response.classes is None) != (response.kind == "numeric"):
            raise InputError(f"the classes of column {response.name!r} are damaged")
        return response


def _labels(dtype: str, labels: list[Any]) -> np.ndarray:
    """The labels of classes as `to_dict` wrote them, of a type that holds no more than they need."""
    kind, longest = np.dtype(dtype), max(len(str(label)) for label in labels)
    plain = isinstance(labels, list) and all(isinstance(label, str | int | float) for label in labels)
    if not plain or kind.kind not in "biufUO" or kind.itemsize > 4 * longest + 8 or len(set(labels)) < len(labels):
        raise InputError(f"the labels of the classes, of type {dtype!r}, are damaged")
    return np.array(labels, dtype=kind)


def learn_response(name: str, array: np.ndarray, task: str) -> tuple[Response, np.ndarray]:
    """Read the response of the training rows.

    Parameters
    ----------
    name : str
        The column's name.
    array : numpy.ndarray
        One value a row, as `plain_array` gives them.
    task : {"auto", "classification", "regression"}
        Under ``"auto"`` numbers with other than two distinct values are regressed, all else classified.

    Returns
    -------
    response : Response
    y : numpy.ndarray
        ``int32`` positions in the classes, or ``float64`` values.
    """
    if task not in TASKS:
        raise unknown_choice("task", task, TASKS)
    values = array_values(name, array)
    missing = int(values.missing.sum())
    if missing:
        raise InputError(
            f"column {name!r}: {counted(missing, 'missing value')} (NaN) in the response; drop these rows first"
        )
    if task == "auto":
        if (odd := odd_values(values)) is not None:
            first, in_numbers, total = odd
            value, row = next(iter(first.items()))
            raise CellError(
                name,
                row,
                value,
                f"is not a number, as {in_numbers:,} of {total:,} values are; correct it or leave its row out, or, if "
                "they are names of classes, set task='classification'",
            )
        classified = values.kind != "numeric" or len(np.unique(values.values)) == 2
        task = "classification" if classified else "regression"
    return _classes(name, array, values) if task == "classification" else _numbers(name, values)


def learn_weight(name: str, values: Any, rows: int) -> np.ndarray:
    """Check the weights of the rows.

    Parameters
    ----------
    name : str
        The column's name.
    values : series or array-like
        One weight a row.
    rows : int
        Number of rows.

    Returns
    -------
    numpy.ndarray
        ``float64``, none negative and not all zero.
    """
    values = _row_numbers(name, "weight", values, rows)
    if (values < 0).any():
        row = int((values < 0).argmax())
        raise InputError(f"{name!r}: weight {values[row]:g} at row index {row} is negative; correct it")
    if (odd := (values > 0) & ((values < 1 / HEAVIEST) | (values > HEAVIEST))).any():
        row = int(odd.argmax())
        raise InputError(
            f"{name!r}: weight {values[row]:g} at row index {row} is out of range; choose weights from "
            f"{1 / HEAVIEST:g} to {HEAVIEST:g}, or 0 to leave a row out"
        )
    if rows and not values.any():
        raise InputError(f"{name!r}: every weight is zero; at least 2 rows need a positive weight")
    return values


def learn_offset(name: str, values: Any, rows: int) -> np.ndarray:
    """Check the offsets of the rows.

    Parameters
    ----------
    name : str
        The column's name.
    values : series or array-like
        One number a row.
    rows : int
        Number of rows.

    Returns
    -------
    numpy.ndarray
        ``float64``.
    """
    return _row_numbers(name, "offset", values, rows)


def _row_numbers(name: str, what: str, values: Any, rows: int) -> np.ndarray:
    """One number a row, none missing."""
    array = plain_array(name, values)
    if array.shape != (rows,):
        raise InputError(f"{name!r} has shape {array.shape}, but there are {rows:,} rows; give one {what} for each row")
    found = array_values(name, array)
    if found.kind == "categorical":
        raise InputError(f"{name!r} holds text such as {found.values[0]!r}; {what}s must be numbers")
    missing = found.missing
    if missing.any():
        row = int(missing.argmax())
        raise InputError(f"{name!r}: {what} {found.values[row]:g} at row index {row} is missing (NaN); correct it")
    return found.values


def response_vector(values: Any) -> Any:
    """One response a row, from whatever an estimator was given.

    A single column given as a matrix is taken as a vector, with scikit-learn's warning.
    """
    if values is None:
        raise InputError("this estimator requires y to be passed, but the target y is None")
    frame = nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(frame, nw.Series):
        return frame
    array = frame.to_numpy() if isinstance(frame, nw.DataFrame) else _matrix(values)
    if array.ndim == 2 and array.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=2,
        )
        return array[:, 0]
    if array.ndim != 1:
        raise InputError(f"y should be a 1d array, got an array of shape {array.shape} instead; pass one response")
    return array


def _matrix(values: Any) -> np.ndarray:
    try:
        array = values if np.ma.isMaskedArray(values) else np.asarray(values)
    except ValueError as error:
        raise InputError(f"y should be a 1d array, one value a row ({error})") from error
    if array.dtype.kind == "U" and not isinstance(values, np.ndarray):
        # NumPy makes text of a list's missing cells too.
        return np.asarray(values, dtype=object)
    return array


def _numbers(name: str, values: ColumnValues) -> tuple[Response, np.ndarray]:
    numbers = values.values
    if values.kind == "categorical":
        row, value = next(
            ((row, value) for row, value in enumerate(numbers) if not is_number_text(value)), (0, numbers[0])
        )
        why = "where the response of a regression must be numbers, not text; correct it, or classify"
        raise CellError(name, row, value, why)
    if numbers.min() == numbers.max():
        raise InputError(
            f"column {name!r}: the response is {numbers[0]:g} in every row; a regression needs values that differ"
        )
    return Response(name, "numeric"), numbers


def _classes(name: str, array: np.ndarray, values: ColumnValues) -> tuple[Response, np.ndarray]:
    if values.kind == "categorical":
        labels, positions = values.distinct_labels
        if not all(isinstance(value, str) for value in array):
            raise InputError(f"column {name!r}: classes mix text and other types; make every label text, or a number")
        classes = np.array(labels, dtype=object if array.dtype == object else str)
    else:
        plain = np.array(array.tolist()) if array.dtype == object else array
        plain = values.values if plain.dtype == object else plain
        _require_discrete(plain)
        classes, positions = np.unique(plain, return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"column {name!r}: only one class, {classes[0]}; classification needs rows of at least two")
    return Response(name, "categorical", classes), positions.astype(np.int32)


def _require_discrete(labels: np.ndarray) -> None:
    if labels.dtype.kind != "f":
        return
    from sklearn.utils.multiclass import check_classification_targets

    try:
        check_classification_targets(labels)
    except ValueError as error:
        raise InputError(str(error)) from error
