"""One system on one data set, measured in a process of its own, which `benchmarks.bart` starts; it prints JSON.

Time and memory are read from /proc, as the system may be a process of another language. A sweep's time is the
difference between two runs of different warm-up, both with one draw, so that set-up and what a program does with its
draws are not in it.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import baytree as bt
from baytree.diagnostics.comparison import ess_of

from .bart_systems import SYSTEMS, Fit, System

TEST_ROWS, WATCHED_ROWS = 5_000, 100


@dataclass(frozen=True)
class Trial:
    """What to measure.

    Attributes
    ----------
    system : str
        One of `SYSTEMS`.
    n, threads, seed : int
        Rows, threads, and the seed of data and chain.
    start : int
        The sweeps before those that are timed.
    seconds : float
        The processor time that the timed sweeps should take at least.
    warmup, draws : int
        Of the run for accuracy; without draws there is none.
    """

    system: str
    n: int
    threads: int
    seed: int
    start: int
    seconds: float
    warmup: int
    draws: int


def friedman(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of Friedman's function, and what it is there with noise of standard deviation 1."""
    data = bt.datasets.friedman(n, seed=seed)
    return np.ascontiguousarray(data.X.to_numpy()), data.y


def test_rows() -> tuple[np.ndarray, np.ndarray]:
    """Fresh rows and f there."""
    data = bt.datasets.friedman(TEST_ROWS, noise=0.0, seed=10**6)
    return np.ascontiguousarray(data.X.to_numpy()), data.y


@dataclass(frozen=True)
class Time:
    """Seconds on the clock, and of all threads on processors."""

    wall: float
    cpu: float

    def __sub__(self, other: Time) -> Time:
        return Time(self.wall - other.wall, self.cpu - other.cpu)

    def __truediv__(self, parts: int) -> Time:
        return Time(self.wall / parts, self.cpu / parts)


def now(pid: int) -> Time:
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    # utime and stime are the 14th and 15th fields, counted from the process id.
    return Time(time.perf_counter(), (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK"))


def timed(pid: int, act: Callable[[], Any]) -> tuple[Time, Any]:
    began = now(pid)
    result = act()
    return now(pid) - began, result


def memory_mib(pid: int, field: str) -> float:
    """``VmRSS``, the resident size now, or ``VmHWM``, the largest since the last `forget_peak`."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def forget_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def sweep_time(system: System, start: int, seconds: float) -> tuple[Time, int]:
    """A sweep's time after the first ``start``, and the number of sweeps that it was taken from."""

    def run(warmup: int) -> Time:
        system.compile(warmup, 1)
        return timed(system.pid, lambda: system.fit(warmup, 1))[0]

    short, sweeps = run(start), start
    while (spent := run(start + sweeps) - short).cpu < seconds:
        sweeps = int(sweeps * min(50.0, max(2.0, 1.2 * seconds / max(spent.cpu, 0.01))))
    return spent / sweeps, sweeps


def accuracy(fit: Fit, pid: int) -> dict[str, float]:
    """How well a fit's draws know f, how long they took to be had, and how many independent ones they are worth."""
    rows, truth = test_rows()
    fit.f(rows)  # where code is compiled for this size, that is not prediction
    predicting, f = timed(pid, lambda: fit.f(rows))
    f = np.asarray(f, dtype=float)
    low, high = np.quantile(f, [0.025, 0.975], axis=0)
    return {
        "rmse": float(np.sqrt(np.mean((f.mean(axis=0) - truth) ** 2))),
        "coverage": float(np.mean((low <= truth) & (truth <= high))),
        "width": float(np.mean(high - low)),
        "sigma": float(fit.sigma.mean()),
        "ess_f": float(np.nanmedian(ess_of(f[None, :, :WATCHED_ROWS])[0])),
        "ess_sigma": float(ess_of(fit.sigma[None, :, None])[0][0]),
        "predict_wall": predicting.wall,
        "predict_cpu": predicting.cpu,
    }


def measure(trial: Trial) -> dict[str, float]:
    """All figures of a trial: seconds, MiB and those of `accuracy`."""
    X, y = friedman(trial.n, trial.seed)
    system = SYSTEMS[trial.system](trial.threads, trial.seed)
    system.load(X[:200], y[:200])
    system.fit(1, 1)  # libraries are loaded on first use: they are not the fit's memory
    system.load(X, y)
    forget_peak(system.pid)
    before = memory_mib(system.pid, "VmRSS")
    first, _ = timed(system.pid, lambda: system.compile(0, 1))
    setup, _ = timed(system.pid, lambda: system.fit(0, 1))
    sweep, sweeps = sweep_time(system, trial.start, trial.seconds)
    figures = {
        "compile": max(0.0, first.wall - setup.wall),
        "setup": setup.wall,
        "sweep_wall": sweep.wall,
        "sweep_cpu": sweep.cpu,
        "sweeps": sweeps,
    }
    if trial.draws:
        system.compile(trial.warmup, trial.draws)
        fitting, fit = timed(system.pid, lambda: system.fit(trial.warmup, trial.draws))
        figures |= {"fit_wall": fitting.wall, "fit_cpu": fitting.cpu}
    figures["peak"] = memory_mib(system.pid, "VmHWM") - before
    if trial.draws:
        figures |= accuracy(fit, system.pid)
    return figures


if __name__ == "__main__":
    print(json.dumps(measure(Trial(**json.loads(sys.argv[1])))))
