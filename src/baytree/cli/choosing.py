"""Which family fits a table where nobody said: by what was asked for, and else by the table."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ..data.design import AnyDesign
from ..text import listed
from ..validation import threads_of
from .declaring import RAW, asked_of, option
from .families import FAMILIES, AnyFamily
from .output import Output

# In the order in which they are asked: whether they have all options that were written.
ONE, MANY = FAMILIES["cart"], FAMILIES["bart"]
ORDER = (ONE, MANY, *(family for family in FAMILIES.values() if family not in (ONE, MANY)))
# What says how a single tree is drawn, although sums of trees know it as well.
OF_ONE = ("prior",)


def chosen_family(context: Any, output: Output) -> tuple[AnyFamily, AnyDesign | None, str]:
    """The family, the table where it had to be read for that, and in a line why.

    Options that one family alone has choose it. Else a table that is so small that every tree can be added up gets
    single trees, whose answers are then exact, and any other one a sum of trees.
    """
    written = [name for name in context.meta[RAW] if name in _options_of(*ORDER)]
    able = [family for family in ORDER if not set(written) - _options_of(family)]
    if not able:
        return ONE, None, ""  # which refuses what it does not have
    if able[:2] != [ONE, MANY]:
        family = able[0]
        lacking = _options_of(MANY if family is ONE else ONE)
        decided = [option(name) for name in written if name not in lacking]
        return family, None, f"{family.about}, which {listed(decided)} {_is(decided)} about"
    if decided := [option(name) for name in written if name in OF_ONE]:
        return ONE, None, f"{ONE.about}, which {listed(decided)} shapes; --model {MANY.name}: {MANY.about}"
    for family in (ONE, MANY):  # so that what cannot be is refused before the table is read
        family.build(asked_of(context, family), output)
    asked = asked_of(context, MANY)
    design: Any = MANY.read(asked)
    if ONE.is_summed(design, threads_of(asked.threads)):
        why = "for in so small a table every one can be counted"
        return ONE, design, f"{ONE.about}, {why}; --model {MANY.name}: {MANY.about}"
    why = "which predicts best where trees are too many to count"
    return MANY, design, f"{MANY.about}, {why}; --model {ONE.name}: {ONE.about}, to read"


def _options_of(*families: AnyFamily) -> set[str]:
    return {one.name for family in families for one in fields(family.fit)}


def _is(words: list[str]) -> str:
    return "is" if len(words) == 1 else "are"
