"""Predictor columns (covariates) as bins: cut points for numbers, levels for labels, one bin for missing."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import CellError, InputError
from .values import ColumnValues, Kind, column_values, is_number_text, label_of, warn_of_odd_values

MAX_LEVELS = 63
OTHER = "(other)"
# Bins are at most 16 bits wide.
MAX_BINS = 1 << 16
BOOLEAN_LABELS = {label_of(value): float(value) for value in (False, True)}


@dataclass(frozen=True, eq=False)
class Column:
    """How the values of one predictor become bins.

    Attributes
    ----------
    name : str
        The column's name.
    kind : {"numeric", "boolean", "categorical"}
        What it holds.
    cuts : numpy.ndarray
        Increasing ``float64`` cut points; the bin of x is the number of cuts below x, so ``bin <= c`` is
        ``x <= cuts[c]``. Empty for a categorical column.
    levels : tuple of str
        The labels by bin; empty unless the column is categorical.
    has_missing : bool
        Whether training rows lack a value, so that the bin of missing values takes part in rules.
    pooled : tuple of str
        The rare labels that share the level ``(other)``, which is then the last level.
    lowest : tuple of float
        The smallest observed number of each bin; empty if the column is categorical.
    """

    name: str
    kind: Kind
    cuts: np.ndarray
    levels: tuple[str, ...] = ()
    has_missing: bool = False
    pooled: tuple[str, ...] = ()
    lowest: tuple[float, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Column) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def observed(self) -> int:
        """Number of bins of observed values."""
        return len(self.levels) if self.kind == "categorical" else len(self.cuts) + 1

    @cached_property
    def missing_bin(self) -> int:
        """The bin behind all observed ones: missing, or a level never seen in training."""
        return self.observed

    @cached_property
    def n_bins(self) -> int:
        """Number of bins among the training rows."""
        return self.observed + self.has_missing

    def encode(self, values: Any) -> np.ndarray:
        """Bin values of any library.

        Warns if the column is categorical and no value is among its levels.

        Parameters
        ----------
        values : series or array-like
            Any values of this column.

        Returns
        -------
        numpy.ndarray
            ``uint32`` bins.
        """
        return self.bins_of(column_values(self.name, values))

    def bins_of(self, values: ColumnValues) -> np.ndarray:
        """Bin values, as `encode` does."""
        if self.kind == "categorical":
            return self._bins_of_labels(*values.distinct_labels)
        numbers = self.numbers(values)
        bins = np.searchsorted(self.cuts, numbers, side="left").astype(np.uint32)
        bins[np.isnan(numbers)] = self.missing_bin
        return bins

    def numbers(self, values: ColumnValues) -> np.ndarray:
        """The values of a numeric or boolean column as ``float64``, NaN where missing; text is refused."""
        return self._from_text(values) if values.kind == "categorical" else values.values

    def cut_at(self, threshold: float) -> int:
        """The cut that divides the observed numbers as ``x <= threshold`` does.

        Parameters
        ----------
        threshold : float
            Any number from the smallest value of the column up to, but not including, its largest.

        Returns
        -------
        int
            Its place among the cuts. Where bins hold several values, the last cut that sends no larger one left.
        """
        cut = bisect_right(self.lowest, threshold) - 1
        if not 0 <= cut < len(self.cuts):
            raise InputError(f"column {self.name!r}: threshold {threshold!r} leaves all its values on one side")
        return cut

    def _from_text(self, values: ColumnValues) -> np.ndarray:
        """Booleans that are written as text; other text is refused."""
        labels, positions = values.distinct_labels
        foreign = {label for label in labels if self.kind != "boolean" or label.lower() not in BOOLEAN_LABELS}
        if foreign:
            # Among numbers, which text has made text of, it is the text that is wrong.
            wrong = {label for label in foreign if not is_number_text(label)} or foreign
            row, value = next((row, value) for row, value in enumerate(values.values) if value in wrong)
            raise CellError(self.name, row, value, f"is text, but the column is {self.kind}; correct it, or empty it")
        # Position -1, missing, picks the last entry.
        return np.array([*(BOOLEAN_LABELS[label.lower()] for label in labels), np.nan])[positions]

    def _bins_of_labels(self, labels: tuple[str, ...], positions: np.ndarray) -> np.ndarray:
        """The bins of rows that hold the labels at these positions, −1 where missing."""
        bins = {level: i for i, level in enumerate(self.levels)} | dict.fromkeys(self.pooled, len(self.levels) - 1)
        booleans = {level.lower(): i for level, i in reversed(bins.items()) if level.lower() in BOOLEAN_LABELS}

        def bin_of(label: str) -> int:
            # A number written another way ("3.0", "03") means the level "3" unless it is a level itself, and a boolean
            # the level that differs in case only.
            for known, written in ((bins, label), (bins, _as_number(label)), (booleans, label.lower())):
                if written in known:
                    return known[written]
            return self.missing_bin

        by_label = [bin_of(label) for label in labels]
        if labels and len(positions) > 1 and all(one == self.missing_bin for one in by_label):
            warnings.warn(
                f"column {self.name!r}: none of its values was seen in training, such as {labels[0]!r}; they are "
                "treated as missing. Check that its levels are written as in the training table",
                stacklevel=2,
            )
        # Position -1, missing, picks the last entry.
        return np.take(np.array([*by_label, self.missing_bin], dtype=np.uint32), positions)

    def to_dict(self) -> dict[str, Any]:
        """The column as JSON-safe values, exact to the last bit."""
        return {
            "name": self.name,
            "kind": self.kind,
            "cuts": self.cuts.tolist(),
            "levels": list(self.levels),
            "has_missing": self.has_missing,
            "pooled": list(self.pooled),
            "lowest": list(self.lowest),
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Column:
        """The column that `to_dict` described."""
        column = cls(
            name=record["name"],
            kind=record["kind"],
            cuts=np.array(record["cuts"], dtype=np.float64),
            levels=tuple(record["levels"]),
            has_missing=record["has_missing"],
            pooled=tuple(record["pooled"]),
            lowest=tuple(record["lowest"]),
        )
        column._check()
        return column

    def _check(self) -> None:
        """Raise InputError for what no table gives; the types of all fields are the schema's to check."""
        labels = (*self.levels, *self.pooled)
        whole = self.cuts.ndim == 1 and len(labels) == len(set(labels)) and len(self.lowest) in (0, self.observed)
        whole = whole and bool(np.isfinite(self.cuts).all() and (np.diff(self.cuts) > 0).all())
        if not whole or bool(self.levels) != (self.kind == "categorical") or self.n_bins > MAX_BINS:
            raise InputError(f"the cuts or levels of column {self.name!r} are damaged")


