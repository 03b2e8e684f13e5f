"""Responses as the outputs of soft trees: numbers in standard units, indicators of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data.frames import name_of
from ...data.matrix import LinearDesign, linear_design_of
from ...data.training import training_of_arrays
from ...errors import InputError
from ..numeric.arrays import floating, is_foreign, local, zeros_like_shape

OF_NUMBERS = ("linear", "constant", "poisson", "gamma")
OF_CLASSES = ("logistic", "multinomial")
# The largest standard deviation of an output.
WIDEST = 1e100


def expert_for(expert: str, task: str) -> str:
    """The kind of expert for a task, by itself linear or multinomial; raises InputError where one is not for it."""
    choices = OF_NUMBERS if task == "regression" else OF_CLASSES
    if expert == "auto":
        return "linear" if task == "regression" else "multinomial"
    if expert not in choices:
        raise InputError(f"expert={expert!r} is not for a {task}; choose from: auto, {', '.join(choices)}")
    return expert


@dataclass(frozen=True, eq=False)
class Outputs:
    """How responses become outputs, and back.

    Attributes
    ----------
    centre, scale : numpy.ndarray
        What is subtracted from each output, and what it is divided by; 0 and 1 of counts and classes, and of positive
        numbers 0 and their mean.
    """

    centre: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, design: LinearDesign, expert: str) -> Outputs:
        """Outputs for a kind of expert: standard over the rows for linear and constant experts.

        Parameters
        ----------
        design : LinearDesign
            The rows.
        expert : {"linear", "constant", "poisson", "gamma", "logistic", "multinomial"}
            The models at the leaves.
        """
        values = raw_outputs(design)
        _require_expert(values, expert, design)
        if expert not in ("linear", "constant"):
            # Logarithms have another unit as another intercept, which is penalised.
            unit = np.ones(values.shape[1])
            if expert == "gamma":
                unit *= values.max()  # a sum over rows may be beyond float64
                unit *= np.average(values / unit, axis=0, weights=design.weight)
            return cls(np.zeros_like(unit), unit)
        with np.errstate(over="ignore", invalid="ignore"):
            centre = np.average(values, axis=0, weights=design.weight)
            spread = np.sqrt(np.average((values - centre) ** 2, axis=0, weights=design.weight))
        # Within these bounds no square leaves the range of numbers; a constant output has no spread.
        if not ((spread > 1 / WIDEST) & (spread < WIDEST) | (np.ptp(values, axis=0) == 0)).all():
            ends = f"{values.min():g} and {values.max():g}"
            raise InputError(f"column {design.response.name!r}: its values lie between {ends}; rescale it")
        return cls(centre, np.where(spread > 0, spread, 1.0))

    def matrix(self, design: LinearDesign) -> np.ndarray:
        """The outputs of the rows of a design, shape (rows, outputs)."""
        return self.standard(raw_outputs(design))

    def standard(self, values: np.ndarray) -> np.ndarray:
        """Responses, of shape (rows, outputs), as outputs."""
        return (values - self.centre) / self.scale

    def original(self, outputs: np.ndarray) -> np.ndarray:
        """Outputs in the units of the response."""
        return outputs * self.scale + self.centre


def raw_outputs(design: LinearDesign) -> np.ndarray:
    """The responses of a design as numbers, shape (rows, outputs); of classes their indicators."""
    return responses_as_numbers(design.y, None if design.classes is None else len(design.classes))


def responses_as_numbers(y: np.ndarray, classes: int | None) -> np.ndarray:
    """Responses as a design has them, of so many classes by their positions, shape (rows, outputs)."""
    return y.reshape(len(y), -1) if classes is None else np.eye(classes)[y]


def design_of_outputs(
    X: Any,
    y: Any,
    task: str,
    sample_weight: Any = None,
    categorical_features: Any = None,
    *,
    names: Sequence[str] | None = None,
    target: str | None = None,
    interactions: Any = None,
) -> LinearDesign:
    """A design whose response may be several numbers a row.

    Parameters
    ----------
    X : frame or array-like of shape (rows, columns)
        The predictors; of an array of PyTorch, CuPy or JAX the design remembers the kind.
    y : array-like of shape (rows,), or for numbers (rows, outputs)
        The response.
    task : {"classification", "regression"}
        What it is.
    sample_weight, categorical_features, names, target, interactions
        As `make_linear_design` takes them.
    """
    target = name_of(y) if target is None else target
    like = zeros_like_shape(floating(X), 0) if is_foreign(X) else None
    X, y, sample_weight = local(X), local(y), local(sample_weight)
    several = task == "regression" and getattr(y, "ndim", 1) == 2 and y.shape[1] > 1
    outputs = numbers_of(y) if several else None
    if outputs is not None:
        varying = np.flatnonzero(np.ptp(outputs, axis=0) > 0)
        if not len(varying):
            raise InputError("y: every output is the same in all rows; a regression needs values that differ")
        y = outputs[:, varying[0]]
    training = training_of_arrays(
        X,
        y,
        task=task,  # type: ignore[arg-type]
        names=names,
        target=target,
        sample_weight=sample_weight,
        offset=None,
        categorical_features=categorical_features,
    )
    design = replace(linear_design_of(training, interactions), like=like)
    return design if outputs is None else replace(design, y=outputs[training.kept])


def numbers_of(y: Any) -> np.ndarray:
    """Responses as numbers, shape (rows, outputs)."""
    try:
        outputs = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"y: outputs must be numbers ({error})") from error
    if not np.isfinite(outputs).all():
        raise InputError("y contains NaN or infinity; drop these rows first")
    return outputs.reshape(len(outputs), -1)


def with_classes(design: LinearDesign, classes: Any) -> LinearDesign:
    """The design with all classes that may come later, of which its rows have some."""
    every = np.unique(np.asarray(classes))
    assert design.classes is not None
    y = indicators_of(np.asarray(design.classes)[design.y], every).argmax(axis=1)
    schema = replace(design.schema, response=replace(design.response, classes=every))
    return replace(design, schema=schema, y=y)


def indicators_of(y: Any, classes: np.ndarray) -> np.ndarray:
    """Responses as indicators of known classes, shape (rows, classes)."""
    place = {label: at for at, label in enumerate(classes.tolist())}
    labels = np.asarray(y).tolist()
    unknown = [label for label in labels if label not in place]
    if unknown:
        raise InputError(f"y: {unknown[0]!r} is no class of the fit; its classes are {', '.join(map(str, place))}")
    return np.eye(len(place))[[place[label] for label in labels]]


def _require_expert(outputs: np.ndarray, expert: str, design: LinearDesign) -> None:
    """Raise InputError where experts are not for such a response."""
    if design.classes is not None:
        if expert == "logistic" and len(design.classes) > 2:
            raise InputError(f"expert='logistic' is for two classes, and y has {len(design.classes)}; choose 'auto'")
        return
    if expert == "poisson" and ((outputs < 0).any() or (outputs % 1).any()):
        odd = float(outputs[(outputs < 0) | (outputs % 1 != 0)][0])
        raise InputError(f"expert='poisson' is for counts, and the response has {odd:g}; choose another")
    if expert == "gamma" and (outputs <= 0).any():
        raise InputError(f"expert='gamma' is for positive numbers, and the response has {outputs.min():g}")
    if expert in ("poisson", "gamma") and outputs.shape[1] > 1:
        raise InputError(f"expert={expert!r} has one output, and y has {outputs.shape[1]}; fit one at a time")
