"""A model file to be damaged, of any family."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustness.damage import content


@pytest.fixture
def model(name: str, tmp_path: Path) -> Path:
    """A copy of the file of the case that `name` says."""
    path = tmp_path / "model.baytree"
    path.write_bytes(content(name))
    return path
