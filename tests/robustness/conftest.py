"""A model file to be damaged, as every family's tests take it."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def model(contents: dict[str, bytes], kind: str, tmp_path: Path) -> Path:
    """A copy of one of the module's files: `contents` holds them, `kind` says which."""
    path = tmp_path / "model.baytree"
    path.write_bytes(contents[kind])
    return path
