"""Throws damaged tables at whatever reads them: CSV, TSV, compressed and Parquet, to be fitted and to be predicted.

    python tests/robustness/fuzz_tables.py SECONDS [SEED]

Python and polars read tables, not the core, so this fuzzer is none of libFuzzer's. A table is refused with a named
error, or gives a fit with finite predictions; anything else ends the fuzzer, and the table is left where it says. A
mutant depends on nothing but its seed: `python tests/robustness/fuzz_tables.py 0 SEED` tries one again.
"""

from __future__ import annotations

import faulthandler
import gzip
import io
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import baytree as bt

FOUND = Path(__file__).parents[2] / "build" / "fuzz" / "tables"
MOST_SECONDS = 60  # that one mutant may take
MOST_BYTES = 1 << 14
ENDINGS = (*[".csv"] * 6, ".tsv", ".csv.gz", ".parquet")
REFUSED, READ = "refused", "read"
Random = np.random.Generator

# What tables trip over: separators, quotes, ends of lines, numbers at the edges, missing cells, other scripts.
WORDS = [
    *(b",", b"\t", b";", b'"', b'""', b"'", b"\n", b"\r\n", b"\r", b"\n\n\n", b"\0", b" ", b"\x1a", b"\xef\xbb\xbf"),
    *(b"\xff", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", "é".encode(), "\u2028".encode(), "\u202e".encode(), b"\x1b[31m"),
    *(b"nan", b"NA", b"?", b"inf", b"-inf", b"1e308", b"-1e308", b"1e309", b"5e-324", b"-0", b"0x10", b"1_000", b"1,5"),
    *(b"9223372036854775808", b"-9223372036854775809", b"1" * 400, b"0.1" * 50, b"2026-01-01", b"2026-13-45", b"true"),
    *(b"x1", b"y", b"#", b"//", b"=1+1", b"(other)", b"(missing)", b"%s", b"{}", b"a" * 300),
]


@cache
def table() -> pl.DataFrame:
    generator = np.random.default_rng(0)
    x = generator.normal(size=24)
    labels = np.array(["red", "green, or so", 'a "blue"'])[np.arange(24) % 3]
    found = pl.DataFrame({"x1": x, "x2": np.arange(24), "colour": labels, "y": x > 0, "z": 2 * x + np.arange(24) % 5})
    return found.with_columns(pl.when(pl.col("x2") % 7 == 3).then(None).otherwise(pl.col("x1")).alias("x1"))


def text(separator: str, random: Random) -> bytes:
    """The table as a text file has it, with odd words in some of its cells."""
    rows = [table().columns, *table().rows()]
    cells = [[b"" if cell is None else b'"%s"' % str(cell).replace('"', '""').encode() for cell in row] for row in rows]
    for _ in range(int(random.integers(6))):
        row = cells[random.integers(len(cells))]
        row[random.integers(len(row))] = WORDS[random.integers(len(WORDS))]
    return b"\n".join(separator.encode().join(row) for row in cells) + b"\n"


@cache
def parquet() -> bytes:
    file = io.BytesIO()
    table().write_parquet(file)
    return file.getvalue()


def change(content: bytes, random: Random) -> bytes:
    """Once: a word or a byte put in or in place of some, a stretch left out, repeated, moved, or the end cut off."""
    at, length = int(random.integers(len(content) + 1)), int(random.integers(1, 40))
    before, part, after = content[:at], content[at : at + length], content[at + length :]
    word = WORDS[random.integers(len(WORDS))]
    choices: list[Callable[[], bytes]] = [
        lambda: before + word + part + after,
        lambda: before + word + after,
        lambda: before + bytes([random.integers(256)]) + part[1:] + after,
        lambda: before + after,
        lambda: before + part * int(random.integers(2, 30)) + after,
        lambda: after + before + part,
        lambda: before,
        lambda: b"\n".join(random.permutation(np.array(content.split(b"\n"), dtype=object))),
    ]
    return choices[random.integers(len(choices))]()[:MOST_BYTES]


def mutant(seed: int) -> tuple[str, bytes]:
    """How a file ends, and what it holds."""
    random = np.random.default_rng(seed)
    ending = ENDINGS[random.integers(len(ENDINGS))]
    content = parquet() if ending == ".parquet" else text("\t" if ending == ".tsv" else ",", random)
    for _ in range(max(0, int(random.integers(-3, 3)))):
        content = change(content, random)
    if ending == ".csv.gz":
        content = gzip.compress(content, mtime=0)
        if random.random() < 0.2:
            content = change(content, random)
    return ending, content


@cache
def fitted() -> Any:
    design = bt.read(table(), "z")
    return bt.sample(bt.CART(), design, warmup=5, draws=5, chains=1, seed=1, progress=False)


def use(path: Path, random: Random) -> None:
    """All that is done with a table: a model is fitted to it, and one of the whole table predicts it."""
    target = ("y", "z", "colour")[random.integers(3)]
    run: dict[str, Any] = {"warmup": 3, "draws": 2, "chains": 1, "seed": 1, "threads": 1, "progress": False}
    attempts: tuple[Callable[[], Any], ...] = (
        lambda: bt.sample(bt.CART(), bt.read(path, target), **run).log_likelihood,
        lambda: bt.read_linear(path, "z").matrix,
        lambda: fitted().predict(path),
    )
    refused: list[bt.InputError] = []
    for attempt in attempts:
        try:
            found = np.asarray(attempt(), dtype=float)
        except bt.InputError as error:
            refused.append(error)
        else:
            if not np.isfinite(found).all():
                raise ArithmeticError("what is computed from the table is no number")
    if refused and not all(str(error).strip() for error in refused):
        raise ValueError("an error says nothing")
    if len(refused) == len(attempts):
        raise refused[0]


def outcome(seed: int) -> str:
    """What comes of one mutant; what must not come of it is raised, and the file left behind."""
    ending, content = mutant(seed)
    FOUND.mkdir(parents=True, exist_ok=True)
    path = FOUND / f"{seed}{ending}"
    path.write_bytes(content)  # where it is found should the process crash
    faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            use(path, np.random.default_rng(seed))
        found = READ
    except bt.InputError:
        found = REFUSED
    finally:
        faulthandler.cancel_dump_traceback_later()
    path.unlink()
    return found


def main(seconds: str = "60", first: str = "") -> int:
    begin = int(first or time.time())
    end, outcomes, seed = time.monotonic() + float(seconds), Counter[str](), begin
    while seed == begin or time.monotonic() < end:
        try:
            outcomes[outcome(seed)] += 1
        except BaseException as error:
            error.add_note(f"the table {seed} is left in {FOUND}")
            raise
        seed += 1
    print(f"{seed - begin} damaged tables from seed {begin} on: {dict(outcomes)}, 0 crashes")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
