"""Knowledge about the columns of one table, by their positions: what the core takes, and what contradicts itself."""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import Any

import numpy as np

from .. import _core
from ..data.binning import Column
from ..data.design import Schema
from ..errors import InputError
from ..validation import position_of, unknown_choice
from .base import Feature, listed


class Resolved:
    """Constraints stated one after the other; one that does not fit the table or those before it is refused.

    Parameters
    ----------
    schema : Schema
        The table.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._lists: dict[str, list[Any]] = defaultdict(list)
        self._limits: dict[str, list[int]] = defaultdict(list)
        self._values: dict[str, dict[int, Any]] = defaultdict(dict)
        self._others: dict[str, Any] = {}

    # ---- stating: fields of the core's knowledge ------------------------------------------------------------------

    def add(self, field: str, item: Any) -> None:
        """State one more of what a field lists."""
        self._lists[field].append(item)

    def limit(self, field: str, most: int) -> None:
        """State a limit; of several the smallest holds."""
        self._limits[field].append(most)

    def assign(self, field: str, at: int, value: Any, others: Any) -> Any:
        """State a value of a column in a field that has one for each, and say which it had before, if any."""
        before = self._values[field].get(at)
        self._values[field][at] = value
        self._others[field] = others
        return before

    # ---- columns --------------------------------------------------------------------------------------------------

    def position(self, who: str, feature: Feature) -> int:
        """The position of a column, for the constraint that is named first in an error."""
        names = self.schema.names
        if isinstance(feature, int) or feature in names:
            return position_of(who, feature, names)
        if feature == self.schema.response.name:
            raise InputError(f"{who}: {feature!r} is the response, about which a tree does not ask; name other columns")
        raise InputError(f"{who}: {unknown_choice('column', feature, names)}")

    def numeric_position(self, who: str, feature: Feature, otherwise: str) -> int:
        """The position of a column of numbers; `otherwise` says why it can be no other."""
        at = self.position(who, feature)
        if self.schema.columns[at].kind == "categorical":
            raise InputError(
                f"{who}: {self.name(at)} is categorical and {otherwise}; leave it out, or give it as numbers"
            )
        return at

    def name(self, at: int) -> str:
        """The name of the column at a position."""
        return self.schema.names[at]

    # ---- judging --------------------------------------------------------------------------------------------------

    def require_possible(self) -> None:
        """Refuse constraints that together leave nothing to ask about."""
        every = set(range(len(self.schema.columns)))
        if self._excluded(0) == every:
            raise InputError("Forbid: every column is forbidden; leave one to ask about")
        for depth in sorted({depth for depth, _ in self._listed("only")}):
            lists = [features for at, features in self._listed("only") if at == depth]
            common = set(lists[0]).intersection(*lists[1:])
            if not common:
                said = " and ".join(f"[{', '.join(map(self.name, features))}]" for features in lists)
                raise InputError(f"Only: at depth {depth} {said} have no column in common; name one in all of them")
            if common <= self._excluded(depth):
                names = listed(map(self.name, sorted(common)), "or")
                raise InputError(
                    f"Only: at depth {depth} a tree asks about {names} only, which Forbid excludes there; take one out "
                    "of Forbid, or name another"
                )

    def warn(self) -> None:
        """Say what holds though it is probably not meant."""
        for name, field, least in (("MaxDepth", "max_depth", 0), ("MaxLeaves", "max_leaves", 1)):
            sizes = self._limits.get(field, [])
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

    def _listed(self, field: str) -> list[Any]:
        return self._lists.get(field, [])

    def _excluded(self, depth: int) -> set[int]:
        """The columns that are not asked about at a depth, whatever lies above."""
        return {*self._listed("forbidden"), *(at for at, least in self._listed("below_depth") if depth >= least)}

    def _askable_at_root(self) -> set[int]:
        listed_there = [set(features) for depth, features in self._listed("only") if depth == 0]
        return set(range(len(self.schema.columns))).intersection(*listed_there) - self._excluded(0)

    def _leaves_boxes_whole(self, at: int) -> bool:
        """Whether a column has a rule that cuts no box."""
        column: Column = self.schema.columns[at]
        sides = [side for box in self._listed("boxes") for side in box if side[0] == at]
        if len(sides) < len(self._listed("boxes")):
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
        stated: dict[str, Any] = dict(self._lists)
        stated |= {field: min(limits) for field, limits in self._limits.items()}
        stated |= {field: [of.get(at, self._others[field]) for at in columns] for field, of in self._values.items()}
        return _core.Knowledge(**stated)


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=4)
