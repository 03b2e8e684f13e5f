"""Files that a command reads and writes."""

from __future__ import annotations

import os
from pathlib import Path

from .. import datasets
from ..errors import FileError, InputError
from ..storage import is_begun, open_model, partial_path, require_free

# Names of tables, which a model would make unreadable for other programs.
TABLE_ENDINGS = (".csv", ".tsv", ".parquet", ".gz")


def require_file(path: Path) -> None:
    """Refuse a file that does not exist; where it looks like a bundled data set, say how to get that."""
    if not path.exists() and path.stem in datasets.names():
        name = path.stem
        raise FileError(
            f"{path}: no such file. To get the bundled data set of this name: baytree data {name} --out {name}.csv"
        )


def require_folder(path: Path) -> None:
    """Refuse, before any work, a file to write in a folder that does not exist or takes none."""
    if not path.parent.is_dir():
        raise FileError(f"--out {path}: there is no folder {path.parent}; check the name, or make the folder first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise FileError(f"--out {path}: you may not write there; choose another folder")


def require_place(path: Path) -> None:
    """Refuse to write over anything but a model, before any time is spent on sampling."""
    if path.is_dir():
        raise FileError(f"--out {path}: this is a folder; name a file in it")
    if path.suffix.lower() in TABLE_ENDINGS:
        raise InputError(f"--out {path}: a model is not a table; choose a name that ends in .baytree")
    require_folder(path)
    require_free(path)
    if path.exists():
        try:
            with open_model(path):
                pass
        except FileError as error:
            raise FileError(f"--out {path}: exists and is not a model; choose another name or remove it") from error


def require_no_unfinished(path: Path) -> None:
    """Refuse to begin anew where a run can still be finished."""
    partial = partial_path(path)
    if is_begun(partial):
        raise FileError(f"{partial}: an unfinished run is there; finish it with --resume, or remove the file")
