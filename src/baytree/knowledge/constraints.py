"""The constraints: boxes, monotone columns, groups, forbidden columns, sizes, weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ..errors import InputError
from ..text import counted
from ..validation import is_number
from .base import ByColumn, Constraint, Feature, atom, called, features_of, listed, whole
from .resolved import Resolved
from .sides import Side, number_text, side_of

# Groups that are named in words; the others are counted.
LISTED_GROUPS = 4


@dataclass(frozen=True, init=False, repr=False)
class Box(ByColumn):
    """A part of the predictors' space in which all rows are known to be alike, so that no split divides it.

    At a node that holds the box only rules that leave all of it on one side are admissible [1]_. A column without a
    side does not bound the box, so any rule on it would cut the box.

    Parameters
    ----------
    by_column : mapping from column to side, optional
        The sides, by name or position; names that are Python identifiers can be given by keyword. A side is a text,
        such as ``"<=127"``, ``">=128"``, ``"<5"``, ``">5"``, ``"==3"`` or ``"128..200"``, or two numbers, both inside
        the box, with None for no bound.

    References
    ----------
    .. [1] Angelopoulos and Cussens (2005), Exploiting informative priors for Bayesian classification and regression
       trees, IJCAI, 641–646, section 5.4.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.Box({"body mass": "18..25"}, age="<=28"))
    box: no split inside 18 <= body mass <= 25 and age <= 28
    """

    kind = "box"
    _example = 'Box(age="<=28")'

    @classmethod
    def _value(cls, feature: Feature, value: Any) -> Side:
        try:
            return side_of(called(feature), value)
        except InputError as error:
            raise InputError(f"Box: {error}") from None

    @staticmethod
    def _plain(value: Side) -> str:
        return str(value)

    def describe(self) -> str:
        return f"box: no split inside {self._conditions()}"

    def _conditions(self) -> str:
        return " and ".join(side.of(called(feature)) for feature, side in self.by_column)

    def facts(self) -> list[str]:
        # Named by what it is, so that boxes that are added to a program one after the other stay apart.
        name = atom(self._conditions())
        return [
            f"const_class_probs({name}, {atom(feature)}, {number_text(side.low)}, {number_text(side.high)})."
            for feature, side in self.by_column
        ]

    def add_to(self, resolved: Resolved) -> None:
        resolved.add_box([(feature, side.low, side.high) for feature, side in self.by_column])


@dataclass(frozen=True, init=False, repr=False)
class Monotone(ByColumn):
    """What is predicted never falls, or never rises, as a column grows and all others stay as they are.

    It needs a numeric response, or two classes: then the probability of the second class is meant.

    Parameters
    ----------
    by_column : mapping from column to sign, optional
        +1 where the prediction never falls as the column grows, −1 where it never rises; by name or position, or by
        keyword.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.Monotone(age=+1, income=-1))
    monotone: the prediction never falls as age grows, and never rises as income grows
    """

    kind = "monotone"
    _example = "Monotone(age=+1)"

    @classmethod
    def _value(cls, feature: Feature, value: Any) -> int:
        if not is_number(value) or value not in (-1, 1):
            raise InputError(f"Monotone: {called(feature)}={value!r}: choose +1, growing, or -1, falling")
        return int(value)

    def describe(self) -> str:
        says = (
            f"never {word} as {listed(features)} {'grows' if len(features) == 1 else 'grow'}"
            for word, sign in (("falls", 1), ("rises", -1))
            if (features := [feature for feature, given in self.by_column if given == sign])
        )
        return f"monotone: the prediction {', and '.join(says)}"

    def facts(self) -> list[str]:
        return [f"monotone({atom(feature)}, {sign})." for feature, sign in self.by_column]

    def add_to(self, resolved: Resolved) -> None:
        for feature, sign in self.by_column:
            resolved.add_sign(feature, sign)


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
        return float(value)

    def describe(self) -> str:
        said = (f"{called(feature)} {number_text(weight)}" for feature, weight in self.by_column)
        return f"weights: {', '.join(said)}, other columns 1"

    def facts(self) -> list[str]:
        return [f"weight({atom(feature)}, {number_text(weight)})." for feature, weight in self.by_column]

    def add_to(self, resolved: Resolved) -> None:
        for feature, weight in self.by_column:
            resolved.add_weight(feature, weight)


@dataclass(frozen=True)
class SparseWeights(Constraint):
    """Few columns matter, and which is learned: weights s ~ Dirichlet(a/p, …, a/p) of p columns [1]_.

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

    def describe(self) -> str:
        return "weights: learned, few columns matter"

    def facts(self) -> list[str]:
        raise InputError('Weights("sparse") is learned from many trees; a program cannot state it: use BART')

    def renamed(self, rename: Callable[[Feature], Feature]) -> SparseWeights:
        return self

    def add_to(self, resolved: Resolved) -> None:
        pass


