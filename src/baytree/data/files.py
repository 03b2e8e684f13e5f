"""What lies on disk: CSV, TSV and Parquet files as data frames, and plain text."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections import Counter
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

from ..errors import FileError, InputError
from .columns import Columns, has_polars, is_forked
from .delimited import MISSING_CELLS, UnreadableError, columns_of, lines_of, rows_of

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
BLANKS = b" \t\r\n\v\f"
LINE_BREAKS = b"\r\n"
GZIP_MAGIC = b"\x1f\x8b"
# Bytes looked at in one go where the end of a file is searched for blank lines.
TAIL = 1 << 16
# How much of a table that is read in parts is at hand.
BLOCK_BYTES = 1 << 24


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"{path!r}: give the name of a file")
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from error


def read_file(path: str | os.PathLike[str], text: Collection[str] = ()) -> Any:
    """Load a table from a ``.csv``, ``.csv.gz``, ``.tsv``, ``.tsv.gz`` or ``.parquet`` file.

    In a text file the cells of `MISSING_CELLS` are missing and blanks around a cell do not count. Blank lines before
    the header and at the end are no rows; any other line is one, even if all its cells are missing. polars reads it
    where that is installed, which is faster; the values are the same without. A Parquet file needs polars or pyarrow.

    Parameters
    ----------
    path : str or path
        The file.
    text : collection of str
        Columns whose cells stay text even where they look like numbers or dates (a postcode keeps its leading zero).

    Returns
    -------
    polars.DataFrame, Columns or pyarrow.Table
    """
    with _reading(path) as (place, ending):
        return _read_parquet(place) if ending == ".parquet" else _read_delimited(place, SEPARATORS[ending], text)


def read_blocks(path: str | os.PathLike[str], text: Collection[str] = (), size: int = BLOCK_BYTES) -> Iterator[Any]:
    """The table of a file in parts of bounded memory, one at least; together they have the rows of `read_file`.

    Parameters
    ----------
    path, text
        As for `read_file`.
    size : int
        How many bytes of text, or of a Parquet file about as many, a part has at the least, but for the last.

    Yields
    ------
    polars.DataFrame, Columns or pyarrow.Table
    """
    with _reading(path) as (place, ending):
        if ending == ".parquet":
            yield from _parquet_blocks(place, size)
        else:
            yield from _text_blocks(place, SEPARATORS[ending], text, size)


@contextmanager
def _reading(path: str | os.PathLike[str]) -> Generator[tuple[Path, str], None, None]:
    """A file that is there, and its ending; what is wrong with its text becomes a FileError."""
    path = Path(path)
    try:
        found = path.is_file()
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}; check the path") from error
    if not found:
        raise FileError(f"{path}: {'not a file' if path.exists() else 'no such file'}; check the path")
    name = path.name.lower()
    ending = next((ending for ending in (*SEPARATORS, ".parquet") if name.endswith(ending)), None)
    if ending is None:
        raise FileError(f"{path}: unknown file type; the name must end in {', '.join(SEPARATORS)} or .parquet")
    try:
        yield path, ending
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"byte {error.start:,} is not UTF-8") from error
    except (UnreadableError, OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, _first_line(error)) from error


def _text_blocks(path: Path, separator: str, text: Collection[str], size: int) -> Iterator[Any]:
    """The rows below the header in parts that end between two lines with something in them, each read as a file."""
    with _opened(path) as file:
        header, held = _lines(file, b"", 1, separator)
        header = header.lstrip(LINE_BREAKS)
        lines_before = bytes_before = 0
        while True:
            part, held = _lines(file, held, size, separator)
            whole = header + part
            if not held:
                whole = whole[: _end_of_lines(io.BytesIO(whole), separator)]
            try:
                yield _parsed(path, whole, separator, text)
            except UnreadableError as error:
                raise error.below(lines_before) from None
            except UnicodeDecodeError as error:
                raise _unreadable(path, f"byte {error.start + bytes_before:,} is not UTF-8") from error
            if not held:
                return
            lines_before, bytes_before = lines_before + part.count(b"\n"), bytes_before + len(part)


def _opened(path: Path) -> IO[bytes]:
    """A file of text, packed or not."""
    with path.open("rb") as file:
        is_packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    return cast(IO[bytes], gzip.open(path)) if is_packed else path.open("rb")


def _lines(file: IO[bytes], held: bytes, size: int, separator: str) -> tuple[bytes, bytes]:
    """Lines of so many bytes or more, and what was read behind them, which is nothing at the end of the file alone."""
    blanks = BLANKS.replace(separator.encode(), b"")
    at, quotes, counted = size - 1, 0, 0
    while True:
        while (at := held.find(b"\n", at)) >= 0 and (end := held.find(b"\n", at + 1)) >= 0:
            quotes, counted = quotes + held.count(b'"', counted, at), at
            # Blank lines at the end of a table are no rows: so none may be the first or the last one of a part.
            before = held[held.rfind(b"\n", 0, at) + 1 : at].strip(blanks)
            if before and held[at + 1 : end].strip(blanks) and quotes % 2 == 0:
                return held[: at + 1], held[at + 1 :]
            at += 1
        at = max(size - 1, counted, 0) if at < 0 else at
        more = file.read(max(size, TAIL))
        if not more:
            return held, b""
        held += more


def require_unique(names: Sequence[str]) -> None:
    """Refuse a table in which two columns share a name."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(f"duplicate column names: {', '.join(map(repr, repeated))}; rename or drop one of each")


def _read_delimited(path: Path, separator: str, text: Collection[str]) -> Any:
    return _parsed(path, _without_blank_ends(path, separator), separator, text)


