"""The errors a person can act on: what is wrong, the value, the remedy."""

from __future__ import annotations

LISTED_CHOICES = 20


class InputError(ValueError):
    """Input that cannot be used; the message says what, the value and the remedy."""


class InputTypeError(InputError, TypeError):
    """Input of a type that is not supported, such as sparse matrices or nested cells."""


class FileError(InputError):
    """A file that cannot be read: missing, damaged or foreign."""


class InterruptedSampling(UserWarning):
    """Sampling ended early at the user's wish; what was drawn is kept."""
