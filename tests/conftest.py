"""Makes the shared reference code importable: the tests say ``from exact.enumeration import ...``."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: a statistical test of more than a few seconds")