def _parsed(path: Path, source: Path | bytes, separator: str, text: Collection[str]) -> Any:
    """A file, or the text of it or of a part, as a table."""
    if has_polars():
        import polars as pl

        try:
            return _by_polars(path, source, separator, text)
        except (pl.exceptions.PolarsError, UnicodeDecodeError):
            pass  # The slower reader is more patient, or says where it gave up.
    plain = (path.read_bytes() if isinstance(source, Path) else source).decode("utf-8-sig")
    if not plain.strip("\r\n"):
        raise FileError(f"{path}: the file is empty; a header row and at least 2 rows are needed")
    lines = lines_of(plain, separator)
    names = _names(path, next(lines)[1], separator)
    return Columns(columns_of(names, rows_of(lines, len(names)), text))


def _names(path: Path, header: Sequence[str], separator: str) -> list[str]:
    """The names of the columns, if there is one for each."""
    names = [name.strip() for name in header]
    require_unique(names)
    if len(names) == 1:
        for other in ";\t,":
            if other in names[0]:
                raise FileError(f"{path}: cells seem to be separated by {other!r}, not {separator!r}; convert the file")
    return names


def _by_polars(path: Path, source: Path | bytes, separator: str, text: Collection[str]) -> pl.DataFrame:
    import polars as pl

    header = pl.read_csv(source, separator=separator, has_header=False, n_rows=1, infer_schema=False).row(0)
    raw_names = [name or "" for name in header]
    names = _names(path, raw_names, separator)
    frame = pl.read_csv(
        source,
        separator=separator,
        null_values=sorted(MISSING_CELLS),
        infer_schema_length=None,
        try_parse_dates=True,
        schema_overrides={raw: pl.String for raw, name in zip(raw_names, names, strict=True) if name in text},
    )
    frame.columns = names
    return frame.with_columns(
        _tidy(column, keep_text=column.name in text) for column in frame.iter_columns() if column.dtype == pl.String
    )


def _read_parquet(path: Path) -> Any:
    with _reading_parquet(path):
        if has_polars():
            import polars as pl

            return pl.read_parquet(path)
        import pyarrow.parquet

        return pyarrow.parquet.read_table(path)


def _parquet_blocks(path: Path, size: int) -> Iterator[Any]:
    with _reading_parquet(path):
        if has_polars():
            import polars as pl

            table = pl.scan_parquet(path)
            rows = table.select(pl.len()).collect().item()
            step = _rows_of(size, len(table.collect_schema()))
            for begin in range(0, max(rows, 1), step):
                yield table.slice(begin, step).collect()
            return
        import pyarrow
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(path) as file:
            if file.metadata.num_rows == 0:
                yield file.read()
            for batch in file.iter_batches(_rows_of(size, file.metadata.num_columns)):
                yield pyarrow.Table.from_batches([batch])


def _rows_of(size: int, columns: int) -> int:
    """How many rows of numbers have so many bytes."""
    return max(1, size // (8 * max(1, columns)))


@contextmanager
def _reading_parquet(path: Path) -> Generator[None, None, None]:
    """What is wrong with a Parquet file, or with what reads it, becomes a FileError."""
    try:
        yield
    except ImportError as error:
        remedy = "install one: pip install 'baytree[polars]'"
        if is_forked():
            remedy = (
                "this process was forked from one that used polars, without whose threads it reads nothing; start "
                "processes by 'spawn', as multiprocessing.get_context('spawn') does, or read the table before"
            )
        raise FileError(f"{path}: Parquet files are read by polars or pyarrow; {remedy}") from error
    # Each library has errors of its own, with no root but this.
    except Exception as error:
        raise _unreadable(path, _first_line(error)) from error


def _unreadable(path: Path, reason: str) -> FileError:
    return FileError(f"{path}: cannot be read ({reason}); is it damaged, or not UTF-8?")


def _without_blank_ends(path: Path, separator: str) -> Path | bytes:
    """What the CSV reader shall parse: the file itself, or its text if it is packed or has blank lines at an end."""
    with path.open("rb") as file:
        if file.read(len(GZIP_MAGIC)) == GZIP_MAGIC:
            with gzip.open(path) as packed:
                text = packed.read()
            return text[: _end_of_lines(io.BytesIO(text), separator)].lstrip(LINE_BREAKS)
        file.seek(0)
        begins_blank = file.read(1) in (b"\r", b"\n")
        end = _end_of_lines(file, separator)
        if end == file.seek(0, os.SEEK_END) and not begins_blank:
            return path
        file.seek(0)
        return file.read(end).lstrip(LINE_BREAKS)


def _end_of_lines(file: BinaryIO, separator: str) -> int:
    """Where the last line that is not blank ends, its line break included."""
    # A line of separators holds cells, all of them missing.
    blanks = BLANKS.replace(separator.encode(), b"")
    size = end = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(end - TAIL, 0)
        file.seek(start)
        filled = len(file.read(end - start).rstrip(blanks))
        end = start + filled
        if filled:
            break
    file.seek(end)
    while block := file.read(TAIL):
        line_break = block.find(b"\n")
        if line_break >= 0:
            return file.tell() - len(block) + line_break + 1
    return size


def _tidy(column: pl.Series, keep_text: bool) -> pl.Series:
    """Strip blanks, which may hide missing cells and numbers from the CSV reader."""
    import polars as pl

    column = column.str.strip_chars()
    column = column.set(column.is_in(sorted(MISSING_CELLS)), None)
    if keep_text:
        return column
    numbers = column.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == column.null_count() else column


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
