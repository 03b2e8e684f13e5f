"""A model file to be damaged, of any family."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from families import EVERY


@cache
def content(name: str) -> bytes:
    """What a file of one of the cases holds."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.baytree"
        EVERY[name].sample().save(path)
        return path.read_bytes()


@pytest.fixture
def model(name: str, tmp_path: Path) -> Path:
    """A copy of the file of the case that `name` says."""
    path = tmp_path / "model.baytree"
    path.write_bytes(content(name))
    return path
