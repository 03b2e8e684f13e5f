"""What the tests of equality share."""

import pytest

from baytree.sampling import run as sampling


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """An iteration is a block, the first excepted, and after each there is a checkpoint."""
    monkeypatch.setattr(sampling, "FIRST_BLOCK", 64)
    monkeypatch.setattr(sampling, "BLOCK_SECONDS", 1e-9)
    monkeypatch.setattr(sampling, "CHECKPOINT_SECONDS", 0.0)
