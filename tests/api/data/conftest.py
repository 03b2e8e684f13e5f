"""Who reads tables."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(params=["polars", "plain"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """polars, or our own reader where there is none."""
    if request.param == "plain":
        monkeypatch.setitem(sys.modules, "polars", None)
    return request.param
