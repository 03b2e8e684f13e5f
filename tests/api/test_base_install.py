"""What needs no extra works where none is installed, and what needs one says which."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from packages.first_use import OPTIONAL

# Read by every Python that starts, those of the commands included.
SITE = """
from importlib.machinery import PathFinder

find = PathFinder.find_spec

def find_spec(cls, name, path=None, target=None):
    return None if name.partition(".")[0] in ABSENT else find(name, path, target)

PathFinder.find_spec = classmethod(find_spec)
"""
FIRST_USE = Path(__file__).parents[1] / "packages" / "first_use.py"


@pytest.mark.slow
def test_first_use_without_extras(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"ABSENT = {OPTIONAL!r}\n{SITE}")
    done = subprocess.run(
        [sys.executable, FIRST_USE], env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert f"works, without {', '.join(OPTIONAL)}" in done.stdout
