"""Draws of subsets with their coefficients, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..errors import InputError
from ..posterior.base import RUNGS, Part, taken

DRAW_ARRAYS = ("model", "log_likelihood", "log_prior", "sigma", "level", "shrinkage")


@dataclass(frozen=True, eq=False)
class SubsetDraws:
    """Models that chains visited, and their draws.

    Units are counted among those that may be in a model, and columns among theirs. Coefficients are those of columns
    and a response in standard units.

    Attributes
    ----------
    unit, begin : numpy.ndarray
        The units of each stored model, ascending, one model after the other; where each begins, and one more.
    mean : numpy.ndarray
        The posterior means of the coefficients of each stored model given the model, one after the other.
    model : numpy.ndarray
        The stored model of each draw, shape (chains, draws); a chain's models follow each other.
    log_likelihood, log_prior : numpy.ndarray
        log P(y|γ) − log P(y|∅), and log P(γ) up to a constant, of each draw.
    sigma, level, shrinkage : numpy.ndarray
        The noise's standard deviation, what the intercept is off by, times the root of the total weight, and g/(1+g).
    coefficient : numpy.ndarray
        The coefficients of each draw, one after the other.
    sizes : numpy.ndarray
        The number of columns of each unit.
    rung_log_likelihood : numpy.ndarray or None
        Of tempered chains, that of every rung, shape (chains, draws, rungs).
    """

    unit: np.ndarray
    begin: np.ndarray
    mean: np.ndarray
    model: np.ndarray
    log_likelihood: np.ndarray
    log_prior: np.ndarray
    sigma: np.ndarray
    level: np.ndarray
    shrinkage: np.ndarray
    coefficient: np.ndarray
    sizes: np.ndarray
    rung_log_likelihood: np.ndarray | None = None

    @property
    def chains(self) -> int:
        """Number of chains."""
        return self.model.shape[0]

    @property
    def draws(self) -> int:
        """Number of draws of each chain."""
        return self.model.shape[1]

    @cached_property
    def width(self) -> np.ndarray:
        """The number of columns of each stored model."""
        return self.column_begin[1:] - self.column_begin[:-1]

    @cached_property
    def column_begin(self) -> np.ndarray:
        """Where the columns of each stored model begin, and one more."""
        before = np.concatenate([[0], np.cumsum(self.sizes[self.unit])])
        return before[self.begin]

    @cached_property
    def column(self) -> np.ndarray:
        """The columns of each stored model, ascending, one model after the other."""
        first = np.concatenate([[0], np.cumsum(self.sizes)])
        return ranges(first[self.unit], self.sizes[self.unit])

    @cached_property
    def coefficient_begin(self) -> np.ndarray:
        """Where the coefficients of each draw begin, all chains one after the other, and one more."""
        return np.concatenate([[0], np.cumsum(self.width[self.model.ravel()])])

    @cached_property
    def coefficient_column(self) -> np.ndarray:
        """Which column each of the coefficients belongs to."""
        models = self.model.ravel()
        return self.column[ranges(self.column_begin[models], self.width[models])]

    @cached_property
    def identity(self) -> np.ndarray:
        """Which of the distinct models each stored one is; they are counted as they first appear."""
        number: dict[bytes, int] = {}
        units = self.unit.astype(np.uint32)
        edges = self.begin.tolist()
        return np.array([number.setdefault(units[low:high].tobytes(), len(number)) for low, high in pairwise(edges)])

    def included(self) -> np.ndarray:
        """Whether each unit is in each stored model, shape (models, units)."""
        found = np.zeros((len(self.begin) - 1, len(self.sizes)), dtype=bool)
        found[np.repeat(np.arange(len(found)), np.diff(self.begin)), self.unit] = True
        return found

    def take(self, kept: np.ndarray) -> SubsetDraws:
        """Some draws of each chain, by their numbers."""
        sizes = np.diff(self.coefficient_begin).reshape(self.model.shape)[:, kept].ravel()
        first = self.coefficient_begin[:-1].reshape(self.model.shape)[:, kept].ravel()
        some = {name: getattr(self, name)[:, kept] for name in DRAW_ARRAYS}
        rungs = None if self.rung_log_likelihood is None else self.rung_log_likelihood[:, kept]
        return replace(self, **some, coefficient=self.coefficient[ranges(first, sizes)], rung_log_likelihood=rungs)

    # ---- parts ----------------------------------------------------------------------------------------------------

    def part(self, chain: int, begin: int, end: int) -> Part:
        """Draws begin … end of one chain, with the models that are new in them."""
        models = self.model[chain]
        first = int(models[0])
        low = first if begin == 0 else int(models[begin - 1]) + 1
        high = int(models[end - 1]) + 1
        units = slice(self.begin[low], self.begin[high])
        drawn = self.coefficient_begin[chain * self.draws + begin], self.coefficient_begin[chain * self.draws + end]
        record = {name: getattr(self, name)[chain, begin:end] for name in DRAW_ARRAYS} | {
            "model": models[begin:end] - first,
            "unit": self.unit[units],
            "begin": self.begin[low : high + 1] - self.begin[low],
            "mean": self.mean[self.column_begin[low] : self.column_begin[high]],
            "coefficient": self.coefficient[slice(*drawn)],
        }
        if self.rung_log_likelihood is not None:
            record[RUNGS] = self.rung_log_likelihood[chain, begin:end].ravel()
        return record

    @classmethod
    def from_parts(cls, parts: Sequence[Sequence[Part]], sizes: np.ndarray) -> SubsetDraws:
        """Put together what the chains recorded, `parts[chain]` being its blocks in order; this empties them."""
        drawn = {name: taken(parts, name) for name in DRAW_ARRAYS}
        counts = [np.concatenate([np.diff(part["begin"]) for part in chain]) for chain in parts]
        # Each chain counts its models from 0.
        drawn["model"] += np.cumsum([0, *map(len, counts[:-1])])[:, None]
        for chain in parts:
            for part in chain:
                del part["begin"]
        joined = {
            name: np.concatenate([part.pop(name) for chain in parts for part in chain])
            for name in ("unit", "mean", "coefficient")
        }
        begin = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)
        rungs = taken(parts, RUNGS).reshape(*drawn["model"].shape, -1) if RUNGS in parts[0][0] else None
        return cls(**joined, **drawn, begin=begin, sizes=sizes, rung_log_likelihood=rungs)

    def check(self) -> None:
        """Raise InputError where the parts do not belong together."""
        models, units = len(self.begin) - 1, len(self.sizes)
        shapes = {getattr(self, name).shape for name in DRAW_ARRAYS}
        whole = len(shapes) == 1 and self.begin[-1] == len(self.unit) and (np.diff(self.begin) >= 0).all()
        whole = whole and (not self.unit.size or (self.unit.min() >= 0 and self.unit.max() < units))
        whole = whole and bool((self.model >= 0).all() and (self.model < models).all())
        if not whole or not (np.diff(self.model, axis=1) >= 0).all():
            raise InputError("the models of the draws are damaged")
        inside = np.diff(self.unit.astype(np.int64)) > 0
        starts = np.zeros(len(self.unit) + 1, dtype=bool)
        starts[self.begin] = True
        if not (inside | starts[1:-1]).all():
            raise InputError("the units of a model do not ascend")
        if len(self.mean) != self.column_begin[-1] or len(self.coefficient) != self.coefficient_begin[-1]:
            raise InputError("coefficients are missing")
        figures = [getattr(self, field.name) for field in fields(self) if field.name not in ("unit", "begin", "model")]
        if not all(np.isfinite(one).all() for one in figures if one is not None) or not (self.sigma > 0).all():
            raise InputError("a coefficient, a standard deviation or a probability is no number")


def ranges(first: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """first[0] … first[0] + sizes[0] − 1, then those of the next, and so on."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(first - before, sizes) + np.arange(int(sizes.sum()))
