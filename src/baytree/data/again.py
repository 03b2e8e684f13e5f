"""Tables read as a schema says: the training table once more, or rows that were held out."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..errors import InputError
from ..validation import unknown_choice
from .design import AnyDesign, Design, Schema
from .files import read_file
from .frames import Table, table_of
from .matrix import LinearDesign, LinearSchema
from .response import Response, learn_offset, learn_weight
from .values import column_values, label_of, plain_array


def read_again(
    schema: Schema | LinearSchema, source: Any, *, weight: str | None = None, offset: str | None = None
) -> AnyDesign:
    """Read a table that has the columns and the response of a schema.

    The training table gives the training design, to the bit, and so its fingerprint.

    Parameters
    ----------
    schema : Schema or LinearSchema
        What the training table was described by.
    source : path or frame
        The table; other columns do not matter.
    weight, offset : str, optional
        The columns that a fit calls so.
    """
    if isinstance(source, (str, os.PathLike)):
        labels = [column.name for column in schema.columns if column.kind == "categorical"]
        text = [schema.response.name] if _is_text(schema.response) else []
        source = read_file(source, [*labels, *text])
    table = table_of(source)
    if not table.named:
        raise InputError(
            "data: give a file or a data frame with named columns, the response among them, or the design of the fit"
        )
    y, kept = _responses(schema.response, table), slice(None)
    weights, offsets = (
        None if name is None else learn(name, table.raw(table.position(name)), table.rows)
        for name, learn in ((weight, learn_weight), (offset, learn_offset))
    )
    if weights is not None and not weights.all():
        kept = weights > 0  # type: ignore[assignment]
    encoded, y = schema.encode(source)[kept], np.ascontiguousarray(y[kept])
    if not len(y):
        raise InputError("data: no rows; give one row at least")
    if weights is not None:
        weights = None if (weights[kept] == 1).all() else np.ascontiguousarray(weights[kept])
    if isinstance(schema, LinearSchema):
        return LinearDesign(schema, np.asfortranarray(encoded), y, weights)
    bins = tuple(
        np.ascontiguousarray(codes, dtype=np.uint8 if column.n_bins <= 256 else np.uint16)
        for column, codes in zip(schema.columns, encoded.T, strict=True)
    )
    return Design(schema, bins, y, weights, None if offsets is None else np.ascontiguousarray(offsets[kept]))


def _is_text(response: Response) -> bool:
    return response.classes is not None and response.classes.dtype.kind in "OU"


def _responses(response: Response, table: Table) -> np.ndarray:
    """The responses of all rows: numbers, or positions in the classes."""
    name = response.name
    values = column_values(name, plain_array(name, table.raw(table.position(name))))
    if values.missing.any():
        row = int(values.missing.argmax())
        raise InputError(f"column {name!r}: the response at row index {row} is missing; drop these rows first")
    if response.classes is None:
        if values.kind == "categorical":
            raise InputError(f"column {name!r}: the response must be numbers, not text such as {values.values[0]!r}")
        return np.asarray(values.values, dtype=np.float64)
    place = {label_of(label): at for at, label in enumerate(response.classes.tolist())}
    written = (bool(value) if values.kind == "boolean" else value for value in values.values.tolist())
    labels = list(map(label_of, written))
    unknown = [label for label in labels if label not in place]
    if unknown:
        raise unknown_choice(f"class of {name!r}", unknown[0], map(str, response.classes))
    return np.array([place[label] for label in labels], dtype=np.int32)