def learn_column(name: str, values: ColumnValues, *, categorical: bool, max_cuts: int | None) -> Column:
    """Choose the cuts or levels of a predictor from its training rows.

    Parameters
    ----------
    name : str
        The column's name.
    values : ColumnValues
        Those of its training rows.
    categorical : bool
        Treat numbers as labels, and do not warn of text that is mostly numbers, as for a column that its own library
        calls categorical. A boolean column stays boolean: its rules are the same either way.
    max_cuts : int or None
        The most cuts of a numeric column; None for as many as its values and 16-bit bins allow. With 0, for models
        that take numbers as they are, a boolean column has none either.

    Returns
    -------
    Column
    """
    no_cuts = np.empty(0)
    categorical = categorical or values.declared_categorical
    if values.kind == "categorical" or (categorical and values.kind == "numeric"):
        if not categorical:
            warn_of_odd_values(name, values, "declare it categorical")
        labels, positions = values.distinct_labels
        levels, pooled = _levels(name, labels, positions)
        return Column(name, "categorical", no_cuts, levels, bool((positions < 0).any()), pooled)
    missing = np.isnan(values.values)
    has_missing = bool(missing.any())
    if max_cuts == 0:
        return Column(name, values.kind, no_cuts, has_missing=has_missing)
    if values.kind == "boolean":
        return Column(name, "boolean", np.array([0.5]), has_missing=has_missing, lowest=(0.0, 1.0))
    most = MAX_BINS - 1 - has_missing
    cuts, lowest = cut_points(values.values[~missing], min(most, max_cuts or most))
    return Column(name, "numeric", cuts, has_missing=has_missing, lowest=tuple(lowest.tolist()))