@dataclass(frozen=True)
class Interact(Constraint):
    """Which columns may meet on a path from the root to a leaf: those of one group.

    Columns that are in no group form one more group together, as in scikit-learn. A column may be in several groups.

    Parameters
    ----------
    groups : sequence of sequences of columns
        The groups, by name or position.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.Interact([["age", "sex"], ["dose"]]))
    interactions: only among age and sex; of dose with none; among all other columns
    """

    groups: tuple[tuple[Feature, ...], ...]

    kind = "interact"

    def __post_init__(self) -> None:
        example = 'Interact([["a", "b"], ["c"]])'
        given: Any = self.groups
        if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
            raise InputError(f"Interact: {given!r} is no list of groups; write {example}")
        groups = tuple(features_of("Interact", group, example) for group in given)
        if not groups:
            raise InputError(f"Interact names no group; write {example}")
        object.__setattr__(self, "groups", groups)

    def describe(self) -> str:
        said = [
            f"among {listed(group)}" if len(group) > 1 else f"of {called(group[0])} with none"
            for group in self.groups[:LISTED_GROUPS]
        ]
        if len(self.groups) > LISTED_GROUPS:
            said.append(f"within {counted(len(self.groups) - LISTED_GROUPS, 'more group')}")
        return f"interactions: only {'; '.join(said)}; among all other columns"

    def facts(self) -> list[str]:
        return [f"interaction([{', '.join(map(atom, group))}])." for group in self.groups]

    def renamed(self, rename: Callable[[Feature], Feature]) -> Interact:
        return Interact(tuple(tuple(map(rename, group)) for group in self.groups))

    def add_to(self, resolved: Resolved) -> None:
        resolved.add_groups(self.groups)


@dataclass(frozen=True, init=False, repr=False)
class Forbid(Constraint):
    """Columns that are not asked about, anywhere or below some point.

    Parameters
    ----------
    *features : str or int
        The columns, by name or position.
    below : int or str, optional
        A number: not at this depth or deeper, where the root has depth 0. A column's name: not below a split on that
        column.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.Forbid("id", "name"))
    never asks about id or name
    >>> print(bt.Forbid("dose", below="sex"))
    never asks about dose below a split on sex
    """

    features: tuple[Feature, ...]
    below: int | str | None = None

    kind = "forbid"

    def __init__(self, *features: Feature, below: int | str | None = None) -> None:
        for feature in features:
            if isinstance(feature, Sequence) and not isinstance(feature, str):
                raise InputError(f"Forbid: {feature!r} is a list; name the columns one by one: Forbid('a', 'b')")
        if below is not None and not isinstance(below, str):
            below = whole("Forbid", "below", below, 0)
        object.__setattr__(self, "features", features_of("Forbid", features, 'Forbid("id")'))
        object.__setattr__(self, "below", below)

    def __repr__(self) -> str:
        below = () if self.below is None else (f"below={self.below!r}",)
        return f"Forbid({', '.join([*map(repr, self.features), *below])})"

    def describe(self) -> str:
        where = ""
        if self.below is not None:
            where = (
                f" below a split on {self.below}"
                if isinstance(self.below, str)
                else f" at depth {self.below} or deeper"
            )
        return f"never asks about {listed(self.features, 'or')}{where}"

    def facts(self) -> list[str]:
        if self.below is None:
            return [f"forbid({atom(feature)})." for feature in self.features]
        below = atom(self.below) if isinstance(self.below, str) else self.below
        return [f"forbid_below({atom(feature)}, {below})." for feature in self.features]

    def renamed(self, rename: Callable[[Feature], Feature]) -> Forbid:
        below = rename(self.below) if isinstance(self.below, str) else self.below
        return Forbid(*map(rename, self.features), below=below)

    def add_to(self, resolved: Resolved) -> None:
        for feature in self.features:
            resolved.forbid(feature, self.below)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Forbid:
        return cls(*record["features"], below=record["below"])


@dataclass(frozen=True)
class Only(Constraint):
    """The columns that are asked about at one depth; no other is.

    Parameters
    ----------
    depth : int
        The depth; the root has 0.
    features : sequence of columns
        The columns, by name or position.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.Only(depth=0, features=["age", "glucose"]))
    at depth 0 asks about age or glucose only
    """

    depth: int
    features: tuple[Feature, ...]

    kind = "only"

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", whole("Only", "depth", self.depth, 0))
        object.__setattr__(self, "features", features_of("Only", self.features, 'Only(depth=0, features=["age"])'))

    def describe(self) -> str:
        return f"at depth {self.depth} asks about {listed(self.features, 'or')} only"

    def facts(self) -> list[str]:
        return [f"only({self.depth}, [{', '.join(map(atom, self.features))}])."]

    def renamed(self, rename: Callable[[Feature], Feature]) -> Only:
        return Only(self.depth, tuple(map(rename, self.features)))

    def add_to(self, resolved: Resolved) -> None:
        resolved.add_only(self.depth, self.features)


@dataclass(frozen=True)
class _Size(Constraint):
    """How large a tree may be."""

    most: int

    _least: ClassVar[int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "most", whole(type(self).__name__, "most", self.most, self._least))

    def facts(self) -> list[str]:
        return [f"{self.kind}({self.most})."]

    def renamed(self, rename: Callable[[Feature], Feature]) -> Self:
        return self


@dataclass(frozen=True)
class MaxDepth(_Size):
    """How many questions a path from the root to a leaf has at most.

    Parameters
    ----------
    most : int
        No node at this depth is split; the root has depth 0.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.MaxDepth(3))
    at most 3 questions on a path
    """

    kind = "max_depth"
    _least = 0

    def describe(self) -> str:
        return f"at most {counted(self.most, 'question')} on a path"

    def add_to(self, resolved: Resolved) -> None:
        resolved.max_depth.append(self.most)


@dataclass(frozen=True)
class MaxLeaves(_Size):
    """How many leaves a tree has at most; the prior is what it would be else, given that this holds.

    Parameters
    ----------
    most : int
        The number.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.MaxLeaves(8))
    at most 8 leaves
    """

    kind = "max_leaves"
    _least = 1

    def describe(self) -> str:
        return f"at most {counted(self.most, 'leaf', 'leaves')}"

    def add_to(self, resolved: Resolved) -> None:
        resolved.max_leaves.append(self.most)


CONSTRAINTS = (Box, Monotone, Interact, Forbid, Only, MaxDepth, MaxLeaves, Weights, SparseWeights)
