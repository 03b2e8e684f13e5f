"""Runs in processes of their own, to which something is done; each must end well, or go on to the same bits.

Processes are forked from a server that has everything imported, so that a moment of a run is hit, not one of its start.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import arviz_stats.base  # noqa: F401  what a run imports on its way
import numpy as np
import sklearn.tree  # noqa: F401

import baytree as bt
from baytree.sampling import run as sampling
from baytree.storage import is_begun, partial_path
from families import EVERY

CASES = ("cart: two classes", "bart: numbers", "subset: sampled", "hme: numbers")
# Checkpoints after every block, and blocks of an iteration: so there are hundreds, and most of the time one is written.
RUN: dict[str, Any] = {"warmup": 30, "draws": 60, "thin": 1}
NOBODY = 65534
WAIT = 120.0

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["robustness.victims"])


@cache
def begin_server() -> None:
    """Begin the server of processes, which does not hear of our `sys.path` otherwise."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])
    forkserver.ensure_running()
    os.environ.pop("PYTHONPATH")
    if before is not None:
        os.environ["PYTHONPATH"] = before


def fit(name: str, path: Path, before: Callable[[], None] | None, pipe: Any) -> None:
    """What a victim does: say when it begins and, where it comes to an end, how."""
    warnings.simplefilter("ignore")
    sampling.BLOCK_SECONDS, sampling.CHECKPOINT_SECONDS = 1e-9, 0.0
    if isinstance(before, Limit):
        # Libraries of linear algebra end the process where they get no memory for what they take at first.
        EVERY[name].sample(**RUN | {"draws": 1, "warmup": 0})
    if before is not None:
        before()
    pipe.send("begins")
    try:
        case = EVERY[name]
        if is_begun(partial_path(path)):
            bt.resume(path, case.design, progress=False)
        else:
            case.sample(checkpoint=path, **RUN)
        pipe.send("done")
    except (bt.InputError, MemoryError, RuntimeError) as error:
        pipe.send(f"{type(error).__name__}: {error}")


class Victim:
    """A process that fits a case, or goes on with what another left."""

    def __init__(self, name: str, path: Path, before: Callable[[], None] | None = None) -> None:
        begin_server()
        self.pipe, theirs = CONTEXT.Pipe()
        self.process: BaseProcess = CONTEXT.Process(target=fit, args=(name, path, before, theirs))
        self.process.start()
        theirs.close()
        assert self.pipe.poll(WAIT) and self.pipe.recv() == "begins"

    def send(self, number: int) -> None:
        """A signal; none where it has ended already."""
        if self.process.pid is not None and self.process.is_alive():
            os.kill(self.process.pid, number)

    def end(self) -> str:
        """Wait, and give what it said, or how it was ended."""
        self.process.join(WAIT)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
            return "hang"
        try:
            return str(self.pipe.recv())
        except EOFError:
            code = self.process.exitcode or 0
            return f"signal {-code}" if code < 0 else f"exit code {code}"


@cache
def usual(name: str) -> np.ndarray:
    """The log-likelihoods of a run that nothing is done to."""
    return np.asarray(EVERY[name].sample(**RUN).log_likelihood)


@cache
def seconds(name: str) -> float:
    """How long such a run takes."""
    with folder_of_victims() as folder:
        victim, began = Victim(name, folder / "timed.baytree"), time.monotonic()
        assert victim.end() == "done"
        return time.monotonic() - began


def require_nothing_lost(name: str, path: Path) -> None:
    """Go on with what is left, as a person does, and see the bits of the run that nothing was done to."""
    if not path.exists():
        fresh = not is_begun(partial_path(path))
        case = EVERY[name]
        case.sample(checkpoint=path, **RUN) if fresh else bt.resume(path, case.design, progress=False)
    np.testing.assert_array_equal(bt.load(path).log_likelihood, usual(name))
    assert not partial_path(path).exists()


# ---- what is done to them; each gives what the run said of it -------------------------------------------------------


def killed(number: int, within: float | None = None) -> Callable[[str, Path, np.random.Generator], str]:
    """Sent a signal at a random moment, of the whole run or of its first seconds."""

    def inject(name: str, path: Path, generator: np.random.Generator) -> str:
        last = seconds(name) if within is None else within
        victim = Victim(name, path)
        time.sleep(generator.uniform(0, last))
        victim.send(number)
        said = victim.end()
        assert said in (f"signal {number}", "done"), said
        return said

    return inject