def cut_points(values: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Cut points between neighbouring distinct values.

    All of them if there are at most `most`; else `most` of them, at evenly spaced quantiles of the rows. A value so
    frequent that several quantiles would fall on it counts as one quantile's share of rows, and the others spread
    evenly over the remaining rows; so the cuts are always `most` different ones.

    Parameters
    ----------
    values : numpy.ndarray
        Finite ``float64`` values.
    most : int
        The most cuts to return.

    Returns
    -------
    cuts : numpy.ndarray
        Increasing ``float64``; every cut c between neighbours a < b has a <= c < b.
    lowest : numpy.ndarray
        The smallest value of each of the parts that the cuts make.
    """
    distinct, counts = np.unique(values, return_counts=True)
    below = np.arange(len(distinct) - 1) if len(distinct) - 1 <= most else _quantile_positions(counts, most)
    cuts = _midpoints(distinct[below], distinct[below + 1])
    return cuts, np.concatenate([distinct[:1], distinct[below + 1]])


def _quantile_positions(counts: np.ndarray, cuts: int) -> np.ndarray:
    """Positions of the distinct values that lie just below `cuts` evenly spaced quantiles.

    With the h most frequent values set apart, a share of rows is ``rest / shares`` where ``rest`` is the number of
    other rows and ``shares = cuts + 1 - h``. The smallest h for which no other value exceeds a share is used. Rows are
    counted in units of ``1 / shares`` so that all numbers are whole: no weight exceeds ``rest``, the distance of two
    quantiles, hence no value holds two of them.
    """
    descending = np.sort(counts)[::-1]
    apart = np.arange(cuts + 1)
    rest = counts.sum() - np.concatenate(([0], np.cumsum(descending[:cuts])))
    shares = cuts + 1 - apart
    h = int(np.argmax(descending[: cuts + 1] * shares <= rest))
    weight = np.minimum(counts * shares[h], rest[h])
    positions: np.ndarray = np.searchsorted(np.cumsum(weight), rest[h] * np.arange(1, cuts + 1))
    return positions


def _midpoints(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        gap = upper - lower
    middle = np.where(np.isinf(gap), lower / 2 + upper / 2, lower + gap / 2)
    return np.where(middle < upper, middle, lower)


def _levels(name: str, labels: tuple[str, ...], positions: np.ndarray) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The levels of a categorical column, and the rare ones that were pooled."""
    if len(labels) <= MAX_LEVELS:
        return labels, ()
    counts = np.bincount(positions[positions >= 0], minlength=len(labels))
    by_frequency = [labels[i] for i in np.argsort(-counts, kind="stable") if labels[i] != OTHER]
    kept = set(by_frequency[: MAX_LEVELS - 1])
    pooled = tuple(label for label in labels if label not in kept)
    warnings.warn(
        f"column {name!r} has {len(labels):,} levels; the {len(kept)} most frequent stay and the other "
        f"{len(pooled):,} share one level, {OTHER!r}. If it is numeric or an identifier, correct or drop it",
        stacklevel=2,
    )
    return (*(label for label in labels if label in kept), OTHER), pooled


def _as_number(label: str) -> str:
    try:
        return label_of(float(label))
    except ValueError:
        return label
