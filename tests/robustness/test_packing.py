"""Arrays made small in model files: the same to the bit afterwards, and never larger than a file may unpack to."""

from __future__ import annotations

import sqlite3
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import baytree as bt
from baytree.storage import ModelWriter, open_model
from baytree.storage.layout import DTYPES, FREE, MOST_TIMES, PACKED
from baytree.storage.packing import HEAD, packed, unpacked
from fixtures.make import FIXTURES, FOLDER, RUN

MEGABYTE = 2**20


def arrays(dtype: str, size: int) -> Iterator[np.ndarray]:
    """Arrays of a type of all manners of numbers."""
    generator, kind = np.random.default_rng(size), np.dtype(dtype)
    any_bits = generator.integers(0, 256, size * kind.itemsize, dtype=np.uint8).view(kind)
    yield any_bits
    yield np.sort(any_bits)
    yield np.zeros(size, kind)
    yield generator.integers(0, 3, size).astype(kind)
    if kind.kind == "f":
        yield -np.zeros(size, kind)
        yield generator.normal(size=size).astype(kind)
        info = np.finfo(kind)
        for exponent in (-17, 0, 40, info.minexp - 20, info.minexp, info.maxexp - 8, info.maxexp - 1):
            yield np.ldexp(generator.integers(-99, 100, size).astype(kind), exponent)
    if kind.kind == "i":
        yield generator.integers(-2, 300, size).astype(kind)
        yield np.full(size, np.iinfo(kind).min, kind)


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value")
@pytest.mark.parametrize("size", [0, 1, 2, 500])
@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_the_same_to_the_bit(dtype: str, size: int) -> None:
    packs = 0
    for array in arrays(dtype, size):
        data = packed(array)
        if data is not None:
            assert len(data) < array.nbytes
            found = unpacked(data, array.dtype, array.size)
            assert found.dtype == array.dtype and found.tobytes() == array.tobytes()
            packs += 1
    assert packs > (2 if size == 500 else -1)


def test_grids_take_the_bytes_of_their_multiples() -> None:
    values = (np.random.default_rng(0).integers(-(2**14), 2**14, 10_000) * 2.0**-17).astype("<f4")
    data = packed(values)
    assert data is not None and len(data) < 2.05 * len(values)
    assert packed(np.array([1.0, np.inf])) is None and packed(np.array([1.0, np.nan])) is None


def head(how: int, width: int, plane: bytes = zlib.compress(bytes(99)), exponent: int = 0) -> bytes:
    """An array of one plane of bytes, whatever its beginning says."""
    return HEAD.pack(how, width, exponent) + len(plane).to_bytes(4, "little") * min(width, 1) + plane


@pytest.mark.parametrize(
    ("data", "dtype", "count"),
    [
        (b"", "<i4", 0),
        (head(3, 1), "<i4", 99),
        (head(2, 1), "<i4", 99),
        (head(1, 1), "<f4", 99),
        (head(0, 5), "<i4", 99),
        (HEAD.pack(0, 2, 0), "<i4", 99),
        (head(2, 1, exponent=3000), "<f4", 99),
        (head(0, 1), "<i4", 100),
        (head(0, 1), "<i4", 98),
        (head(0, 1) + b"x", "<i4", 99),
        (head(0, 1)[:-1], "<i4", 99),
        (head(0, 1, zlib.compress(bytes(99)) + b"x"), "<i4", 99),
        (head(0, 1, zlib.compress(bytes(99))[:-1]), "<i4", 99),
        (head(0, 1, b"no stream"), "<i4", 99),
    ],
)
def test_what_nobody_packed(data: bytes, dtype: str, count: int) -> None:
    with pytest.raises(ValueError, match=r"pack|grid"):
        unpacked(data, np.dtype(dtype), count)


def test_a_bomb_takes_no_memory(tmp_path: Path) -> None:
    """A gigabyte of zeros that lies in a megabyte, of which the file says so and says not."""
    bomb = head(0, 1, zlib.compress(bytes(1000 * MEGABYTE), 1))
    with pytest.raises(ValueError, match="larger or smaller"):
        peak_of(lambda: unpacked(bomb, np.dtype("|u1"), 1000))
    path = tmp_path / "model.baytree"
    for size in (800 * MEGABYTE, 2**50):
        writer = ModelWriter.create(path, {})
        writer.append([{"zeros": np.zeros(1)}], [{}])
        row = (PACKED + "|u1", f"[{size}]", zlib.crc32(bomb), bomb)
        writer._database.execute("UPDATE arrays SET dtype = ?, shape = ?, checksum = ?, data = ?", row)
        writer._database.commit()
        writer.finish()
        with pytest.raises(bt.FileError, match=r"than there is room for|has type"):
            peak_of(lambda: read(path))


def peak_of(work: object) -> None:
    """Do it, and hold it to some megabytes; an error goes on."""
    tracemalloc.start()
    try:
        work()  # type: ignore[operator]
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 40 * MEGABYTE


def read(path: Path) -> list[list[dict[str, np.ndarray]]]:
    with open_model(path) as reader:
        return reader.parts()


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    """However alike numbers are, a file never unpacks to more than a reader takes."""
    path, zeros = tmp_path / "model.baytree", np.zeros(FREE // 8 + 10)
    writer = ModelWriter.create(path, {})
    for _ in range(3):
        writer.append([{"zeros": zeros}], [{}])
    writer.finish()
    assert path.stat().st_size * MOST_TIMES + FREE >= 3 * zeros.nbytes
    [[*blocks]] = read(path)
    assert len(blocks) == 3 and all(np.array_equal(block["zeros"], zeros) for block in blocks)
    with sqlite3.connect(path) as database:
        kinds = [kind for (kind,) in database.execute("SELECT dtype FROM arrays ORDER BY block")]
    assert kinds == ["<f8", "<f8", "<f8"] or PACKED + "<f8" in kinds


def test_a_run_that_an_earlier_version_began_goes_on(tmp_path: Path) -> None:
    """Its file is of format 1, and has no packed arrays until then."""
    path, fixture = tmp_path / "model.baytree", FIXTURES["bart"]
    with open_model(FOLDER / "bart-0.1.0.baytree") as reader:
        header, states, parts = reader.header, reader.states, reader.parts()
    plan = {"plan": header["plan"] | {"draws": RUN["draws"] + 10}}
    longer = ModelWriter.begin_run(path, {key: header[key] for key in ("model", "schema")} | plan)
    longer.append([blocks[0] for blocks in parts], states)
    longer._database.execute("PRAGMA user_version = 1")
    longer.close()
    resumed = bt.resume(path, fixture.design, progress=False)
    usual = bt.extend(bt.load(FOLDER / "bart-0.1.0.baytree"), fixture.design, draws=10, progress=False)
    for found in (resumed, bt.load(path)):
        np.testing.assert_array_equal(found.ensemble.values, usual.ensemble.values)
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (2,)


def test_sums_of_trees_take_little(tmp_path: Path) -> None:
    """Some nine bytes a tree and draw, of which leaf values take five, and where the chains are."""
    path, design = tmp_path / "model.baytree", bt.datasets.load("kyphosis").design()
    posterior = bt.sample(bt.BART(), design, warmup=20, draws=100, thin=1, chains=2, seed=1, progress=False)
    posterior.save(path)
    assert path.stat().st_size < 12 * 100 * 2 * 200
