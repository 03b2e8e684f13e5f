"""The programs that come with baytree, and programs in files."""

from __future__ import annotations

import os
from pathlib import Path

from ..data.files import read_text
from ..errors import InputError
from .limits import Limits
from .program import Program
from .proposals import Semantics

SHIPPED = Path(__file__).parent / "programs"


def find(path: str | os.PathLike[str]) -> Path:
    """The file itself or, for a bare name that is no file here, the shipped program of that name."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"{path!r}: give the name of a file")
    found = Path(path)
    if not found.exists() and found.name == str(path) and (SHIPPED / found.name).is_file():
        return SHIPPED / found.name
    return found


def load(path: str | os.PathLike[str], semantics: Semantics = "backtrack", limits: Limits | None = None) -> Program:
    """Read a program from a file.

    Parameters
    ----------
    path : path
        The file. A bare name that is no file here is looked up among the shipped ones: ``growtree.slp``,
        ``edittree.slp``, ``boxes.slp``, ``network.slp``.
    semantics : {"backtrack", "reject"}
        What a failure means; see `Program`.
    limits : Limits, optional
        What one proof may cost.

    Returns
    -------
    Program
    """
    return Program(read_text(find(path)), str(path), semantics, limits or Limits())
