"""The model file: one SQLite database of a JSON header and typed, checksummed arrays.

Nothing is executed on load. Arrays are stored in blocks, and a block of all chains with their states is one
transaction, so that a half-written draw cannot be read.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .errors import FileError

FORMAT = 1
APPLICATION_ID = 0x62617974  # "bayt", in the database's own header
DTYPES = frozenset({"<f4", "<f8", "<i8", "<u8", "<i4", "<u4", "|u1"})
TABLES = """
CREATE TABLE header (key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE states (chain INTEGER PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE arrays (
  name TEXT, chain INTEGER, block INTEGER, dtype TEXT NOT NULL, shape TEXT NOT NULL, checksum INTEGER NOT NULL,
  data BLOB NOT NULL, PRIMARY KEY (name, chain, block));
"""
# SQLite's own limit for one value is a little more.
LARGEST_ARRAY = 900_000_000

Arrays = Mapping[str, np.ndarray]


class ModelWriter:
    """Writes a model file under another name and moves it to its place when it is complete."""

    def __init__(self, path: str | os.PathLike[str], unfinished: Path, database: sqlite3.Connection) -> None:
        self.path, self.unfinished = Path(path), unfinished
        self._database = database
        [(last,)] = database.execute("SELECT max(block) FROM arrays")
        self._block = 0 if last is None else last + 1

    @classmethod
    def create(cls, path: str | os.PathLike[str], header: Mapping[str, Any], unfinished: Path) -> ModelWriter:
        """Begin a new file, which is called `unfinished` until it is complete."""
        if Path(path).is_dir():
            raise FileError(f"{path}: is a folder; name a file")
        try:
            unfinished.unlink(missing_ok=True)
            database = sqlite3.connect(unfinished)
            database.executescript(f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={FORMAT};{TABLES}")
            with database:
                rows = [(key, *_checked(value)) for key, value in header.items()]
                database.executemany("INSERT INTO header VALUES (?, ?, ?)", rows)
        except (sqlite3.Error, OSError) as error:
            raise FileError(f"{path}: cannot be written ({error}); check the folder and its permissions") from error
        return cls(path, unfinished, database)

    @classmethod
    def begin_run(cls, path: str | os.PathLike[str], header: Mapping[str, Any]) -> ModelWriter:
        """Begin the file of a run; one that was not finished is never replaced."""
        if partial_path(path).exists():
            raise FileError(f"{partial_path(path)}: an unfinished run is there; resume it, or remove the file")
        return cls.create(path, header, partial_path(path))

    @classmethod
    def reopen_run(cls, path: str | os.PathLike[str]) -> ModelWriter:
        """Go on with the unfinished file of a run."""
        return cls(path, partial_path(path), sqlite3.connect(partial_path(path)))

    def append(self, draws: Sequence[Arrays], states: Sequence[Mapping[str, Any]]) -> None:
        """Add a block of draws of every chain, and the states that the chains reached, in one transaction."""
        try:
            with self._database:
                for chain, (arrays, state) in enumerate(zip(draws, states, strict=True)):
                    self._database.execute("INSERT OR REPLACE INTO states VALUES (?, ?, ?)", (chain, *_checked(state)))
                    for name, array in arrays.items():
                        if array.nbytes > LARGEST_ARRAY:
                            raise FileError(f"{self.path}: a block of {array.nbytes:,} bytes is too large; raise thin")
                        data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
                        described = (data.dtype.str, json.dumps(data.shape), zlib.crc32(data.data))
                        row = (name, chain, self._block, *described, data)
                        self._database.execute("INSERT INTO arrays VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        except (sqlite3.Error, OSError) as error:
            raise FileError(f"{self.path}: cannot be written ({error}); is the disk full?") from error
        self._block += 1

    def record(self, key: str, value: Mapping[str, Any]) -> None:
        """Add an entry to the header, or replace it."""
        try:
            with self._database:
                self._database.execute("INSERT OR REPLACE INTO header VALUES (?, ?, ?)", (key, *_checked(value)))
        except (sqlite3.Error, OSError) as error:
            raise FileError(f"{self.path}: cannot be written ({error}); is the disk full?") from error

    def finish(self) -> None:
        """Put the file in its place."""
        self.close()
        try:
            os.replace(self.unfinished, self.path)
        except OSError as error:
            raise FileError(f"{self.path}: cannot be written ({error}); it is in {self.unfinished}") from error

    def close(self) -> None:
        """Leave the file unfinished."""
        self._database.close()

    def discard(self) -> None:
        """Remove the unfinished file."""
        self.close()
        self.unfinished.unlink(missing_ok=True)


def partial_path(path: str | os.PathLike[str]) -> Path:
    """Where an unfinished model file lies."""
    return Path(f"{os.fspath(path)}.partial")


class ModelReader:
    """Reads a model file, checking what it reads."""

    def __init__(self, path: str | os.PathLike[str], database: sqlite3.Connection) -> None:
        self.path = path
        self._database = database

    @cached_property
    def header(self) -> dict[str, Any]:
        """The header's entries."""
        rows = self._database.execute("SELECT key, value, checksum FROM header")
        return {key: self._json(value, checksum) for key, value, checksum in rows}

    def states(self) -> list[dict[str, Any]]:
        """The state of each chain."""
        rows = self._database.execute("SELECT value, checksum FROM states ORDER BY chain")
        return [self._json(value, checksum) for value, checksum in rows]

    def _json(self, value: str, checksum: int) -> Any:
        if zlib.crc32(value.encode()) != checksum:
            raise FileError(f"{self.path}: damaged: its header does not match its checksum; restore a copy")
        return json.loads(value)

    def blocks(self, chain: int, name: str) -> list[np.ndarray]:
        """One array of one chain, in the blocks it was written in."""
        query = "SELECT dtype, shape, checksum, data FROM arrays WHERE chain = ? AND name = ? ORDER BY block"
        return [self._array(name, *row) for row in self._database.execute(query, (chain, name))]

    def _array(self, name: str, dtype: str, shape: str, checksum: int, data: bytes) -> np.ndarray:
        sizes = json.loads(shape)
        if dtype not in DTYPES or not all(isinstance(size, int) and size >= 0 for size in sizes):
            raise FileError(f"{self.path}: damaged: array {name!r} has type {dtype!r} and shape {shape}")
        if math.prod(sizes) * np.dtype(dtype).itemsize != len(data) or zlib.crc32(data) != checksum:
            raise FileError(f"{self.path}: damaged: array {name!r} does not match its checksum; restore a copy")
        return np.frombuffer(data, dtype=dtype).reshape(sizes)


def _checked(value: Any) -> tuple[str, int]:
    text = json.dumps(value, allow_nan=False)
    return text, zlib.crc32(text.encode())


@contextmanager
def open_model(path: str | os.PathLike[str]) -> Iterator[ModelReader]:
    """Open a model file for reading; whatever is wrong with it becomes a FileError."""
    if not Path(path).is_file():
        raise FileError(f"{path}: no such file")
    # A transaction that was cut off left a journal, by which SQLite undoes it: that needs to write.
    mode = "rw" if Path(f"{os.fspath(path)}-journal").exists() else "ro"
    try:
        with closing(sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode={mode}", uri=True)) as database:
            [(application,)] = database.execute("PRAGMA application_id")
            [(version,)] = database.execute("PRAGMA user_version")
            if application != APPLICATION_ID:
                raise FileError(f"{path}: not a baytree model file")
            if version > FORMAT:
                raise FileError(f"{path}: written by a newer baytree (format {version}, this one reads {FORMAT})")
            yield ModelReader(path, database)
    except sqlite3.DatabaseError as error:
        raise FileError(f"{path}: not a baytree model file, or damaged ({error})") from error
    except (KeyError, IndexError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise FileError(f"{path}: damaged: its contents are incomplete ({error!r}); restore a copy") from error
