"""What reports on soft trees share, with or without memory: dependence, fits, and how the page predicts by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..interpret import reported
from ..interpret.linear_dependence import linear_dependence
from ..posterior.base import BasePosterior
from ..posterior.report import COLUMNS, COVERAGE, LEVELS, Fitted, Report, fitted_numbers
from ..posterior.what_if import fields_of_matrix, row_in_matrix
from ..report.icicle import Cell
from ..report.parts import Section, heading, words
from ..text import listed

SOME_ROWS = 100
MOST_OUTPUTS = 3

AnyPosterior = TypeVar("AnyPosterior", bound=BasePosterior)


class SoftReport(Report[AnyPosterior]):
    """What reports on soft trees share."""

    map_title = "A map of the tree"

    @property
    def model(self) -> Any:
        """The model, resolved."""
        return self.posterior.model

    @property
    def outputs(self) -> list[str]:
        """The classes, or the response or its parts."""
        if self.classes is not None:
            return self.classes
        count = self.model.layout.outputs
        return [self.response.name] if count == 1 else [f"{self.response.name}[{place}]" for place in range(count)]

    @property
    def posterior_is_joint(self) -> bool:
        """Whether there are draws of a posterior."""
        return self.posterior.has_chains

    # ---- the tree -------------------------------------------------------------------------------------------------

    def mapped_leaves(self, share: np.ndarray, said: Callable[[int], str], caption: str) -> Section:
        """The tree as a map: the share of the rows that each leaf has.

        Parameters
        ----------
        share : numpy.ndarray of shape (leaves,)
            The shares.
        said : callable (leaf)
            What a leaf says.
        caption : str
            What is seen.
        """
        depth, branching = self.model.depth, self.model.branching
        root = Cell("rows")
        for leaf, part in enumerate(share.tolist()):
            branches = [leaf // branching ** (depth - level - 1) % branching for level in range(depth)]
            taken = [[str(one + 1) for one in branches[: level + 1]] for level in range(depth)]
            path = [(f"branch {'.'.join(one)}", one[0]) for one in taken]
            root.add([*path, (f"leaf {leaf + 1}: {said(leaf)}", f"leaf {leaf + 1}")], part)
        return self.mapped(caption, root, [*(f"gate level {level + 1}" for level in range(depth)), "leaf"], "path")

    def dependence(self, importance: dict[str, Any] | None = None) -> Section:
        """How the response depends on each column."""
        title = "Columns"
        if self.seen is None:
            return Section.of("columns", title, [words("Dependence needs rows: give data.", class_="note")])
        matrix = self.seen.encoded
        curves = []
        for place, name in self.explained():
            draws = self._draws_of(place)
            for column in self.schema.names[:COLUMNS]:
                curves.append(linear_dependence(draws, self.schema, matrix, column, rows=SOME_ROWS, response=name))
        # The steepest first: how far the mean moves is how much a column matters.
        curves.sort(key=lambda one: -float(np.ptp(one.mean)))
        moved = [f"{one.grid.column} by {np.ptp(one.mean):.3g}" for one in curves[:3]]
        parts = [
            words(f"Over the values of a column, all else as it is, the average prediction moves: {listed(moved)}."),
            heading("How the response depends on a column"),
            reported.dependence_parts(curves),
        ]
        bands = "" if np.prod(self.prediction.shape) > 1 else " One tree has no bands."
        parts.append(
            words(f"Columns are drawn in the order of how far the average prediction moves.{bands}", class_="note")
        )
        return Section.of("columns", title, parts, reported.columns_record(importance, curves))

    def explained(self) -> list[tuple[int, str]]:
        """Which outputs are explained, by their places, and what they are called."""
        if self.classes is None:
            return list(enumerate(self.outputs))[:MOST_OUTPUTS]
        assert self.seen is not None
        place = 1 if len(self.classes) == 2 else int(np.bincount(self.seen.y[:, 0]).argmax())
        return [(place, f"P({self.response.name} = {self.classes[place]})")]

    def _draws_of(self, place: int) -> Callable[[np.ndarray], np.ndarray]:
        def draws(matrix: np.ndarray) -> np.ndarray:
            drawn = self.expected(matrix)
            return drawn.reshape(int(np.prod(drawn.shape[:2])), len(matrix), -1)[:, :, place]

        return draws

    def expected(self, matrix: np.ndarray) -> np.ndarray:
        """What each draw expects of rows of the matrix, each by itself."""
        return self.prediction.expected(matrix)

    # ---- one row --------------------------------------------------------------------------------------------------

    @property
    def page_bytes(self) -> int:
        """About how many bytes all draws would take in the page."""
        return 11 * sum(self.model.layout.sizes().values()) * self.posterior.chains * self.posterior.draws

    def fields(self) -> list[dict[str, Any]]:
        """The columns as fields of a form."""
        found = self.model.calibrated
        spread = dict(zip(found.kept, found.scale, strict=True))
        matrix = None if self.seen is None else self.seen.encoded
        return fields_of_matrix(self.schema, matrix, lambda at: spread.get(at, 1.0))

    def encoded_row(self, values: Sequence[Any]) -> np.ndarray:
        """A row of such values as a row of the matrix."""
        return row_in_matrix(self.schema, values)

    # ---- calibration ----------------------------------------------------------------------------------------------

    def fitted_by(self, encoded: np.ndarray, rows: np.ndarray, given: dict[str, Any]) -> Fitted:
        """What is predicted of some of the encoded rows; of a single tree intervals are exact.

        Parameters
        ----------
        encoded : numpy.ndarray
            The rows that predictions need.
        rows : numpy.ndarray
            Those that are looked at.
        given : dict
            What predictions take besides.
        """
        assert self.seen is not None
        prediction, design = self.prediction, self.seen.design
        y = design.y if len(encoded) == design.rows else design.y[self.seen.rows]
        log_likelihood = prediction.log_density(encoded, y, None, **given).reshape(-1, len(encoded))[:, rows]
        if self.classes is not None:
            return Fitted(prediction.predict(encoded, "mean", **given)[rows], log_likelihood)
        mean = prediction.predict(encoded, "mean", **given)[rows].reshape(len(rows), -1)
        if np.prod(prediction.shape) > 1:
            new = prediction.predict(encoded, "predictive", **given)
            return fitted_numbers(mean, log_likelihood, new.reshape(len(log_likelihood), len(encoded), -1)[:, rows])

        def ends(prob: float) -> np.ndarray:
            found = prediction.predict(encoded, "predictive_interval", prob, **given)
            return found.reshape(len(encoded), -1, 2)[rows]

        # An interval of no width is the median.
        quantiles = [ends(max(abs(2 * level - 1), 1e-9))[..., int(level > 0.5)] for level in LEVELS]
        return Fitted(mean, log_likelihood, None, {prob: ends(prob) for prob in COVERAGE}, np.stack(quantiles))
