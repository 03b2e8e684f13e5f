"""A process that was forked from one where polars read a table reads without polars, which would wait for ever."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from robustness.bad_inputs.files import GOOD

CODE = """
import multiprocessing, sys
import baytree as bt

def work(name):
    try:
        if name == "read":
            return bt.read("t.csv", "y").rows
        return len(posterior.predict("t.csv" if name == "predict" else [[1.0, 2.0]]))
    except bt.InputError as error:
        return str(error)

if __name__ == "__main__":
    method, *names = sys.argv[1:]
    posterior = bt.sample(bt.CART(), bt.read("t.csv", "y"), draws=2, warmup=1, chains=1, progress=False)
    with multiprocessing.get_context(method).Pool(1) as pool:
        for name in names:
            print(pool.apply_async(work, (name,)).get(60))
"""


def said(folder: Path, *arguments: str) -> list[str]:
    """What a process says that starts another by a method, which reads and predicts."""
    (folder / "t.csv").write_text(GOOD)
    (folder / "starts.py").write_text(CODE)
    command = [sys.executable, "starts.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_forked_process_reads_without_polars(tmp_path: Path) -> None:
    assert said(tmp_path, "fork", "read", "predict", "array") == ["30", "30", "1"]


def test_a_spawned_process_does(tmp_path: Path) -> None:
    assert said(tmp_path, "spawn", "read") == ["30"]
