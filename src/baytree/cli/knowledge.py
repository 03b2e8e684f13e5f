"""What is known about the trees, as options that commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from ..knowledge import Constraint, Knowledge, read_knowledge
from ..knowledge.entries import telling
from ..knowledge.options import Option
from .declaring import KNOWLEDGE, Options, option, words

Class = TypeVar("Class", bound=type)


def _of_constraints(ensembles: bool) -> Callable[[Class], Class]:
    """Give a class of options a field for each option of the constraints."""

    def declare(options: Class) -> Class:
        found = [one for kind in Constraint.kinds.values() for one in kind.options if one.ensembles == ensembles]
        options.__annotations__ = {one.name: _annotation(one) for one in found} | options.__annotations__
        for one in found:
            setattr(options, one.name, None)
        return options

    return declare


def _annotation(one: Option) -> Any:
    repeated = one.takes is str
    declared = typer.Option(
        option(one.name),
        metavar=one.metavar,
        help=f"{one.help} May be repeated." if repeated else one.help,
        rich_help_panel=KNOWLEDGE,
    )
    taken: Any = list[str] if repeated else one.takes
    return Annotated[taken | None, declared]


@dataclass(kw_only=True)
@_of_constraints(ensembles=False)
class KnowledgeOptions(Options):
    """What is known about trees."""

    knowledge: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A TOML file that says such things.", rich_help_panel=KNOWLEDGE)
    ] = None

    @cached_property
    def known(self) -> Knowledge:
        """What the options say, after what the file says."""
        of_file = read_knowledge(self.knowledge).constraints if self.knowledge else ()
        return Knowledge((*of_file, *self._said()))

    def _said(self) -> Iterator[Constraint]:
        for kind in Constraint.kinds.values():
            for one in kind.options:
                given: Any = getattr(self, one.name, None)
                left_out = given is None or given == []
                for value in () if left_out else given if one.takes is str and not one.together else (given,):
                    with telling(f"{' '.join(words(one.name, value))}: "):
                        yield kind.from_option(one.name, value)


@dataclass(kw_only=True)
@_of_constraints(ensembles=True)
class EnsembleKnowledgeOptions(KnowledgeOptions):
    """What is known about many trees."""
