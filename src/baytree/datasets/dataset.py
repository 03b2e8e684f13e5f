"""A data set with what a person should know about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.columns import frame_of
from ..data.design import Design, read
from ..data.response import Task
from ..validation import unknown_choice

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, kw_only=True)
class About:
    """What a person should know about a data set before using it.

    Attributes
    ----------
    title : str
        The set in one line.
    source : str
        Where it comes from, and its licence.
    target : str
        The response that is predicted unless told otherwise.
    caution : str
        What to heed before using the data; empty where nothing is known.
    categorical : tuple of str
        The predictors whose numbers are labels.
    task : {"auto", "classification", "regression"}
        How `baytree.data.design.read` should take the response.
    """

    title: str
    source: str
    target: str
    caution: str = ""
    categorical: tuple[str, ...] = ()
    task: Task = "auto"


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset(About):
    """A data set with what is known about it.

    Attributes
    ----------
    name : str
        The name to load it by.
    X : polars.DataFrame or Columns
        The predictors; without polars, columns of arrays with the same names and rows.
    y : numpy.ndarray
        The response; of several responses a matrix, with `outputs` its columns.
    outputs : tuple of str
        The names of the responses; the first is the default target.
    test : Dataset or None
        Held-out rows, where the set defines them.
    """

    name: str
    X: pl.DataFrame = field(repr=False)
    y: np.ndarray = field(repr=False)
    outputs: tuple[str, ...]
    test: Dataset | None = field(default=None, repr=False)

    def design(self, *, target: str | None = None, **options: Any) -> Design:
        """The predictors and one response as a design.

        Parameters
        ----------
        target : str, optional
            One of `outputs`.
        **options
            Passed on to `baytree.data.design.read`, over this set's own ``task`` and ``categorical``.

        Returns
        -------
        Design
        """
        target = self.target if target is None else target
        if target not in self.outputs:
            raise unknown_choice("response", target, self.outputs)
        y = self.y if self.y.ndim == 1 else self.y[:, self.outputs.index(target)]
        options = {"task": self.task, "categorical": self.categorical} | options
        return read(frame_of({name: self.X[name] for name in self.X.columns} | {target: y}), target, **options)
