"""Ways to damage a model file."""

from __future__ import annotations

import json
import math
import sqlite3
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import baytree as bt
from baytree.storage.layout import PACKED
from baytree.storage.packing import unpacked
from families import EVERY


@cache
def content(name: str) -> bytes:
    """What a file of one of the cases holds."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.baytree"
        EVERY[name].sample().save(path)
        return path.read_bytes()


def arrays_of(path: Path) -> dict[str, str]:
    """The names of the arrays that the first chain has, with their types."""
    with sqlite3.connect(path) as database:
        found = database.execute("SELECT DISTINCT name, dtype FROM arrays WHERE chain = 0")
        return {name: dtype.removeprefix(PACKED) for name, dtype in found}


def array_of(dtype: str, shape: str, data: bytes) -> np.ndarray:
    """An array as a file holds it, packed or not."""
    kind, sizes = np.dtype(dtype.removeprefix(PACKED)), json.loads(shape)
    plain = np.frombuffer(data, kind) if dtype == kind.str else unpacked(data, kind, math.prod(sizes))
    return plain.reshape(sizes).copy()


def header_of(path: Path, key: str) -> dict[str, Any]:
    """An entry of the header."""
    with sqlite3.connect(path) as database:
        [(value,)] = database.execute("SELECT value FROM header WHERE key = ?", (key,))
    return json.loads(value)


def state_of(path: Path) -> dict[str, Any]:
    """The state of the first chain."""
    with sqlite3.connect(path) as database:
        [(value,)] = database.execute("SELECT value FROM states WHERE chain = 0")
    return json.loads(value)


def edit(path: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(path) as database:
        database.execute(statement, values)


def change_a_byte(path: Path, name: str) -> None:
    """Of an array, without its checksum."""
    with sqlite3.connect(path) as database:
        [(data,)] = database.execute("SELECT data FROM arrays WHERE name = ? AND chain = 0", (name,))
    edit(
        path,
        "UPDATE arrays SET data = ? WHERE name = ? AND chain = 0",
        bytes([data[0] ^ 1]) + data[1:],
        name,
    )


def rewrite(path: Path, name: str, change: Callable[[np.ndarray], Any]) -> None:
    """Replace an array by a consistent, wrong one, as a hostile writer would."""
    with sqlite3.connect(path) as database:
        query = "SELECT dtype, shape, data FROM arrays WHERE name = ? AND chain = 0"
        [(dtype, shape, data)] = database.execute(query, (name,))
    array = np.asarray(change(array_of(dtype, shape, data)), dtype=dtype.removeprefix(PACKED))
    edit(
        path,
        "UPDATE arrays SET dtype = ?, data = ?, shape = ?, checksum = ? WHERE name = ? AND chain = 0",
        array.dtype.str,
        array.tobytes(),
        json.dumps(array.shape),
        zlib.crc32(array.tobytes()),
        name,
    )


def rewrite_header(path: Path, key: str, value: str) -> None:
    """Replace an entry of the header and its checksum."""
    edit(path, "UPDATE header SET value = ?, checksum = ? WHERE key = ?", value, zlib.crc32(value.encode()), key)


def rewrite_model(path: Path, change: dict[str, Any]) -> None:
    """Replace parts of the model's description."""
    rewrite_header(path, "model", json.dumps(header_of(path, "model") | change))


def rewrite_state(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Replace the state of the first chain and its checksum."""
    text = json.dumps(change(state_of(path)))
    edit(path, "UPDATE states SET value = ?, checksum = ? WHERE chain = 0", text, zlib.crc32(text.encode()))


def refused_at_random(path: Path, times: int) -> int:
    """Change bytes here and there; how often loading gives a FileError."""
    content = path.read_bytes()
    generator = np.random.default_rng(0)
    refused = 0
    for _ in range(times):
        damaged = bytearray(content)
        for place in generator.integers(0, len(content), size=20):
            damaged[place] = generator.integers(256)
        path.write_bytes(damaged)
        refused += not loads(path)
    return refused


def loads(path: Path) -> bool:
    """Whether a file gives a posterior, and no FileError; anything else is a fault."""
    try:
        bt.load(path)
    except bt.FileError:
        return False
    return True
