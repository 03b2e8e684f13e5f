"""What a mixture of experts takes from the data: the units that it is computed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..data.matrix import LinearSchema
from ..errors import InputError
from .data.inputs import Inputs
from .data.outputs import Outputs


@dataclass(frozen=True)
class Calibration:
    """The units of inputs and outputs.

    Attributes
    ----------
    kept : tuple of int
        Which columns of the matrix are inputs.
    centre, scale : tuple of float
        What is subtracted from them, and what they are divided by.
    output_centre, output_scale : tuple of float
        Likewise of the outputs; of classes 0 and 1, one for each.
    one_output : bool
        Whether the response is one number or class a row, so that predictions have no axis of outputs.
    """

    kept: tuple[int, ...]
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    output_centre: tuple[float, ...]
    output_scale: tuple[float, ...]
    one_output: bool

    @classmethod
    def of(cls, inputs: Inputs, outputs: Outputs, one_output: bool) -> Calibration:
        """Those that inputs and outputs are in."""
        return cls(
            tuple(inputs.kept.tolist()),
            tuple(inputs.centre.tolist()),
            tuple(inputs.scale.tolist()),
            tuple(outputs.centre.tolist()),
            tuple(outputs.scale.tolist()),
            one_output,
        )

    def inputs(self, schema: LinearSchema) -> Inputs:
        """How rows become inputs."""
        return Inputs(schema, np.array(self.kept, dtype=np.int64), np.array(self.centre), np.array(self.scale))

    @property
    def outputs(self) -> Outputs:
        """How responses become outputs."""
        return Outputs(np.array(self.output_centre), np.array(self.output_scale))

    def check(self, schema: LinearSchema) -> None:
        """Raise InputError where the units are not those of a table."""
        whole = len(self.kept) == len(self.centre) == len(self.scale)
        whole = whole and all(0 <= column < schema.width for column in self.kept)
        whole = whole and len(self.output_centre) == len(self.output_scale) > 0
        numbers = np.array([*self.centre, *self.scale, *self.output_centre, *self.output_scale])
        positive = np.array([*self.scale, *self.output_scale]) > 0
        if not whole or not np.isfinite(numbers).all() or not positive.all():
            raise InputError("the calibration does not fit the columns")
        classes = schema.response.classes
        if classes is not None and (set(self.output_centre), set(self.output_scale)) != ({0.0}, {1.0}):
            raise InputError("the calibration has another unit than classes have")
        if classes is not None and len(classes) != len(self.output_centre):
            raise InputError("the calibration does not fit the classes")

    def to_dict(self) -> dict[str, Any]:
        """The units as JSON-safe values, exact to the last bit."""
        vectors = {field.name: list(getattr(self, field.name)) for field in fields(self) if field.name != "one_output"}
        return {**vectors, "one_output": self.one_output}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Calibration:
        """The units that `to_dict` described."""
        vectors = {name: tuple(values) for name, values in record.items() if name != "one_output"}
        return cls(**vectors, one_output=bool(record["one_output"]))
