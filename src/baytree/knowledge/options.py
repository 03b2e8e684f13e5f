"""Options of the command line by which constraints are said, and how their texts are read."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError


@dataclass(frozen=True)
class Option:
    """One way to say something on the command line.

    Attributes
    ----------
    name : str
        As a parameter: ``forbid_below`` is written ``--forbid-below``.
    help : str
        A sentence.
    metavar : str, optional
        What stands for the value in help.
    takes : {str, int, bool}
        Texts, by repeating the option; one number; or nothing, as the option says all.
    together : bool
        Whether all its texts are one constraint, rather than one each.
    ensembles : bool
        Whether only sums of trees have it.
    """

    name: str
    help: str
    metavar: str | None = None
    takes: type[str | int | bool] = str
    together: bool = False
    ensembles: bool = False


def assigned(text: str, example: str) -> tuple[str, str]:
    """A column and what holds of it."""
    column, equals, value = text.rpartition("=")
    if not equals or not column.strip() or not value.strip():
        raise InputError(f"write a column and what holds of it, such as {example}")
    return column.strip(), value.strip()


def names_in(text: str) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
