"""Knowledge about the columns of one table, by their positions: what the core takes, and what contradicts itself."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

import numpy as np

from .. import _core
from ..data.binning import Column
from ..data.design import Schema
from ..errors import InputError
from ..validation import position_of, unknown_choice
from .base import Feature, listed
from .intervals import number_text


class Resolved:
    """Constraints stated one after the other; one that does not fit the table or those before it is refused.

    Parameters
    ----------
    schema : Schema
        The table.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.max_depth: list[int] = []
        self.max_leaves: list[int] = []
        self._forbidden: list[int] = []
        self._below_depth: list[tuple[int, int]] = []
        self._below_feature: list[tuple[int, int]] = []
        self._only: list[tuple[int, list[int]]] = []
        self._groups: list[list[int]] = []
        self._boxes: list[list[tuple[int, float, float]]] = []
        self._weights: dict[int, float] = {}
        self._signs: dict[int, int] = {}

    # ---- stating --------------------------------------------------------------------------------------------------

    def position(self, who: str, feature: Feature) -> int:
        """The position of a column, for the constraint that is named first in an error."""
        names = self.schema.names
        if isinstance(feature, int) or feature in names:
            return position_of(who, feature, names)
        if feature == self.schema.response.name:
            raise InputError(f"{who}: {feature!r} is the response, about which a tree does not ask; name other columns")
        raise InputError(f"{who}: {unknown_choice('column', feature, names)}")

    def add_box(self, sides: Iterable[tuple[Feature, float, float]]) -> None:
        box = [(self._numeric("Box", feature), low, high) for feature, low, high in sides]
        for place, (feature, _, _) in enumerate(box):
            if feature in (before for before, _, _ in box[:place]):
                raise InputError(f"Box: {self._name(feature)} has two sides; make one of them, such as '28..35'")
        self._boxes.append(box)

    def add_sign(self, feature: Feature, sign: int) -> None:
        at = self._numeric("Monotone", feature)
        if self._signs.setdefault(at, sign) != sign:
            raise InputError(f"Monotone: {self._name(at)} is given both as growing, +1, and as falling, -1; keep one")
        response = self.schema.response
        if response.classes is not None and len(response.classes) != 2:
            raise InputError(
                f"Monotone: the response {response.name!r} has {len(response.classes)} classes; a prediction grows or "
                "falls only where there are two, or numbers. Leave Monotone out"
            )

    def add_weight(self, feature: Feature, weight: float) -> None:
        at = self.position("Weights", feature)
        if at in self._weights:
            first, second = map(number_text, (self._weights[at], weight))
            raise InputError(f"Weights: {self._name(at)} is given two weights, {first} and {second}; keep one")
        self._weights[at] = weight

    def add_groups(self, groups: Iterable[Sequence[Feature]]) -> None:
        self._groups += [[self.position("Interact", feature) for feature in group] for group in groups]

    def add_only(self, depth: int, features: Iterable[Feature]) -> None:
        self._only.append((depth, [self.position("Only", feature) for feature in features]))

    def forbid(self, feature: Feature, below: int | str | None) -> None:
        at = self.position("Forbid", feature)
        if below is None:
            self._forbidden.append(at)
        elif isinstance(below, str):
            self._below_feature.append((at, self.position("Forbid", below)))
        else:
            self._below_depth.append((at, below))

    def _numeric(self, who: str, feature: Feature) -> int:
        at = self.position(who, feature)
        if self.schema.columns[at].kind == "categorical":
            what = {"Box": "has no sides", "Monotone": "neither grows nor falls"}[who]
            raise InputError(f"{who}: {self._name(at)} is categorical and {what}; leave it out, or give it as numbers")
        return at

    def _name(self, at: int) -> str:
        return self.schema.names[at]

    # ---- judging --------------------------------------------------------------------------------------------------

    def require_possible(self) -> None:
        """Refuse constraints that together leave nothing to ask about."""
        every = set(range(len(self.schema.columns)))
        if self._excluded(0) == every:
            raise InputError("Forbid: every column is forbidden; leave one to ask about")
        for depth in sorted({depth for depth, _ in self._only}):
            lists = [features for at, features in self._only if at == depth]
            common = set(lists[0]).intersection(*lists[1:])
            if not common:
                said = " and ".join(f"[{', '.join(map(self._name, features))}]" for features in lists)
                raise InputError(f"Only: at depth {depth} {said} have no column in common; name one in all of them")
            if common <= self._excluded(depth):
                names = listed(map(self._name, sorted(common)), "or")
                raise InputError(
                    f"Only: at depth {depth} a tree asks about {names} only, which Forbid excludes there; take one out "
                    "of Forbid, or name another"
                )

    def warn(self) -> None:
        """Say what holds though it is probably not meant."""
        for name, sizes, least in (("MaxDepth", self.max_depth, 0), ("MaxLeaves", self.max_leaves, 1)):
            if len(set(sizes)) > 1:
                given = " and ".join(f"{name}({size})" for size in sizes)
                _warn(f"{given}: the smaller, {min(sizes)}, holds")
            if least in sizes:
                _warn(f"{name}({least}): every tree is a single leaf; choose {least + 1} or more to let it ask")
        askable = [at for at in self._askable_at_root() if self.schema.columns[at].n_bins > 1]
        if askable and not any(self._leaves_boxes_whole(at) for at in askable):
            _warn(
                "every tree is a single leaf: any split of all rows would cut a box. A column can split them only if "
                "every box has a side on it; leave a box out, or give it more sides"
            )

    def _excluded(self, depth: int) -> set[int]:
        """The columns that are not asked about at a depth, whatever lies above."""
        return {*self._forbidden, *(at for at, least in self._below_depth if depth >= least)}

    def _askable_at_root(self) -> set[int]:
        listed_there = [set(features) for depth, features in self._only if depth == 0]
        return set(range(len(self.schema.columns))).intersection(*listed_there) - self._excluded(0)

    def _leaves_boxes_whole(self, at: int) -> bool:
        """Whether a column has a rule that cuts no box."""
        column: Column = self.schema.columns[at]
        sides = [side for box in self._boxes for side in box if side[0] == at]
        if len(sides) < len(self._boxes):
            return False
        # Cut c sends x <= cuts[c] left, so it cuts a box exactly if low <= cuts[c] < high.
        cut = np.zeros(len(column.cuts), dtype=bool)
        for _, low, high in sides:
            cut |= (column.cuts >= low) & (column.cuts < high)
        # To ask whether a value is missing cuts no box, as all its points have values.
        return column.kind == "categorical" or column.has_missing or not cut.all()

    # ---- the core's side ------------------------------------------------------------------------------------------

    def native(self) -> _core.Knowledge:
        """The constraints as the core takes them."""
        columns = range(len(self.schema.columns))
        return _core.Knowledge(
            max_depth=min(self.max_depth, default=None),
            max_leaves=min(self.max_leaves, default=None),
            forbidden=self._forbidden,
            below_depth=self._below_depth,
            below_feature=self._below_feature,
            only=self._only,
            interacting=self._groups,
            boxes=self._boxes,
            weights=[self._weights.get(at, 1.0) for at in columns] if self._weights else [],
            monotone=[self._signs.get(at, 0) for at in columns] if self._signs else [],
        )


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=4)
