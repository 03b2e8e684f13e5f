"""How likely columns are to be asked about, given or learned."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..validation import is_number, number_or_word, require_positive
from .base import ByColumn, Constraint, Feature, atom, called
from .intervals import number_text
from .options import Option, assigned
from .resolved import Resolved

# Weights are added up and divided.
HEAVIEST = 1e100


@dataclass(frozen=True, init=False, repr=False)
class Weights(ByColumn):
    """How much more likely than others a column is asked about.

    A column of weight w counts as w columns where the prior chooses one; all others weigh 1.

    Parameters
    ----------
    by_column : mapping from column to float or "sparse", optional
        Positive weights, by name or position, or by keyword. ``"sparse"`` learns them together with the trees of a
        sum: see `SparseWeights`.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.Weights(age=3))
    weights: age 3, other columns 1
    """

    kind = "weights"
    entries = ("weights",)
    options = (Option("column_weight", "Ask about it as if it were so many columns.", "COL=NUMBER"),)
    _example = "Weights(age=3.0)"

    def __new__(cls, by_column: Any = None, /, **more: Any) -> Any:
        if isinstance(by_column, str) and by_column == "sparse" and not more:
            return SparseWeights()
        return super().__new__(cls)

    @classmethod
    def _value(cls, feature: Feature, value: Any) -> float:
        if not is_number(value) or not 0 < value < math.inf:
            raise InputError(
                f"Weights: {called(feature)}={value!r}: choose a positive number; to leave a column out, use Forbid"
            )
        require_positive(f"Weights: {called(feature)}", value, HEAVIEST)
        return float(value)

    def describe(self) -> str:
        said = (f"{called(feature)} {number_text(weight)}" for feature, weight in self.by_column)
        return f"weights: {', '.join(said)}, other columns 1"

    def facts(self) -> list[str]:
        return [f"weight({atom(feature)}, {number_text(weight)})." for feature, weight in self.by_column]

    def add_to(self, resolved: Resolved) -> None:
        for feature, weight in self.by_column:
            at = resolved.position("Weights", feature)
            before = resolved.assign("weights", at, weight, others=1.0)
            if before is not None:
                first, second = map(number_text, (before, weight))
                raise InputError(f"Weights: {resolved.name(at)} is given two weights, {first} and {second}; keep one")

    @classmethod
    def from_toml(cls, entry: str, value: Any) -> Iterable[Constraint]:
        if value == "sparse":
            return [SparseWeights()]
        if isinstance(value, str):
            raise InputError(f"{entry} = {value!r}: give a table, [{entry}], with a line for each column, or 'sparse'")
        return super().from_toml(entry, value)

    @classmethod
    def from_option(cls, name: str, value: Any) -> Constraint:
        column, weight = assigned(value, "age=3")
        return cls({column: number_or_word(weight)})


@dataclass(frozen=True)
class SparseWeights(Constraint):
    """Few columns matter, and which is learned (DART): weights s ~ Dirichlet(a/p, …, a/p) of p columns [1]_.

    The concentration a is learned as well, with a/(a + p) ~ Beta(1/2, 1). It needs a sum of trees; written
    ``Weights("sparse")``.

    References
    ----------
    .. [1] Linero (2018), Bayesian regression trees for high-dimensional prediction and variable selection, JASA 113,
       626–636.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.Weights("sparse"))
    weights: learned, few columns matter
    """

    kind = "sparse_weights"
    options = (Option("sparse", "Few columns matter, and which is learned.", takes=bool, ensembles=True),)

    def describe(self) -> str:
        return "weights: learned, few columns matter"

    def facts(self) -> list[str]:
        raise InputError('Weights("sparse") is learned from many trees; a program cannot state it: use BART')

    def renamed(self, rename: Callable[[Feature], Feature]) -> SparseWeights:
        return self

    def add_to(self, resolved: Resolved) -> None:
        pass

    @classmethod
    def from_option(cls, name: str, value: Any) -> Constraint:
        return cls()
