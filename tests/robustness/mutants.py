"""Model files with one thing changed and every checksum right, as a hostile writer makes them."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from baytree.storage.layout import PACKED
from baytree.storage.packing import HEAD, packed
from robustness.damage import array_of

ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 3, 7, 255, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63, 2**64, -(2**63), 10**400),
    *(0.5, -0.0, 1e-300, 1e300, -1e300, 3e38, float("nan"), float("inf"), 1.0),
    *("", "x", "0", "\x1b[2J\x07", "é" * 300, "../../x", [], {}, [[]], [0], [1.5, "x"], {"a": 1}),
]
DEEP = "[" * 100_000 + "]" * 100_000
CONTAINERS = (dict, list)


def mutate(path: Path, seed: int) -> str:
    """Change one thing in a model file; gives in words what."""
    generator = np.random.default_rng(seed)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA synchronous = OFF")
        kinds, weights = zip(*MUTATIONS.items(), strict=True)
        change = kinds[generator.choice(len(kinds), p=np.array(weights) / sum(weights))]
        return f"{change.__name__}: {change(database, generator)}"


def damage(path: Path, seed: int) -> str:
    """Change twenty bytes of a file, whatever they are; gives in words which."""
    generator = np.random.default_rng(seed)
    content = bytearray(path.read_bytes())
    places = generator.integers(len(content), size=20)
    for place in places:
        content[place] = generator.integers(256)
    path.write_bytes(content)
    return f"bytes {places.tolist()}"


WAYS = {"mutate": mutate, "damage": damage}


def pick(generator: np.random.Generator, choices: Any) -> Any:
    return choices[generator.integers(len(choices))]


# ---- the header and the states --------------------------------------------------------------------------------------


def header(database: sqlite3.Connection, generator: np.random.Generator) -> str:
    key, text = pick(generator, database.execute("SELECT key, value FROM header ORDER BY key").fetchall())
    text, said = changed_text(text, generator)
    database.execute("UPDATE header SET value = ?, checksum = ? WHERE key = ?", (text, crc(text), key))
    return f"{key}{said}"


def state(database: sqlite3.Connection, generator: np.random.Generator) -> str:
    chain, text = pick(generator, database.execute("SELECT chain, value FROM states ORDER BY chain").fetchall())
    text, said = changed_text(text, generator)
    database.execute("UPDATE states SET value = ?, checksum = ? WHERE chain = ?", (text, crc(text), chain))
    return f"{chain}{said}"


def changed_text(text: str, generator: np.random.Generator) -> tuple[str, str]:
    """A JSON text with one of its values changed, and in words which."""
    if generator.random() < 0.02:
        ends = [(DEEP, " is deep"), ("1" * 5000, " is huge"), (text[:-1], " is cut off"), ("", " is none")]
        return pick(generator, ends)
    root = json.loads(text)
    places = list(places_of(root))
    if not places:
        return json.dumps(pick(generator, ODD)), " is another"
    holder, key, name = pick(generator, places)
    before = holder[key]
    if isinstance(before, list) and before and generator.random() < 0.3:
        how = generator.integers(4)
        holder[key] = [before[:-1], before + before[-1:], before[::-1], before * 2][how]
        said = ("one fewer", "one more", "reversed", "twice")[how]
    elif isinstance(before, (int, float)) and not isinstance(before, bool) and generator.random() < 0.5:
        near = [-before, before + 1, before - 1, before * 1000, before / 3, str(before), [before]]
        holder[key] = pick(generator, near)
        said = repr(holder[key])
    elif generator.random() < 0.1 and isinstance(holder, dict):
        del holder[key]
        said = "left out"
    else:
        holder[key] = pick(generator, ODD)
        said = repr(holder[key])
    return json.dumps(root), f"{name}: {said:.60}"


def places_of(value: Any, name: str = "") -> Any:
    """Every place in a JSON value that can be changed: what holds it, its key there, and its name.

    Of a long list of numbers only the ends, lest they outnumber all else.
    """
    if not isinstance(value, CONTAINERS):
        return
    keys = list(value) if isinstance(value, dict) else sorted({0, 1, len(value) - 1} & set(range(len(value))))
    for key in keys:
        yield value, key, f"{name}.{key}"
        yield from places_of(value[key], f"{name}.{key}")


# ---- arrays ---------------------------------------------------------------------------------------------------------


def array(database: sqlite3.Connection, generator: np.random.Generator) -> str:
    """Change values, or how many there are."""
    row, name, values = some_array(database, generator)
    how, change = pick(generator, list(ARRAYS.items()))
    if values.size:
        store(database, row, change(values, generator))
    return f"{name} {how}"


def some_array(database: sqlite3.Connection, generator: np.random.Generator) -> tuple[int, str, np.ndarray]:
    rows = database.execute("SELECT rowid, name, chain FROM arrays ORDER BY chain, name, block").fetchall()
    row, name, chain = pick(generator, rows)
    described = database.execute("SELECT dtype, shape, data FROM arrays WHERE rowid = ?", (row,)).fetchone()
    return row, f"{name} of {chain}", array_of(*described)


def store(database: sqlite3.Connection, row: int, values: np.ndarray) -> None:
    """Keep an array packed, where that is smaller."""
    values = np.ascontiguousarray(values)
    data = packed(values)
    kind = values.dtype.str if data is None else PACKED + values.dtype.str
    data = values.tobytes() if data is None else data
    described = (kind, json.dumps(values.shape), zlib.crc32(data), data, row)
    database.execute("UPDATE arrays SET dtype = ?, shape = ?, checksum = ?, data = ? WHERE rowid = ?", described)


def extremes(dtype: np.dtype[Any]) -> list[Any]:
    if dtype.kind == "f":
        largest = float(np.finfo(dtype).max)
        return [0.0, -1.0, 1.0, largest, -largest, 1e-30, 1e9, -1e9, np.nan, np.inf]
    return [0, 1, 2, 3, 64, np.iinfo(dtype).max, np.iinfo(dtype).min, np.iinfo(dtype).max // 2]


def one_odd(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    values.flat[generator.integers(values.size)] = pick(generator, extremes(values.dtype))
    return values


def one_moved(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    at = generator.integers(values.size)
    with np.errstate(over="ignore"):
        values.flat[at] += values.dtype.type(1) if generator.random() < 0.5 else -values.flat[at] * 2
    return values


def another_type(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    same = [t for t in ("<f4", "<f8", "<i8", "<u8", "<i4", "<u4", "|u1") if np.dtype(t) != values.dtype]
    with np.errstate(invalid="ignore", over="ignore"):
        return values.astype(pick(generator, same))


ARRAYS: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "with one odd value": one_odd,
    "with one odd value ": one_odd,
    "with one value moved": one_moved,
    "with one value moved ": one_moved,
    "full of one odd value": lambda a, g: np.full_like(a, pick(g, extremes(a.dtype))),
    "shuffled": lambda a, g: g.permutation(a),
    "without its last": lambda a, _: a[:-1],
    "with one more": lambda a, _: np.concatenate([a, a[-1:]]),
    "twice": lambda a, _: np.concatenate([a, a]),
    "with no value": lambda a, _: a[:0],
    "with an axis more": lambda a, _: a[..., None],
    "flat": lambda a, _: a.ravel(),
    "as another type": another_type,
    "read as another type": lambda a, g: a.view(pick(g, ["<f4", "<i4", "<u4", "|u1"])) if a.itemsize > 1 else a[::-1],
}


def packing(database: sqlite3.Connection, generator: np.random.Generator) -> str:
    """Change how an array is packed, or what is packed in it."""
    row, name, values = some_array(database, generator)
    data = bytearray(packed(values) or one_plane(zlib.compress(bytes(values.size))))
    how, change = pick(generator, list(PACKINGS.items()))
    found = change(data, generator)
    shape = [2**27] if "more" in how else list(values.shape)
    described = (PACKED + values.dtype.str, json.dumps(shape), zlib.crc32(found), found, row)
    database.execute("UPDATE arrays SET dtype = ?, shape = ?, checksum = ?, data = ? WHERE rowid = ?", described)
    return f"{name} {how}"


def one_plane(plane: bytes) -> bytes:
    """An array of one byte a number, which are such."""
    return HEAD.pack(0, 1, 0) + len(plane).to_bytes(4, "little") + plane


def any_byte(data: bytearray, generator: np.random.Generator) -> bytes:
    data[generator.integers(len(data))] = generator.integers(256)
    return bytes(data)


def any_head(data: bytearray, generator: np.random.Generator) -> bytes:
    data[generator.integers(HEAD.size)] = pick(generator, [0, 1, 2, 3, 8, 127, 255])
    return bytes(data)


PACKINGS: dict[str, Callable[[bytearray, np.random.Generator], bytes]] = {
    "with another byte": any_byte,
    "with another head": any_head,
    "cut off": lambda data, g: bytes(data[: g.integers(len(data))]),
    "with something behind it": lambda data, _: bytes(data) + b"x",
    "with no stream": lambda data, _: bytes(data[: HEAD.size]),
    "that unpacks to more": lambda *_: one_plane(zlib.compress(bytes(2**24), 9)),
    "of nothing that is more": lambda *_: HEAD.pack(0, 0, 0),
}


# ---- rows -----------------------------------------------------------------------------------------------------------


REST = "dtype, shape, checksum, data"


def rows(database: sqlite3.Connection, generator: np.random.Generator) -> str:
    """Take away, double or rename a row, or describe it wrongly."""
    row, name, _ = some_array(database, generator)
    statement = pick(
        generator,
        [
            "DELETE FROM arrays WHERE rowid = ?",
            "UPDATE arrays SET block = block + 1 WHERE rowid = ?",
            "UPDATE arrays SET block = -9223372036854775808 WHERE rowid = ?",
            "UPDATE arrays SET chain = 99 WHERE rowid = ?",
            "UPDATE arrays SET chain = 'x' WHERE rowid = ?",
            "UPDATE arrays SET chain = NULL WHERE rowid = ?",
            "UPDATE arrays SET name = 'odd' || char(27) WHERE rowid = ?",
            "UPDATE arrays SET dtype = '|O' WHERE rowid = ?",
            "UPDATE arrays SET shape = '[4611686018427387904, 8]' WHERE rowid = ?",
            "UPDATE arrays SET shape = '[true]' WHERE rowid = ?",
            "UPDATE arrays SET shape = '[0, 100000000000]', data = x'', checksum = 0 WHERE rowid = ?",
            "UPDATE arrays SET data = 'text', checksum = 'x' WHERE rowid = ?",
            f"INSERT INTO arrays SELECT name || 'x', chain, block, {REST} FROM arrays WHERE rowid = ?",
            f"INSERT INTO arrays SELECT name, chain, block + 1, {REST} FROM arrays WHERE rowid = ?",
            "DELETE FROM states WHERE chain = ? % 2",
            "INSERT INTO states SELECT chain + 2, value, checksum FROM states WHERE ?",
            "UPDATE header SET value = CAST(value AS BLOB) WHERE ?",
            "UPDATE header SET checksum = CAST(checksum AS REAL) + 0.5 WHERE ?",
            "DELETE FROM header WHERE key = (SELECT key FROM header LIMIT 1 OFFSET ? % 4)",
        ],
    )
    database.execute(statement, (row,))
    return f"{name}: {statement}"


def schema(database: sqlite3.Connection, generator: np.random.Generator) -> str:
    """Something in the database that is no table of ours."""
    statement = pick(generator, PROGRAMS)
    database.executescript(statement)
    return statement


ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r)"
HEADER = "key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL"
PROGRAMS = [
    "ALTER TABLE header RENAME TO h; "
    f"CREATE VIEW header AS {ENDLESS} SELECT 'k' || n AS key, '1' AS value, 0 AS checksum FROM r",
    "ALTER TABLE states RENAME TO s; "
    f"CREATE VIEW states AS {ENDLESS} SELECT n AS chain, '1' AS value, 0 AS checksum FROM r",
    f"ALTER TABLE arrays RENAME TO a; CREATE VIEW arrays AS {ENDLESS} SELECT 'a' AS name, n AS chain, 0 AS block, "
    "'|u1' AS dtype, '[1000000000]' AS shape, 0 AS checksum, zeroblob(1000000000) AS data FROM r",
    "CREATE TRIGGER t AFTER INSERT ON header BEGIN DELETE FROM arrays; END",
    "CREATE VIEW more AS SELECT * FROM header",
    f"DROP TABLE header; CREATE TABLE header ({HEADER}, more AS (zeroblob(1000000000)))",
    f"DROP TABLE header; CREATE TABLE header ({HEADER}) WITHOUT ROWID",
    "CREATE TABLE more (a)",
    "CREATE INDEX more ON arrays (length(data))",
    "DROP TABLE states",
    "ANALYZE",
    "PRAGMA user_version = 0",
    "PRAGMA user_version = 3",
    "PRAGMA user_version = -1",
    "PRAGMA application_id = 0",
    "PRAGMA journal_mode = WAL",
]


def crc(text: str) -> int:
    return zlib.crc32(text.encode())


MUTATIONS: dict[Callable[[sqlite3.Connection, np.random.Generator], str], float] = {
    header: 30,
    state: 20,
    array: 35,
    packing: 5,
    rows: 8,
    schema: 2,
}
