"""What somebody does first with an installed package: a table, a fit, a prediction and a look, in an empty folder.

    python tests/packages/first_use.py

Run by ``make dist`` in a clean environment, where only what baytree requires is installed, and on each wheel that is
built for others. Only public names are used.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import baytree as bt

COMMANDS = """
data
data kyphosis --out table.csv
fit table.csv --target kyphosis --seed 1 --out tree.baytree
show tree.baytree
predict tree.baytree table.csv --out new.csv
predict tree.baytree table.csv
slp check growtree.slp
"""
# What no part of these needs.
OPTIONAL = ("polars", "pyarrow", "pandas", "matplotlib", "arviz_base", "xarray")


def commands() -> None:
    """The commands, one after the other."""
    for line in COMMANDS.strip().splitlines():
        done = subprocess.run([sys.executable, "-m", "baytree", *line.split()], capture_output=True, text=True)
        assert done.returncode == 0, f"baytree {line}: {done.returncode}\n{done.stdout}{done.stderr}"
    assert len(Path("new.csv").read_text().splitlines()) == 82


def python() -> None:
    """A model of each kind, saved, loaded and asked."""
    data = bt.datasets.friedman(100, seed=1)
    for model in (bt.CART(), bt.BART(trees=10), bt.Subset(), bt.HME(depth=1)):
        design: Any = bt.read("table.csv", "age") if isinstance(model, bt.CART) else data.design()
        if isinstance(model, bt.Subset | bt.HME):
            design = bt.make_linear_design(data.X, data.y)
        posterior = bt.sample(model, design, warmup=50, draws=50, seed=1, progress=False)
        posterior.save("model.baytree")
        again, rows = bt.load("model.baytree"), "table.csv" if isinstance(model, bt.CART) else data.X
        assert np.isfinite(again.predict(rows)).all()
        assert str(again.summary())


def remedies() -> None:
    """What is not installed is named, with the command that installs it."""
    posterior = bt.load("tree.baytree")
    if importlib.util.find_spec("polars") is None and importlib.util.find_spec("pyarrow") is None:
        Path("t.parquet").touch()
        says("baytree[polars]", lambda: bt.read("t.parquet", "y"))
    if importlib.util.find_spec("arviz_base") is None:
        says("baytree[arviz]", posterior.to_datatree)
    if importlib.util.find_spec("matplotlib") is None:
        ensemble = bt.sample(
            bt.BART(trees=3), bt.datasets.friedman(30).design(), warmup=5, draws=5, seed=1, progress=False
        )
        says("baytree[plot]", lambda: ensemble.variable_use().plot())


def says(remedy: str, call: Callable[[], Any]) -> None:
    said = ""
    try:
        call()
    except bt.InputError as error:
        said = str(error)
    assert f"pip install '{remedy}'" in said, f"{remedy} is not named: {said}"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        commands()
        python()
        remedies()
        os.chdir("/")
    absent = [name for name in OPTIONAL if importlib.util.find_spec(name) is None]
    print(
        f"baytree {bt.__version__} on Python {sys.version.split()[0]} works, without {', '.join(absent) or 'nothing'}"
    )


if __name__ == "__main__":
    main()
