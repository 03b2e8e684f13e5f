"""Fields of a form for one row, and how many draws a page can hold to predict it by."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..data.binning import Column
from ..data.design import Schema
from ..data.matrix import LinearSchema
from ..report.packed import packed

# What the draws of a page may take, and the most and the fewest draws that it has.
PAGE_BYTES, MOST, FEWEST = 260_000, 200, 4


def thinned_draws(bytes_of_a_draw: float, chains: int, draws: int) -> int | None:
    """How many draws of each chain a page has; None where they are too large.

    Parameters
    ----------
    bytes_of_a_draw : float
        About.
    chains, draws : int
        Of the posterior.
    """
    room = int(PAGE_BYTES / max(bytes_of_a_draw, 1))
    total = min(MOST, room)
    if total < min(FEWEST, chains * draws):
        return None
    return max(1, min(draws, total // chains))


def field_of(column: Column, low: float, high: float, value: float, whole: bool = False) -> dict[str, Any]:
    """A column as a field of a form.

    Parameters
    ----------
    column : Column
        The column.
    low, high : float
        Of numbers, the ends of its slider.
    value : float
        What it begins with: a number, or the position of a label.
    whole : bool
        Whether its numbers are whole ones.
    """
    field: dict[str, Any] = {
        "name": column.name,
        "kind": column.kind,
        "missing": column.has_missing,
        "levels": list(column.levels),
        "value": value,
    }
    if column.kind != "numeric":
        return field
    span = high - low if high > low else max(abs(low), 1.0)
    step = 1.0 if whole and span >= 4 else 10.0 ** math.floor(math.log10(span / 100))
    return field | {"low": low, "high": low + span, "step": step, "value": float(f"{value:.4g}")}


def fields_of_bins(schema: Schema, bins: np.ndarray | None) -> list[dict[str, Any]]:
    """The columns of a table in bins; they begin at the middle of the rows where these are given, else of the bins."""
    found = []
    for place, column in enumerate(schema.columns):
        codes = np.arange(column.observed) if bins is None else bins[:, place]
        known = codes[codes < column.missing_bin]
        known = known if len(known) else np.arange(column.observed)
        if column.kind != "numeric":
            found.append(field_of(column, 0.0, 0.0, int(np.bincount(known).argmax())))
            continue
        values = np.array(
            column.lowest if column.lowest else (*column.cuts, column.cuts[-1] if len(column.cuts) else 0.0)
        )
        middle = float(values[int(np.sort(known)[len(known) // 2])])
        whole = bool((values == np.round(values)).all())
        found.append(field_of(column, float(values[0]), float(values[-1]), middle, whole))
    return found


def row_in_bins(schema: Schema, values: Sequence[Any]) -> np.ndarray:
    """A row of such values in bins."""
    bins = [
        column.missing_bin
        if value is None
        else int(value)
        if column.kind == "categorical"
        else int(np.searchsorted(column.cuts, float(value), side="left"))
        for column, value in zip(schema.columns, values, strict=True)
    ]
    return np.array([bins], dtype=np.uint32)


def fields_of_matrix(
    schema: LinearSchema, matrix: np.ndarray | None, spread: Callable[[int], float]
) -> list[dict[str, Any]]:
    """The columns of a table as a matrix; they begin at the middle of the rows where there are any.

    Parameters
    ----------
    schema : LinearSchema
        The table.
    matrix : numpy.ndarray or None
        Rows.
    spread : callable
        About the standard deviation of a column of the matrix.
    """
    found = []
    for unit, column in zip(schema.units, schema.columns, strict=False):
        if column.kind == "categorical":
            indicated = unit.end - unit.begin - column.has_missing
            here = slice(unit.begin, unit.begin + indicated)
            shares = np.array(schema.centres)[here] if matrix is None else matrix[:, here].mean(axis=0)
            missing = float(schema.centres[unit.end - 1]) if column.has_missing else 0.0
            found.append(field_of(column, 0.0, 0.0, int(np.argmax([1 - shares.sum() - missing, *shares]))))
            continue
        centre = float(schema.centres[unit.begin])
        if matrix is None:
            low, high, value = centre - 2.5 * spread(unit.begin), centre + 2.5 * spread(unit.begin), centre
            whole = False
        else:
            values = matrix[:, unit.begin]
            low, high, value = float(values.min()), float(values.max()), float(np.median(values))
            # Where values are missing the mean stands for them.
            whole = bool(((values == np.round(values)) | (values == centre)).all())
        value = float(value > 0.5) if column.kind == "boolean" else value
        found.append(field_of(column, low, high, value, whole))
    return found


def row_in_matrix(schema: LinearSchema, values: Sequence[Any]) -> np.ndarray:
    """A row of such values as a row of the matrix."""
    row = np.zeros((1, schema.width), order="F")
    for unit, column, value in zip(schema.units, schema.columns, values, strict=False):
        block = row[0, unit.columns]
        numbers = unit.end - unit.begin - column.has_missing
        if value is None:
            if column.kind != "categorical" or not column.has_missing:
                block[:numbers] = np.nan
            if column.has_missing:
                block[-1] = 1.0
        elif column.kind == "categorical":
            block[:numbers] = np.arange(1, numbers + 1) == int(value)
        else:
            block[0] = float(value)
    schema.complete(row)
    return row


def matrix_for_page(schema: LinearSchema) -> dict[str, Any]:
    """What a page needs to make a row of the matrix."""
    return {"centres": packed(schema.centres, "f8"), "pairs": [list(pair) for pair in schema.pairs]}
