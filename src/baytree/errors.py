"""The errors a person can act on: what is wrong, the value, the remedy."""

from __future__ import annotations

from .text import HARMLESS

LISTED_CHOICES = 20
# Longer messages lose their middle: the beginning says what, the end the remedy.
MOST_LETTERS = 4000


class InputError(ValueError):
    """Input that cannot be used; the message says what, the value and the remedy.

    It may quote a file of anybody's, so it has no signs that a terminal obeys, and an end.
    """

    def __str__(self) -> str:
        said = super().__str__().translate(HARMLESS)
        half = MOST_LETTERS // 2
        return said if len(said) <= MOST_LETTERS else f"{said[:half]} … {said[-half:]}"


class InputTypeError(InputError, TypeError):
    """Input of a type that is not supported, such as sparse matrices or nested cells."""


class CellError(InputError):
    """A cell that cannot be used, by its column, its row and its value.

    Parameters
    ----------
    column : str
        The name of the column.
    row : int
        The row, counted from 0.
    value : object
        What stands there.
    why : str
        What is wrong with it, and the remedy.
    """

    def __init__(self, column: str, row: int, value: object, why: str) -> None:
        super().__init__(f"column {column!r}, row index {row}: {value!r} {why}")
        self.cell = column, row, value, why

    def below(self, rows: int) -> CellError:
        """The same of a table that so many rows stand before."""
        column, row, value, why = self.cell
        return CellError(column, row + rows, value, why)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), self.cell


class FileError(InputError):
    """A file that cannot be read: missing, damaged or foreign."""


class InterruptedSampling(UserWarning):
    """Sampling ended early at the user's wish; what was drawn is kept."""


class ConvergenceWarning(UserWarning):
    """The chains of an estimator do not agree, so that another seed would give other answers; it says what to try."""
