"""Runs that share their file with others: one at a time writes, readers are waited for, and what is cut off goes on."""

import fcntl
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import numpy as np
import pytest

import baytree as bt
from baytree.storage import open_model, partial_path, writer
from baytree.storage.place import Lock
from equality.killing import Killed, killed_after

DESIGN = bt.datasets.load("kyphosis").design()
RUN: dict[str, Any] = {"warmup": 20, "draws": 30, "chains": 2, "seed": 1, "progress": False}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.baytree"


@pytest.fixture
def killed(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of a run that was killed before its first block."""
    with monkeypatch.context() as patch:
        patch.setattr("baytree.sampling.run.Run._next_block", killed_after(0))
        with pytest.raises(Killed):
            sample(path)
    return path


def sample(path: Path | None = None) -> bt.Posterior:
    return bt.sample(bt.CART(), DESIGN, checkpoint=path, **RUN)


def assert_whole(posterior: bt.Posterior) -> None:
    np.testing.assert_array_equal(posterior.log_likelihood, sample().log_likelihood)


@contextmanager
def another_process(code: str) -> Iterator[subprocess.Popen[str]]:
    """Python that says a line when it is ready, and is killed in the end."""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def holding(path: Path) -> str:
    return f"""
import time
from pathlib import Path
from baytree.storage.place import Lock
lock = Lock(Path({str(path)!r}))
print("ready", flush=True)
time.sleep(60)
"""


def test_only_one_goes_on_with_a_run_and_the_other_is_told_who(killed: Path) -> None:
    with another_process(holding(killed)) as process:
        for going_on in (lambda: bt.resume(killed, DESIGN, progress=False), lambda: sample(killed)):
            with pytest.raises(bt.FileError, match=f"process {process.pid} on {os.uname().nodename} is writing it"):
                going_on()
    assert_whole(bt.resume(killed, DESIGN, progress=False))  # for the lock went with its process
    assert sorted(killed.parent.iterdir()) == [killed]


def test_threads_of_one_process_are_told_so_too(killed: Path) -> None:
    lock = Lock(killed)
    with pytest.raises(bt.FileError, match=f"process {os.getpid()} on"):
        bt.resume(killed, DESIGN, progress=False)
    lock.release()
    assert_whole(bt.resume(killed, DESIGN, progress=False))


def test_the_loser_of_two_commands_is_told_so(killed: Path) -> None:
    command = [sys.executable, "-m", "baytree", "fit", "unread.csv", "--target", "y", "--out", str(killed)]
    with another_process(holding(killed)) as process:
        done = subprocess.run([*command, "--resume"], capture_output=True, text=True, check=False)
        assert done.returncode == 3 and f"process {process.pid} on" in done.stderr


def test_a_lock_that_is_no_file_of_ours(path: Path) -> None:
    """What a killed process left is taken over; through a link nothing is written, and no control sign is repeated."""
    lock = Path(f"{path}.lock")
    lock.write_text("process 1 on \x1b[31mmars")
    assert_whole(sample(path))
    lock.write_text("process 1 on \x1b[31mmars")
    with lock.open() as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        with pytest.raises(bt.FileError, match="mars") as failed:
            sample(path)
    assert "\x1b" not in str(failed.value)
    lock.unlink()
    lock.symlink_to(path.parent / "elsewhere")
    with pytest.raises(bt.FileError, match="cannot be written"):
        sample(path)
    assert not (path.parent / "elsewhere").exists()


def reading(path: Path) -> sqlite3.Connection:
    """A reader that holds a file."""
    database = sqlite3.connect(path, check_same_thread=False)
    database.execute("BEGIN")
    database.execute("SELECT count(*) FROM states").fetchall()
    return database


@pytest.mark.parametrize("seconds", [0.5, pytest.param(7.0, marks=pytest.mark.slow)])
def test_a_reader_is_waited_for(killed: Path, seconds: float) -> None:
    """Longer than the five seconds that SQLite waits by itself."""
    reader = reading(partial_path(killed))
    Timer(seconds, reader.close).start()
    assert_whole(bt.resume(killed, DESIGN, progress=False))


def test_a_reader_that_does_not_end_is_no_full_disk(killed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "BUSY_SECONDS", 0.1)
    reader = reading(partial_path(killed))
    with pytest.raises(bt.FileError, match="another program has it open all the time"):
        bt.resume(killed, DESIGN, progress=False)
    reader.close()
    assert_whole(bt.resume(killed, DESIGN, progress=False))


def test_a_full_disk_is_called_so(killed: Path) -> None:
    """And nothing of the run is lost."""
    going_on = writer.ModelWriter.reopen_run(killed)
    [(pages,)] = going_on._database.execute("PRAGMA page_count")
    going_on._database.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(bt.FileError, match="the disk is full"):
        going_on.append([{"a": np.zeros(10_000)}], [{}])
    going_on.close()
    assert_whole(bt.resume(killed, DESIGN, progress=False))


def test_readers_see_one_moment(killed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written while they read is not for them."""
    monkeypatch.setattr(writer, "BUSY_SECONDS", 0.1)
    going_on = writer.ModelWriter.reopen_run(killed)
    with open_model(partial_path(killed)) as reader:
        before = reader.header
        with pytest.raises(bt.FileError, match="another program"):
            going_on.append([{}, {}], [{}, {}])
        assert reader.states != [{}, {}] and reader.header == before
    going_on.close()


KILLED_BEFORE = """
import os, signal
import baytree as bt
from baytree import storage
def kill(*_): os.kill(os.getpid(), signal.SIGKILL)
storage.ModelWriter.{moment} = kill
bt.sample(bt.CART(method="chains"), bt.datasets.load("kyphosis").design(), checkpoint={path!r}, progress=False)
"""


@pytest.mark.parametrize("moment", ["_lay_out", "append"])
def test_a_run_killed_in_its_first_moments_is_begun_again(path: Path, moment: str) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED_BEFORE.format(moment=moment, path=str(path))], check=False)
    assert done.returncode == -signal.SIGKILL
    assert partial_path(path).exists()
    with pytest.raises(bt.FileError, match="killed before it began"):
        bt.resume(path, DESIGN, progress=False)
    assert_whole(sample(path))
    assert list(path.parent.iterdir()) == [path]