def killed_twice(name: str, path: Path, generator: np.random.Generator) -> str:
    """And again while it goes on."""
    inject = killed(signal.SIGKILL)
    inject(name, path, generator)
    return inject(name, path, generator) if not path.exists() else "done"


def full_disk(name: str, path: Path, generator: np.random.Generator) -> str:
    """No file may grow beyond a random size."""
    victim = Victim(name, path, Limit(resource.RLIMIT_FSIZE, int(generator.integers(0, 150_000))))
    said = victim.end()
    assert said == "done" or ("cannot be written" in said and path.name in said), said
    return said


class Limit:
    """Sets a limit of the process that it is called in; of its memory, so much above what it has."""

    def __init__(self, kind: int, amount: int) -> None:
        self.kind, self.amount = kind, amount

    def __call__(self) -> None:
        has = 0
        if self.kind == resource.RLIMIT_AS:
            has = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(self.kind, (has + self.amount, has + self.amount))


def little_memory(name: str, path: Path, generator: np.random.Generator) -> str:
    """It may take a random amount more than it has at first, from the stacks of two threads upwards.

    With less Python waits for ever for a thread that could not begin. Where a thread of a library gets no memory for
    itself, the C library ends the process with an exit code; a signal would be a crash of ours.
    """
    victim = Victim(name, path, Limit(resource.RLIMIT_AS, int(2 ** generator.uniform(24.2, 28))))
    said = victim.end()
    assert said == "done" or any(word in said for word in ("exit code", "MemoryError", "memory", "thread")), said
    return said


def become_nobody() -> None:
    """A user to whom permissions apply."""
    if os.geteuid() == 0:
        os.seteuid(NOBODY)


def read_only(name: str, path: Path, generator: np.random.Generator) -> str:
    """Its folder cannot be written to from a random moment on."""
    last = seconds(name)
    if os.geteuid() == 0:
        os.chown(path.parent, NOBODY, -1)
    victim = Victim(name, path, become_nobody)
    time.sleep(generator.uniform(0, last))
    path.parent.chmod(0o555)
    said = victim.end()
    path.parent.chmod(0o755)
    assert said == "done" or "cannot be written" in said, said
    return said


def removed_file(name: str, path: Path, generator: np.random.Generator) -> str:
    """The unfinished file is removed at a random moment; it does not mind."""
    last = seconds(name)
    victim = Victim(name, path)
    time.sleep(generator.uniform(0, last))
    partial_path(path).unlink(missing_ok=True)
    said = victim.end()
    assert said == "done" and path.exists(), said
    return said


def two_processes(name: str, path: Path, generator: np.random.Generator) -> str:
    """Two begin it, or go on with it, at once; one does, and the other is told so."""
    if generator.random() < 0.5:
        killed(signal.SIGKILL)(name, path, generator)
        if path.exists():
            return "done"
    both = [Victim(name, path), Victim(name, path)]
    said = sorted(victim.end() for victim in both)
    told = ("is writing it", "an unfinished run is there", "no such file; there is no unfinished run")
    # Where one had ended before the other looked, both did the same work.
    assert said[-1] == "done" and (said[0] == "done" or any(words in said[0] for words in told)), said
    return said[0]


FAULTS: dict[str, Callable[[str, Path, np.random.Generator], str]] = {
    "killed (SIGKILL) at a random moment": killed(signal.SIGKILL),
    "killed in the first 50 ms": killed(signal.SIGKILL, within=0.05),
    "killed, and killed again while it goes on": killed_twice,
    "ended by SIGTERM": killed(signal.SIGTERM),
    "ended by SIGHUP": killed(signal.SIGHUP),
    "disk full": full_disk,
    "folder read-only in the middle": read_only,
    "unfinished file removed in the middle": removed_file,
    "two processes at once": two_processes,
    "memory limited": little_memory,
}


@contextmanager
def folder_of_victims() -> Iterator[Path]:
    """A folder that anybody may enter; in memory where that can be, for the sake of time."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def inject(fault: str, seed: int, folder: Path) -> str:
    """Do something to a run, and require that nothing is lost by it; gives what the run said."""
    generator = np.random.default_rng(seed)
    name = CASES[seed % len(CASES)]
    path = folder / f"{seed}.baytree"
    said = FAULTS[fault](name, path, generator)
    require_nothing_lost(name, path)
    return said
