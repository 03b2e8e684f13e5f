"""Files that a command reads and writes."""

from __future__ import annotations

from pathlib import Path

from ..errors import FileError


def require_folder(path: Path) -> None:
    """Refuse, before any work, a file to write in a folder that does not exist."""
    if not path.parent.is_dir():
        raise FileError(f"--out {path}: there is no folder {path.parent}; check the name, or make the folder first")


def require_file(path: Path) -> None:
    """Refuse a file that does not exist; where it looks like a bundled data set, say how to get that."""
    from .. import datasets

    if not path.exists() and path.stem in datasets.names():
        name = path.stem
        raise FileError(
            f"{path}: no such file. To get the bundled data set of this name: baytree data {name} --out {name}.csv"
        )
