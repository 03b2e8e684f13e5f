"""Tables on disk that cannot be read, and odd ones that can."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import baytree as bt

from .case import Case, Ended, command
from .given import A, B, Y

WRONG_INPUT, BAD_FILE = 2, 3
ROWS = "".join(f"{a},{b},{y}\n" for a, b, y in zip(A, B, Y, strict=True))
GOOD = f"a,b,y\n{ROWS}"
QUICK = "--chains 1 --warmup 3 --draws 3 --seed 1 --quiet"


def table(content: Any, name: str = "t.csv", options: str = "") -> Callable[[], Ended]:
    """Fit a tree to a file of this content."""
    return command(f"fit {name} --target y {QUICK} --out m.baytree {options}", {name: content})


def rows(*cells: str) -> str:
    """The good table, these cells on top of its column ``a``."""
    lines = GOOD.splitlines()
    for at, cell in enumerate(cells, 1):
        lines[at] = f"{cell},{lines[at].split(',', 1)[1]}"
    return "\n".join(lines) + "\n"


def parquet(**columns: Any) -> Callable[[str], None]:
    return lambda path: pl.DataFrame({"a": A, "y": Y} | columns).write_parquet(path)


def packed(text: str, cut: int = 0) -> bytes:
    content = gzip.compress(text.encode())
    return content[: len(content) - cut]


def fifo(path: str) -> None:
    """A pipe that nobody writes into."""
    os.mkfifo(path)


def loop(path: str) -> None:
    """A link to itself."""
    os.symlink(path, path)


def unreadable() -> bool:
    """A file in a folder that is a file."""
    Path("f").write_text("x", encoding="utf-8")
    try:
        bt.read("f/t.csv", "y")
    except bt.FileError:
        return True
    return False


def long_name() -> Any:
    return bt.read("x" * 5000 + ".csv", "y")


FILES = [
    Case("an empty file", table(""), BAD_FILE, "the file is empty"),
    Case("a file of a blank", table(" "), WRONG_INPUT, "no column 'y'"),
    Case("a file of line breaks", table("\n\n\n"), BAD_FILE, "the file is empty"),
    Case("a header alone", table("a,b,y\n"), WRONG_INPUT, "0 samples; at least 2 rows"),
    Case("a header and one row", table("a,b,y\n1,2,3\n"), WRONG_INPUT, "at least 2 rows are needed"),
    Case("no header", table(ROWS), WRONG_INPUT, "no column 'y'"),
    Case("an empty name in the header", table("a,,y\n" + ROWS)),
    Case("a name twice in the header", table("a,a,y\n" + ROWS), WRONG_INPUT, "duplicate column names: 'a'"),
    Case("names that differ by a blank", table("a,a ,y\n" + ROWS), WRONG_INPUT, "duplicate column names: 'a'"),
    Case("semicolons for commas", table(GOOD.replace(",", ";")), BAD_FILE, "seem to be separated by ';'"),
    Case("tabs for commas", table(GOOD.replace(",", "\t")), BAD_FILE, "seem to be separated by '\\t'"),
    Case("commas for tabs", table(GOOD, "t.tsv"), BAD_FILE, "seem to be separated by ','"),
    Case("a row with a cell too many", table(GOOD + "1,2,3,4\n"), BAD_FILE, "t.csv: cannot be read"),
    Case("a row with a cell too few", table(GOOD + "1,2\n"), WRONG_INPUT, "1 missing value (NaN) in the response"),
    Case("a blank line in the middle", table(GOOD.replace("\n", "\n\n", 2)), WRONG_INPUT, "missing value"),
    Case("blank lines at the end", table(GOOD + "\n\n \n")),
    Case("a quote that never ends", table(GOOD + '"1,2,3\n'), BAD_FILE, "t.csv: cannot be read"),
    Case("a quote in the middle of a cell", table(rows('x"y"z'))),
    Case("line breaks in quotes", table(rows('"x\ny"'))),
    Case("carriage returns", table(GOOD.replace("\n", "\r\n"))),
    Case("a byte-order mark", table("\ufeff" + GOOD)),
    Case("UTF-16", table(GOOD.encode("utf-16")), BAD_FILE, "UTF-8"),
    Case("Latin-1", table(rows("é").encode("latin-1")), BAD_FILE, "UTF-8"),
    Case("a NUL byte", table(rows("\0"))),
    Case("zeros for a file", table(b"\0" * 4096), WRONG_INPUT, "no column 'y'"),
    Case("random bytes", table(np.random.default_rng(3).bytes(5000)), BAD_FILE, "t.csv"),
    Case("a picture", table(b"\x89PNG\r\n\x1a\n" + bytes(100)), BAD_FILE, "t.csv"),
    Case("a workbook under a table's name", table(b"PK\x03\x04" + bytes(range(256)) * 4), BAD_FILE, "t.csv"),
    Case("a packed file that is cut off", table(packed(GOOD, 20), "t.csv.gz"), BAD_FILE, "t.csv.gz: cannot be read"),
    Case("a packed file that is none", table(b"\x1f\x8bnot", "t.csv.gz"), BAD_FILE, "t.csv.gz: cannot be read"),
    Case("a packed file of nothing", table(packed(""), "t.csv.gz"), BAD_FILE, "the file is empty"),
    Case("a packed file under a plain name", table(packed(GOOD))),
    Case("a plain file under a packed name", table(GOOD, "t.csv.gz")),
    Case("a Parquet file that is none", table(GOOD, "t.parquet"), BAD_FILE, "t.parquet: cannot be read"),
    Case("a Parquet file of nothing", table("", "t.parquet"), BAD_FILE, "t.parquet"),
    Case("a Parquet file that is cut off", table(b"PAR1" + bytes(50) + b"PAR1", "t.parquet"), BAD_FILE, "t.parquet"),
    Case("a Parquet file of lists", table(parquet(c=[[1]] * 30), "t.parquet"), WRONG_INPUT, "nested values"),
    Case("a Parquet file under a table's name", table(parquet()), BAD_FILE, "t.csv"),
    Case("an unknown ending", table(GOOD, "t.xlsx"), BAD_FILE, "unknown file type"),
    Case("no ending", table(GOOD, "t"), BAD_FILE, "unknown file type"),
    Case("endings in capitals", table(GOOD, "T.CSV")),
    Case("a folder", table(lambda path: os.mkdir(path)), BAD_FILE, "not a file"),
    Case("a pipe", table(fifo), BAD_FILE, "not a file"),
    Case("a link to itself", table(loop), BAD_FILE, "t.csv"),
    Case("no file", command(f"fit absent.csv --target y {QUICK}"), BAD_FILE, "absent.csv: no such file"),
    Case(
        "no file, of a bundled name", command(f"fit kyphosis.csv --target y {QUICK}"), BAD_FILE, "baytree data kyphosis"
    ),
    Case("a file in a file", unreadable),
    Case("a name of 5,000 letters", long_name, bt.FileError, "File name too long; check the path"),
    Case("a name with a NUL", lambda: bt.read("t\0.csv", "y"), bt.FileError, "no such file"),
    Case("a name of control characters", command(f"fit '\x1b[2Jt.csv' --target y {QUICK}"), BAD_FILE, "no such file"),
    Case(
        "control characters in the header",
        table("a,\x1b[2Jb,y\n" + ROWS, options="--drop z"),
        WRONG_INPUT,
        "no column 'z'",
    ),
    Case("control characters in the response", table("a,b,y\n" + "1,2,\x1b[2J\n" * 3), WRONG_INPUT, "only one class"),
    Case("a formula for a cell", table(rows("=1+1"))),
    Case("numbers with commas", table(rows('"1,000"'))),
    Case("numbers past float64", table(rows("1e999")), WRONG_INPUT, "infinite value"),
    Case("inf for a number", table(rows("inf")), WRONG_INPUT, "infinite value"),
    Case("Infinity in the response", table("a,b,y\n1,2,Infinity\n" + ROWS), WRONG_INPUT, "infinite value"),
    Case("dates in a column", table(rows(*["2026-01-01"] * 30)), WRONG_INPUT, "dates or times"),
    Case("missing cells of every spelling", table(rows("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "?"))),
    Case("a column of missing cells", table(rows(*["NA"] * 30))),
    Case(
        "a thousand columns",
        table(
            ",".join(f"c{at}" for at in range(1000))
            + ",y\n"
            + (",".join(["1"] * 1000) + ",{}\n").format(1)
            + (",".join(["2"] * 1000) + ",{}\n").format(2),
            options="--task regression",
        ),
    ),
    Case("a cell of a megabyte", table(rows("x" * 10**6))),
    Case(
        "a name of a megabyte", table("a" * 10**6 + ",b,y\n" + ROWS, options="--drop z"), WRONG_INPUT, "no column 'z'"
    ),
    Case("whole numbers past 64 bits", table(rows("9" * 40))),
    Case(
        "a target that is no column",
        command(f"fit t.csv --target Y {QUICK}", {"t.csv": GOOD}),
        WRONG_INPUT,
        "Did you mean 'y'?",
    ),
    Case(
        "a target of control characters",
        command(f"fit t.csv --target '\x1b[2J' {QUICK}", {"t.csv": GOOD}),
        WRONG_INPUT,
        "no column",
    ),
]
