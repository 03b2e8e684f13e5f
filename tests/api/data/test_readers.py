"""A table is the same whichever library reads it, and so is what is said of one that cannot be read."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import baytree as bt
from baytree.data.columns import Columns, frame_of
from baytree.data.files import read_file
from baytree.data.frames import table_of
from baytree.data.response import learn_response
from baytree.data.values import column_values, plain_array

# Each stands in a column with the next one.
CELLS = [
    *("1", "-0", "007", "9223372036854775807", "9223372036854775808", "9" * 30, "1.5", ".5", "1.", "+1", "1e5", "1E-5"),
    *("1e400", "5e-324", "inf", "-Infinity", "NAN", "-nan", " 2", "3 ", "", "NA", " NA ", "  ", "?", "null", "N/A"),
    *("true", "FALSE", " true", "t", "1_000", "0x10", "1d5", "--1", ".", "-", "½", "١", "\u00a04", "\x1c5", "x", " x "),
    *("2026-01-02", "2026/01/02", "02.01.2026", "31/12/2026", "12/31/2026", "2026-02-30", "2026-01-02T10:00:00Z"),
    *("2026-01-02 10:00", "10:00", "25:00", '"1"', '"x,y"', '"x\ny"', '"x""y"', '""', '" z "', '"NA"', 'x"y"z', "é"),
]
TEXTS = [
    *(
        "",
        "\n\n",
        " ",
        "a",
        "a\n",
        "a,b\n",
        "a,b\n\n",
        "a,b\n1,2",
        "a,b\n1\n2,3\n",
        "a,b\n\n1,2\n",
        "a,b\r\n1,2\r\n,\r\n",
    ),
    *(
        "\ufeffa,b\n1,2\n",
        'a,"b c"\n1,2\n',
        '"a,b",c\n1,2\n',
        '"a\nb",c\n1,2\n',
        "a,,b\n1,2,3\n",
        "a,a\n1,2\n",
        "a;b\n1;2\n",
    ),
    *(
        "a,b\n1,2,3\n",
        "a,b\n1,2,",
        "a,b\n1,2\n,",
        "a\n1,2\n",
        "\n\na,b\n1,2\n",
        'a,b\n"x"y,1\n',
        'a,b\n"x\n1,2\n',
        'a,b\n"1\n2',
        'a,b\n1,"x\r\ny"\n',
    ),
    *('a,b\n"1","x"\n"",y\n', 'a,b\n1,"""x"""\n', 'a,b\nx",1\n', "a,b\n2026-01-01,1\n02/03/2026,1\n"),
]
ODD_BYTES = [b"a,b\n\xff,1\n", "a,b\n1,2\n".encode("utf-16"), bytes(64)]


def said(path: Path, text: tuple[str, ...] = ()) -> Any:
    """What a file holds, or what is said of it."""
    try:
        table = table_of(path, text=text)
        return table.rows, {name: of_column(name, table.raw(at)) for at, name in enumerate(table.names)}
    except bt.InputError as error:
        return str(error)


def of_column(name: str, raw: Any) -> Any:
    """Its values, and what it is as a response."""
    try:
        values = column_values(name, raw)
        held: Any = values.kind, repr(values.values.tolist()), values.order
    except bt.InputError as error:
        held = str(error)
    if len(raw) < 2:
        return held
    try:
        response, y = learn_response(name, plain_array(name, raw), "classification")
        return held, response.to_dict(), y.tolist()
    except bt.InputError as error:
        return held, str(error)


def of_both(path: Path, content: bytes, text: tuple[str, ...] = ()) -> tuple[Any, Any]:
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "polars", None)
        plain = said(path, text)
    return said(path, text), plain


# scikit-learn asks of every number whether it is whole.
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize("keep_text", [False, True], ids=["as it is", "as text"])
def test_every_pair_of_cells(tmp_path: Path, keep_text: bool) -> None:
    pairs = list(itertools.product(CELLS, repeat=2))
    names = [f"c{at}" for at in range(len(pairs))]
    lines = [names, [first for first, _ in pairs], [second for _, second in pairs]]
    content = "\n".join(",".join(line) for line in lines).encode()
    by_polars, plain = of_both(tmp_path / "t.csv", content, tuple(names) if keep_text else ())
    assert by_polars[0] == 2
    differ = [pair for pair, name in zip(pairs, names, strict=True) if by_polars[1][name] != plain[1][name]]
    assert differ == []


@pytest.mark.parametrize("content", [*map(str.encode, TEXTS), *ODD_BYTES], ids=repr)
@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
def test_every_text(tmp_path: Path, content: bytes, name: str) -> None:
    by_polars, plain = of_both(tmp_path / name, content)
    assert by_polars == plain


# Always the same tables: in lines that are too short polars has corners of its own, such as a blank around a missing
# cell, by which moments with a time zone become text.
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@settings(
    max_examples=30,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.lists(st.sampled_from(CELLS), min_size=1, max_size=4), min_size=1, max_size=5))
def test_tables_of_any_shape(tmp_path: Path, rows: list[list[str]]) -> None:
    by_polars, plain = of_both(tmp_path / "t.csv", "\n".join(["a,b,c", *map(",".join, rows)]).encode())
    assert by_polars == plain


def test_where_a_file_cannot_be_read(tmp_path: Path, reader: str) -> None:
    for content, reason in (
        (b"x,y\n1,2\n1,2,3\n", "line 3: 3 cells, but the header has 2"),
        (b'x,y\n"a\nb",2\n"c"d,2\n', "line 4: text stands behind a closing quote"),
        (b'x,y\n1,2\n"c,2\n', "line 3: a quote is never closed"),
        (b"x,y\n1,\xff\n", "byte 6 is not UTF-8"),
    ):
        (tmp_path / "t.csv").write_bytes(content)
        with pytest.raises(bt.FileError) as error:
            read_file(tmp_path / "t.csv")
        assert f"t.csv: cannot be read ({reason})" in str(error.value)


def test_bundled_data_are_the_same(reader: str) -> None:
    for name, mean in (("kyphosis", 83.654320987), ("heart", 54.433333333)):
        data = bt.datasets.load(name)
        assert type(data.X).__module__.split(".")[0] == ("polars" if reader == "polars" else "baytree")
        assert np.mean(np.asarray(data.X["age"])) == pytest.approx(mean)
        assert data.design().rows == len(data.y) == data.X.height


def test_parquet_without_polars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bt.datasets.load("kyphosis").X.write_parquet(tmp_path / "t.parquet")
    by_polars = said(tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "polars", None)
    assert said(tmp_path / "t.parquet") == by_polars
    for module in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    assert "polars or pyarrow; install one: pip install 'baytree[polars]'" in said(tmp_path / "t.parquet")


def test_columns_are_like_a_frame_of_polars() -> None:
    values = {
        "a": np.array([1, 2, 3]),
        "b": np.array([0.5, np.inf, -1.25]),
        "c": np.array(["x", 'y"', "z,"], dtype=object),
    }
    frame, columns = frame_of(values), Columns(values)
    assert (columns.columns, columns.shape, len(columns)) == (frame.columns, frame.shape, 3)
    assert columns.rows() == frame.rows()
    assert list(columns.iter_rows()) == list(frame.iter_rows())
    assert columns.to_dicts() == frame.to_dicts() == list(columns.iter_rows(named=True))
    assert columns.head(2).rows() == frame.head(2).rows()
    assert columns.drop("b").rows() == frame.drop("b").rows()
    assert columns[["c", "a"]].rows() == frame[["c", "a"]].rows()
    assert columns[np.array([2, 0])].rows() == frame[np.array([2, 0])].rows()
    assert columns.drop("c").to_numpy().tolist() == frame.drop("c").to_numpy().tolist()
    assert columns.write_csv() == frame.write_csv()
    assert repr(columns) == "Columns(3 rows: 'a', 'b', 'c')"
