"""Reading a model file, which may be damaged, foreign or hostile."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ..errors import FileError
from .layout import (
    APPLICATION_ID,
    BUSY_SECONDS,
    DTYPES,
    FORMAT,
    FREE,
    LARGEST_ARRAY,
    MOST_TIMES,
    OLDEST,
    PACKED,
    TABLES,
)
from .packing import unpacked

# A text takes some thirty times its size once it is read, at the most.
LARGEST_TEXT = 2**28
MOST_AXES, LARGEST_AXIS = 8, 2**40
# What a row takes in a file, at the least, besides its texts and data.
ROW_BYTES = 4


class ModelReader:
    """Reads a model file, checking what it reads.

    Nothing is taken that the file is not large enough to hold: in a hostile one a page may be part of many rows.
    """

    def __init__(self, path: str | os.PathLike[str], database: sqlite3.Connection, size: int) -> None:
        self.path = path
        self._database = database
        self._left = size  # bytes of the file that nothing was read from
        self._room = MOST_TIMES * size + FREE  # bytes that its arrays may still have

    @cached_property
    def header(self) -> dict[str, Any]:
        """The header's entries."""
        rows = self._rows("SELECT key, value, checksum FROM header", str, str, int)
        return {key: self._json(value, checksum) for key, value, checksum in rows}

    @cached_property
    def states(self) -> list[dict[str, Any]]:
        """The state of each chain."""
        rows = self._rows("SELECT chain, value, checksum FROM states ORDER BY chain", int, str, int)
        states = {chain: self._json(value, checksum) for chain, value, checksum in rows}
        if list(states) != list(range(len(states))) or not all(isinstance(state, dict) for state in states.values()):
            self._refuse("the states of some chains are missing, or are none")
        return list(states.values())

    def parts(self) -> list[list[dict[str, np.ndarray]]]:
        """What each chain recorded: its blocks in order, each with the same arrays by name."""
        chains: dict[int, dict[int, dict[str, np.ndarray]]] = {chain: {} for chain in range(len(self.states))}
        query = "SELECT chain, block, name, dtype, shape, checksum, data FROM arrays"
        for chain, block, name, *described in self._rows(query, int, int, str, str, str, int, bytes):
            if chain not in chains or name in (part := chains[chain].setdefault(block, {})):
                self._refuse(f"array {name!r} of chain {chain} is there twice, or of no chain")
            part[name] = self._array(name, *described)
        if any(len({frozenset(part) for part in blocks.values()}) > 1 for blocks in chains.values()):
            self._refuse("arrays are missing in some of its blocks")
        return [[part for _, part in sorted(blocks.items())] for blocks in chains.values()]

    def _rows(self, query: str, *types: type) -> Iterator[Any]:
        for row in self._database.execute(query):
            if tuple(map(type, row)) != types:
                self._refuse("its tables hold values of other types than they should")
            self._left -= ROW_BYTES + sum(len(value) for value in row if not isinstance(value, int))
            if self._left < 0:
                self._refuse("it says that it holds more than there is room for in it")
            yield row

    def _json(self, text: str, checksum: int) -> Any:
        if len(text) > LARGEST_TEXT:
            self._refuse(f"its header has an entry of {len(text):,} letters")
        if zlib.crc32(text.encode()) != checksum:
            self._refuse("its header does not match its checksum")
        try:
            return json.loads(text, parse_float=_finite, parse_constant=_finite)
        except (ValueError, RecursionError) as error:
            raise FileError(f"{self.path}: damaged: its header cannot be read ({error}); restore a copy") from error

    def _array(self, name: str, dtype: str, shape: str, checksum: int, data: bytes) -> np.ndarray:
        sizes = self._json(shape, zlib.crc32(shape.encode()))
        kind = dtype.removeprefix(PACKED)
        if kind not in DTYPES or not _is_shape(sizes):
            self._refuse(f"array {name!r} has type {dtype!r} and shape {shape!r:.99}")
        count = math.prod(sizes)
        size = count * np.dtype(kind).itemsize
        if (dtype == kind and size != len(data)) or zlib.crc32(data) != checksum:
            self._refuse(f"array {name!r} does not match its checksum")
        self._room -= size
        if size > LARGEST_ARRAY or self._room < 0:
            self._refuse(f"array {name!r} of {size:,} bytes is more than there is room for in it")
        try:
            array = np.frombuffer(data, kind) if dtype == kind else unpacked(data, np.dtype(kind), count)
        except ValueError as error:
            raise FileError(f"{self.path}: damaged: array {name!r}: {error}; restore a copy") from error
        array = array.reshape(sizes)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            self._refuse(f"array {name!r} holds what is no number")
        return array

    def _refuse(self, why: str) -> NoReturn:
        raise FileError(f"{self.path}: damaged: {why}; restore a copy")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number")
    return value


def _is_shape(sizes: Any) -> bool:
    whole = isinstance(sizes, list) and all(type(size) is int and 0 <= size < LARGEST_AXIS for size in sizes)
    return whole and len(sizes) <= MOST_AXES


@contextmanager
def open_model(path: str | os.PathLike[str]) -> Iterator[ModelReader]:
    """Open a model file for reading, all at one moment; whatever is wrong with it becomes a FileError."""
    if os.path.isdir(path):
        raise FileError(f"{path}: is a folder; name a model file in it")
    if not os.path.isfile(path):  # which takes names that no system does for what they are: of no file
        raise FileError(f"{path}: no such file")
    # A transaction that was cut off left a journal, by which SQLite undoes it: that needs to write.
    mode = "rw" if os.path.exists(f"{os.fspath(path)}-journal") else "ro"
    address = f"{Path(path).resolve().as_uri()}?mode={mode}"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)) as database:
            yield _reader(path, database)
    except sqlite3.DatabaseError as error:
        raise FileError(f"{path}: not a baytree model file, or damaged ({error})") from error
    except FileError:
        raise
    except MemoryError as error:
        raise FileError(f"{path}: what it holds takes more memory than there is ({error})") from error
    except ValueError as error:
        raise FileError(f"{path}: damaged: {error}; restore a copy") from error
    except (KeyError, IndexError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise FileError(f"{path}: damaged: its contents are incomplete ({error!r:.200}); restore a copy") from error


def _reader(path: str | os.PathLike[str], database: sqlite3.Connection) -> ModelReader:
    """The reader of an open database, which is one of ours and has nothing in it that could be executed."""
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    database.execute("BEGIN")  # what is read from here on belongs together
    [(application,)] = database.execute("PRAGMA application_id")
    size = os.stat(path).st_size
    if application != APPLICATION_ID:
        raise FileError(f"{path}: " + ("not a baytree model file" if size else "is empty: nothing was written yet"))
    [(version,)] = database.execute("PRAGMA user_version")
    if not OLDEST <= version <= FORMAT:
        age = "a newer" if version > FORMAT else "no"
        raise FileError(f"{path}: written by {age} baytree (format {version}, this one reads {OLDEST} to {FORMAT})")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(max(size, 4096), 2**31 - 1))
    # Views, triggers and generated columns would be programs.
    found = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL LIMIT 9").fetchall()
    if sorted(found) != sorted((table,) for table in TABLES):
        raise FileError(f"{path}: damaged: its tables are not those of a model file; restore a copy")
    return ModelReader(path, database, size)
