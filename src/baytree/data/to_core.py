"""Designs as the core takes them."""

from __future__ import annotations

from .. import _core
from .design import Design, Schema
from .switches import row_form, widest_registers


def native_design(design: Design) -> _core.Design:
    """The columns with their bins, which stay where they are."""
    native = _core.Design(design.rows)
    for column, bins in zip(design.columns, design.bins, strict=True):
        native.add_column(bins, column.kind == "categorical", column.observed, column.has_missing)
    native.validate()
    return native


def design_of_nodes(design: Design) -> _core.Design:
    """The same for chains whose nodes have rows, which are sets of bits where the table suits them and else lists."""
    native = native_design(design)
    native.choose_rows(row_form(), widest_registers())
    return native


def native_columns(schema: Schema) -> _core.Design:
    """The columns without rows, for prediction."""
    native = _core.Design(0)
    for column in schema.columns:
        native.add_column(None, column.kind == "categorical", column.observed, column.has_missing)
    return native


def vocabulary(schema: Schema | None) -> _core.Vocabulary:
    """What people call the columns, their cuts and their levels; empty without a schema."""
    if schema is None:
        return _core.Vocabulary([], [], [])
    return _core.Vocabulary(
        schema.names,
        schema.cuts,
        [[str(level) for level in column.levels] if column.kind == "categorical" else [] for column in schema.columns],
    )
