"""Options as data: a command takes a dataclass, whose fields are its options, and each family may add to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from copy import copy
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_type_hints

import typer
from typer.core import TyperCommand

from ..errors import InputError
from ..text import listed
from ..validation import is_near

if TYPE_CHECKING:
    from .families import AnyFamily

# The panels of a help page, in their order; options of no panel come first.
DATA, MODEL, KNOWLEDGE, SAMPLING = "The data", "The model", "What is known about the trees", "Sampling"
PANELS = (None, DATA, MODEL, KNOWLEDGE, SAMPLING)
# Typer has click's class or a copy of it, by version, and names neither.
UsageError: Any = typer.BadParameter.__base__
# The options that the command at hand asks, where its family is known, by which messages name them.
CONCERNED: ContextVar[type | None] = ContextVar("concerned", default=None)
# Where a context keeps what stands on the command line, by field and unconverted.
RAW = "baytree.raw"


@dataclass(kw_only=True)
class Options:
    """What was asked of a command: a field for each option, declared as typer takes it.

    Attributes
    ----------
    written : tuple of str
        The fields that a person wrote rather than left at their defaults, in the order of the command line.
    instead : mapping of str to str
        What to do in place of an option that others have, by its field.
    """

    instead: ClassVar[Mapping[str, str]] = {}

    written: tuple[str, ...] = field(default=(), init=False)

    @classmethod
    def of(cls, context: typer.Context) -> Self:
        """What stands on a command line, read as the options of this class."""
        raw, maker = context.meta[RAW], _maker(cls)
        for parameter in maker.params:
            parameter.handle_parse_result(context, raw, [])
        asked = maker.callback(**{parameter.name: context.params[parameter.name] for parameter in maker.params})
        asked.written = tuple(raw)
        return asked


def option(name: str) -> str:
    """How a field is written on the command line."""
    return f"--{name.removeprefix('as_').replace('_', '-')}"


def words(name: str, value: Any) -> list[str]:
    """How a field and its value are written on the command line."""
    values = value if isinstance(value, list) else [value]
    return [word for one in values for word in ([option(name)] if one is True else [option(name), str(one)])]


def _make(options: Any) -> Any:
    """A command that does nothing but make an object of a class of options."""
    hints = get_type_hints(options, include_extras=True)
    declared = [
        Parameter(
            one.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if one.default is MISSING else one.default,
            annotation=hints[one.name],
        )
        for one in fields(options)
        if one.init
    ]

    def make(**values: Any) -> Options:
        return options(**values)

    make.__signature__ = Signature(declared)  # type: ignore[attr-defined]
    app = typer.Typer(add_completion=False)
    app.command()(make)
    return typer.main.get_command(app)


_maker: Callable[[Any], Any] = cache(_make)


class Command(TyperCommand):
    """A command whose function takes the context alone, whose object is what was asked.

    Attributes
    ----------
    options : type of Options
        What it asks, whatever the family.
    families : mapping of str to Family
        The families that may ask more, each by an attribute that has the name of the command.
    """

    options: ClassVar[type[Options]]
    families: ClassVar[Mapping[str, AnyFamily]] = {}

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.params = list(_maker(self.options).params)

    def concerned(self, context: Any) -> Iterable[AnyFamily]:
        """The families whose options help shows."""
        return self.families.values()

    def with_options_of(self, families: Iterable[AnyFamily]) -> Any:
        """The command with the options of some families as its own, each once, those of a panel side by side."""
        found = {parameter.name: parameter for parameter in self.params}
        for family in families:
            found = {parameter.name: parameter for parameter in _maker(getattr(family, str(self.name))).params} | found
        command = copy(self)
        command.params = sorted(found.values(), key=lambda one: PANELS.index(getattr(one, "rich_help_panel", None)))
        return command

    # ---- what typer asks of a command -----------------------------------------------------------------------------

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep what stands on the command line for `Options.of`; only help is answered here."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        whole = self.with_options_of(self.families.values())
        try:
            ctx.meta[RAW], ctx.args, _ = whole.make_parser(ctx).parse_args(args=args)
        except UsageError as error:
            written = getattr(error, "option_name", "")
            error.possibilities = [one for one in getattr(error, "possibilities", None) or () if is_near(written, one)]
            raise
        help_option: Any = self.get_help_option(ctx)
        help_option.handle_parse_result(ctx, ctx.meta[RAW], [])
        if ctx.args:
            ctx.fail(f"Got unexpected extra arguments: {' '.join(ctx.args)}")
        return ctx.args

    def invoke(self, ctx: Any) -> Any:
        """Call the function with what was asked as the object of its context."""
        ctx.obj = self.options.of(ctx)
        return ctx.invoke(self.callback)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the options of the command and of the families that are concerned."""
        TyperCommand.format_help(self.with_options_of(self.concerned(ctx)), ctx, formatter)

    def get_params(self, ctx: Any) -> list[Any]:
        """The options of the command; where a shell completes a line, those of every family as well."""
        families = self.families.values() if ctx.resilient_parsing else ()
        return TyperCommand.get_params(self.with_options_of(families) if families else self, ctx)


def asked_of(context: typer.Context, family: AnyFamily, held: Path | None = None) -> Any:
    """What was asked of a family; an option of others is refused.

    Parameters
    ----------
    context : typer.Context
        Where a command with families runs.
    family : Family
        The one that was chosen.
    held : Path, optional
        The file that says so, where nobody did.
    """
    asks = getattr(family, str(context.command.name))
    CONCERNED.set(asks)
    asked = asks.of(context)
    for name in asked.written:
        if not hasattr(asked, name):
            raise _foreign(context.command, name, family, held)
    return asked


def _foreign(command: Any, name: str, family: AnyFamily, held: Path | None) -> InputError:
    asks = {one: getattr(one, command.name) for one in command.families.values()}
    owners = [owner for owner, options in asks.items() if name in {one.name for one in fields(options)}]
    written, instead = option(name), asks[family].instead
    what = f"{written} is for {listed([owner.plural for owner in owners])}"
    if held is not None:
        what = f"{what}, and {held} holds {family.plural}"
    if name in instead:
        return InputError(f"{what}: {instead[name]}; leave {written} out")
    models = " or ".join(f"--model {owner.name}" for owner in owners)
    choose = f"choose {models}, or " if held is None else ""
    return InputError(f"{what}; {choose}leave {written} out")
