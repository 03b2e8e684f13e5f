"""Writing a model file: under another name until it is complete, and block by block."""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError
from .layout import (
    APPLICATION_ID,
    BUSY_SECONDS,
    FORMAT,
    FREE,
    LARGEST_ARRAY,
    MOST_TIMES,
    PACKED,
    TABLES,
    Arrays,
)
from .packing import packed
from .place import Lock, partial_path, place_of

REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full; make room",
    sqlite3.SQLITE_BUSY: "another program has it open all the time; close that",
    sqlite3.SQLITE_READONLY: "it was moved or removed, or may no longer be written; check the folder",
    sqlite3.SQLITE_IOERR: "is the disk full, or gone?",
}


class ModelWriter:
    """Writes a model file under another name and moves it to its place when it is complete.

    Until then the file is locked. What was not finished has all of its last block, or where there was none is empty.
    """

    def __init__(self, path: str | os.PathLike[str], unfinished: Path, lock: Lock) -> None:
        self.path, self.unfinished = Path(path), unfinished
        self._lock, self._block = lock, 0
        self._spare = 0  # bytes that arrays may still unpack to, beyond those that each is granted
        self._database = sqlite3.connect(unfinished, timeout=BUSY_SECONDS)

    @classmethod
    def create(cls, path: str | os.PathLike[str], header: Mapping[str, Any]) -> ModelWriter:
        """Begin the file of what is at hand."""
        return cls._begin(path, header, keep=False)

    @classmethod
    def begin_run(cls, path: str | os.PathLike[str], header: Mapping[str, Any]) -> ModelWriter:
        """Begin the file of a run; one that was not finished is never replaced."""
        return cls._begin(path, header, keep=True)

    @classmethod
    def _begin(cls, path: str | os.PathLike[str], header: Mapping[str, Any], *, keep: bool) -> ModelWriter:
        place = place_of(path)
        unfinished = partial_path(path) if keep else Path(f"{place}.saving")
        if place.is_dir():
            raise FileError(f"{path}: is a folder; name a file")
        lock = Lock(place)
        try:
            _require_replaceable(place)
            if keep and is_begun(unfinished):
                raise FileError(f"{unfinished}: an unfinished run is there; resume it, or remove the file")
            # What a killed process left: nobody else writes, for the file is locked.
            for left in {unfinished, Path(f"{place}.saving")}:
                left.unlink(missing_ok=True)
                Path(f"{left}-journal").unlink(missing_ok=True)
            writer = cls(path, unfinished, lock)
            writer._lay_out(header)
        except (sqlite3.Error, OSError) as error:
            lock.release()
            raise FileError(f"{path}: cannot be written ({error}); check the folder and its permissions") from error
        except BaseException:
            lock.release()
            raise
        return writer

    def _lay_out(self, header: Mapping[str, Any]) -> None:
        """The tables and the header, which the first block completes."""
        numbers = (f"PRAGMA application_id={APPLICATION_ID}", f"PRAGMA user_version={FORMAT}")
        self._spare = FREE
        for statement in ("BEGIN IMMEDIATE", *numbers, *TABLES):
            self._database.execute(statement)
        rows = [(key, *_checked(value)) for key, value in header.items()]
        self._database.executemany("INSERT INTO header VALUES (?, ?, ?)", rows)

    @classmethod
    def reopen_run(cls, path: str | os.PathLike[str]) -> ModelWriter:
        """Go on with the unfinished file of a run."""
        lock = Lock(place_of(path))
        try:
            writer = cls(path, partial_path(path), lock)
            [(last,)] = writer._database.execute("SELECT max(block) FROM arrays")
        except sqlite3.Error as error:
            lock.release()
            raise FileError(f"{partial_path(path)}: not a baytree model file, or damaged ({error})") from error
        writer._block = 0 if last is None else last + 1
        return writer

    def begin_again(self, header: Mapping[str, Any], states: Sequence[Mapping[str, Any]]) -> None:
        """Begin the file of a run again; what was there stays until all of this is."""
        begun = Path(f"{place_of(self.path)}.saving")
        with self._errors():
            self._database.close()
            begun.unlink(missing_ok=True)
            self._database, self._block = sqlite3.connect(begun, timeout=BUSY_SECONDS), 0
            self._lay_out(header)
            self.append([{} for _ in states], states)
            self._database.close()
            os.replace(begun, self.unfinished)
            self._database = sqlite3.connect(self.unfinished, timeout=BUSY_SECONDS)

    def is_there(self) -> bool:
        """Whether the unfinished file is still where it was begun."""
        return self.unfinished.exists()

    def append(self, draws: Sequence[Arrays], states: Sequence[Mapping[str, Any]]) -> None:
        """Add a block of draws of every chain, and the states that the chains reached, in one transaction."""
        with self._transaction():
            self._database.execute(f"PRAGMA user_version={FORMAT}")  # of a run that an earlier version began
            for chain, (arrays, state) in enumerate(zip(draws, states, strict=True)):
                self._database.execute("INSERT OR REPLACE INTO states VALUES (?, ?, ?)", (chain, *_checked(state)))
                for name, array in arrays.items():
                    if array.nbytes > LARGEST_ARRAY:
                        raise FileError(f"{self.path}: a block of {array.nbytes:,} bytes is too large; raise thin")
                    row = (name, chain, self._block, *self._described(array))
                    self._database.execute("INSERT INTO arrays VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        self._block += 1

    def _described(self, array: np.ndarray) -> tuple[str, str, int, Any]:
        """The type, shape, checksum and bytes of an array: packed, but where the file would unpack to too much."""
        plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        kind, data = plain.dtype.str, packed(plain)
        if data is None or self._spare + MOST_TIMES * len(data) < plain.nbytes:
            return kind, json.dumps(plain.shape), zlib.crc32(plain.data), plain
        self._spare += MOST_TIMES * len(data) - plain.nbytes
        return PACKED + kind, json.dumps(plain.shape), zlib.crc32(data), data

    def record(self, key: str, value: Mapping[str, Any]) -> None:
        """Add an entry to the header, or replace it."""
        with self._transaction():
            self._database.execute("INSERT OR REPLACE INTO header VALUES (?, ?, ?)", (key, *_checked(value)))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._errors(), self._database:
            yield

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest of an extended code is a detail
            why = REASONS.get(code, "check the folder and its permissions")
            raise FileError(f"{self.path}: cannot be written ({error}): {why}") from error

    def finish(self) -> None:
        """Put the file in its place."""
        self._database.close()
        try:
            os.replace(self.unfinished, place_of(self.path))
        except OSError as error:
            raise FileError(f"{self.path}: cannot be written ({error}); it is in {self.unfinished}") from error
        finally:
            self._lock.release()

    def close(self) -> None:
        """Leave the file unfinished."""
        self._database.close()
        self._lock.release()

    def discard(self) -> None:
        """Remove the unfinished file."""
        self._database.close()
        with suppress(OSError):
            self.unfinished.unlink()
        self._lock.release()


def _require_replaceable(place: Path) -> None:
    """Raise FileError where another file than a model would be written over; an empty one is nobody's."""
    if place.is_file() and place.stat().st_size:
        with place.open("rb") as file:
            head = file.read(72)
        if not head.startswith(b"SQLite format 3\0") or int.from_bytes(head[68:], "big") != APPLICATION_ID:
            raise FileError(f"{place}: exists and is not a model; choose another name or remove it")


def is_begun(unfinished: Path) -> bool:
    """Whether a file has a first block, or is none of ours; a process that was killed before leaves an empty one."""
    if not unfinished.exists():
        return False
    database = sqlite3.connect(unfinished, timeout=BUSY_SECONDS)
    try:
        return database.execute("PRAGMA page_count").fetchone() != (0,)
    except sqlite3.DatabaseError:
        return True
    finally:
        database.close()


def _checked(value: Any) -> tuple[str, int]:
    text = json.dumps(value, allow_nan=False)
    return text, zlib.crc32(text.encode())