def test_a_run_that_is_warming_up_is_not_damaged(killed: Path) -> None:
    with pytest.raises(bt.FileError, match=r"in its warm-up, 0 of 20 iterations"):
        bt.load(partial_path(killed))
    with pytest.raises(bt.FileError, match=r"no such file yet; its run is not finished"):
        bt.load(killed)
    killed.write_bytes(b"")
    with pytest.raises(bt.FileError, match="is empty"):
        bt.load(killed)


def test_a_removed_file_is_written_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a run that goes on: what its chains drew is still there."""
    monkeypatch.setattr("baytree.sampling.run.BLOCK_SECONDS", 1e-9)
    monkeypatch.setattr("baytree.sampling.run.CHECKPOINT_SECONDS", 0.0)
    append, blocks = writer.ModelWriter.append, iter(range(1000))

    def remove_some(going_on: writer.ModelWriter, *block: Any) -> None:
        append(going_on, *block)
        if next(blocks) in (1, 12):
            going_on.unfinished.unlink()

    with monkeypatch.context() as patch:
        patch.setattr(writer.ModelWriter, "append", remove_some)
        assert_whole(sample(path))
    assert_whole(bt.load(path))


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_one(path: Path, exists: bool) -> None:
    """What it points to is replaced, in its own folder, or made."""
    there = path.parent / "there"
    there.mkdir()
    if exists:
        sample(there / "real.baytree")
    path.symlink_to(Path("there") / "real.baytree")
    assert partial_path(path) == there.resolve() / "real.baytree.partial"
    sample(path)
    assert path.is_symlink() and not (there / "real.baytree").is_symlink()
    assert_whole(bt.load(there / "real.baytree"))
    bt.load(path).save(path)
    assert path.is_symlink()
    assert_whole(bt.load(path))
    assert [one.name for one in there.iterdir()] == ["real.baytree"]


def test_two_that_save_do_not_mix(path: Path) -> None:
    posterior = sample()
    lock = Lock(path)
    with pytest.raises(bt.FileError, match="is writing it"):
        posterior.save(path)
    lock.release()
    Path(f"{path}.saving").write_bytes(b"of a process that was killed")
    posterior.save(path)
    assert list(path.parent.iterdir()) == [path]
